"""Check `verified` against faults: a build that plants them below the endpoint must come out unverified everywhere.

    python tests/checks/mutants.py [--quick] [--work DIR] [--only WORD]

The script builds the package with GASMETER_MUTANTS into an environment of its own (DIR), and runs the C++ tests of the
faults. Then it measures every kernel, op and variant of the catalogue on real, modelled and raw networks. The first run
has no fault and must verify; each further run has one fault. A fault befalls every second or third operation of a rank
(cpp/gasmeter/base/mutants.hpp describes each). A hang, an error and a crash count as caught. With --quick the script
measures a spread of points: every kernel and op once, every fault on every kind of conduit.

The script prints the outcome of each point and fault, the faults that change nothing with their reason, and the faults
that are not caught. Status 1 if there is one of the last. Needs a C++ compiler and minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
import venv
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MUTANTS = {
    "drop": "drop:2",
    "double": "double:2",
    "misplace": "misplace:2",
    "corrupt": "corrupt:2",
    "first": "first",
    "early": "early:2",
    "stale": "stale:3",
    "local": "local:2",
    "barrier": "barrier:2",
}
"""Value of GASMETER_MUTANT for each fault."""
CONDUITS = ("smp", "udp", "mpi", "ideal", "extoll")
"""Beside every raw network of the catalogue."""
QUICK_CONDUITS = ("smp", "udp", "ideal", "extoll", "raw@sci")
"""Conduits of the quick points; each fault has to be planted on each of them but for `NOT_ON`."""
NOT_ON = {("local", "raw@sci"), ("double", "raw@sci")}
"""A raw program reports no local completion, and a card's transfers come to the same when they are done twice."""
QUICK_ON = {
    "direct": ("smp",),
    "simulator am": ("ideal", "extoll"),
    "simulator random-put": ("raw@fabric",),
    "simulator ping-pong": ("raw@fabric",),
    "simulator fetch-add": ("raw@fabric",),
}
"""Conduits of quick points by variant, or kernel and op, that run on no others."""
QUICK_NETWORKS = "shm;udp;ethernet;ideal;extoll;sci;fabric"
"""Folders of cpp/gasmeter/networks that the quick points need."""
SIZES = (8, 4096)
TABLES = {"put-get": 1024 * 1024}
"""Bytes of random-access's table by variant: races of put-get are rare in a large one, a message is much in a small."""
UPDATES = {"put-get": 2000}
"""Updates of a rank in a block by variant, otherwise 40000: by the benchmark's rules one word in 100 may be wrong."""
LIMIT_S = 4.0
"""Seconds after which a point counts as hung; ten times as many without a fault."""
QUICK_LIMIT_S = 1.5
SLOWER = 4.0
"""A point counts as hung that takes so many times as long as without a fault, if that is more."""
PATIENCE_S = 240.0
"""Seconds of silence after which a process is killed that answers no signal: a fault may have overwritten its stack."""
OPTIONS = {"immediate": {"messages": "64", "sleep": "20"}}
"""Options of kernels whose exchange takes seconds by default."""
FLOWS: tuple[dict[str, str], ...] = ({}, {"window": "4"}, {"packed": "false"})
"""Flows of random-access by messages; a raw program that lacks one refuses it, and the point is left out."""
CAUGHT = {"wrong", "hang", "error", "crash"}
TIMED_BARRIERS = {"barrier", "named-barrier", "hot-spot"}
"""Operations whose time holds a barrier."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a point: its state in a word, the number of planted faults, the text of an error, and the seconds."""

    state: str
    planted: int = 0
    message: str = ""
    seconds: float = 0.0


def out_of_scope(mutant: str, point: dict[str, str], plain: Outcome) -> str:
    """Return the reason why a fault cannot change a point's row; empty if it can."""
    kernel, op = point["kernel"], point["op"]
    if plain.state == "not_checked":
        return "the row says not_checked"
    times_barriers = kernel == "stressmark" or (
        kernel in {"barrier", "collective", "fetch-add"} and op in TIMED_BARRIERS
    )
    if mutant == "barrier" and not times_barriers:
        return "barriers stand around what is timed"
    raw = point["conduit"].startswith("raw@") and point["conduit"] != "raw@shm"
    if mutant == "double" and raw and op in {"am-medium", "am-long"} and kernel in {"ping-pong", "flood"}:
        by_put = point["conduit"] in {
            "raw@ibv",
            "raw@gm",
            "raw@sci",
            "raw@portals",
            "raw@extoll",
            "raw@aries",
            "raw@lapi",
        }
        if by_put:
            return "the card writes the same bytes twice to one place"
    return ""


# ---- in the environment that plants


def points() -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the points to measure, each with its key."""
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
                            planned = plan_series(series)
                        except UsageError:
                            continue
                        yield name, planned[0].points[0]


def spread(everything: list[tuple[dict[str, str], Any]]) -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the quick points: each kernel, op and variant on one conduit in turn, some of them on all."""
    kinds: dict[tuple[str, str, str], list[tuple[dict[str, str], Any]]] = defaultdict(list)
    for name, point in everything:
        if name["conduit"] in QUICK_ON.get(name["variant"] or f"{name['kernel']} {name['op']}", QUICK_CONDUITS):
            kinds[name["kernel"], name["op"], name["variant"]].append((name, point))
    for number, ((kernel, op, _), candidates) in enumerate(kinds.items()):
        on_all = (kernel, op) in {("flood", "put"), ("flood", "am-long"), ("barrier", "barrier")}
        turn = number % len(candidates)
        for at, candidate in enumerate(candidates):
            if at == turn or (on_all and candidate[0]["size"] != str(SIZES[1])):
                yield candidate


def verdict(pools: Any, point: Any) -> str:
    """Measure a point; return the word of its verification."""
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


def measure(wanted: dict[str, float] | None, only: str, quick: bool) -> None:
    """Print one line of JSON for each point. `wanted` holds the seconds of each point without a fault."""
    import gasmeter.measuring.runner  # noqa: F401 - loads much, before the clock runs
    from gasmeter.errors import GasmeterError, UsageError
    from gasmeter.measuring.sessions import WorkerPools

    limit_s = QUICK_LIMIT_S if quick else LIMIT_S
    limit_s *= 1 if os.environ["GASMETER_MUTANT"] else 10
    log = Path(os.environ["GASMETER_MUTANT_LOG"])
    log.write_bytes(b"")

    class OverTime(Exception):
        pass

    def over(*_: object) -> None:
        raise OverTime

    signal.signal(signal.SIGALRM, over)
    pools = WorkerPools()
    everything = list(points())
    for name, point in spread(everything) if quick else everything:
        key = json.dumps(name)
        if only not in key or (wanted is not None and key not in wanted):
            continue
        error_text = ""
        print(json.dumps({"name": name}), flush=True)
        before = log.stat().st_size
        signal.setitimer(signal.ITIMER_REAL, max(limit_s, SLOWER * (wanted or {}).get(key, 0.0)))
        started = time.monotonic()
        try:
            state = verdict(pools, point)
        except OverTime:
            state = "hang"
        except (GasmeterError, UsageError) as error:
            state, error_text = "error", str(error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if state in {"hang", "error"}:
            pools.drop()
        outcome = Outcome(state, log.stat().st_size - before, error_text, time.monotonic() - started)
        print(json.dumps({"name": name, "outcome": asdict(outcome)}), flush=True)
    pools.close()


# ---- in any environment


def build(work: Path, quick: bool) -> Path:
    """Install the package that plants faults, and build the tests of the faults; return its Python.

    Its flags are others than the package's, so that a compiler's cache has objects of earlier builds like it alone.
    """
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(work / "venv", with_pip=True, system_site_packages=True)
    defines = ["-DGASMETER_MUTANTS=ON", "-DGASMETER_TESTS=ON"]
    if quick:
        defines.append(f"-DGASMETER_NETWORKS={QUICK_NETWORKS}")
    arguments = shlex.join([*shlex.split(os.environ.get("CMAKE_ARGS", "")), *defines])
    environment = {**os.environ, "CMAKE_ARGS": arguments, "SKBUILD_BUILD_DIR": str(work)}
    targets = "_core;gasmeter-rank;gasmeter-probe;gasmeter-fault-tests"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--config-settings", f"build.targets={targets}", ROOT],
        check=True,
        env=environment,
    )
    return python


def run(
    python: Path, mutant: str, work: Path, wanted: dict[str, float] | None, given: argparse.Namespace
) -> dict[str, Outcome]:
    """Measure every point with a fault; return the outcomes by name. After a crash, go on behind that point."""
    started = time.monotonic()
    outcomes: dict[str, Outcome] = {}
    left = wanted
    while run_once(python, mutant, work, left, given, outcomes):
        left = {key: seconds for key, seconds in (left or {}).items() if key not in outcomes}
    counted = Counter(outcome.state for outcome in outcomes.values())
    summary = ", ".join(f"{number} {state}" for state, number in sorted(counted.items()))
    print(f"{mutant or 'no fault':9} {time.monotonic() - started:4.0f} s  {summary}", flush=True)
    return outcomes


def run_once(
    python: Path,
    mutant: str,
    work: Path,
    wanted: dict[str, float] | None,
    given: argparse.Namespace,
    outcomes: dict[str, Outcome],
) -> bool:
    """Add what one process finds; return whether it died of a fault, which is noted at the point it died in."""
    command = [str(python), __file__, "--measure", "--only", given.only, *(["--quick"] if given.quick else [])]
    if wanted is not None:
        listed = work / f"points.{mutant}.json"
        listed.write_text(json.dumps(wanted), encoding="utf-8")
        command += ["--points", str(listed)]
    log = work / f"planted.{mutant or 'none'}"
    environment = {**os.environ, "GASMETER_MUTANT": MUTANTS.get(mutant, ""), "GASMETER_MUTANT_LOG": str(log)}
    last = ""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        watchdog = threading.Timer(PATIENCE_S, job.kill)
        watchdog.start()
        for line in job.stdout or ():
            watchdog.cancel()
            watchdog = threading.Timer(PATIENCE_S, job.kill)
            watchdog.start()
            entry = json.loads(line)
            last = json.dumps(entry["name"])
            if "outcome" in entry:
                outcomes[last] = Outcome(**entry["outcome"])
        watchdog.cancel()
    if job.returncode and (wanted is None or last in outcomes or not last):
        raise SystemExit(f"{mutant or 'no fault'}: the measuring process ended with status {job.returncode}")
    if job.returncode:
        outcomes[last] = Outcome("hang" if job.returncode == -signal.SIGKILL else "crash", 1)
    return bool(job.returncode)


def children_s() -> float:
    """Return the CPU time of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def described(name: dict[str, str]) -> str:
    """Return a point in words."""
    what = " ".join(filter(None, (name["kernel"], name["op"], name["variant"], name["flow"])))
    return f"{what:38} {name['conduit']:12} {name['size']:>7}"


def report(plain: dict[str, Outcome], outcomes: dict[str, dict[str, Outcome]]) -> list[str]:
    """Print the table and the faults that change nothing; return the faults that were not caught."""
    reasons: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    missed: list[str] = []
    print(f"\n{'kernel op variant':38} {'conduit':12} {'size':>7} " + " ".join(f"{each:11}" for each in outcomes))
    for key, as_it_is in plain.items():
        name = json.loads(key)
        cells = []
        for mutant, of_points in outcomes.items():
            reason = out_of_scope(mutant, name, as_it_is)
            outcome = of_points.get(key, Outcome("not run", 1))
            if not reason and outcome.planted == 0 and outcome.state not in CAUGHT - {"hang"}:
                reason = "it has no operation that the fault can befall, none was planted"
            if reason:
                reasons[reason][mutant].add(f"{name['kernel']} {name['op']}")
                cells.append("-")
            elif outcome.state in CAUGHT:
                cells.append(outcome.state)
            else:
                cells.append(outcome.state.upper())
                missed.append(f"{mutant:9} {described(name)}  {outcome.state}, {outcome.planted} faults planted")
        print(f"{described(name)} " + " ".join(f"{cell:11}" for cell in cells))
    print("\n-: it changes nothing")
    for reason, kinds_of in sorted(reasons.items()):
        print(f"  {reason}:")
        for mutant, kinds in kinds_of.items():
            print(f"    {mutant:9} {', '.join(sorted(kinds))}")
    return missed


def not_planted(outcomes: dict[str, dict[str, Outcome]]) -> list[str]:
    """Return the faults that were planted nowhere on a conduit of the quick points."""
    lacking = []
    for mutant, conduit in itertools.product(MUTANTS, QUICK_CONDUITS):
        planted = any(
            outcome.planted for key, outcome in outcomes[mutant].items() if json.loads(key)["conduit"] == conduit
        )
        if not planted and (mutant, conduit) not in NOT_ON:
            lacking.append(f"{mutant:9} was planted nowhere on {conduit}")
    return lacking


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="of the build: build/mutants, or build/quick-mutants")
    parser.add_argument("--python", type=Path, help="of an environment that plants already")
    parser.add_argument("--only", default="", help="points whose name holds this")
    parser.add_argument("--quick", action="store_true", help="a spread of points, in two minutes")
    parser.add_argument("--faults", default=",".join(MUTANTS), help="of these names alone")
    parser.add_argument("--jobs", type=int, default=2, help="processes that measure at a time")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--points", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        wanted = json.loads(given.points.read_text(encoding="utf-8")) if given.points else None
        measure(wanted, given.only, given.quick)
        return 0
    given.work = given.work or ROOT / "build" / ("quick-mutants" if given.quick else "mutants")
    given.work.mkdir(parents=True, exist_ok=True)
    if given.python is None:
        given.python = build(given.work, given.quick)
        subprocess.run([given.work / "tests" / "cpp" / "gasmeter-fault-tests"], check=True)
    before = children_s()
    everything = run(given.python, "", given.work, None, given)
    sound = {key: each for key, each in everything.items() if each.state in {"verified", "not_checked"}}
    for key, each in everything.items():
        if each.state == "error":
            print(f"left out: {described(json.loads(key))}  {each.message}")
    broken = [f"without a fault: {described(json.loads(key))}  {each.state}"
              for key, each in everything.items() if each.state in {"wrong", "hang"}]  # fmt: skip
    asked = [mutant for mutant in MUTANTS if mutant in given.faults.split(",")]
    with ThreadPoolExecutor(given.jobs) as measuring:
        wanted_by = {
            m: {k: each.seconds for k, each in sound.items() if not out_of_scope(m, json.loads(k), each)} for m in asked
        }
        jobs = {m: measuring.submit(run, given.python, m, given.work, wanted_by[m], given) for m in asked}
        outcomes = {mutant: job.result() for mutant, job in jobs.items()}
    missed = report(sound, outcomes)
    if not given.only and len(asked) == len(MUTANTS):
        missed += not_planted(outcomes)
    used_s = children_s() - before
    print(f"\n{len(sound)} points, {len(asked)} faults, {used_s:.0f} s of CPU; not caught: {len(missed)}")
    for line in [*missed, *broken]:
        print(f"  {line}")
    return 1 if missed or broken or not sound else 0


if __name__ == "__main__":
    sys.exit(main())
