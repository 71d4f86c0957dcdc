"""Facts of a run for run.json: who asked for what, where and when, and which gasmeter measured it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gasmeter import library
from gasmeter.environment.limits import cpus
from gasmeter.errors import GasmeterError
from gasmeter.measuring import context
from gasmeter.measuring.host import Watch, told_against
from gasmeter.measuring.probe import probe_digest
from gasmeter.measuring.resolved import defaults_of
from gasmeter.measuring.run import Run
from gasmeter.measuring.self_overhead import KEY, RANKS, SelfOverhead, is_timed
from gasmeter.measuring.sessions import WorkerPools
from gasmeter.measuring.summary import summarise_run
from gasmeter.rows.pictures import embedded, picture_facts
from gasmeter.rows.record import Record
from gasmeter.stores.result import Result
from gasmeter.stores.store import save_result
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Group

__all__ = ["AboutRun"]

_MOST_POINTS = 2000  # limit of the points that run.json describes


@dataclass(frozen=True)
class AboutRun:
    """Facts of a run beside its rows. A result keeps them, so that it can be saved later."""

    experiment: Experiment
    groups: Sequence[Group]  # the plan
    run: Run  # its settings
    started: str = field(default_factory=context.now)  # time of the start
    watch: Watch = field(default_factory=Watch)  # the host since the start
    at_end: dict[str, Any] = field(default_factory=dict)  # facts of the host that `end` read

    def save(self, result: Result, folder: Path) -> None:
        """Write the run folder of a result."""
        save_result(result, folder, self.runs, self.summary(result), lambda drawn: self.page(result, drawn, folder))

    def end(self, result: Result) -> str:
        """Read the host at the end of the run; return its complaints in one line, empty if it has none."""
        self.at_end.update(self.watch.ended(result.rows))
        return told_against(self.watch.facts | self.at_end, cpus(), starts=self.run.starts)

    def measure_own(self, pools: WorkerPools, records: Iterable[Record]) -> None:
        """Measure the overhead of the tool itself if a clock timed any record; without workers it stays unknown."""
        if is_timed(row for entry in records for row in entry.rows):
            try:
                self.at_end[KEY] = SelfOverhead.measured(pools.get(RANKS)).facts()
            except GasmeterError:
                pools.drop()

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Facts of this single run, as they stand under ``runs`` of run.json."""
        return [facts | {"host": facts["host"] | self.at_end} | self.plan for facts in self._begun]

    @property
    def plan(self) -> dict[str, Any]:
        """Facts of a plan that has grown, with the sizes added to look for jumps."""
        if len(self.groups) == self._begun[0]["groups"]:
            return {}
        return {"groups": len(self.groups), "points": _points(self.groups)}

    @cached_property
    def _begun(self) -> list[dict[str, Any]]:
        return [
            {
                "started": self.started,
                "command": context.command_line(),
                **context.measured_revision(self.run.revision),
                "built_from": library.build_revision(),
                "library": library.this_build(),
                "quick": self.run.quick,
                "set": dict(self.run.replace),
                "resumed": self.run.resume,
                "starts": self.run.starts,
                "probe": probe_digest(),
                "options": dict(self.run.origin),
                "groups": len(self.groups),
                "points": _points(self.groups),
                "defaults": defaults_of(point for group in self.groups for point in group.points),
                "machines": _machines(self.groups),
                "host": context.host_facts() | self.watch.facts,
                "versions": context.versions(),
            }
        ]

    def summary(self, result: Result) -> str:
        """Return the Markdown text of summary.md."""
        return summarise_run(self.experiment, result)

    def page(self, result: Result, pictures: Sequence[Path], folder: Path) -> str:
        """Return report.html, which needs no other file and names no path above `folder`."""
        from gasmeter.measuring.page import run_html  # noqa: PLC0415 - loads what draws

        facts = picture_facts(result.name, result.rows, records=result.records, runs=result.runs, named=False)
        return embedded(run_html(self.experiment, result, pictures, folder).encode(), "html", facts).decode()


def _machines(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return the effective numbers of every machine that points run on, each once."""
    machines = (machine_of(point) for group in groups for point in group.points)
    return [entry.facts() for entry in {entry.label: entry for entry in machines if entry is not None}.values()]


def _points(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return the facts of every point, unless there are too many to read; rows have them, too."""
    points = [point for group in groups for point in group.points]
    return [point.model_dump() | {"run_id": point.id} for point in points] if len(points) <= _MOST_POINTS else []
