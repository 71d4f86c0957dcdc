"""What the readers of other tools' output share: one quantity, its line, errors that name the line."""

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
"""A number as tools print it, also one that is none: ``inf``, ``-nan``."""
_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_CLOSE = 0.01
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Quantity:
    """One number that a tool printed.

    Attributes
    ----------
    op : str
        The tool's benchmark; empty where the output does not name it.
    metric, unit, value : str, str, float
        As rows have them: ns, B/s, 1/s. NaN where something else stands in place of a number.
    semantics : str
        What it is, in the tool's words.
    size_bytes : int or None
        Payload; None where the output does not say.
    ranks, n : int
        Ranks and repetitions; 0 where the output does not say.
    minimum, p50, p99 : float
        NaN where they are not printed.
    options : str
        ``key=value`` joined by ``;``.
    verified : bool or str
        The tool's word on its data; `NOT_CHECKED` if it says nothing.
    kernel, conduit, kind : str
        Where the output names them; else the tool, what it is known to run on, and ``measured``.
    line : int
        Number of the line, from 1.
    note, fault : str
        Words in place of a value; how the tool says that data were wrong.
    """

    op: str
    metric: str
    unit: str
    value: float
    semantics: str
    size_bytes: int | None = None
    ranks: int = 0
    n: int = 0
    minimum: float = math.nan
    p50: float = math.nan
    p99: float = math.nan
    options: str = ""
    verified: bool | str = NOT_CHECKED
    kernel: str = ""
    conduit: str = ""
    kind: str = "measured"
    line: int = 0
    note: str = ""
    fault: str = ""


def believed(one: Quantity) -> Quantity:
    """Return a quantity as it may be kept: the one rule of plausibility of all readers.

    Parameters
    ----------
    one : Quantity
        As it was printed.

    Returns
    -------
    Quantity
        Without the value, and with a note that says what was printed, if that is no finite number of 0 or more.
    """
    kept = replace(
        one, value=_sound(one.value), minimum=_sound(one.minimum), p50=_sound(one.p50), p99=_sound(one.p99)
    )  # fmt: skip
    if math.isnan(kept.value) and not one.note:
        return replace(kept, note=f"{one.metric} is {one.value:g} {one.unit}")
    return kept


def _sound(value: float) -> float:
    return abs(value) if math.isfinite(value) and value >= 0 else math.nan  # -0.00 is 0


def bad_line(name: str, line: int, message: str) -> UsageError:
    """Return the error for a line that cannot be read.

    Parameters
    ----------
    name : str
        The file.
    line : int
        Its number, from 1.
    message : str
        What is wrong.

    Returns
    -------
    UsageError
        Not raised.
    """
    return UsageError(f"{name}:{line}: {message}")


def number(cell: str, name: str, line: int) -> float:
    """Return a printed number.

    Parameters
    ----------
    cell : str
        For instance ``1.50``, ``1e-07`` or ``-nan``.
    name, line : str, int
        File and number of the line, for errors.

    Returns
    -------
    float
        Possibly not finite.

    Raises
    ------
    UsageError
        If it is no number.
    """
    if not _NUMBER.fullmatch(cell):
        raise bad_line(name, line, f"{cell!r} is not a number")
    return float(cell)


def amount(cell: str) -> float:
    """Return a printed number, or 0 where something else stands.

    Parameters
    ----------
    cell : str
        What was printed.

    Returns
    -------
    float
        Possibly not finite.
    """
    return float(cell) if _NUMBER.fullmatch(cell) else 0.0


def whole(cell: str, name: str, line: int) -> int:
    """Return a printed size or count.

    Parameters
    ----------
    cell : str
        Digits.
    name, line : str, int
        File and number of the line, for errors.

    Returns
    -------
    int
        Below 2^63.

    Raises
    ------
    UsageError
        If it is something else.
    """
    if not re.fullmatch("[0-9]{1,19}", cell) or int(cell) > _MOST:
        raise bad_line(name, line, f"{cell[:40]!r} is not a size or a count; allowed: whole numbers below 2^63")
    return int(cell)


def options_text(facts: Mapping[str, str]) -> str:
    """Return options as rows have them.

    Parameters
    ----------
    facts : mapping of str to str
        Value by option; an empty one is left out.

    Returns
    -------
    str
        ``key=value`` joined by ``;``.
    """
    return ";".join(f"{key}={value.replace(';', ',')}" for key, value in facts.items() if value)


def slug(text: str) -> str:
    """Return a name as gasmeter writes names.

    Parameters
    ----------
    text : str
        For instance ``MPI_Put Latency``.

    Returns
    -------
    str
        For instance ``mpi-put-latency``.
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def mega(amounts: Iterable[float], counted: Sequence[int]) -> float:
    """Return what the M of a printed rate is, 10^6 or 2^20, where amounts and times beside it tell.

    Parameters
    ----------
    amounts : iterable of float
        Of each line what passed in a second, in bits or bytes, over the rate that is printed.
    counted : sequence of int
        How often the tool may count what passed once.

    Returns
    -------
    float
        0 if no line tells, or some tell one and some the other.
    """
    fitting = {
        unit
        for amount in amounts
        for unit in (1e6, MIB)
        if any(abs(amount * times / unit - 1) < _CLOSE for times in counted)
    }
    return fitting.pop() if len(fitting) == 1 else 0.0
