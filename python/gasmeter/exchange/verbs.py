"""The text of perftest (ib_write_lat, ib_send_bw, …)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import MIB, Quantity, numbers, slug

__all__ = ["read_perftest"]

_TITLE = re.compile(
    r"^\s*(?:\S+ )?(?P<title>\w+ (?:Bidirectional )?(?:Latency|BW)) (?:Post List )?Test\s*$", re.IGNORECASE
)
_HEADS = re.compile(r"#\w+|[^\s\[#]+(?: [^\s\[#]+)*\[[^\]]+\]")
_BANDWIDTHS = {"MB/sec": MIB, "MiB/sec": MIB, "Gb/sec": 1e9 / 8}


def read_perftest(text: str, name: str) -> Iterator[Quantity]:
    """Yield what an output of perftest holds.

    Parameters
    ----------
    text : str
        One or several outputs.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        The typical (median) time in ns, average bandwidth in B/s (its MB are 2^20 B), messages per second.

    Raises
    ------
    UsageError
        With file and line if a table is cut off or damaged.
    """
    title = "perftest"
    heads: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := _TITLE.match(line):
            title, heads = found["title"], []
        elif line.lstrip().startswith("#bytes"):
            heads = _HEADS.findall(line)
        elif heads and line.strip()[:1].isdigit():
            row = dict(zip(heads, numbers(line.split(), heads, name, number), strict=True))
            yield from _row(title, row)


def _row(title: str, row: dict[str, float]) -> Iterator[Quantity]:
    for head, value in row.items():
        known: tuple[str, str, float] | None = None
        if head == "t_typical[usec]" or (head == "t_avg[usec]" and "t_typical[usec]" not in row):
            known = ("latency", "ns", 1e3)
        elif head.startswith("BW average"):
            known = ("bandwidth", "B/s", _BANDWIDTHS.get(head[head.index("[") + 1 : -1], 0.0))
        elif head == "MsgRate[Mpps]":
            known = ("rate", "1/s", 1e6)
        if known is None or not known[2]:
            continue
        time = known[0] == "latency"
        yield Quantity(
            op=slug(title), ranks=2, metric=known[0], unit=known[1], value=value * known[2],
            semantics=f"{title}: {head}", size_bytes=int(row["#bytes"]), n=int(row.get("#iterations", 0)),
            minimum=row.get("t_min[usec]", math.nan) * 1e3 if time else math.nan,
            p99=row.get("99% percentile[usec]", math.nan) * 1e3 if time else math.nan,
        )  # fmt: skip
