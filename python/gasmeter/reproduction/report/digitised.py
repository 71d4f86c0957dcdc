"""A reader's own points of a figure, taken from the printed page: a small CSV that is drawn beside what came out.

The file has the header ``figure,series,x,y``: the figure's number, a name of the reader's choice, processes, GUP/s::

    figure,series,x,y
    3,paper AM 2,16,0.0021
    3,paper AM 2,32,0.0040

Nothing is judged by these points, and no row depends on them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gasmeter.errors import UsageError

__all__ = ["HEADER", "Points", "read_digitised"]

HEADER = ("figure", "series", "x", "y")
"""Columns of the file, in this order."""

_MOST_BYTES = 1 << 20
_MOST_NAME = 80
_ALLOWED = "allowed: a CSV file with header figure,series,x,y, numbers above 0 in x and y (GUP/s)"


@dataclass(frozen=True)
class Points:
    """A series that a reader took from a figure."""

    figure: str  # number of the figure
    series: str  # name of the series
    points: tuple[tuple[float, float], ...]  # x and y, ascending in x


def read_digitised(path: Path, figures: Sequence[str]) -> tuple[Points, ...]:
    """Return a reader's points from a file, in its order.

    Raises UsageError with the line if the file cannot be read, has another header or figure, or a value that is no
    number above 0.
    """
    rows = list(csv.reader(_text(path).splitlines()))
    if not rows or tuple(cell.strip() for cell in rows[0]) != HEADER:
        given = ",".join(rows[0])[:_MOST_NAME] if rows else "nothing"
        raise UsageError(f"{path}: the header is {given!r}; {_ALLOWED}", str(path))
    by_series: dict[tuple[str, str], dict[float, float]] = {}
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        figure, series, x, y = _row(row, figures, f"{path}: line {number}")
        points = by_series.setdefault((figure, series), {})
        if x in points:
            raise UsageError(f"{path}: line {number}: {series!r} has x = {x:g} twice; allowed: once", str(path))
        points[x] = y
    if not by_series:
        raise UsageError(f"{path} holds no points; {_ALLOWED}", str(path))
    return tuple(
        Points(figure, series, tuple(sorted(points.items()))) for (figure, series), points in by_series.items()
    )


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {_ALLOWED}", str(path)) from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{path} has {len(content)} bytes; allowed: up to {_MOST_BYTES}", str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text; {_ALLOWED}", str(path)) from error


def _row(row: Sequence[str], figures: Iterable[str], where: str) -> tuple[str, str, float, float]:
    if len(row) != len(HEADER):
        raise UsageError(f"{where} has {len(row)} columns; {_ALLOWED}", where)
    figure, series = row[0].strip(), row[1].strip()
    numbers = list(figures)
    if figure not in numbers:
        raise UsageError(f"{where}: figure {figure!r} is not run; allowed: {', '.join(numbers)}", figure)
    if not series or len(series) > _MOST_NAME or not series.isprintable():
        raise UsageError(
            f"{where}: series {series[:_MOST_NAME]!r} is no name; allowed: 1 to {_MOST_NAME} letters", series
        )
    return figure, series, _number(row[2], "x", where), _number(row[3], "y", where)


def _number(text: str, column: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"{where}: {column} is {text.strip()!r}; allowed: a number above 0", text)
    return value
