"""Lowers the default table of random-access to what the segments of a modelled conduit hold."""

from __future__ import annotations

from collections.abc import Iterable

from gasmeter.arguments.sizes import format_size
from gasmeter.catalogue import core
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Point

__all__ = ["fitted"]

_WORD = 8


def fitted(points: Iterable[Point]) -> tuple[tuple[Point, ...], str]:
    """Give compared points the largest table that all of them can hold, at most the default.

    The points run random-access with the default table. The text is a note for the reader, empty if all have the
    default.
    """
    given = tuple(points)
    size, cause = given[0].size_bytes, ""
    for point in given:
        most = _largest_segment(point)
        while most is not None and _share(size, point.ranks) > most and size > _WORD * point.ranks:
            size //= 2
            cause = f"{point.conduit} holds at most {format_size(most)} in the segment of a rank"
    if not cause:
        return given, ""
    lowered = tuple(
        Point(**{**{name: getattr(point, name) for name in Point.model_fields}, "size_bytes": size}) for point in given
    )
    asked = format_size(given[0].size_bytes)
    return lowered, f"{given[0].kernel}: table of {format_size(size)} in place of the default of {asked}: {cause}"


def _share(size: int, ranks: int) -> int:
    """Return the bytes of the rank that holds most of a table."""
    return -(-size // _WORD // ranks) * _WORD


def _largest_segment(point: Point) -> int | None:
    """Return the bytes that a rank's segment may have; None on a real conduit."""
    if not point.declared_conduit.virtual:
        return None
    machine = machine_of(point)
    values = {**(machine.values() if machine else {}), **({"placement": point.placement} if point.placement else {})}
    return int(
        core().ModelJob.largest_segment(
            kernel=point.kernel, op=point.op, conduit=point.conduit, size_bytes=point.size_bytes, ranks=point.ranks,
            options=dict(point.options), machine=values,
        )
    )  # fmt: skip
