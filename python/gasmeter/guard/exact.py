"""The gate for virtual time: the same bytes and the same picoseconds, or a failure that names place and amount."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gasmeter.guard.stores import Sample
from gasmeter.units import format_quantity

__all__ = ["machine_changes", "what_moved"]

_PER_OPERATION = ("latency", "round_trip")


def what_moved(before: Sample, after: Sample) -> str:
    """Return how two samples of a modelled value differ: old, new and by how much; empty if all are equal."""
    if len(before.rows) != len(after.rows):
        return f"{len(before.rows)} repetitions were modelled, now {len(after.rows)}"
    for number, (old, new) in enumerate(zip(before.rows, after.rows, strict=True)):
        first, second = before.blocks[number], after.blocks[number]
        for block, (left, right) in enumerate(zip(first, second, strict=False)):
            if left != right:
                return f"block {block}: {_difference(left, right, old)}"
        if first and second and len(first) != len(second):
            continue  # common blocks are equal, and virtual time repeats itself
        for name in ("value", "min", "p50", "p99"):
            if not _same(old[name], new[name]):
                return f"{'median' if name == 'value' else name}: {_difference(old[name], new[name], old)}"
    return ""


def _same(first: float, second: float) -> bool:
    return first == second or (math.isnan(first) and math.isnan(second))


def _difference(before: float, after: float, row: Mapping[str, Any]) -> str:
    unit, metric = row["unit"], row["metric"]
    if unit == "ns":
        picoseconds = 1000 * (after - before)
        return f"{before!r} ns, now {after!r} ns ({picoseconds:+.6g} ps)"
    share = f" ({after / before - 1:+.3g})" if before else ""
    return f"{before!r} {unit}, now {after!r} {unit}{share}; {format_quantity(after - before, unit, metric)}"


def machine_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the machine numbers that differ between two runs, as sorted ``key: before, now after``."""
    first, second = _flat(before), _flat(after)
    return [
        f"{key}: {first.get(key, 'absent')}, now {second.get(key, 'absent')}"
        for key in sorted({*first, *second})
        if first.get(key) != second.get(key)
    ]


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping):
        if "value" in value:
            return {name: f"{value['value']}{' ' + str(value['unit']) if value.get('unit') else ''}"}
        nested = (_flat(entry, f"{name}.{key}" if name else str(key)) for key, entry in value.items())
        return {key: entry for part in nested for key, entry in part.items()}
    return {name: value}
