"""Look for the sizes at which curves of a sweep jump: which points to add, and what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from gasmeter.measuring.jumping import Sample, Search, raised_grain, search
from gasmeter.rows.direction import better
from gasmeter.rows.jumps import BisectedCurve, Jump
from gasmeter.rows.record import Record, Row
from gasmeter.rows.state import GOOD, worst
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.curves import MOST_ADDED, Family, families, of_size, place
from gasmeter.sweeps.point import Group, Point

__all__ = ["Bisection"]

# Some of `gasmeter.rows.state.STATES`. "noisy" is left out, because the interval shows it.
_UNRELIABLE = frozenset({"moved", "few blocks", "load"})


@dataclass
class _Looked:
    """Groups that differ only in the size (`Family`), and the state of the search for jumps among their sizes."""

    family: Family
    curves: tuple[Point, ...]  # one for each curve, at size 0: what all points of the curve share
    grain: int = 1
    refused: list[int] = field(default_factory=list)
    wanted: dict[int, set[str]] = field(default_factory=dict)  # by size: curves that need the size

    @property
    def room(self) -> int:
        return MOST_ADDED - len(self.family.groups) + len(self.family.asked)

    def taken(self, curves: Set[str], done: Mapping[str, Record]) -> list[int]:
        """Return the sizes for which all of these curves have rows."""
        sizes = []
        for size, group in self.family.groups.items():
            ran = {row["run_id"] for row in done[group.id].rows} if group.id in done else set()
            point_ids = {point.id for of, point in zip(self.curves, group.points, strict=True) if of.id in curves}
            if point_ids and point_ids <= ran:
                sizes.append(size)
        return sizes


class Bisection:
    """Search for jumps in a sweep: every curve that asks for it, one round of points after the other.

    The search has no state beyond the records, so that a resumed run measures the same points.
    """

    def __init__(self, groups: list[Group]) -> None:
        self._groups = groups
        self._looked = [_Looked(family, family.at(0).points) for family in families(groups)]

    def more(self, done: Mapping[str, Record]) -> list[Group]:
        """Add the next groups to the plan and return them; an empty list ends the search."""
        added: list[Group] = []
        for looked in self._looked:
            wanted: dict[int, set[str]] = {}
            for member, point in enumerate(looked.curves):
                for size, _, _ in self._search(looked, member, done)[0].wanted:
                    wanted.setdefault(size, set()).add(point.id)
            for size in sorted(wanted)[: looked.room]:
                looked.wanted[size] = wanted[size]
                added.append(looked.family.at(size))
                place(self._groups, looked.family, added[-1])
                looked.family.groups[size] = added[-1]
        return added

    def refuses(self, group: Group, record: Record, done: Mapping[str, Record]) -> bool:
        """Tell whether a kernel refused an added size, and drop it from the plan.

        False for sizes that were asked for.
        """
        if not group.added:
            return False
        size, ran = group.points[0].size_bytes, {row["run_id"] for row in record.rows}
        lacking = {of_size(point, 0).id for point in group.points if point.id not in ran}
        for looked in self._looked:
            added_group = looked.family.groups.get(size)
            if added_group is not None and added_group.id == group.id and (refusing := lacking & looked.wanted[size]):
                del looked.family.groups[size]
                self._groups.remove(added_group)
                looked.refused.append(size)
                looked.grain = raised_grain(looked.grain, looked.refused, looked.taken(refusing, done))
                return True
        return False

    def curves(self, done: Mapping[str, Record]) -> list[BisectedCurve]:
        """Return every curve once, with its jumps; leave out curves whose search ended early and located none."""
        by_name: dict[str, BisectedCurve] = {}
        for looked in self._looked:
            for member, point in enumerate(looked.curves):
                state, rows, relied = self._search(looked, member, done)
                jumps = [(jump.before.size, jump.after.size, jump.left) for jump in state.found]
                if looked.room <= 0:
                    reason = f"not narrowed: {MOST_ADDED} sizes were added, the most"
                    jumps += [(before.size, after.size, reason) for _, before, after in state.wanted]
                elif state.wanted and not jumps:
                    continue
                if rows:
                    undecided = sorted((before.size, after.size) for before, after in state.undecided)
                    by_name.setdefault(
                        point.id, _curve(point, looked.family, rows, relied, jumps=sorted(jumps), undecided=undecided)
                    )
        return list(by_name.values())

    @staticmethod
    def _search(looked: _Looked, member: int, done: Mapping[str, Record]) -> tuple[Search, dict[int, Row], set[int]]:
        """Return the progress of a curve's search, its rows by size, and the sizes with reliable rows."""
        rows, samples = {}, {}
        for size, group in looked.family.groups.items():
            record = done.get(group.id)
            row = _row(group.points[member], record) if record is not None else None
            if row is not None:
                rows[size] = row
                if (sample := _sample(row)) is not None:
                    samples[size] = sample
        state = search(samples, looked.family.asked, looked.family.share, grain=looked.grain, tried=rows)
        return state, rows, set(samples)


def _row(point: Point, record: Record) -> Row | None:
    """Return the row of a point's first metric."""
    metric = point.declared_op.metrics[0].name
    rows = (row for row in record.rows if row["run_id"] == point.id and not row["reference"])
    return next((row for row in rows if row["metric"] == metric), None)


def _sample(row: Row) -> Sample | None:
    """Return a point of a curve of times; None if its row is not reliable."""
    time = _as_time(row)
    value = time(row["value"])
    if row["state"] in _UNRELIABLE or row["verified"] is Verified.FALSE or not (math.isfinite(value) and value > 0):
        return None
    ends = sorted(time(row[name]) for name in ("ci_low", "ci_high"))
    low, high = ends if all(map(math.isfinite, ends)) else (value, value)
    return Sample(row["size_bytes"], value, low, high, row["host_state_ns"])


def _as_time(row: Row) -> Callable[[float], float]:
    """Return the factor or inverse that turns a row's value into a time: a rate becomes the time of one operation."""
    if better(row["metric"], row["unit"]) != "bigger":
        return lambda value: value
    amount = row["size_bytes"] if row["unit"] == "B/s" else 1
    return lambda value: amount / value if value else math.nan


def _curve(
    point: Point, family: Family, rows: Mapping[int, Row], relied: Set[int], *,
    jumps: Sequence[tuple[int, int, str]], undecided: Sequence[tuple[int, int]],
) -> BisectedCurve:  # fmt: skip
    """Return a curve with its jumps."""
    row = next(iter(rows.values()))
    words = [point.describe()]
    words += [f"seed {point.seed}"] if point.seed != 1 else []
    words += [f"repetition {point.repetition}"] if point.repetition else []
    return BisectedCurve(
        name=", ".join(words),
        metric=row["metric"],
        unit=row["unit"],
        share=family.share,
        points=sum(size in relied for size in family.asked),
        added=sum(size in relied and size not in family.asked for size in rows),
        jumps=tuple(_jump(rows[low], rows[high], left) for low, high, left in jumps),
        undecided=tuple(undecided),
        passed_over=sum(size in rows and size not in relied for size in family.asked),
        unchecked=sum(rows[size]["verified"] is Verified.NOT_CHECKED for size in relied),
    )


def _jump(before: Row, after: Row, left: str) -> Jump:
    state = worst([before["state"], after["state"]]) or GOOD
    return Jump(before["size_bytes"], after["size_bytes"], before["value"], after["value"], left, state)
