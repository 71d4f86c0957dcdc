"""Common parts of the readers of other tools' output: one quantity, its line, errors with the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gasmeter.errors import UsageError
from gasmeter.sweeps.point import NOT_CHECKED

__all__ = [
    "MIB",
    "NUMBER",
    "Quantity",
    "amount",
    "bad_line",
    "believed",
    "mega",
    "number",
    "options_text",
    "slug",
    "whole",
]

MIB = float(2**20)
NUMBER = r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?|inf(?:inity)?|nan)"
"""A number as tools print it, including ``inf`` and ``-nan``."""
_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_CLOSE = 0.01
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Quantity:
    """A number that a tool printed."""

    op: str  # the tool's benchmark; empty if the output does not name it
    metric: str  # as in rows
    unit: str  # as in rows: ns, B/s, 1/s
    value: float  # NaN if words stand in place of a number
    semantics: str  # the tool's words
    size_bytes: int | None = None  # payload; None if the output does not say
    ranks: int = 0  # 0 if the output does not say
    n: int = 0  # repetitions; 0 if the output does not say
    minimum: float = math.nan  # NaN if not printed
    p50: float = math.nan  # NaN if not printed
    p99: float = math.nan  # NaN if not printed
    options: str = ""  # ``key=value`` joined by ``;``
    verified: bool | str = NOT_CHECKED  # the tool's statement about its data; `NOT_CHECKED` without one
    kernel: str = ""  # as the output names it, else the tool
    conduit: str = ""  # as the output names it, else the tool's usual one
    kind: str = "measured"  # as the output names it, else ``measured``
    line: int = 0  # number of the line, from 1
    note: str = ""  # words in place of a value
    fault: str = ""  # the tool's words about wrong data


def believed(quantity: Quantity) -> Quantity:
    """Return a quantity; if its value is no finite number of 0 or more, a note replaces the value.

    All readers share this rule of plausibility.
    """
    kept = replace(
        quantity, value=_sound(quantity.value), minimum=_sound(quantity.minimum), p50=_sound(quantity.p50),
        p99=_sound(quantity.p99),
    )  # fmt: skip
    if math.isnan(kept.value) and not quantity.note:
        return replace(kept, note=f"{quantity.metric} is {quantity.value:g} {quantity.unit}")
    return kept


def _sound(value: float) -> float:
    return abs(value) if math.isfinite(value) and value >= 0 else math.nan  # -0.00 is 0


def bad_line(name: str, line: int, message: str) -> UsageError:
    """Return the UsageError for line `line` (from 1) of file `name`."""
    return UsageError(f"{name}:{line}: {message}")


def number(cell: str, name: str, line: int) -> float:
    """Return a printed number, possibly not finite; raise UsageError with file and line if it is none."""
    if not _NUMBER.fullmatch(cell):
        raise bad_line(name, line, f"{cell!r} is not a number")
    return float(cell)


def amount(cell: str) -> float:
    """Return a printed number, possibly not finite, or 0 for anything else."""
    return float(cell) if _NUMBER.fullmatch(cell) else 0.0


def whole(cell: str, name: str, line: int) -> int:
    """Return a printed size or count below 2^63; raise UsageError with file and line for anything else."""
    if not re.fullmatch("[0-9]{1,19}", cell) or int(cell) > _MOST:
        raise bad_line(name, line, f"{cell[:40]!r} is not a size or a count; allowed: whole numbers below 2^63")
    return int(cell)


def options_text(facts: Mapping[str, str]) -> str:
    """Return options as rows have them, ``key=value`` joined by ``;``; empty ones are left out."""
    return ";".join(f"{key}={value.replace(';', ',')}" for key, value in facts.items() if value)


def slug(text: str) -> str:
    """Return a name in gasmeter's spelling: ``mpi-put-latency`` for ``MPI_Put Latency``."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def mega(amounts: Iterable[float], counted: Sequence[int]) -> float:
    """Return the M of a printed rate, 10^6 or 2^20, from amounts and times beside it; 0 if undecided.

    `amounts` holds for each line the bits or bytes per second over the printed rate; `counted` is how often the tool
    may count them.
    """
    fitting = {
        unit
        for amount in amounts
        for unit in (1e6, MIB)
        if any(abs(amount * times / unit - 1) < _CLOSE for times in counted)
    }
    return fitting.pop() if len(fitting) == 1 else 0.0
