"""The text of the Intel MPI Benchmarks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gasmeter.exchange.quantities import Quantity, mega, numbers, slug

__all__ = ["read_imb"]

_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(.+?)\s*$")
_RANKS = re.compile(r"#\s*#processes\s*=\s*(\d+)")
_MODE = re.compile(r"#\s*MODE:\s*(\S+)")
_LEAST_RATE = 100.0  # MB/s
_COUNTED = (1, 2, 4)  # times that a benchmark counts a message


def read_imb(text: str, name: str) -> Iterator[Quantity]:
    """Yield what an output of IMB holds.

    Parameters
    ----------
    text : str
        One or several outputs.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        Times in ns; bandwidth in B/s, if times and sizes tell whether the release counts MB of 10^6 or of 2^20 B.

    Raises
    ------
    UsageError
        With file and line if a table is cut off or damaged.
    """
    op, ranks, options = "", 0, ""
    heads: list[str] = []
    rows: list[dict[str, float]] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        if heads and stripped and stripped[0].isdigit():
            rows.append(dict(zip(heads, numbers(stripped.split(), heads, name, number), strict=True)))
            continue
        yield from _table(op, ranks, options, rows)
        rows = []
        if found := _BENCHMARK.match(stripped):
            op, options, heads = found[1], "", []
        elif found := _RANKS.match(stripped):
            ranks = int(found[1])
        elif found := _MODE.match(stripped):
            options, heads = f"mode={found[1].lower()}", []
        elif stripped.startswith(("#bytes", "#repetitions")):
            heads = stripped.split()


def _table(op: str, ranks: int, options: str, rows: Sequence[dict[str, float]]) -> Iterator[Quantity]:
    megabyte = mega(_bytes_told(rows), _COUNTED)
    for row in rows:
        base = Quantity(
            op=slug(op), metric="", unit="", value=math.nan, semantics="", ranks=ranks, options=options,
            size_bytes=int(row.get("#bytes", 0)), n=int(row.get("#repetitions", 0)),
        )  # fmt: skip
        time = next((head for head in ("t[usec]", "t_avg[usec]") if head in row), "")
        if time:
            least = row.get("t_min[usec]", math.nan) * 1e3
            said = f"{op}: {time}"
            yield replace(base, metric="latency", unit="ns", value=row[time] * 1e3, semantics=said, minimum=least)
        if megabyte and row.get("Mbytes/sec"):
            said = f"{op}: Mbytes/sec, of {megabyte:.0f} B"
            yield replace(base, metric="bandwidth", unit="B/s", value=row["Mbytes/sec"] * megabyte, semantics=said)
        if row.get("Msg/sec"):
            yield replace(base, metric="rate", unit="1/s", value=row["Msg/sec"], semantics=f"{op}: Msg/sec")


def _bytes_told(rows: Sequence[dict[str, float]]) -> Iterator[float]:
    """Yield what each row's size and time say that a printed megabyte is; rates of few digits do not tell."""
    for row in rows:
        time = next((row[head] for head in ("t[usec]", "t_max[usec]") if head in row), 0.0)
        if time and row.get("Mbytes/sec", 0.0) >= _LEAST_RATE:
            yield row["#bytes"] / (time * 1e-6) / row["Mbytes/sec"]
