"""Progress of a sweep, and the time that it still takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gasmeter.sweeps.point import Group
from gasmeter.sweeps.sweep import estimated_seconds

__all__ = ["Beside", "Clock", "Progress", "label"]


@dataclass(frozen=True)
class Progress:
    """Progress of a sweep."""

    done: int  # points
    total: int  # points
    seconds_left: float  # estimate, scaled by the time that finished groups took; NaN if unknown
    label: str  # current work
    share_done: float = math.nan  # finished share of the estimated time, 0 to 1; NaN if only points are counted

    @property
    def percent(self) -> int:
        """Whole per cent done, of the estimated time or of the points."""
        share = self.share_done if not math.isnan(self.share_done) else self.done / max(self.total, 1)
        return int(100 * share)


class Beside(Protocol):
    """Work that is no point; workers of modelled groups do it between points."""

    @property
    def label(self) -> str:
        """Name of the work, for people."""

    @property
    def seconds(self) -> float:
        """Estimated duration in seconds."""

    def run(self) -> None:
        """Do the work; its exception ends the sweep."""

    def stop(self) -> None:
        """End the work early, or keep it from beginning."""


class Clock:
    """Estimate the time left from the plan, corrected by the time that finished groups took."""

    def __init__(
        self, groups: Sequence[Group], beside: Sequence[Beside], tell: Callable[[Progress], None] | None
    ) -> None:
        self._tell = tell
        self._total = sum(len(group.points) for group in groups)
        self._left_s = estimated_seconds(groups) + sum(task.seconds for task in beside)
        self._planned_s = self._done = 0.0
        self._started = time.monotonic()

    def add(self, groups: Sequence[Group]) -> None:
        """Count groups that were added after the beginning."""
        self._total += sum(len(group.points) for group in groups)
        self._left_s += estimated_seconds(groups)

    def begin(self, what: Group | Beside) -> None:
        """Report work that begins."""
        self._report(label(what))

    def end(self, what: Group | Beside) -> None:
        """Report work that is done."""
        seconds = estimated_seconds([what]) if isinstance(what, Group) else what.seconds
        self._left_s, self._planned_s = self._left_s - seconds, self._planned_s + seconds
        self._done += len(what.points) if isinstance(what, Group) else 0
        self._report(label(what))

    def _report(self, text: str) -> None:
        if self._tell is None:
            return
        passed = time.monotonic() - self._started
        pace = passed / self._planned_s if self._planned_s > 0 else 1.0
        left_s = max(self._left_s, 0.0)
        all_s = self._planned_s + left_s
        share = self._planned_s / all_s if all_s > 0 else math.nan
        self._tell(Progress(int(self._done), self._total, left_s * pace, text, share))


def label(what: Group | Beside) -> str:
    """Return a few words for people that name the current work."""
    if not isinstance(what, Group):
        return what.label
    return f"{'bisecting: ' if what.added else ''}{what.points[-1].describe()}"
