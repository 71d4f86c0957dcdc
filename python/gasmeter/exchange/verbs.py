"""The text of perftest (ib_write_lat, ib_send_bw, …)."""

from __future__ import annotations

import re

from gasmeter.exchange.quantities import MIB
from gasmeter.exchange.tables import Column, Form

__all__ = ["PERFTEST"]

PERFTEST = Form(
    titles=(re.compile(r"(\s{10,}(?=\S)|(?=.*\b(Latency|BW)\b))\s*(?P<title>\S.*?) Test\s*$"),),
    settings=(
        re.compile(r"\s*Connection type\s*:\s*(?P<connection>\w+)"),
        re.compile(r"\s*Number of qps\s*:\s*(?P<qps>\w+)"),
    ),
    begins=re.compile(r"\s*#bytes\b"),
    head_line=re.compile(r"\s*#bytes\b"),
    head=re.compile(r"#\w+|tps average|[^\s\[#]+(?: [^\s\[#]+)*\[[^\]]+\]|\S+"),
    columns=(
        Column("#bytes", "size"),
        Column("#sl", "option", "service_level", cells="[0-9]+"),
        Column("#iterations", "n"),
        Column(r"t_min\[usec\]", "minimum"),
        Column(r"99% percentile\[usec\]", "p99"),
        Column(r"t_typical\[usec\]", "value", "latency", "ns", 1e3),
        Column(r"t_avg\[usec\]", "value", "latency", "ns", 1e3),
        Column(r"BW average\[(MB|MiB)/sec\]", "value", "bandwidth", "B/s", MIB),
        Column(r"BW average\[Gb/sec\]", "value", "bandwidth", "B/s", 1e9 / 8),
        Column(r"MsgRate\[Mpps\]", "value", "rate", "1/s", 1e6),
        Column("tps average", "value", "rate", "1/s"),
        Column(r"t_(max|stdev)\[usec\]|99\.9+% percentile\[usec\]|BW peak\[.*|(BW|MsgRate) Port\d\[.*", "rest"),
        Column(r"CPU_Util\[%\]", "rest"),
    ),
    ranks=2,
)  # fmt: skip
"""The typical (median) time in ns, the average for runs by duration; average bandwidth in B/s (its MB are 2^20 B);
messages a second. Service level, connection type and queue pairs are options."""
