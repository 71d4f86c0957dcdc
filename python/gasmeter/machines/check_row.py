"""A check row of a machine: the published value, the machine's value, and the likelihood of the difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gasmeter.errors import UsageError, unknown
from gasmeter.machines.arithmetic import Arithmetic
from gasmeter.machines.hardware import TABLE, Fact, facts

__all__ = ["ACCURACY", "Check", "CheckPoint", "accuracy_text", "in_si"]

ACCURACY: Mapping[str, float] = {"high": 0.05, "medium": 0.10, "low": 0.25}
"""Standard deviation of a published measurement, as a share of the value, by the confidence of its row.

More exactly, it is that of the value's logarithm.
"""

_UNITS: Mapping[str, tuple[str, float]] = {
    "s": ("s", 1.0), "ms": ("s", 1e-3), "us": ("s", 1e-6), "ns": ("s", 1e-9),
    "B/s": ("B/s", 1.0), "MB/s": ("B/s", 1e6), "GB/s": ("B/s", 1e9), "Gbit/s": ("B/s", 1e9 / 8),
    "Gb/s": ("B/s", 1e9 / 8), "1/s": ("1/s", 1.0), "M/s": ("1/s", 1e6),
}  # fmt: skip


def accuracy_text() -> str:
    """Return a sentence with the share within which a check row of each confidence must agree."""
    shares = ", ".join(f"{share:.0%}".replace("%", " %") + f" ({name})" for name, share in ACCURACY.items())
    return (
        "A row is in where the modelled value is as near to the published value, range or bound as the row's confidence"
        f" lets expect: {shares}."
    )


def in_si(unit: str) -> tuple[str, float]:
    """Return the SI unit (``s``, ``B/s`` or ``1/s``) of a published unit such as ``Gbit/s``, and the factor to it.

    Raises UsageError for any other unit.
    """
    if unit not in _UNITS:
        raise unknown("unit of a check", unit, _UNITS, "python/gasmeter/published/checks.toml")
    return _UNITS[unit]


class CheckPoint(BaseModel):
    """A point that is run for a check."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kernel: str
    op: str
    conduit: str
    metric: str  # metric of the row that counts
    size: int | None = Field(default=None, ge=0)  # bytes; None for an operation without size
    ranks: int = Field(default=2, ge=2)  # ranks of the job
    placement: str = "one-per-node"  # node of each rank
    options: dict[str, str] = Field(default_factory=dict)  # options of kernel and conduit
    iterations: int = Field(ge=1)  # operations of the one block: enough that four times as many give the same value


class Check(BaseModel):
    """A check row of a machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    machine: str  # name of the machine
    hardware: str  # id of the row of published/hardware.csv
    published: str  # value and unit, as in that row
    kind: Literal["equals", "range", "at_least", "at_most"]  # meaning of the published value
    modelled: str  # arithmetic over points and machine parameters, in SI units
    points: dict[str, CheckPoint] = Field(default_factory=dict)  # points to run, by the names in `modelled`
    note: str = ""  # why this arithmetic is the row's statement

    @model_validator(mode="after")
    def _meant(self) -> Check:
        row = self.fact
        if row.tainted_by:
            raise ValueError(
                f"{row.id} was touched by {', '.join(row.tainted_by)}; allowed: rows that no result of a paper touched"
            )
        text = f"{row.value} {row.unit}".strip()
        if self.published != text:
            raise ValueError(f"published: {self.published!r} is not what {TABLE} says; allowed: {text!r}")
        if (".." in row.value) != (self.kind == "range"):
            raise ValueError(f"kind {self.kind!r} does not fit {text!r}; allowed: range for a..b, the others for a")
        if not 0 < self.low <= self.high:
            raise ValueError(f"published: {text!r} is no value above 0, or no range")
        idle = set(self.points) - set(Arithmetic(self.modelled).names)
        if idle:
            raise ValueError(f"points: {', '.join(sorted(idle))} stands in none of {self.modelled!r}")
        return self

    @property
    def fact(self) -> Fact:
        """The row of hardware.csv."""
        if self.hardware not in facts():
            raise UsageError(
                f"{self.hardware!r} is no row of {TABLE}; allowed: independent measurements of hardware, which"
                " results of papers never are",
                self.hardware,
            )
        return facts()[self.hardware]

    @property
    def weighs(self) -> bool:
        """Whether the row is a measurement and decides the weight of a draw; an estimate is shown only."""
        return not self.fact.source.startswith("estimate")

    @property
    def quantity(self) -> str:
        """Identity of the quantity: rows with the same arithmetic over the same points share it."""
        return self.model_dump_json(include={"modelled", "points"})

    @property
    def low(self) -> float:
        """The value, or the lower end of its range, in SI units."""
        return self._ends()[0]

    @property
    def high(self) -> float:
        """The value, or the upper end of its range, in SI units."""
        return self._ends()[1]

    def _ends(self) -> tuple[float, float]:
        parts = self.fact.value.split("..")
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            raise UsageError(f"{self.hardware}: {self.fact.value!r} is no number and no range", self.hardware) from None
        scale = in_si(self.fact.unit)[1]
        return numbers[0] * scale, numbers[-1] * scale

    @property
    def accuracy(self) -> float:
        """Allowed deviation as a share: `ACCURACY` for the row's confidence."""
        return ACCURACY[self.fact.confidence]

    def value(self, points: Mapping[str, float], parameters: Mapping[str, float | str]) -> float:
        """Return the machine's value in SI units, from points and parameters in SI units.

        Raises UsageError if a point or a parameter is missing.
        """
        numbers = {key: value for key, value in parameters.items() if isinstance(value, float)}
        return Arithmetic(self.modelled).value({**numbers, **points})

    def deviation(self, modelled: float) -> float:
        """Return the logarithm of a value over the published one; 0 inside a range or bound.

        Outside, the nearest end counts. A value that is not above 0 gives minus infinity.
        """
        if not (modelled > 0 and math.isfinite(modelled)):
            return -math.inf
        if modelled < self.low:
            return math.log(modelled / self.low) if self.kind != "at_most" else 0.0
        return math.log(modelled / self.high) if modelled > self.high and self.kind != "at_least" else 0.0

    def holds(self, modelled: float) -> bool:
        """Tell whether a value in SI units is off by one standard deviation of the row's confidence at most."""
        return abs(self.deviation(modelled)) <= math.log1p(self.accuracy)

    def ratio(self, modelled: float) -> float:
        """Return a value in SI units over the published one, or over the geometric middle of a range."""
        return modelled / math.sqrt(self.low * self.high)

    def likelihood(self, modelled: float) -> float:
        """Return the likelihood of the row for a machine's value in SI units.

        It is 1 at the value, in the range or beyond the bound, and log-normal outside.
        """
        deviations = self.deviation(modelled) / math.log1p(self.accuracy)
        return math.exp(-(deviations**2) / 2)
