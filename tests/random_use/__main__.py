"""Use gasmeter at random: every case ends in results or in one clear line, never in a crash, a hang or a traceback.

    python tests/random_use [commands|overrides|calls|programs ...] [--count N] [--seed S] [--conduit C ...] [--limit S]

The number of a case draws its content. Cases run one after the other in a process of their own, which is replaced if a
case kills it or exceeds the limit. The program prints each case that ended badly, and one line a kind at the end.
Status 1 if a case ended badly. `--case N` runs one case alone and prints its output.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

KINDS = ("commands", "overrides", "calls", "programs")
CHUNK = 250
"""Cases of one process: what a process keeps cannot add up without bound."""


def serve(kind: str, conduit: str, seed: int, first: int, end: int) -> None:
    """Run cases in this process; a line of JSON before and after each."""
    from random_use import cases

    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for number in range(first, end):
        case = cases.case(kind, conduit, seed, number)
        print(json.dumps({"number": number, "text": case.text}), file=out, flush=True)
        outcome = case.act()
        print(json.dumps({"number": number, "fault": outcome.fault, "said": outcome.text}), file=out, flush=True)


def lines_of(process: subprocess.Popen[bytes], limit: float) -> Iterator[dict[str, object] | None]:
    """Yield what a process says; None once it has said nothing for as long as the limit."""
    assert process.stdout is not None
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    rest = b""
    while True:
        if not selector.select(limit):
            yield None
            return
        more = os.read(process.stdout.fileno(), 1 << 16)
        if not more:
            return
        *whole, rest = (rest + more).split(b"\n")
        yield from (json.loads(line) for line in whole)


def run(kind: str, conduit: str, seed: int, count: int, limit: float) -> tuple[int, int]:
    """Run the cases of a kind on a conduit; return how many ended badly, and how many were refused."""
    bad = refused = 0
    number = 0
    while number < count:
        command = [
            sys.executable,
            str(Path(__file__).parent),
            "--serve",
            kind,
            "--conduit",
            conduit,
            "--seed",
            str(seed),
            "--from",
            str(number),
            "--count",
            str(min(number + CHUNK, count)),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            under_way: dict[str, object] | None = None
            hung = False
            for line in lines_of(process, limit):
                if line is None:
                    hung = True
                elif "text" in line:
                    under_way = line
                else:
                    number = int(str(line["number"])) + 1
                    if line["fault"] and under_way:
                        bad += 1
                        tell(kind, conduit, seed, {**under_way, **line})
                    elif line["said"]:
                        refused += 1
                    under_way = None
            if hung:
                os.killpg(process.pid, signal.SIGKILL)
        if under_way is not None:
            fault = "hang" if hung else f"crash, status {process.returncode}"
            bad += 1
            tell(kind, conduit, seed, {**under_way, "fault": fault, "said": ""})
            number = int(str(under_way["number"])) + 1
        elif process.returncode and not hung:
            raise SystemExit(f"{kind} {conduit}: the process of the cases ended with status {process.returncode}")
    return bad, refused


def tell(kind: str, conduit: str, seed: int, bad: dict[str, object]) -> None:
    """Print a case that ended badly, and how to run it again."""
    again = f"{kind} --seed {seed} --case {bad['number']}" + (f" --conduit {conduit}" if conduit else "")
    print(f"{bad['fault']}: {bad['text']}\n    {str(bad['said'])[-600:]}\n    again: {again}", flush=True)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="commands, overrides, calls, programs; all if left out")
    parser.add_argument("--count", type=int, default=2000, help="cases of a kind, of commands on each conduit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--conduit", action="append", default=[], help="of commands and programs; all if left out")
    parser.add_argument("--limit", type=float, default=40.0, help="seconds after which a case counts as hung")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--from", dest="first", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    conduit = (given.conduit or [""])[0]
    if given.serve:
        serve(given.serve, conduit, given.seed, given.first, given.count)
        return 0
    if wrong := set(given.kinds) - set(KINDS):
        parser.error(f"unknown kind {', '.join(sorted(wrong))}; allowed: {', '.join(KINDS)}")
    from random_use import cases

    if given.case is not None:
        case = cases.case(given.kinds[0], conduit, given.seed, given.case)
        print(case.text, flush=True)
        outcome = case.act()
        print(f"{outcome.fault or 'ended well'}: {outcome.text}")
        return 1 if outcome.fault else 0
    failed = False
    for kind in given.kinds or KINDS:
        conduits = given.conduit or list(cases.conduit_names())
        if kind in {"overrides", "calls"}:
            conduits = [""]
        if kind == "programs":
            conduits = [name for name in conduits if not name.startswith("raw@")]
        started = time.monotonic()
        count = given.count if kind != "programs" else -(-given.count // (4 * len(conduits)))
        ended = {name: run(kind, name, given.seed, count, given.limit) for name in conduits}
        bad = {name: number for name, (number, _) in ended.items() if number}
        refused = sum(number for _, number in ended.values())
        where = ", ".join(f"{name} {number}" for name, number in bad.items() if name)
        print(
            f"{kind}: {count * len(conduits)} cases on {len(conduits)} conduits, {refused} refused,"
            f" {sum(bad.values())} ended badly{f' ({where})' if where else ''},"
            f" {time.monotonic() - started:.0f} s",
            flush=True,
        )
        failed |= bool(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
