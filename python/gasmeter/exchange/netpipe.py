"""The file that NetPIPE writes, np.out: of release 3 and of release 5."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gasmeter.exchange.quantities import Quantity, bad_line, mega, number, slug, whole

__all__ = ["read_netpipe"]

_THIRD = ("bytes", "Mbps", "seconds")
_FIFTH = ("bytes", "Gbps", "least Gbps", "most Gbps", "us")
_ONE_WAY = "time one way, half a round trip unless it was told to stream"
_UNITS = {"latency": "ns", "bandwidth": "B/s"}
_OP = "ping-pong"  # unless NetPIPE streamed, which its file does not say
_LEAST_MBPS = 1.0  # with two decimals, smaller values do not reveal the unit


def read_netpipe(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in NetPIPE's np.out.

    Times one way (half a round trip) are in ns, bandwidths in B/s; for release 3 only if times and sizes tell whether
    Mbps are 10^6 or 2^20 bits. The file does not say whether NetPIPE streamed, so that `op` can replace ``ping-pong``.
    `notes` gets a line for each omission. Raises UsageError with file and line for a line that is cut off or damaged.
    """
    rows: list[tuple[int, list[float]]] = []
    for line, text_line in enumerate(text.splitlines(), 1):
        words = text_line.split()
        if not words or not re.fullmatch("[0-9]+", words[0]):
            continue
        # Behind the time there may stand the rate of a workload, a number and its unit.
        words = words[: len(_FIFTH)] if len(words) > len(_FIFTH) else words
        if len(words) not in (len(_THIRD), len(_FIFTH)):
            raise bad_line(name, line, f"{len(words)} columns; NetPIPE writes {len(_THIRD)} or {len(_FIFTH)}")
        if rows and len(words) != len(rows[0][1]):
            raise bad_line(name, line, f"{len(words)} columns where others have {len(rows[0][1])}; is it cut off?")
        rows.append((line, [whole(words[0], name, line), *(number(word, name, line) for word in words[1:])]))
    third = rows and len(rows[0][1]) == len(_THIRD)
    for quantity in _third(rows, [] if notes is None else notes) if third else _fifth(rows):
        yield replace(quantity, op=slug(op) or quantity.op)


def _third(rows: Sequence[tuple[int, list[float]]], notes: list[str]) -> Iterator[Quantity]:
    ratios = (8 * size / seconds / rate for _, (size, rate, seconds) in rows if rate >= _LEAST_MBPS and seconds > 0)
    megabit = mega(ratios, (1, 2))
    if not megabit:
        notes.append("bandwidth is left out: sizes and times do not tell whether Mbps are 10^6 or 2^20 bits")
    for line, (size, rate, seconds) in rows:
        yield _quantity(line, size, "latency", seconds * 1e9)
        if megabit:
            yield _quantity(line, size, "bandwidth", rate * megabit / 8, f"Mbps, of {megabit:.0f} bits")


def _fifth(rows: Sequence[tuple[int, list[float]]]) -> Iterator[Quantity]:
    for line, (size, rate, _, _, microseconds) in rows:
        yield _quantity(line, size, "latency", microseconds * 1e3)
        yield _quantity(line, size, "bandwidth", rate * 1e9 / 8, "Gbps, mean of the trials")


def _quantity(line: int, size: float, metric: str, value: float, words: str = _ONE_WAY) -> Quantity:
    return Quantity(
        op=_OP, metric=metric, unit=_UNITS[metric], value=value, semantics=f"NetPIPE: {words}", size_bytes=int(size),
        ranks=2, line=line,
    )  # fmt: skip
