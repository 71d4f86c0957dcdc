"""The text of the OSU micro-benchmarks, and of `gasmeter measure --format osu`, which has their layout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gasmeter.exchange.quantities import Quantity, bad_line, numbers, slug

__all__ = ["read_osu"]

_TITLE = re.compile(r"#\s*OSU (?P<title>.+?)(?: Test)?(?: v[\d.]+\S*)?\s*$")
_OURS = re.compile(
    r"# gasmeter (?P<what>.+?) on (?P<on>\S+)(?P<where>.*?), (?P<ranks>\d+) ranks(?P<rest>.*) \((?P<kind>\w+)\)$"
)
_HEAD = re.compile(r"#\s*(Size\b|(Avg )?Latency ?\(us\))")
_KNOWN = (
    (re.compile(r"Latency Back \(us\)"), "latency_back", "ns", 1e3),
    (re.compile(r"Uncertainty \(us\)"), "uncertainty", "ns", 1e3),
    (re.compile(r"Round Trip \(us\)"), "round_trip", "ns", 1e3),
    (re.compile(r"(Avg )?(Lat|Latency) ?\(us\)"), "latency", "ns", 1e3),
    (re.compile(r"(Bandwidth ?\()?MB/s\)?"), "bandwidth", "B/s", 1e6),
    (re.compile(r"Messages/s"), "rate", "1/s", 1.0),
    (re.compile(r"GUP/s"), "gups", "GUP/s", 1.0),
    (re.compile(r"(?P<metric>\w+) \((?P<unit>[^)]+)\)"), "", "", 1.0),
)


def read_osu(text: str, name: str) -> Iterator[Quantity]:
    """Yield what an output of OSU benchmarks holds.

    Parameters
    ----------
    text : str
        One or several outputs, one behind another.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        Times in ns, bandwidth in B/s (the tools' MB are 10^6 B).

    Raises
    ------
    UsageError
        With file and line if a table is cut off or damaged.
    """
    title, ours = "", None
    heads: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := _OURS.match(line):
            title, heads, ours = found["what"], [], found
        elif found := _TITLE.match(line):
            title, heads, ours = found["title"], [], None
        elif _HEAD.match(line):
            heads = re.split(r"\s{2,}", line.lstrip("# ").strip())
        elif line.startswith("#") or not line.strip():
            continue
        elif line.strip()[0].isdigit():
            if not heads:
                raise bad_line(name, number, "numbers without a header that says what they are (# Size …)")
            yield from _row(title, heads, numbers(line.split(), heads, name, number), line.split(), ours)


def _row(
    title: str, heads: list[str], values: list[float], cells: list[str], ours: re.Match[str] | None
) -> Iterator[Quantity]:
    by_head = dict(zip(heads, values, strict=True))
    named = {head.split(" Lat")[0].lower(): value for head, value in by_head.items()}
    for head, value in by_head.items():
        if head.startswith(("Size", "Min", "Max", "P50", "P90", "P95", "P99", "Iterations", "Validation")):
            continue
        known = _known(head)
        if known is None or not math.isfinite(value):
            continue
        metric, unit, factor = known
        time = unit == "ns" and ours is None
        quantity = Quantity(
            op=slug(title),
            metric=metric,
            unit=unit,
            value=value * factor,
            semantics=f"{title}: {head}",
            size_bytes=int(by_head.get("Size", 0)),
            n=int(by_head.get("Iterations", 0)),
            minimum=named.get("min", math.nan) * 1e3 if time else math.nan,
            p99=named.get("p99 tail", named.get("p99", math.nan)) * 1e3 if time else math.nan,
            verified="Fail" not in cells,
        )
        yield replace(quantity, **_own(ours))


def _known(head: str) -> tuple[str, str, float] | None:
    """Return metric, unit and the factor to it for the head of a column."""
    for pattern, metric, unit, factor in _KNOWN:
        if found := pattern.fullmatch(head):
            return metric or found["metric"].lower(), unit or found["unit"], factor
    return None


def _own(ours: re.Match[str] | None) -> dict[str, Any]:
    """Return what only our own text says: conduit, ranks, kind."""
    if ours is None:
        return {}
    kernel, _, op = ours["what"].partition(" ")
    return {
        "kernel": kernel, "op": op, "conduit": ours["on"], "ranks": int(ours["ranks"]), "kind": ours["kind"],
        "options": ";".join(filter(None, (ours["where"].strip(), ours["rest"].strip(", ")))),
    }  # fmt: skip
