"""The text of ucx_perftest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import MIB, Quantity, bad_line, slug

__all__ = ["read_ucx"]

_FIELD = re.compile(r"\|\s*(?P<key>Test|Message size):\s*(?P<value>.+?)\s*\|?\s*$")
_TIME = re.compile(r"\|\s*(?P<what>latency|overhead) \(usec\)\s*\|")
_COLUMNS = 8


def read_ucx(text: str, name: str) -> Iterator[Quantity]:
    """Yield what an output of ucx_perftest holds.

    Parameters
    ----------
    text : str
        One or several outputs with their header.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        Overall figures of each line ``Final``: time in ns, bandwidth in B/s (its MB are 2^20 B), messages per second.

    Raises
    ------
    UsageError
        With file and line if a run has no ``Final`` line or it is damaged.
    """
    test, size, what, begun = "", 0, "latency", 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _FIELD.match(line):
            if found["key"] == "Test":
                if begun:
                    raise bad_line(name, begun, "a run without a line Final: it was cut off")
                test, begun = found["value"], number
            else:
                size = int(found["value"].split()[0])
        elif found := _TIME.search(line):
            what = found["what"]
        elif line.startswith("Final:"):
            begun = 0
            yield from _final(test, size, what, line.split()[1:], name=name, number=number)
    if begun:
        raise bad_line(name, begun, "a run without a line Final: it was cut off")


def _final(test: str, size: int, what: str, cells: list[str], *, name: str, number: int) -> Iterator[Quantity]:
    if len(cells) != _COLUMNS:
        raise bad_line(name, number, f"{len(cells)} columns behind Final instead of {_COLUMNS}; is the file cut off?")
    try:
        iterations, _, _, time, _, bandwidth, _, rate = map(float, cells)
    except ValueError:
        raise bad_line(name, number, "Final with something that is not a number") from None
    timed = "latency" if what == "latency" else "time_per_message"
    for metric, unit, value, said in (
        (timed, "ns", time * 1e3, f"{what} (usec), overall"),
        ("bandwidth", "B/s", bandwidth * MIB, "bandwidth (MB/s), overall"),
        ("rate", "1/s", rate, "message rate (msg/s), overall"),
    ):
        yield Quantity(
            op=slug(test) or "ucx-perftest", metric=metric, unit=unit, value=value, semantics=f"{test}: {said}",
            size_bytes=size, ranks=2, n=int(iterations),
        )  # fmt: skip
