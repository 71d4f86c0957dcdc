"""Holds `verified` against faults: a build that plants them in what is timed must come out unverified everywhere.

    python tests/mutants.py [--work DIR] [--only WORD]

Builds the package with GASMETER_MUTANTS into an environment of its own (DIR, build/mutants), measures every kernel, op
and variant on real conduits, on modelled ones and on every raw network, as the catalogue has them: first as they are,
which has to verify, then with every second or third operation dropped, done twice, misplaced or corrupted. Nothing but
drops is repaired by anybody, so that a hang, an error and a crash count as found. Prints a table of it, with the pairs
that are out of scope and why; status 1 if anything wrong came out as verified. Needs a C++ compiler and minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MUTANTS = ("drop", "double", "misplace", "corrupt")
CONDUITS = ("smp", "udp", "mpi", "ideal", "extoll")
"""Beside every raw network of the catalogue."""
SIZES = (8, 4096)
TABLES = {"put-get": 1024 * 1024}
"""Of random-access, by variant: races of put-get are rare in a large one; of a small one a message is much."""
UPDATES = {"put-get": 2000}
"""Of a rank in a block, by variant, in others 40000: one word in a hundred may be wrong by the benchmark's rules."""
LIMIT_S = 4.0
"""After which a point counts as hung; ten times that without a mutant."""
OPTIONS = {"immediate": {"messages": "64", "sleep": "20"}}
"""As given, an exchange takes seconds."""

EVERY = {"stressmark": 3}
"""Which operations a fault is planted in, by kernel, of others every second: ranks of one process are counted together,
and where two of them take turns every second operation is one rank's, and may be one that decides nothing."""

FLOWS: tuple[dict[str, str], ...] = ({}, {"window": "4"}, {"packed": "false"})
"""Of random-access by messages; a raw program that has not one of them refuses it, and the point is left out."""


CARDS = {"raw@extoll", "raw@ibv", "raw@gm", "raw@lapi", "raw@sci", "raw@portals", "raw@aries"}
"""Raw networks whose puts and gets are a card's own."""
WRITTEN = {"raw@shm", "raw@ibv", "raw@gm", "raw@sci", "raw@portals"}
"""Raw networks whose messages are written to where their receiver looks."""


def out_of_scope(mutant: str, point: dict[str, str]) -> str:
    """Return why a mutant changes nothing in a point; empty if it does."""
    kernel, op, conduit = point["kernel"], point["op"], point["conduit"]
    if op == "empty":
        return "polls that find nothing move nothing: their rows say not_checked"
    if op == "call":
        return "an empty call moves nothing: its rows say not_checked"
    barrier = kernel == "barrier" or op in {"barrier", "named-barrier"}
    short = op in {"am-short", "found"} and (not conduit.startswith("raw@") or conduit == "raw@shm")
    if mutant in {"misplace", "corrupt"} and (barrier or short):
        return "nothing is carried that could be changed"
    if mutant == "double" and op.startswith("np-"):
        return "a prepared message is committed once"
    if mutant == "double" and (barrier or stores(point)):
        return "done twice it comes to the same"
    return ""


def stores(point: dict[str, str]) -> bool:
    """Return whether an operation leaves memory as it is when it is done twice."""
    op, conduit = point["op"], point["conduit"]
    if point["kernel"] in {"vis", "local-completion", "collective", "stressmark"} or op in {"put", "get"}:
        # Of raw programs over messages a put is one; what comes twice is then taken for the next.
        return not conduit.startswith("raw@") or conduit == "raw@shm" or conduit in CARDS
    if point["kernel"] in {"ping-pong", "flood"}:
        by_rma = op == "am-medium" and int(point["size"]) > SIZES[0] and conduit == "raw@extoll"
        long_put = op == "am-long" and conduit in {"raw@extoll", "raw@aries", "raw@lapi"}
        return conduit in WRITTEN or by_rma or long_put
    return point["variant"] == "put-get"


# ---- in the environment that plants


def points() -> Iterator[tuple[dict[str, str], Any]]:
    """Yield what is measured: what names it, and the point."""
    import gasmeter as gm
    from gasmeter.catalogue import catalogue
    from gasmeter.errors import UsageError
    from gasmeter.sweeps.sweep import plan_series

    entry = catalogue()
    for kernel in entry.kernels.values():
        for conduit in (*CONDUITS, *(f"raw@{network}" for network in kernel.raw)):
            raw = conduit.startswith("raw@")
            for op in kernel.ops:
                for variant in ("",) if raw or not kernel.variants else kernel.variants:
                    updates = kernel.name == "random-access"
                    sizes = (TABLES.get(variant, 4096),) if updates else SIZES if op.sized else (0,)
                    flows = FLOWS if updates and variant in {"", "am"} else ({},)
                    for size, flow in itertools.product(sizes, flows):
                        name = {"kernel": kernel.name, "op": op.name, "variant": variant, "conduit": conduit,
                                "size": str(size), "flow": ",".join(f"{key}={flow[key]}" for key in flow)}  # fmt: skip
                        try:
                            given = {"variant": variant} if variant else {}
                            given |= {"sizes": str(size)} if size else {}
                            series = gm.Series(
                                kernel=kernel.name, conduit=conduit, op=op.name,
                                options=OPTIONS.get(kernel.name, {}) | flow, **given,
                            )  # fmt: skip
                            found = plan_series(series)
                        except UsageError:
                            continue
                        yield name, found[0].points[0]


def verdict(pools: Any, point: Any) -> str:
    """Measure a point; return what its verification says."""
    from gasmeter.catalogue import catalogue
    from gasmeter.measuring.runner import mpi_of
    from gasmeter.measuring.sessions import ModelSession, RealSession
    from gasmeter.rows.verified import Verified

    entry = catalogue()
    if entry.conduit(point.conduit, entry.kernel(point.kernel)).virtual:
        session: Any = ModelSession(point)
    else:
        session = RealSession(pools.get(point.ranks, mpi=mpi_of(point)), point)
    few = UPDATES.get(point.variant, 40_000) if point.kernel == "random-access" else 2
    session.block(few)
    first = session.verify()
    session.block(2 * few + 1)
    last = session.verify()
    session.close()
    if Verified.FALSE in {first.verified, last.verified}:
        return "wrong"
    return "verified" if last.verified is Verified.TRUE else "not_checked"


def measure(wanted: set[str] | None, only: str) -> None:
    """Print one line of JSON for each point."""
    import gasmeter.measuring.runner  # noqa: F401 - loads much, before the clock runs
    from gasmeter.errors import GasmeterError, UsageError
    from gasmeter.measuring.sessions import WorkerPools

    limit_s = LIMIT_S if os.environ["GASMETER_MUTANT"] else 10 * LIMIT_S

    class OverTime(Exception):
        pass

    def over(*_: object) -> None:
        raise OverTime

    signal.signal(signal.SIGALRM, over)
    pools = WorkerPools()
    for name, point in points():
        key = json.dumps(name)
        if only not in key or (wanted is not None and key not in wanted):
            continue
        said = ""
        print(json.dumps({"name": name}), flush=True)
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        try:
            found = verdict(pools, point)
        except OverTime:
            found = "hang"
        except (GasmeterError, UsageError) as error:
            found, said = "error", str(error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if found in {"hang", "error"}:
            pools.drop()
        print(json.dumps({"name": name, "found": found, "said": said}), flush=True)
    pools.close()


# ---- in any environment


def build(work: Path) -> Path:
    """Install the package that plants; return its Python."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(work / "venv", with_pip=True, system_site_packages=True)
    arguments = f"{os.environ.get('CMAKE_ARGS', '')} -DGASMETER_MUTANTS=ON"
    environment = {**os.environ, "CMAKE_ARGS": arguments, "SKBUILD_BUILD_DIR": str(work / "cmake")}
    subprocess.run([python, "-m", "pip", "install", "--quiet", ROOT], check=True, env=environment)
    return python


def planted_in(mutant: str, key: str) -> str:
    """Return what GASMETER_MUTANT is for a point."""
    return f"{mutant}:{EVERY.get(json.loads(key)['kernel'], 2)}" if mutant else ""


def planted_ways(mutant: str) -> list[str]:
    """Return what GASMETER_MUTANT is for one point or another."""
    return [f"{mutant}:{every}" for every in sorted({2, *EVERY.values()})] if mutant else [""]


def run(python: Path, mutant: str, work: Path, wanted: list[str] | None, only: str) -> dict[str, str]:
    """Measure every point with a mutant; return what was found by name. What died goes on behind that point."""
    started = time.monotonic()
    found: dict[str, str] = {}
    for planted in planted_ways(mutant):
        left = None if wanted is None else [key for key in wanted if planted_in(mutant, key) == planted]
        while run_once(python, planted, work, left, only, found):
            left = [key for key in left or () if key not in found]
    print(f"{mutant or 'none':9} {len(found):4} points, {time.monotonic() - started:.0f} s", flush=True)
    return found


def run_once(python: Path, mutant: str, work: Path, wanted: list[str] | None, only: str, found: dict[str, str]) -> bool:
    """Add what one process finds; return whether it died of a fault, which is noted at the point it died in."""
    command = [str(python), __file__, "--measure", "--only", only]
    if wanted is not None:
        listed = work / f"points.{mutant.replace(':', '.')}.json"
        listed.write_text(json.dumps(wanted), encoding="utf-8")
        command += ["--points", str(listed)]
    environment = {**os.environ, "GASMETER_MUTANT": mutant}
    last = ""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        for line in job.stdout or ():
            entry = json.loads(line)
            last = json.dumps(entry["name"])
            if "found" in entry:
                found[last] = entry["found"]
    if job.returncode and (wanted is None or last in found or not last):
        raise SystemExit(f"{mutant or 'no mutant'}: the measuring process ended with status {job.returncode}")
    if job.returncode:
        found[last] = "crash"
    return bool(job.returncode)


def report(plain: dict[str, str], found: dict[str, dict[str, str]]) -> int:
    """Print the table; return how many wrong ones came out as verified."""
    reasons: dict[str, set[str]] = defaultdict(set)
    missed = 0
    print(f"\n{'kernel op variant':38} {'conduit':12} {'size':>6} " + " ".join(f"{each:11}" for each in MUTANTS))
    for key in plain:
        name = json.loads(key)
        cells = []
        for mutant in MUTANTS:
            reason = out_of_scope(mutant, name)
            outcome = found[mutant].get(key, "nothing")
            if reason:
                reasons[reason].add(f"{mutant} {name['kernel']} {name['op']}")
                cells.append("-")
            elif outcome in {"wrong", "hang", "error", "crash"}:
                cells.append(outcome)
            else:
                missed += 1
                cells.append(outcome.upper())
        what = " ".join(filter(None, (name["kernel"], name["op"], name["variant"], name["flow"])))
        print(f"{what:38} {name['conduit']:12} {name['size']:>6} " + " ".join(f"{cell:11}" for cell in cells))
    print("\n-: out of scope")
    for reason, pairs in sorted(reasons.items()):
        print(f"  {reason}: {', '.join(sorted(pairs))}")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--python", type=Path, help="of an environment that plants already")
    parser.add_argument("--only", default="", help="points whose name holds this")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--points", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(set(json.loads(given.points.read_text(encoding="utf-8"))) if given.points else None, given.only)
        return 0
    given.work.mkdir(parents=True, exist_ok=True)
    python = given.python or build(given.work)
    everything = run(python, "", given.work, None, given.only)
    sound = {key: each for key, each in everything.items() if each in {"verified", "not_checked"}}
    broken = [key for key, each in everything.items() if each in {"wrong", "hang"}]
    for key in broken:
        print(f"without a mutant {everything[key]}: {key}")
    found = {
        mutant: run(
            python, mutant, given.work, [k for k in sound if not out_of_scope(mutant, json.loads(k))], given.only
        )
        for mutant in MUTANTS
    }
    missed = report(sound, found)
    print(f"\n{len(sound)} points; {missed} wrong ones verified" + (f"; {len(broken)} broken ones" if broken else ""))
    return 1 if missed or broken or not sound else 0


if __name__ == "__main__":
    sys.exit(main())
