"""Curves over sizes: groups of a sweep that differ only in their size, and sizes to add between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gasmeter.errors import UsageError
from gasmeter.sweeps.point import Group, Point
from gasmeter.sweeps.series import Series

__all__ = ["FEWEST_SIZES", "MOST_ADDED", "Family", "check_bisect", "families", "of_size", "place"]

FEWEST_SIZES = 3
"""Sizes of the shortest curve with a trend."""

MOST_ADDED = 64
"""Most sizes that are added to a curve."""


@dataclass
class Family:
    """Groups that differ only in the size, which all points of a group share."""

    share: float  # relative step that counts as a jump
    groups: dict[int, Group] = field(default_factory=dict)  # by size
    asked: tuple[int, ...] = ()  # sizes that were asked for

    @property
    def most_added(self) -> int:
        """Most sizes that may still be added."""
        return min(MOST_ADDED, max(self.asked) - min(self.asked) + 1 - len(self.asked))

    def at(self, size: int) -> Group:
        """Return the group at another size, to be left out if the kernel refuses that size."""
        like = next(iter(self.groups.values()))
        points = tuple(of_size(point, size) for point in like.points)
        # Made anew, since a copy would keep the identity.
        return Group(
            points=points, reference=like.reference, reference_name=like.reference_name, compare=like.compare,
            clip=True, bisect=self.share, added=True,
        )  # fmt: skip


def of_size(point: Point, size: int) -> Point:
    """Return the same point at another size in bytes; 0 gives the key that all sizes of a curve share."""
    return Point(**{**point.model_dump(), "size_bytes": size})


def families(groups: Iterable[Group]) -> list[Family]:
    """Return the curves of a plan that are searched for jumps, in the order of their first groups, each once.

    Sizes that another series asks for belong to the curve, too; the smallest of several shares counts. Operations
    without sizes have no curve.
    """
    by_key: dict[tuple[object, ...], Family] = {}
    for group in groups:
        if not _sized(group):
            continue
        like = tuple(of_size(point, 0).id for point in group.points)
        family = by_key.setdefault((like, group.reference, group.reference_name, group.compare), Family(math.inf))
        size = group.points[0].size_bytes
        family.groups[size] = group
        family.asked += (size,)
        family.share = min(family.share, math.inf if group.bisect is None else group.bisect)
    return [family for family in by_key.values() if family.share < math.inf]


def place(groups: list[Group], family: Family, added: Group) -> None:
    """Insert a group into the plan before the next larger size of its curve."""
    larger = min(size for size in family.groups if size > added.points[0].size_bytes)
    at = next(at for at, group in enumerate(groups) if group.id == family.groups[larger].id)
    # Axes that vary faster than the size have a group for each size.
    while at > 0 and _beside(groups[at - 1], groups[at]):
        at -= 1
    groups.insert(at, added)


def _beside(earlier: Group, other: Group) -> bool:
    first, second = earlier.points[0], other.points[0]
    return (first.kernel, first.op, first.size_bytes) == (second.kernel, second.op, second.size_bytes)


def _sized(group: Group) -> bool:
    sizes = {point.size_bytes for point in group.points}
    return len(sizes) == 1 and all(point.declared_op.sized for point in group.points)


def check_bisect(series: Series, groups: Sequence[Group]) -> None:
    """Raise UsageError if a series asks for a bisection and no operation of it has sizes, or too few."""
    if series.bisect is None:
        return
    if any(len({point.size_bytes for point in group.points}) > 1 for group in groups):
        raise UsageError(
            "bisect: against a size; allowed: against what is measured at every size, for instance a conduit", "bisect"
        )
    curves = families(groups)
    if not curves:
        ops = ", ".join(dict.fromkeys(point.op for group in groups for point in group.points))
        raise UsageError(
            f"bisect: op {ops} of kernel {series.kernel} has no sizes; allowed: ops with sizes (see `gasmeter list"
            " kernels`)", "bisect",
        )  # fmt: skip
    fewest = min(len(curve.asked) for curve in curves)
    if fewest < FEWEST_SIZES:
        given = "1 size is no curve" if fewest == 1 else f"{fewest} sizes are no curve"
        raise UsageError(f"bisect: {given}; allowed: {FEWEST_SIZES} sizes or more, for instance 8:4K", "bisect")
