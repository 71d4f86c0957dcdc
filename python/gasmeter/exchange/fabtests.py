"""The text of fabtests (fi_rdm_pingpong, fi_rma_bw, …) and of libfabric's fi_pingpong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gasmeter.exchange.quantities import Quantity
from gasmeter.exchange.tables import Column, Form, quantities, read_tables

__all__ = ["read_fabtests"]

_COUNT = r"[0-9]{1,10}[kmb]?"
_FORM = Form(
    titles=(re.compile(r"(?:.*[\s/])?(?P<title>fi_\w*(?:pingpong|bw|lat))(?:\s|$)"),),
    beside=(re.compile(r"\s-o\s*(?P<operation>[a-z]+)"), re.compile(r"\s-p\s*(?P<provider>[\w;]+)")),
    begins=re.compile(r"(name\s+)?bytes\s+(iters|#sent)\b|---$"),
    head_line=re.compile(r"(name\s+)?bytes\s+(iters|#sent)\b"),
    head=re.compile(r"\S+"),
    pairs=re.compile(r"- \{ (?P<pairs>xfer_size:.*?) \}"),
    columns=(
        Column("bytes|xfer_size", "size", cells=r"[0-9]{1,4}(\.[0-9])?[kmg]|[0-9]{1,19}"),
        Column("iters|#sent|iterations", "n", cells=_COUNT),
        Column("name", "rest", cells=r"\S+"),
        Column("#ack", "rest", cells=r"=?[0-9]+[kmb]?"),
        Column("total", "rest", cells=r"[0-9.]+[kmg]?"),
        Column("time", "rest", cells=r"[0-9.]+s?"),
        Column("MB/sec", "value", "bandwidth", "B/s", 1e6),
        Column("usec/xfer", "value", "latency", "ns", 1e3),
        Column("Mxfers/sec", "value", "rate", "1/s", 1e6),
    ),
    ranks=2,
)  # fmt: skip
_WAY_OF_ITS_OWN = "bw"  # tests of bandwidth post many transfers at once


def read_fabtests(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of fabtests, each with its command line; only fi_pingpong's heads name the test.

    Times of a transfer one way are in ns (``time_per_message`` in tests of bandwidth), bandwidths in B/s (its MB are
    10^6 B), and transfers per second. A printed size of 1k is 1024 B. `notes` gets a line for each omission. Raises
    UsageError with file and line for a table that is cut off or damaged.
    """
    for table in read_tables(_FORM, text, name, [] if notes is None else notes, op):
        if not table.title and any(head.text == "#ack" for head in table.heads):
            table.title = "fi_pingpong"
        for quantity in quantities(_FORM, table, name):
            many = quantity.metric == "latency" and _WAY_OF_ITS_OWN in table.title
            yield replace(quantity, metric="time_per_message") if many else quantity
