"""A machine in a notebook: differences from its file at once, every number with its source on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gasmeter.machines.number import Number
from gasmeter.rendering.html_tables import html_table
from gasmeter.units import quantity_text

__all__ = ["machine_html"]


def machine_html(label: str, line: str, numbers: Sequence[Number], summaries: Mapping[str, str]) -> str:
    """Return a machine as HTML.

    A table holds given, drawn and dependent numbers beside those of the file. A folded table below holds every number
    with value, range of an estimate, confidence and source. `line` describes the machine for people.
    """
    moved = [number for number in numbers if number.origin != "file"]
    changed = [
        [number.key, number.text, number.in_file.text if number.in_file is not number else "", number.origin,
         summaries.get(number.key, "")]
        for number in moved
    ]  # fmt: skip
    heads = ["parameter", "value", "in its file", "from", "what it is"] if moved else []
    right = {"value", "in its file", "range"}
    first = html_table(label, line, heads, changed, right=right)
    every = [
        [number.key, number.text, _range(number), number.confidence, summaries.get(number.key, ""), number.source]
        for number in numbers
    ]
    whole = ["parameter", "value", "range", "confidence", "what it is", "source"]
    return first + html_table("", "", whole, every, right=right, folded=f"all {len(numbers)} numbers")


def _range(number: Number) -> str:
    if not number.estimate:
        return ""
    low, high = (quantity_text(end, number.kind) for end in number.ends())
    return f"{low} to {high}"
