"""An option of a kernel or conduit: its allowed values, and the canonical text of each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.units import parse_in, units_beside

__all__ = ["Option", "options_from"]

_INTEGER = re.compile(r"^[+-]?(0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)$")


@dataclass(frozen=True)
class Option:
    """A documented option of a kernel or conduit."""

    name: str
    type: str
    default: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    summary: str = ""
    neutral: bool = False
    """Whether it never changes a result in virtual time; it then stands in run.json only."""
    default_is_most: bool = False
    """Whether a job lowers the default (never a given value) to the limit of its conduit and ranks."""

    def parse(self, value: object, owner: str) -> str:
        """Return a value (text, bool, int or float) in its canonical text; `owner` names its owner in messages.

        Raises UsageError if the value does not fit the option's type or choices.
        """
        text = _text(value).strip()
        canonical = _canonical(self, text)
        if canonical is None:
            unit = f" ({self._units()})" if self.unit else ""
            allowed = (
                " | ".join(self.choices)
                if self.choices
                else {"bool": "true | false", "int": "a whole number", "float": "a number"}.get(self.type, self.type)
            )
            raise UsageError(
                f"option {self.name}={text!r} of {owner} is not allowed; allowed: {allowed}{unit}"
                f" (default {self.default}; see `gasmeter list {owner.split(maxsplit=1)[0]}s`)",
                text,
            )
        return canonical

    def _units(self) -> str:
        beside = (
            ["K", "M", "G"] if self.unit == "B" else [unit for unit in units_beside(self.unit) if unit != self.unit]
        )
        return f"{self.unit}; also {', '.join(beside)}" if beside else self.unit


def _canonical(option: Option, text: str) -> str | None:
    if option.choices:
        return text if text in option.choices else None
    try:
        if option.type == "bool":
            return {"true": "true", "on": "true", "false": "false", "off": "false"}.get(text.lower())
        if option.type in {"int", "size"}:
            return str(int(text, 0)) if _INTEGER.match(text) else _whole(parse_in(text, option.unit))
        if option.type == "float":
            value = float(parse_in(text, option.unit))
            return repr(value) if math.isfinite(value) else None
    except ValueError:
        return None
    return text


def _whole(number: Decimal) -> str | None:
    return str(int(number)) if number == number.to_integral_value() else None


def options_from(entries: Sequence[Mapping[str, Any]]) -> tuple[Option, ...]:
    """Return options in the order in which the core, or the user's own worker program, declares them."""
    return tuple(
        Option(
            name=entry["name"],
            type=entry["type"],
            default=_text(entry["default"]),
            unit=entry.get("unit") or "",
            choices=tuple(entry.get("choices") or ()),
            summary=entry.get("summary") or "",
            neutral=bool(entry.get("neutral")),
            default_is_most=bool(entry.get("default_is_most")),
        )
        for entry in entries
    )


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
