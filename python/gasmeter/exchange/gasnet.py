"""The lines of GASNet's own tests with latencies and throughputs by size (testsmall, testlarge and others)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import MIB, Quantity, bad_line, number, slug, whole

__all__ = ["read_gasnet"]

_LINE = re.compile(
    r"^\s*(?:[A-Z]:|Proc)\s+(?P<rank>[0-9]{1,9}) -\s*(?P<size>[0-9]+) byte\s*:"
    r"\s*(?P<n>[0-9]+) iters,\s*(?P<rest>.*)$"
)
_RANKS = re.compile(r"=====> \S+ nprocs=(?P<ranks>[0-9]{1,9}) ")
_BEGINS = re.compile(r"^\s*(?:[A-Z]:|Proc)\s+\d+ -\s*\d+ byte\b")
_LATENCY = re.compile(r"latency\s+\d+ us total,\s+(?P<value>\S+) us ave\. \((?P<op>.+)\)\s*$")
_THROUGHPUT = re.compile(r"throughput\s+(?P<value>\S+) (?P<unit>KB|MB)/sec \((?P<op>.+)\)\s*$")


def read_gasnet(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of GASNet's tests, whose every line names its test.

    Latencies are in ns, throughputs in B/s (its KB and MB are 2^10 and 2^20 B). Output of another rank than 0 has the
    option ``rank=N``. Raises UsageError with file and line for a line that is cut off or damaged.
    """
    ranks = 0
    for at, line in enumerate(text.splitlines(), 1):
        if begins := _RANKS.match(line):
            ranks = int(begins["ranks"])
        match = _LINE.match(line)
        if not match:
            if _BEGINS.match(line):
                raise bad_line(name, at, "a result that is cut off or damaged")
            continue
        latency, throughput = _LATENCY.match(match["rest"]), _THROUGHPUT.match(match["rest"])
        measured = latency or throughput
        if measured is None:
            raise bad_line(name, at, f"neither a latency nor a throughput: {match['rest'][:40]!r}")
        factor = 1e3 if latency else MIB if measured["unit"] == "MB" else 1024.0
        metric, unit = ("latency", "ns") if latency else ("bandwidth", "B/s")
        yield Quantity(
            op=slug(measured["op"]), metric=metric, unit=unit, value=number(measured["value"], name, at) * factor,
            semantics=f"{measured['op']}: {'average latency' if latency else 'throughput'}", ranks=ranks,
            size_bytes=whole(match["size"], name, at), n=whole(match["n"], name, at), line=at,
            options="" if int(match["rank"]) == 0 else f"rank={int(match['rank'])}",
        )  # fmt: skip
