"""The file that NetPIPE writes, np.out: of release 3 and of release 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gasmeter.exchange.quantities import Quantity, bad_line, mega, numbers

__all__ = ["read_netpipe"]

_THIRD = ("bytes", "Mbps", "seconds")
_FIFTH = ("bytes", "Gbps", "least Gbps", "most Gbps", "us")
_OP = "ping-pong"  # unless it was told to stream, which its file does not say
_LEAST_MBPS = 1.0  # with two decimals less says nothing of its unit


def read_netpipe(text: str, name: str) -> Iterator[Quantity]:
    """Yield what a file of NetPIPE holds.

    Parameters
    ----------
    text : str
        One np.out.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        Time one way in ns, which is half a round trip; bandwidth in B/s, of release 3 only if times and sizes tell
        whether its Mbps are 10^6 or 2^20 bits.

    Raises
    ------
    UsageError
        With file and line if a line is cut off or damaged.
    """
    rows: list[tuple[int, list[float]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or not words[0].isdigit():
            continue
        # Behind the time there may stand the rate of a workload, a number and its unit.
        words = words[: len(_FIFTH)] if len(words) > len(_FIFTH) else words
        if len(words) not in (len(_THIRD), len(_FIFTH)):
            raise bad_line(name, number, f"{len(words)} columns; NetPIPE writes {len(_THIRD)} or {len(_FIFTH)}")
        if rows and len(words) != len(rows[0][1]):
            raise bad_line(name, number, f"{len(words)} columns where others have {len(rows[0][1])}; is it cut off?")
        rows.append((number, numbers(words, _THIRD if len(words) == len(_THIRD) else _FIFTH, name, number)))
    cells = [row for _, row in rows]
    if cells and len(cells[0]) == len(_THIRD):
        yield from _third(cells)
    else:
        yield from _fifth(cells)


def _third(rows: Sequence[list[float]]) -> Iterator[Quantity]:
    told = (8 * size / seconds / rate for size, rate, seconds in rows if rate >= _LEAST_MBPS and seconds > 0)
    megabit = mega(told, (1, 2))
    for size, rate, seconds in rows:
        yield _time(size, seconds * 1e9)
        if megabit:
            yield _bandwidth(size, rate * megabit / 8, f"Mbps, of {megabit:.0f} bits")


def _fifth(rows: Sequence[list[float]]) -> Iterator[Quantity]:
    for size, rate, _, _, microseconds in rows:
        yield _time(size, microseconds * 1e3)
        yield _bandwidth(size, rate * 1e9 / 8, "Gbps, mean of the trials")


def _time(size: float, value: float) -> Quantity:
    said = "NetPIPE: time one way, half a round trip unless it was told to stream"
    return Quantity(
        op=_OP, metric="latency", unit="ns", value=value, semantics=said, size_bytes=int(size), ranks=2
    )  # fmt: skip


def _bandwidth(size: float, value: float, words: str) -> Quantity:
    said = f"NetPIPE: {words}"
    return Quantity(
        op=_OP, metric="bandwidth", unit="B/s", value=value, semantics=said, size_bytes=int(size), ranks=2
    )  # fmt: skip
