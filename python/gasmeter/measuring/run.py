"""How an experiment is run: where its rows go, what runs beside it, and who is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.measuring.pace import Beside, Progress
from gasmeter.measuring.runner import Runner
from gasmeter.rows.record import Record
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.point import Group

__all__ = ["Run"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Settings of a run of an experiment; UsageError for `jobs` or `starts` out of range, or `resume` without `out`."""

    out: str | Path | None = None  # folder of the store; None keeps the rows in memory
    quick: bool = False  # shorter axes and budgets
    replace: Mapping[str, str] = field(default_factory=dict)  # axis values that replace the experiment's
    jobs: int = 1  # modelled groups that run at the same time
    resume: bool = False  # continue what the folder already holds
    runner: Runner | None = None  # None makes one whose workers end with the run
    progress: Callable[[Progress], None] | None = None  # callback before and after every group
    origin: Mapping[str, Any] = field(default_factory=dict)  # origins of options, for run.json
    bare: bool = False  # write no summary.md, report.html and plots, and raise the first refusal
    # Measure real points that often, each time with new workers, as repetitions 0 to starts - 1; 0: as planned.
    starts: int = 0
    revision: str = ""  # revision under measurement, for run.json
    # Points that may copy rows (`taking_over`), each with its donor: the same point on another variant of the machine.
    donors: Mapping[str, str] = field(default_factory=dict)
    beside: Sequence[Beside] = ()  # other work for the workers of modelled groups, once no real group is measured
    planned: Sequence[Group] = ()  # the experiment's plan, if the caller has one already
    unstored: bool = False  # continue without the store if its disk is full; `Result.unstored` says why

    def __post_init__(self) -> None:
        """Refuse settings with which no plan can be executed."""
        if self.jobs < 1:
            raise UsageError(f"jobs {self.jobs} is not allowed; allowed: 1 or more", str(self.jobs))
        if self.resume and self.out is None:
            raise UsageError("resume needs the folder to continue; allowed: out=FOLDER (--out)", "resume")
        if self.starts < 0:
            raise UsageError(f"starts {self.starts} is not allowed; allowed: 0 or more", str(self.starts))

    def groups(self, experiment: Experiment) -> list[Group]:
        """Return the groups to measure in order; with `starts` round after round.

        Modelled groups are measured once, as virtual time repeats itself.
        """
        if self.planned:
            return list(self.planned)
        if self.starts == 0:
            return experiment.groups(quick=self.quick, replace=self.replace)
        if any(entry.bisect is not None for entry in experiment.series) or any("bisect" in key for key in self.replace):
            # Each start would add other sizes, so that nothing could be compared.
            raise UsageError(f"starts {self.starts} with bisect is not allowed; allowed: one of them", str(self.starts))
        series = tuple(entry.replaced({"repetitions": self.starts}) for entry in experiment.series)
        groups = experiment.model_copy(update={"series": series}).groups(quick=self.quick, replace=self.replace)
        wanted = [group for group in groups if group.points[0].repetition == 0 or not group.modelled]
        return sorted(wanted, key=lambda group: group.points[0].repetition)

    def lent(self, groups: Sequence[Group]) -> dict[str, Group]:
        """Return groups of one point whose rows others may copy, by the id of the group that copies."""
        single = {group.points[0].id: group for group in groups if len(group.points) == 1}
        return {
            single[point].id: single[donor]
            for point, donor in self.donors.items()
            if point in single and donor in single
        }

    def tell(self, groups: Sequence[Group], done: Mapping[str, Record], text: str) -> None:
        """Show progress: the last point that is done, then `text`, the work that goes on now."""
        if self.progress is not None:
            measured = sum(len(group.points) for group in groups if group.id in done)
            self.progress(Progress(measured, sum(len(group.points) for group in groups), math.nan, text))
