"""Measure speed and memory of virtual time: `python experiments/engine_speed.py [--quick] [--out DIR]`.

`--against PYTHON` compares with the build that this interpreter has installed. Both take turns, one process each a
turn. The program prints the median of the turns' ratios and its 95 % interval. Older builds have fewer modules, so
modules for tables and stores are imported where they are needed.

Every line runs in a process of its own. A rate is simulated messages per second of CPU time on one thread, with finite
buffers, credits, contention and statistics: the median of blocks with its 95 % interval. The line of two threads
compares the wall clock of alternating blocks. Memory is private resident memory that the job added.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import gasmeter as gm
from gasmeter import statistics
from gasmeter.catalogue import core
from gasmeter.rows.verified import Verified

NAME = "engine_speed"
OUTSTANDING = 16
"""Of the kernel: puts of a rank under way at a time."""
FABRIC = ("raw@fabric", "fabric")
EXTOLL = ("extoll", "extoll")
GM = ("gm", "gm-marenostrum")
POINTER = {"words": "64", "capacity": "unlimited", "near": "remote"}
"""Of the stressmark: short chains over the whole array."""


class Job:
    """A kernel on modelled nodes, open."""

    def __init__(
        self,
        op: str,
        ranks: int,
        topology: str,
        *,
        on: tuple[str, str] = FABRIC,
        threads: int = 1,
        per_node: int = 1,
        kernel: str = "simulator",
        buffers: int | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        conduit, name = on
        machine = gm.machine(name).with_(topology=topology, ranks_per_node=f"{per_node} ranks")
        if buffers is not None:
            machine = machine.with_(**{"link.buffer": str(buffers)})
        self.ranks = ranks
        started = time.process_time()
        self._job = core().ModelJob(
            kernel=kernel,
            op=op,
            conduit=conduit,
            ranks=ranks,
            options={"threads": str(threads), **(options or {})},
            machine=machine.values(),
        )
        self.start_s = time.process_time() - started

    def block(self, iterations: int) -> dict[str, float]:
        """Run a block; its metrics, with the wall clock and the CPU time it took."""
        started, used = time.perf_counter(), time.process_time()
        reply = self._job.block(iterations)
        return {**reply, "wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used}

    def verify(self) -> None:
        """Raise if the data are wrong."""
        reply = self._job.verify()
        if not reply["verified"]:
            raise SystemExit(f"{reply['errors']} of {reply['checked']} data are wrong")


def _told(values: Sequence[float], scale: float = 1.0) -> tuple[float, float, float]:
    found = statistics.median_interval(list(values))
    return found.median * scale, found.low * scale, found.high * scale


def rate(job: Job, messages: int, blocks: int) -> tuple[float, float, float]:
    """Return messages per CPU second: median and interval."""
    iterations = max(1, messages // job.ranks)
    job.block(iterations)
    rates = [job.block(iterations)["metric.rate"] for _ in range(blocks)]
    job.verify()
    return _told(rates)


def memory(ranks: int, topology: str) -> tuple[float, float, float]:
    """Return bytes per rank once every rank has had all the puts outstanding that it may have."""
    job = Job("random-put", ranks, topology)
    value = job.block(2 * OUTSTANDING)["metric.memory_per_rank"]
    job.verify()
    return value, value, value


def start(ranks: int, topology: str) -> tuple[float, float, float]:
    """Return CPU seconds until every rank waits for its first command."""
    return _told([Job("random-put", ranks, topology).start_s for _ in range(statistics.FEWEST_BLOCKS)])


def barrier(ranks: int, topology: str, blocks: int) -> tuple[float, float, float]:
    """Return CPU seconds of one barrier of all ranks, a node each: what blocks of 5 take more than those of 1."""
    job = Job("barrier", ranks, topology, on=EXTOLL, kernel="barrier")
    job.block(1)
    taken = [(job.block(1)["cpu_s"], job.block(5)["cpu_s"]) for _ in range(blocks)]
    job.verify()
    return _told([(five - one) / 4 for one, five in taken])


def threads(ranks: int, topology: str, messages: int, blocks: int) -> tuple[float, float, float]:
    """Return the wall clock of one thread over that of two."""
    one, two = Job("random-put", ranks, topology), Job("random-put", ranks, topology, threads=2)
    iterations = max(1, messages // ranks)
    pairs = [(one.block(iterations)["wall_s"], two.block(iterations)["wall_s"]) for _ in range(blocks + 1)]
    one.verify()
    two.verify()
    return _told([a / b for a, b in pairs[1:]])


def _rate(
    op: str, ranks: int, topology: str, messages: int, **how: object
) -> Callable[[int, int], tuple[float, float, float]]:
    def measured(share: int, blocks: int) -> tuple[float, float, float]:
        return rate(Job(op, ranks, topology, **how), messages // share, blocks)  # type: ignore[arg-type]

    return measured


def shared_gets(cache: str, other: Job, share: int, blocks: int) -> tuple[float, float, float]:
    """Return shared GETs a second of CPU time of 512 ranks on GM over `other`'s messages, of blocks that alternate."""
    gets = Job("pointer", 512, "fat-tree:8x3", on=GM, per_node=4, kernel="stressmark",
               options={**POINTER, "cache": cache})  # fmt: skip
    # A rank needs many GETs until all nodes are in its cache, and 512 GETs are few for a block.
    gets.block(600 if cache == "on" else 20)
    iterations = max(20, 200 // share)
    other.block(iterations)
    rates = [[job.ranks * iterations / job.block(iterations)["cpu_s"] for job in (gets, other)] for _ in range(blocks)]
    gets.verify()
    other.verify()
    return _told([of_gets / of_other for of_gets, of_other in rates])


class Line(NamedTuple):
    """What is measured, its unit, what is asked in that (`-`: nothing), and its figure's factor for it."""

    what: str
    unit: str
    asked: str
    scale: float
    measured: Callable[[int, int], tuple[float, float, float]]


LINES: Sequence[Line] = (
    Line(
        "random 64 B puts, 512 ranks, torus3d:8x8x8",
        "M/s",
        ">= 1.5",
        1e-6,
        _rate("random-put", 512, "torus3d:8x8x8", 300_000),
    ),
    Line(
        "... with buffers of 2 packets", "M/s", "-", 1e-6, _rate("random-put", 512, "torus3d:8x8x8", 200_000, buffers=2)
    ),
    Line(
        "... 2048 ranks, torus3d:16x16x8", "M/s", ">= 0.8", 1e-6, _rate("random-put", 2048, "torus3d:16x16x8", 300_000)
    ),
    Line(
        "... 8192 ranks, torus3d:32x16x16",
        "M/s",
        ">= 0.35",
        1e-6,
        _rate("random-put", 8192, "torus3d:32x16x16", 300_000),
    ),
    Line(
        "... 65536 ranks, torus3d:64x32x32", "M/s", "-", 1e-6, _rate("random-put", 65536, "torus3d:64x32x32", 300_000)
    ),
    Line("2-rank ping-pong", "M/s", ">= 5", 1e-6, _rate("ping-pong", 2, "ring:2", 400_000)),
    Line("hot-spot fetch-add, 512 ranks", "M/s", ">= 0.7", 1e-6, _rate("fetch-add", 512, "torus3d:8x8x8", 100_000)),
    Line(
        "AM request and reply through the core on EXTOLL, 64 nodes x 8 ranks, torus3d:4x4x4",
        "M/s",
        ">= 0.5",
        1e-6,
        _rate("am", 512, "torus3d:4x4x4", 100_000, on=EXTOLL, per_node=8),
    ),
    Line("... 64 nodes x 1 rank", "M/s", "-", 1e-6, _rate("am", 64, "torus3d:4x4x4", 100_000, on=EXTOLL)),
    Line(
        "private memory of a raw rank with 16 puts outstanding, 8192 ranks",
        "KiB",
        "<= 8",
        1 / 1024,
        lambda *_: memory(8192, "torus3d:32x16x16"),
    ),
    Line("... 65536 ranks", "KiB", "<= 8", 1 / 1024, lambda *_: memory(65536, "torus3d:64x32x32")),
    Line("start of 8192 ranks", "s", "<= 0.1", 1.0, lambda *_: start(8192, "torus3d:32x16x16")),
    Line(
        "one barrier of 8192 ranks, a message in each of 13 rounds, on EXTOLL, torus3d:16x16x32",
        "s",
        "<= 0.5",
        1.0,
        lambda _, blocks: barrier(8192, "torus3d:16x16x32", blocks),
    ),
    Line(
        "two threads over one, wall clock, 512 ranks",
        "x",
        ">= 1.5",
        1.0,
        lambda share, blocks: threads(512, "torus3d:8x8x8", 300_000 // share, blocks),
    ),
    Line(
        "... 2048 ranks",
        "x",
        ">= 1.5",
        1.0,
        lambda share, blocks: threads(2048, "torus3d:16x16x8", 300_000 // share, blocks),
    ),
    Line(
        "shared GETs by the cache of addresses (Pointer), 128 nodes x 4 ranks on GM, over random puts of 512 ranks",
        "x",
        ">= 0.5",
        1.0,
        lambda share, blocks: shared_gets("on", Job("random-put", 512, "torus3d:8x8x8"), share, blocks),
    ),
    Line(
        "shared GETs without the cache, 128 nodes x 4 ranks on GM, over AM request and reply on EXTOLL",
        "x",
        ">= 0.7",
        1.0,
        lambda share, blocks: shared_gets("off", Job("am", 512, "torus3d:4x4x4", on=EXTOLL, per_node=8), share, blocks),
    ),
)


METRICS = {"M/s": ("rate", "1/s", 1.0), "KiB": ("memory_per_rank", "B", 1.0), "s": ("latency", "ns", 1e9),
           "x": ("speedup", "ratio", 1.0)}  # fmt: skip
"""By the unit of a line: metric and unit of its row, and what its figure is multiplied by for it."""


HEADS = ("| simulation | median | 95 % interval | limit | reached |", "|---|---|---|---|---|")


def row_of(number: int, figure: tuple[float, float, float], blocks: int) -> dict[str, object]:
    """Return a line as a row of results.csv."""
    from gasmeter.rows.record import COLUMNS

    what = LINES[number].what
    metric, rows_unit, factor = METRICS[LINES[number].unit]
    value, low, high = (factor * part for part in figure)
    named: dict[str, object] = {
        "experiment": NAME, "kernel": "simulator", "op": f"line {number}", "kind": "measured", "label": "measured",
        "nodes": 1, "ranks": 1, "oversubscribed": False, "size_bytes": 0, "semantics": what, "verified": Verified.TRUE,
        "metric": metric, "unit": rows_unit, "value": value, "ci_low": low, "ci_high": high, "p50": value, "n": blocks,
        "repetition": 0, "seed": 1, "run_id": hashlib.sha256(f"{number} {what}".encode()).hexdigest()[:16],
    }  # fmt: skip
    missing = {"min": math.nan, "p99": math.nan, "host_state_ns": math.nan}
    return {**dict.fromkeys(COLUMNS, ""), **missing, **named}


def publish(place: Path, table: Sequence[str], rows: Sequence[dict[str, object]]) -> None:
    """Write a store: rows, facts of this machine and build, and the table."""
    from gasmeter.library import this_build
    from gasmeter.measuring import context
    from gasmeter.rows.record import Record
    from gasmeter.stores.result import Result
    from gasmeter.stores.store import Store

    facts = {
        "started": context.now(), "command": context.command_line(), **context.measured_revision(""),
        "library": this_build(), "host": context.host_facts(), "versions": context.versions(),
    }  # fmt: skip
    store = Store(place, NAME, resume=False, run=facts)
    store.append(Record(group=hashlib.sha256(repr(rows).encode()).hexdigest()[:16], rows=list(rows)))
    text = "# Speed of the simulation\n\n" + "\n".join(table) + "\n"
    store.finish(Result(list(store.done.values()), name=NAME), "complete", text, plots=False)


def _figure(number: int, share: int, blocks: int) -> tuple[float, float, float]:
    return LINES[number].measured(share, blocks)


def told_as(line: Line, figure: tuple[float, float, float]) -> tuple[str, ...]:
    """Return the cells of a line of the table, as tables of other speeds have them."""
    from gasmeter.measuring.summary import verdict

    value, low, high = (line.scale * part for part in figure)
    limit = reached = "-"
    if line.asked != "-":
        least, bound = line.asked.startswith(">="), float(line.asked.split()[1])
        limit = f"{'≥' if least else '≤'} {bound:g} {line.unit}"
        target = gm.Target(line=line.what, at_least=bound if least else None, at_most=None if least else bound)
        reached = verdict(target, value, low, high)
    interval = f"{low:.3g} … {high:.3g}" if low != high else ""
    return (line.what, f"{value:.3g} {line.unit}", interval, limit, reached)


def _alone(number: int, share: int, blocks: int) -> tuple[float, float, float]:
    """Return the figure of a line, measured in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        found: tuple[float, float, float] = process.apply(_figure, (number, share, blocks))
    return found


def measure(share: int, blocks: int, out: Path | None) -> None:
    """Print every line; write the store."""
    table = [*HEADS]
    print("\n".join(table), flush=True)
    rows = []
    for number, line in enumerate(LINES):
        figure = _alone(number, share, blocks)
        table.append(f"| {' | '.join(told_as(line, figure))} |")
        rows.append(row_of(number, figure, blocks))
        print(table[-1], flush=True)
    if out:
        publish(out, table, rows)


def compare(other: str, share: int, turns: int) -> None:
    """Print of every line but memory and threads how many times as fast it is as with the other interpreter's build."""

    def taken(python: str, number: int) -> float:
        command = [python, __file__, "--line", str(number), "--share", str(share)]
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        except OSError as error:
            raise SystemExit(f"--against {python}: {error.strerror}") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.strip().splitlines() or [f"ended with {error.returncode}"]
            raise SystemExit(f"{python} does not measure {LINES[number].what}: {said[-1]}") from None
        found: float = json.loads(done.stdout)
        return found

    print("| simulation | times as fast | 95 % interval |\n|---|---|---|", flush=True)
    for number, line in enumerate(LINES):
        if line.unit not in ("M/s", "s"):
            continue
        ratios = []
        for turn in range(turns):
            order = (sys.executable, other) if turn % 2 else (other, sys.executable)
            figures = {python: taken(python, number) for python in order}
            own, others = figures[sys.executable], figures[other]
            ratios.append(own / others if line.unit == "M/s" else others / own)
        value, low, high = _told(ratios)
        print(f"| {line.what} | {value:.3g} | {low:.3g} to {high:.3g} |", flush=True)


def main() -> None:
    """Measure every line and print the table, or compare with another build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the messages, six blocks or turns")
    parser.add_argument("--out", type=Path, help="folder of the store: results.csv, run.json, summary.md")
    parser.add_argument("--against", metavar="PYTHON", help="the interpreter of another build to compare with")
    parser.add_argument("--line", type=int, help=argparse.SUPPRESS)  # of compare(): one line's median, in its unit
    parser.add_argument("--share", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    share, blocks = (10, 6) if given.quick else (1, 11)
    if given.line is not None:
        print(json.dumps(_figure(given.line, given.share, statistics.FEWEST_BLOCKS)[0]))
    elif given.against:
        compare(given.against, share, blocks)
    else:
        measure(share, blocks, given.out)


if __name__ == "__main__":
    main()
