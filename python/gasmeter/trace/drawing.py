"""Bars of one operation's steps, by size."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np

from gasmeter.arguments.sizes import format_size
from gasmeter.plots.style import Drawing, quantity_axis
from gasmeter.trace.steps import Trace
from gasmeter.units import format_bytes, format_quantity

__all__ = ["draw_steps"]

_ORDER = (
    "inject", "header", "copy", "doorbell", "system call", "lock", "registration", "two-sided", "match", "driver",
    "device", "queue", "wire", "hop", "timer", "poll", "dispatch", "handler",
    "stall", "work", "check", "flag", "scan", "search", "translate",
)  # fmt: skip
_COLOURS = [
    mpl.colormaps[name](number) for name, step in (("tab20", 1), ("tab20b", 2)) for number in range(0, 20, step)
]
_FEW = 0.005  # share of any bar; shorter steps have no colour of their own


def draw_steps(traces: Sequence[Trace]) -> Drawing:
    """Draw one bar of steps per point, for its operation of median length, and the shares below.

    Points of one conduit stand together.
    """
    ordered = sorted(traces, key=lambda trace: (trace.conduit, trace.size_bytes, trace.title))
    totals = [_totals(trace) for trace in ordered]
    names = [name for name in _ORDER if any(total.get(name, 0.0) > _FEW * sum(total.values()) for total in totals)]
    others = any(set(total) - set(names) for total in totals)
    figure = Drawing(figsize=(max(5.2, 1.6 + 0.62 * len(ordered)), 6.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1.3, 1])
    across = np.arange(len(ordered), dtype=float)
    bottom, shares = np.zeros(len(ordered)), np.zeros(len(ordered))
    sums = np.array([sum(total.values()) for total in totals])
    for place, name in enumerate([*names, "others"] if others else names):
        heights = np.array([_height(total, name, names) for total in totals])
        colour = _COLOURS[_ORDER.index(name)] if name in _ORDER else "0.8"
        upper.bar(across, heights, bottom=bottom, color=colour, label=name, width=0.78, zorder=3 + place)
        lower.bar(across, 100 * heights / sums, bottom=shares, color=colour, width=0.78, zorder=3 + place)
        bottom += heights
        shares += 100 * heights / sums
    for x, total in zip(across, sums, strict=True):
        upper.annotate(format_quantity(total, "ns"), (x, total), ha="center", va="bottom", fontsize=7, xytext=(0, 1),
                       textcoords="offset points")  # fmt: skip
    upper.set_ylim(0, 1.12 * float(sums.max()))
    quantity_axis(upper.yaxis, "One operation", "ns")
    lower.set_ylabel("Share (%)")
    lower.set_ylim(0, 100)
    whats, conduits = [_description(trace) for trace in ordered], [trace.conduit for trace in ordered]
    labels = [format_bytes(trace.size_bytes) if trace.size_bytes else "none" for trace in ordered]
    for differing in (whats, conduits):
        if len(set(differing)) > 1:
            labels = [f"{label}\n{text}" for label, text in zip(labels, differing, strict=True)]
    several = len(set(whats)) > 1 or len(set(conduits)) > 1
    lower.set_xticks(across, labels, rotation=90 if several and len(ordered) > 6 else 0)
    lower.minorticks_off()
    lower.set_xlabel("Payload")
    kinds = " and ".join(sorted({trace.kind for trace in ordered}))
    what, where = (", ".join(dict.fromkeys(names)) for names in (whats, conduits))
    cost = max(trace.cost_ps for trace in ordered) / 1000
    held = f"\nevery step that a rank wrote down holds what that costs, about {cost:.3g} ns" if cost else ""
    figure.suptitle(f"{what} on {where}: who spends what ({kinds}){held}", fontsize=9)
    figure.legend(loc="outside right center", frameon=False, reverse=True)
    return figure


def _description(trace: Trace) -> str:
    """Return kernel and operation of a trace, without its size, which an axis says."""
    return trace.title.partition(" on ")[0].removesuffix(f" {format_size(trace.size_bytes)}")


def _totals(trace: Trace) -> dict[str, float]:
    sums: dict[str, float] = {}
    for step in trace.shown.steps:
        sums[step.name] = sums.get(step.name, 0.0) + step.ps / 1000
    return sums


def _height(totals: dict[str, float], name: str, names: Sequence[str]) -> float:
    if name == "others":
        return sum(value for step, value in totals.items() if step not in names)
    return totals.get(name, 0.0)
