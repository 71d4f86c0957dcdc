"""The text of nccl-tests (and rccl-tests)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from gasmeter.exchange.quantities import Quantity, bad_line, numbers, slug

__all__ = ["read_nccl"]

_TEST = re.compile(r"#\s*Collective test starting:\s*(\S+)")
_SETTINGS = re.compile(r"#\s*nThread\s.*\biters:\s*\d+\s+iters:\s*(?P<iters>\d+)")
_RANK = re.compile(r"#\s*Rank\s+(\d+)\b")
_HEADS = re.compile(r"#\s*size\s+count\s+type\b")
_GB = 1e9
_PLACES = ("out-of-place", "in-place")
_COLUMNS = ("time", "algbw", "busbw", "#wrong")
_NOT_CHECKED = "N/A"


def read_nccl(text: str, name: str) -> Iterator[Quantity]:
    """Yield what an output of nccl-tests holds.

    Parameters
    ----------
    text : str
        One or several outputs.
    name : str
        The file, for errors.

    Yields
    ------
    Quantity
        Of each size, out of place and in place (option ``place``): time in ns; bandwidth (algbw) and ``bus_bandwidth``
        (busbw) in B/s, of GB of 10^9 B. Not verified where elements came out wrong.

    Raises
    ------
    UsageError
        With file and line if a table is cut off or damaged.
    """
    base = Quantity(op="nccl-tests", metric="", unit="", value=math.nan, semantics="")
    said, heads = "nccl-tests", 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if found := _TEST.match(line):
            said, heads = found[1], 0
            base = replace(base, op=slug(said), ranks=0)
        elif found := _SETTINGS.match(line):
            base = replace(base, n=int(found["iters"]), ranks=0)
        elif found := _RANK.match(line):
            base = replace(base, ranks=max(base.ranks, int(found[1]) + 1))
        elif _HEADS.match(line):
            heads = len(words) - 1
        elif heads and words and words[0].isdigit():
            if len(words) != heads:
                raise bad_line(name, number, f"{len(words)} columns where the header has {heads}; is the file cut off?")
            yield from _line(replace(base, size_bytes=int(words[0])), said, words, name=name, number=number)


def _line(base: Quantity, said: str, words: list[str], *, name: str, number: int) -> Iterator[Quantity]:
    for place, first in zip(_PLACES, (-2 * len(_COLUMNS), -len(_COLUMNS)), strict=True):
        cells = words[first : first + len(_COLUMNS) or None]
        checked = cells[-1] != _NOT_CHECKED
        time, algorithm, bus, wrong = numbers([*cells[:-1], cells[-1] if checked else "0"], _COLUMNS, name, number)
        of = replace(base, options=f"place={place}", verified=wrong == 0)
        for metric, unit, value, column in (
            ("latency", "ns", time * 1e3, "time (us)"),
            ("bandwidth", "B/s", algorithm * _GB, "algbw (GB/s)"),
            ("bus_bandwidth", "B/s", bus * _GB, "busbw (GB/s)"),
        ):
            yield replace(of, metric=metric, unit=unit, value=value, semantics=f"{said}: {column}, {place}")
