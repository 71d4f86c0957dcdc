"""What the readers of other tools' output share: one quantity, its line, errors that name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gasmeter.errors import UsageError

__all__ = ["MIB", "Quantity", "bad_line", "mega", "numbers", "slug"]

MIB = float(2**20)
_CLOSE = 0.01


@dataclass(frozen=True)
class Quantity:
    """One number that a tool printed.

    Attributes
    ----------
    op : str
        The tool's benchmark.
    metric, unit, value : str, str, float
        As rows have them: ns, B/s, 1/s.
    semantics : str
        What it is, in the tool's words.
    size_bytes, ranks, n : int
        Payload; ranks, 0 where the output does not say; repetitions, 0 where it does not say.
    minimum, p99 : float
        NaN where they are not printed.
    options : str
        ``key=value`` joined by ``;``.
    verified : bool
        False if the tool says that its data were wrong.
    kernel, conduit, kind : str
        Where the output names them; else the tool, what it is known to run on, and ``measured``.
    """

    op: str
    metric: str
    unit: str
    value: float
    semantics: str
    size_bytes: int = 0
    ranks: int = 0
    n: int = 0
    minimum: float = math.nan
    p99: float = math.nan
    options: str = ""
    verified: bool = True
    kernel: str = ""
    conduit: str = ""
    kind: str = "measured"


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


def numbers(cells: Sequence[str], heads: Sequence[str], name: str, line: int) -> list[float]:
    """Return the cells of a line of a table as numbers.

    Parameters
    ----------
    cells, heads : sequence of str
        What stands in the line, and above.
    name, line : str, int
        File and number of the line, for errors.

    Returns
    -------
    list of float
        One for each head; NaN for a word, such as the outcome of a validation.

    Raises
    ------
    UsageError
        If there are more or fewer cells than heads, or a cell is damaged.
    """
    if len(cells) != len(heads):
        raise bad_line(name, line, f"{len(cells)} columns where the header has {len(heads)}; is the file cut off?")
    values = []
    for cell in cells:
        try:
            values.append(float(cell))
        except ValueError:
            if not cell.isalpha():
                raise bad_line(name, line, f"{cell!r} is not a number") from None
            values.append(math.nan)
    return values


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
