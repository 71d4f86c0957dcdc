"""The text of nccl-tests (and rccl-tests)."""

from __future__ import annotations

import re

from gasmeter.exchange.tables import Column, Form

__all__ = ["NCCL"]

NCCL = Form(
    titles=(
        re.compile(r"#\s*Collective test starting:\s*(?P<title>\S+)"),
        re.compile(r"[^#]*?(?<!\w)(?P<title>(?:all|broadcast|gather|hypercube|reduce|scatter|sendrecv)\w*_perf)\b"),
    ),
    settings=(
        re.compile(r"#\s*nThread\s.*\biters:\s*\d+\s+iters:\s*(?P<n>[0-9]{1,9})"),
        re.compile(r"#\s*Rank\s+(?P<rank>[0-9]{1,9})\b"),
    ),
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
    places=("out-of-place", "in-place"),
)  # fmt: skip
"""Time in ns, bandwidth (algbw) and ``bus_bandwidth`` (busbw) in B/s, from GB of 10^9 B; size, type, reduction, root
and place identify rows. Data are verified by row, in releases before 2.13 by the line below the table."""
