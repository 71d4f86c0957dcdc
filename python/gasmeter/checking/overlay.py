"""Modelled lines over measured curves: their points, and their error at each."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gasmeter.checking.curves import Curve, Curves, Line, LinePart
from gasmeter.machines.check_row import in_si
from gasmeter.machines.machine import Machine
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series

__all__ = ["Laid", "LaidPoint", "laid_over", "line_series"]

_SECONDS = 0.05
"""Estimated seconds of a point, for progress."""


@dataclass(frozen=True)
class LaidPoint:
    """A point of a curve and the value of a line."""

    size: int  # bytes
    published: float  # in the unit of the curve
    modelled: float  # in the unit of the curve
    run_id: str = ""  # run_id of the row behind the modelled value

    @property
    def error(self) -> float:
        """Modelled minus published value, in per cent of the published one."""
        return 100 * (self.modelled / self.published - 1)


@dataclass(frozen=True)
class Laid:
    """A line over a curve."""

    line: Line
    curve: Curve
    points: tuple[LaidPoint, ...] = ()  # points of the curve at which the line has a value, ascending
    missing: tuple[int, ...] = field(default=())  # bytes of points that the machine refused

    @property
    def median(self) -> float:
        """The median error in per cent, signs kept."""
        return statistics.median(point.error for point in self.points)

    @property
    def largest(self) -> LaidPoint:
        """The point with the largest error of either sign, the first of several."""
        return max(self.points, key=lambda point: abs(point.error))

    @property
    def beyond(self) -> tuple[LaidPoint, ...]:
        """Points at which the line is no bound though meant as one; none for lines of equality."""
        return tuple(point for point in self.points if not self.line.bounded(point.modelled, point.published))


def line_series(content: Curves, installed: Machine) -> list[Series]:
    """Return the series that give every line a value at the points of a machine's curves; none without curves."""
    about = content.about(installed)
    series = []
    for line in content.lines:
        line_sizes = {size for curve in about if curve.id in line.over for size, _ in curve.points}
        for part in line.parts:
            if sizes := sorted(size for size in line_sizes if part.has(size)):
                series.append(_series(line, part, sizes, installed))
    return series


def laid_over(rows: Iterable[Mapping[str, Any]], content: Curves, installed: Machine) -> list[Laid]:
    """Return every line over every curve of a machine, by curve and line, without those that run at no point."""
    values = {(row["run_id"], row["metric"]): row for row in rows if not row["reference"]}
    laid = []
    for curve in content.about(installed):
        scale = in_si(content.group(curve).unit)[1]
        for line in (line for line in content.lines if curve.id in line.over):
            ids = _points(line, [size for size, _ in curve.points], installed)
            points, missing = [], []
            for size, published in (point for point in curve.points if point[0] in ids):
                row = values.get((ids[size], line.metric))
                if row is None:
                    missing.append(size)
                    continue
                measured = float(row["value"]) * in_si(row["unit"])[1]
                points.append(LaidPoint(size, published, line.value(size, measured) / scale, ids[size]))
            if ids:
                laid.append(Laid(line, curve, tuple(points), tuple(missing)))
    return laid


def _points(line: Line, sizes: Sequence[int], installed: Machine) -> dict[int, str]:
    """Return the identities of a line's points by their bytes."""
    series = [
        _series(line, part, part_sizes, installed)
        for part in line.parts
        if (part_sizes := [size for size in sizes if part.has(size)])
    ]
    return {
        point.size_bytes: point.id for entry in series for group in plan_series(entry) for point in group.points
    }  # fmt: skip


def _series(line: Line, part: LinePart, sizes: Sequence[int], installed: Machine) -> Series:
    return Series(
        kernel=line.kernel,
        op=(part.op,),
        conduit=(line.conduit,),
        sizes=tuple(sizes),
        ranks=(2,),
        placement=("one-per-node",),
        options=dict(line.options),
        machine=(installed.label,),
        iterations=part.iterations,
        blocks=1,
        time_s=_SECONDS,
    )
