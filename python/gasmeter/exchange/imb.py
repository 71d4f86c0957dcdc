"""The text of the Intel MPI Benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import Quantity, amount, mega
from gasmeter.exchange.tables import Column, Form, Table, quantities, read_tables

__all__ = ["read_imb"]

_RANKS = re.compile(
    r"\s*#\s*\(?\s*(?:#processes\s*=\s*(?P<ranks>[0-9]{1,9})"
    r"|(?P<groups>[0-9]{1,9}) groups of (?P<processes>[0-9]{1,9}) processes)"
)
_FORM = Form(
    titles=(re.compile(r"\s*#\s*Benchmarking\s+(?P<title>.+?)\s*$"),),
    begins=_RANKS,
    settings=(
        _RANKS,
        re.compile(r"\s*#\s*MODE:\s*(?P<mode>[\w-]+)"),
    ),
    head_line=re.compile(r"\s*(Group\s+)?#(bytes|repetitions)\b"),
    head=re.compile(r"\S+"),
    columns=(
        Column("Group", "option", "group", cells="[0-9]+"),
        Column("#bytes", "size"),
        Column("#repetitions", "n"),
        Column(r"t_min\[usec\]", "minimum"),
        Column(r"t_max\[usec\]", "rest"),
        Column(r"t(_avg)?\[usec\]", "value", "latency", "ns", 1e3),
        Column(r"t_ovrl\[usec\]", "value", "overall", "ns", 1e3),
        Column(r"t_pure\[usec\]", "value", "pure_comm", "ns", 1e3),
        Column(r"t_CPU\[usec\]", "value", "compute", "ns", 1e3),
        Column(r"overlap\[%\]", "value", "overlap", "%"),
        Column("Mbytes/sec", "value", "bandwidth", "B/s", 0.0),
        Column("Msg/sec", "value", "rate", "1/s"),
        Column("defects", "check", cells=r"[0-9.]+", bad=r"[0-9.]*[1-9][0-9.]*"),
    ),
)  # fmt: skip
_LEAST = 1.0  # MB/s and us: smaller values with two decimals do not reveal the unit
_COUNTED = (1, 2, 4)  # times that a benchmark counts a message


def read_imb(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of IMB; `op` names the benchmark if the text does not.

    Times are in ns, bandwidths in B/s if times and sizes tell whether MB are 10^6 or 2^20 B. Simultaneous groups are an
    option, and their ranks count together. `notes` gets a line for each omission. Raises UsageError with file and line
    for a table that is cut off or damaged.
    """
    left_out = [] if notes is None else notes
    for table in read_tables(_FORM, text, name, left_out, op):
        megabyte = mega(_bytes_told(table), _COUNTED)
        if not megabyte and any(amount(table.cell(row, "size")) for row in table.rows) and _rates(table):
            left_out.append(
                f"line {table.rows[0].line}: bandwidth of {table.title!r} is left out: its sizes and times do not tell"
                " whether MB are 10^6 or 2^20 B"
            )
        yield from quantities(_FORM, table, name, factor=megabyte)


def _rates(table: Table) -> list[int]:
    return [at for at, head in enumerate(table.heads) if head.text == "Mbytes/sec"]


def _bytes_told(table: Table) -> Iterator[float]:
    """Yield the printed megabyte that each row's size and time imply; small rates and times imply none."""
    times = [at for at, head in enumerate(table.heads) if head.text in {"t[usec]", "t_max[usec]"}]
    for row in table.rows if times and _rates(table) else ():
        time, rate = (amount(row.cells[at[0]]) for at in (times, _rates(table)))
        if time >= _LEAST and rate >= _LEAST:
            yield amount(table.cell(row, "size")) / (time * 1e-6) / rate
