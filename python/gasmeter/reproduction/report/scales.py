"""Choice of a panel's y axis and its ticks from the drawn values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.ticker import MaxNLocator

__all__ = ["Scale", "Wanted", "log_ticks", "scale_for"]

Wanted = Literal["linear", "log", "span"]
"""Linear always, logarithmic where possible, or logarithmic where lines span decades."""

_SPAN = 40.0
_FEWEST_TICKS, _EVEN_TICKS = 4, 5
_STEPS = (1, 2, 2.5, 5, 10)
_DECADES = 4  # more decades have ticks at decades alone
_LEADING = ((1, 2, 5), (1, 2, 3, 4, 6, 8), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))


@dataclass(frozen=True)
class Scale:
    """A y axis."""

    # For matplotlib; symlog is logarithmic on both sides of 0 and linear around it
    kind: Literal["linear", "log", "symlog"] = "linear"
    linear_to: float = 0.0  # end of the linear part of a symlog axis, on both sides of 0

    @property
    def says(self) -> str:
        """Words on the scale for the axis label; empty for a linear one."""
        if self.kind == "symlog":
            return f"log beyond ±{self.linear_to:g}"
        return "log" if self.kind == "log" else ""


def scale_for(wanted: Wanted, lines: Iterable[float], around: Iterable[float] = ()) -> Scale:
    """Return a y axis that shows all drawn values.

    `wanted` is the kind for positive values. `around` (ends of bands, …) must be visible but decides nothing. With
    values of 0 or less the axis is linear, or symlog if half of the numbers would lie within a fortieth of a linear
    axis.
    """
    finite = [y for y in lines if math.isfinite(y)]
    every = [*finite, *(y for y in around if math.isfinite(y))]
    if wanted == "linear" or not finite:
        return Scale()
    if min(every) > 0:
        return Scale("log") if wanted == "log" or max(finite) > _SPAN * min(finite) else Scale()
    sizes = [abs(y) for y in every if y]
    middle = statistics.median(sizes) if sizes else 0.0
    if not sizes or max(sizes) <= _SPAN * middle:
        return Scale()
    return Scale("symlog", 10.0 ** math.floor(math.log10(middle)))


def log_ticks(low: float, high: float) -> Sequence[float]:
    """Return ticks of a logarithmic axis, of few digits: the coarsest set of four or more; even ones if it is short."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if math.log10(high / low) > _DECADES:
        return [10.0**power for power in range(first, last + 1) if low <= 10.0**power <= high]
    for leading in _LEADING:
        ticks = (float(f"{digit}e{power}") for power in range(first, last + 1) for digit in leading)
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= _FEWEST_TICKS:
            return shown
    even = map(float, MaxNLocator(_EVEN_TICKS, steps=_STEPS).tick_values(low, high))
    return [tick for tick in even if low <= tick <= high]
