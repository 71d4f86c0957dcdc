"""A number of a machine: the file's value, and the one that applies if it is given, drawn or derived."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from gasmeter.errors import UsageError
from gasmeter.units import QUANTITIES, parse_quantity, quantity_text

__all__ = ["TOPOLOGY", "Number", "Origin", "Place", "number_value", "share_of"]

TOPOLOGY = "topology"
"""Key and kind of a machine's topology."""

Origin = Literal["file", "override", "draw", "derived"]
"""Origin of a number: the machine's file, a user's override, a draw, or the number of which it is a share."""

_TOPOLOGY = re.compile(r"[a-z][a-z0-9_-]*(:[^\s+;,]+)?", re.ASCII)


class Place(NamedTuple):
    """Position of a number: the file, its index among the file's entries, and their count."""

    file: str
    entry: int
    entries: int


_NOWHERE = Place("", 0, 1)


@dataclass(frozen=True)
class Number:
    """A number of a machine, or its topology.

    Attributes
    ----------
    key, kind : str
        Name and kind, as in the parameters of its network.
    text : str
        Text in its file, with its unit.
    value : float or str
        Value in SI base units; a topology is text.
    source : str
        Its publication, or the way it was estimated.
    confidence : {"high", "medium", "low", "given"}
        Confidence of the source; ``given`` for numbers replaced by `Machine.with_` and numbers derived from these.
    hardware : tuple of str
        Facts behind it, ids of published/hardware.csv.
    low, high : str
        Range of an estimate, as in its file; empty otherwise.
    filed : Number or None
        The number that this one replaces: that of the machine's draw, if it is one, or of its file.
    origin : {"file", "override", "draw", "derived"}
        Origin of the value; ``derived`` if it moved with the number of which it is a share.
    share : Fraction or None
        Share of the number `of`, which it follows; None for an independent number.
    of : str
        The key of that number; empty otherwise.
    place : Place
        Position in a file, which several machines may share.
    """

    key: str
    kind: str
    text: str
    value: float | str
    source: str
    confidence: str
    hardware: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    filed: Number | None = None
    origin: Origin = "file"
    share: Fraction | None = None
    of: str = ""
    place: Place = field(default=_NOWHERE, compare=False)

    @property
    def unit(self) -> str:
        """SI unit of the value; empty for counts and topologies."""
        return QUANTITIES[self.kind].unit if self.kind in QUANTITIES else ""

    @property
    def estimate(self) -> bool:
        """Whether its file declares a range."""
        return bool(self.low)

    @property
    def base(self) -> Number:
        """Value without overrides: the drawn one in a draw, else the file's."""
        return self.filed if self.filed is not None and self.origin in {"override", "derived"} else self

    @property
    def in_file(self) -> Number:
        """Value in the machine's file."""
        number = self
        while number.filed is not None:
            number = number.filed
        return number

    def ends(self) -> tuple[float, float]:
        """Return the least and the largest value it may have, in SI base units.

        Returns
        -------
        tuple of float
            The ends of its range, equal if it is no estimate. Topologies have none.
        """
        if not self.estimate:
            return float(self.value), float(self.value)
        return _ends(self.low, self.high, self.kind, self.key)

    def facts(self) -> dict[str, Any]:
        """Return everything about it.

        Returns
        -------
        dict
            Facts for JSON; ``low`` and ``high`` are null unless it is an estimate, ``share`` and ``of`` exist if it
            follows another number.
        """
        low, high = self.ends() if self.estimate else (None, None)
        return {
            "value": self.value,
            "unit": self.unit,
            "text": self.text,
            "source": self.source,
            "confidence": self.confidence,
            "hardware": list(self.hardware),
            "low": low,
            "high": high,
            "origin": self.origin,
            **({"share": str(self.share), "of": self.of} if self.share is not None else {}),
        }

    def drawn_facts(self) -> dict[str, Any]:
        """Return the facts that differ between draws; all others are in the machine's file.

        Returns
        -------
        dict
            Facts for JSON: ``value`` and ``origin``.
        """
        return {"value": self.value, "origin": self.origin}

    def given(self, given: object, what: str) -> Number:
        """Return the number with a value that a user gives.

        Parameters
        ----------
        given : object
            The value with its unit.
        what : str
            Name of the value in messages.

        Returns
        -------
        Number
            The unreplaced number if its value is the same, unless it follows another number.

        Raises
        ------
        UsageError
            If the value does not fit its kind.
        """
        base = self.base
        value = number_value(given, self.kind, what)
        if value == base.value and base.share is None:
            return base
        return replace(
            base,
            text=_text(value, self.kind),
            value=value,
            source=f"given; the machine's file says {base.in_file.text} ({base.in_file.source})",
            confidence="given",
            filed=base,
            origin="override",
        )

    def following(self, other: Number) -> Number:
        """Return the number with the value that follows from the number of which it is a share.

        Parameters
        ----------
        other : Number
            The current number named by `of`.

        Returns
        -------
        Number
            The unreplaced number if its value is the same; this one if it was given another value.
        """
        base, value = self.base, share_of(self, other)
        if value == base.value:
            followed = base
        else:
            text = _text(value, self.kind)
            followed = replace(base, text=text, value=value, confidence="given", filed=base, origin="derived")
        return self if self.origin == "override" and self.value != value else followed


@functools.lru_cache(maxsize=4096)  # thousands of draws ask for each
def _ends(low: str, high: str, kind: str, key: str) -> tuple[float, float]:
    return float(number_value(low, kind, key)), float(number_value(high, kind, key))


def _text(value: float | str, kind: str) -> str:
    return value if isinstance(value, str) else quantity_text(value, kind)


def share_of(number: Number, other: Number) -> float:
    """Return a number given as a share of another in SI base units; whole and at least 1 if its kind is whole."""
    value = float(other.value) * float(number.share or 0)
    return float(max(1, round(value))) if QUANTITIES[number.kind].whole else value


def number_value(given: object, kind: str, what: str) -> float | str:
    """Return a value in SI base units; a topology stays text. Raises UsageError if it does not fit its kind.

    `what` names the value in messages.
    """
    if kind != TOPOLOGY:
        return parse_quantity(given, kind, what)
    text = str(given).strip()
    if not _TOPOLOGY.fullmatch(text):
        raise UsageError(
            f"{what}: {text!r} is not a topology; allowed: a name and its extents, for instance torus3d:4x4x4"
            " (see `gasmeter list topologies`)",
            text,
        )
    return text
