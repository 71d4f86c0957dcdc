"""Run the conformance suite, the program `gasmeter-conformance`: rules of GASNet-EX on each conduit.

The program is compiled from ``tests/conformance`` and comes with the package on request only: it would double the time
of an installation.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gasmeter
from gasmeter.diagnosis.doctor import mpis
from gasmeter.environment.installed import worker_binary
from gasmeter.errors import EnvironmentLacks, GasmeterError, UsageError

__all__ = ["PROGRAM", "Broken", "Counts", "Family", "Part", "Suite", "conformance_program", "plan_suite", "run_suite"]

PROGRAM = "gasmeter-conformance"

_MPI_RANKS = (2, 3)
_MPI_FLAGS = {"openmpi": ("--oversubscribe", "--bind-to", "none")}
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_CASE = re.compile(r"(?:FAILED: out of time in .*: |FAILED )(\w+)")
_ASK_S = 30
_S_PER_RUN = 0.03


@dataclass
class Counts:
    """Outcomes of runs of cases."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums."""
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True)
class Broken:
    """A case that failed on a kind of job."""

    family: str
    job: str  # empty if the program ended on its way
    case: str  # may be empty if the program ended on its way
    said: tuple[str, ...]  # reasons, one line each


@dataclass
class Family:
    """A kind of jobs that was run."""

    name: str  # as the program names it; ``mpi-openmpi`` over a real MPI
    conduit: str  # conduit under test
    jobs: list[str] = field(default_factory=list)  # each once
    groups: dict[str, Counts] = field(default_factory=dict)  # by group of rules
    seconds: float = 0.0  # seconds of all its runs together


@dataclass
class Suite:
    """Results of the conformance suite."""

    program: Path
    build: dict[str, Any]  # ``version, compiler, build_type, sanitizers, checked``
    cases: dict[str, str]  # group of each case
    families: list[Family] = field(default_factory=list)  # in the order they ran
    broken: list[Broken] = field(default_factory=list)  # failed cases
    notes: list[str] = field(default_factory=list)  # omitted families, with the reason

    @property
    def failed(self) -> bool:
        """Whether any case failed."""
        return bool(self.broken)

    @property
    def checked(self) -> bool:
        """Whether the program was built to diagnose misuse."""
        return bool(self.build.get("checked"))

    @property
    def groups(self) -> list[str]:
        """Groups of rules, in alphabetical order."""
        return sorted({*self.cases.values(), *(name for family in self.families for name in family.groups)})

    def counts(self, group: str, conduit: str) -> Counts:
        """Return the outcome counts of a group's runs on a conduit; all zero without runs."""
        counts = (family.groups.get(group, Counts()) for family in self.families if family.conduit == conduit)
        return sum(counts, Counts())


def conformance_program() -> Path:
    """Return the conformance program.

    It is ``GASMETER_CONFORMANCE`` if set, else the file beside the worker program, else the newest in a build folder of
    the source tree. Raises UsageError if the variable names no program, EnvironmentLacks (with advice) if there is
    none.
    """
    given = os.environ.get("GASMETER_CONFORMANCE")
    if given:
        path = Path(given)
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UsageError(f"GASMETER_CONFORMANCE={given} is no program; allowed: the path of a {PROGRAM}", given)
        return path
    try:
        beside = worker_binary().parent
        programs = [
            path for path in (beside / PROGRAM, beside / "tests" / "cpp" / "conformance" / PROGRAM) if path.is_file()
        ]
    except GasmeterError:
        programs = []
    if not programs:
        source = Path(gasmeter.__path__[0]).resolve().parents[1]
        programs = sorted(source.glob(f"build/*/tests/**/{PROGRAM}"), key=lambda path: -path.stat().st_mtime)
    if not programs:
        raise EnvironmentLacks(
            f"{PROGRAM} is missing; install it from the source tree with"
            " `pip install . -C cmake.define.GASMETER_CONFORMANCE=ON` (and -C cmake.build-type=Debug for a build that"
            " diagnoses misuse), or name one with GASMETER_CONFORMANCE=PATH"
        )
    return programs[0]


class Part:
    """A process of the suite: a family, or part `share` of its runs.

    `more` extends the environment; `runs` counts the cases if the program tells.
    """

    def __init__(
        self, family: Family, command: Sequence[str], more: Mapping[str, str] | None = None,
        share: tuple[int, int] = (1, 1), runs: int = 0,
    ) -> None:  # fmt: skip
        self.family = family
        self.share = share
        self._command, self._more = tuple(command), dict(more or {})
        self.seconds = runs * _S_PER_RUN
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._done: subprocess.CompletedProcess[str] | None = None

    @property
    def label(self) -> str:
        """Name of the part, for people."""
        number, of = self.share
        return f"the conformance suite, {self.family.name}{f' ({number} of {of})' if of > 1 else ''}"

    def run(self) -> None:
        """Run the process and keep its output; a stopped part does not begin."""
        try:
            with self._guard:
                if self._stopped:
                    return
                self._process = subprocess.Popen(
                    self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                    env={**os.environ, **self._more},
                )  # fmt: skip
        except OSError as error:  # it has answered before, so that only this run has failed
            self._done = subprocess.CompletedProcess(self._command, 126, "", str(error))
            return
        with self._process as process:
            try:
                out, err = process.communicate()
            except BaseException:
                process.kill()
                raise
        self._done = subprocess.CompletedProcess(self._command, process.returncode, out, err)

    def stop(self) -> None:
        """End the process, which another thread runs or would run."""
        with self._guard:
            self._stopped = True
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()

    def tell(self, suite: Suite) -> None:
        """Add the results of this process to a suite; nothing if it has not run."""
        if self._done is None:
            return
        before = len(suite.broken)
        for entry in _entries(self._done.stdout):
            _add(suite, self.family, entry)
        if self._done.returncode != 0 and len(suite.broken) == before:
            _died(suite, self.family, self._done)


def plan_suite(
    program: Path, conduits: Sequence[str] | None = None, *, most_runs: int | None = None
) -> tuple[Suite, list[Part]]:
    """Return an empty suite of some conduits, and its processes in the order of their reports.

    Without names, all conduits except those on a network of their own (``CONDUIT@NETWORK``) are taken. Families in
    virtual time with more than `most_runs` runs are shared among processes. All other families are one process each, as
    their ranks need the processors. Raises UsageError if no family tests one of the conduits, EnvironmentLacks if the
    program cannot run.
    """
    listed = [json.loads(line) for line in _ask(program, "--json", "--list").splitlines()]
    all_conduits = list(dict.fromkeys(str(entry["conduit"]) for entry in listed))
    if conduits is None:
        conduits = [name for name in all_conduits if "@" not in name]
    for conduit in conduits:
        if conduit not in all_conduits:
            raise UsageError(
                f"conduit {conduit!r} has no conformance family; allowed: {', '.join(all_conduits)}", conduit
            )
    suite = Suite(program, json.loads(_ask(program, "--json", "--version")), {})
    for line in _ask(program, "--json", "--list-cases").splitlines():
        case = json.loads(line)
        suite.cases[case["case"]] = case["group"]
    wanted = [entry for entry in listed if entry["conduit"] in conduits or not conduits]
    parts = [part for entry in wanted if "family" in entry for part in _shares(program, entry, most_runs)]
    for entry in wanted:
        if "launched" in entry:
            parts += _over_mpis(suite, entry["launched"], entry["conduit"])
    suite.families = list({id(part.family): part.family for part in parts}.values())
    return suite, parts


def run_suite(
    program: Path, conduits: Sequence[str] | None = None, progress: Callable[[str], None] | None = None
) -> Suite:
    """Run the families of some conduits one after the other.

    `progress` gets the name of each family before it runs. A program that dies or hangs has failed; its earlier results
    count. Raises as `plan_suite`.
    """
    suite, parts = plan_suite(program, conduits)
    for part in parts:
        if progress is not None:
            progress(part.family.name)
        part.run()
        part.tell(suite)
    return suite


def _shares(program: Path, entry: Mapping[str, Any], most_runs: int | None) -> list[Part]:
    """Return the processes of a family."""
    family, runs = Family(str(entry["family"]), str(entry["conduit"])), int(entry["runs"])
    of = max(1, -(-runs // most_runs)) if most_runs is not None and entry["kind"] == "virtual" else 1
    if of == 1:
        return [Part(family, [str(program), "--json", family.name], runs=runs)]
    return [
        Part(family, [str(program), "--json", "--part", f"{number}/{of}", family.name], share=(number, of),
             runs=runs // of)
        for number in range(1, of + 1)
    ]  # fmt: skip


def _over_mpis(suite: Suite, network: str, conduit: str) -> list[Part]:
    """Return the cases over each MPI library found for a network, started by its own launcher (mpiexec)."""
    folder, launchers = mpis()
    if not launchers:
        suite.notes.append(f"{conduit}: no MPI was found when this was built; its matched messages ran in memory alone")
    parts = []
    for name, launcher in launchers.items():
        if not launcher:
            suite.notes.append(f"{conduit}: {name} has no mpiexec here and was not run")
            continue
        given_launcher = os.environ.get("GASMETER_MPIEXEC")
        words = shlex.split(given_launcher) if given_launcher else [launcher, *_MPI_FLAGS.get(name, ())]
        family = Family(f"{network}-{name}", conduit)
        for ranks in _MPI_RANKS:
            command = [*words, "-n", str(ranks), str(suite.program), "--json", f"--{network}", name]
            parts.append(Part(family, command, {"GASMETER_MPI_PLUGINS": str(folder), **_ROOT}))
    return parts


def _ask(program: Path, *words: str) -> str:
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacks(f"{program} cannot be run: {error}") from error
    if done.returncode != 0:
        raise EnvironmentLacks(f"{program} {' '.join(words)} ended with status {done.returncode}; is it a {PROGRAM}?")
    return done.stdout


def _entries(text: str) -> Iterator[dict[str, Any]]:
    """Yield the reports of each run; a launcher may print lines of its own."""
    for line in text.splitlines():
        if not line.startswith('{"family"'):
            continue
        try:
            yield json.loads(line)
        except ValueError:
            continue  # cut off when the program died, which its status shows


def _add(suite: Suite, family: Family, entry: Mapping[str, Any]) -> None:
    job = str(entry["job"])
    if job not in family.jobs:
        family.jobs.append(job)
    counts = family.groups.setdefault(entry["group"], Counts())
    family.seconds += float(entry["ms"]) / 1000
    if entry["state"] == "failed":
        failures = tuple(map(str, entry["failures"]))
        same = [
            broken
            for broken in suite.broken
            if (broken.family, broken.job, broken.case) == (family.name, job, entry["case"])
        ]
        if same:  # another rank of a job over MPI reported it, too
            return
        suite.broken.append(Broken(family.name, job, str(entry["case"]), failures))
        counts.failed += 1
    elif entry["state"] == "skipped":
        counts.skipped += 1
    else:
        counts.passed += 1


def _died(suite: Suite, family: Family, done: subprocess.CompletedProcess[str]) -> None:
    """Note that a program ended on its way: out of time, by a signal, or refused by its launcher."""
    lines = [line for line in done.stderr.splitlines() if line.strip(" -=*")]
    case = next(
        (match.group(1) for line in lines if (match := _CASE.search(line)) and match.group(1) in suite.cases), ""
    )
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    suite.broken.append(Broken(family.name, "", case, (f"ended with {how}", *lines[-3:])))
    family.groups.setdefault(suite.cases.get(case, "not finished"), Counts()).failed += 1
