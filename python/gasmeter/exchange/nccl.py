"""The text of nccl-tests (and rccl-tests)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import Quantity
from gasmeter.exchange.tables import Column, Form, quantities, read_tables

__all__ = ["read_nccl"]

_PLACES = ("out-of-place", "in-place")
_SETTINGS = re.compile(r"#\s*nThread\s.*\biters:\s*\d+\s+iters:\s*(?P<n>[0-9]{1,9})")
_FORM = Form(
    titles=(
        re.compile(r"#\s*Collective test starting:\s*(?P<title>\S+)"),
        re.compile(r"[^#]*?(?<!\w)(?P<title>(?:all|broadcast|gather|hypercube|reduce|scatter|sendrecv)\w*_perf)\b"),
    ),
    settings=(_SETTINGS, re.compile(r"#\s*Rank\s+(?P<rank>[0-9]{1,9})\b")),
    begins=re.compile(r"#\s*nThread\s"),
    closing=(re.compile(r"#\s*Out of bounds values\s*:\s*\d+\s+(?P<verdict>OK|FAILED)"),),
    aside=re.compile(r"#\s*(\(B\)\s.*)?$"),
    head_line=re.compile(r"#\s*size\s+count\s+type\b"),
    head=re.compile(r"\S+"),
    columns=(
        Column("size", "size"),
        Column("count", "rest"),
        Column("type", "option", "type", cells=r"[a-z]\w*"),
        Column("redop", "option", "redop", cells=r"[a-z]\w*", blank=True),
        Column("root", "option", "root", cells=r"-?[0-9]{1,9}", blank=True),
        Column("time", "value", "latency", "ns", 1e3),
        Column("algbw", "value", "bandwidth", "B/s", 1e9),
        Column("busbw", "value", "bus_bandwidth", "B/s", 1e9),
        Column("#wrong", "check", cells="[0-9]+|N/A", bad="0*[1-9][0-9]*"),
        Column("error", "check", cells=r"[0-9.]+(e[-+]?[0-9]+)?|N/A|-?nan|inf"),
    ),
)  # fmt: skip


def read_nccl(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield what an output of nccl-tests holds.

    Parameters
    ----------
    text : str
        One or several outputs.
    name : str
        The file, for errors.
    notes : list of str, optional
        Gets a line for each thing that is left out.
    op : str, optional
        The collective where the text names none.

    Yields
    ------
    Quantity
        Of each size, type, reduction and root, out of place and in place (option ``place``): time in ns; bandwidth
        (algbw) and ``bus_bandwidth`` (busbw) in B/s, of GB of 10^9 B. Verified as the tool says: by row, in releases
        before 2.13 by the line below the table.

    Raises
    ------
    UsageError
        With file and line if a table is cut off or damaged.
    """
    for table in read_tables(_FORM, text, name, [] if notes is None else notes, op):
        yield from quantities(_FORM, table, name, places=_PLACES)
