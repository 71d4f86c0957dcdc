"""The text of the OSU micro-benchmarks, of OMB-Py, and of `gasmeter measure --format osu`, which has their layout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from gasmeter.exchange.quantities import Quantity
from gasmeter.exchange.tables import Column, Form, Table, quantities, read_tables

__all__ = ["read_osu"]

_OURS = re.compile(
    r"# gasmeter (?P<title>.+?) on (?P<on>\S+)(?P<where>.*?), (?P<ranks>[0-9]{1,9}) ranks"
    r"(?P<rest>.*) \((?P<kind>\w+)\)$"
)
_HEAD_LINE = re.compile(r"#\s*(Size\b|[\w. ]*\((us|MB/s)\))|\s+Overall ?\(us\)")
_FORM = Form(
    titles=(_OURS, re.compile(r"#\s*(?:OSU|OMB-Py) (?P<title>.+?)(?: Test)?(?: v[\d.]+\S*)?\s*$")),
    settings=(
        re.compile(r"#\s*Window creation:\s*(?P<window>\S+)"),
        re.compile(r"#\s*Synchronization:\s*(?P<synchronization>\S+)"),
        re.compile(r"#\s*Send Buffer on (?P<send>\w+)\b.* Receive Buffer on (?P<receive>\w+)"),
        re.compile(r"#\s*Datatype:\s*(?P<type>\w+)"),
        re.compile(r"#\s*\[ pairs: (?P<pairs>[0-9]{1,9}) \](?: \[ window size: (?P<window_size>\w+) \])?"),
    ),
    aside=re.compile(r"#\s*(Overall = .*|[-=]*)\s*$"),
    begins=_HEAD_LINE,
    head_line=_HEAD_LINE,
    head=re.compile(
        r"Size(?: \(B\))?|Iterations|Validation|MB/s|Messages/s|GUP/s|[^()\s]+(?: [^()\s]+)* ?\([^)]*\)|\S+"
    ),
    columns=(
        Column(r"Size( \(B\))?", "size"),
        Column("Iterations", "n"),
        Column("Validation", "check", cells="Pass|Fail|N/A", bad="Fail"),
        Column(r"Min .*\(us\)", "minimum"),
        Column(r"P50 .*\(us\)", "p50"),
        Column(r"P99 .*\(us\)", "p99"),
        Column(r"(Max|P\d+) .*\(us\)", "rest"),
        Column(r"(Avg )?(Lat|Latency) ?\(us\)", "value", "latency", "ns", 1e3),
        Column(r"(?P<metric>\w[\w. ]*?) ?\(us\)", "value", "", "ns", 1e3),
        Column(r"(Bandwidth ?\()?MB/s\)?", "value", "bandwidth", "B/s", 1e6),
        Column(r"Bandwidth ?\(GB/s\)", "value", "bandwidth", "B/s", 1e9),
        Column(r"Messages/s", "value", "rate", "1/s"),
        Column(r"GUP/s", "value", "gups", "GUP/s"),
        Column(r"(?P<metric>\w+) ?\((?P<unit>[^)]+)\)", "value"),
    ),
)  # fmt: skip


def read_osu(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of OSU benchmarks; `op` names the benchmark if the text does not.

    Times are in ns, bandwidths in B/s (the tools' MB are 10^6 B). Window, synchronisation, datatype and kinds of memory
    are options; pairs are two ranks each. `notes` gets a line for each omission. Raises UsageError with file and line
    for a table that is cut off or damaged.
    """
    for table in read_tables(_FORM, text, name, [] if notes is None else notes, op):
        for quantity in quantities(_FORM, table, name):
            if "kind" not in table.facts:
                yield quantity
            elif not math.isnan(quantity.value):  # gasmeter writes nan if a metric has no value at a size
                yield _ours(quantity, table)


def _ours(quantity: Quantity, table: Table) -> Quantity:
    kernel, _, op = table.title.partition(" ")
    rest = (table.facts.get("where", ""), table.facts.get("rest", "").strip(", "))
    return replace(
        quantity, kernel=kernel, op=op, conduit=table.facts["on"], kind=table.facts["kind"],
        options=";".join(filter(None, rest)), minimum=math.nan, p50=math.nan, p99=math.nan,
    )  # fmt: skip
