"""The text of sockperf's clients: ping-pong, under-load, playback and throughput."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gasmeter.exchange.quantities import MIB, Quantity, number, options_text, slug, whole

__all__ = ["read_sockperf"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BEGINS = re.compile(r"sockperf: == version\b")
_COMMAND = re.compile(
    r"(?:.*[\s/])?sockperf\s+(?P<op>pp|ping-pong|ul|under-load|tp|throughput|pb|playback)(?P<rest>(?:\s.*)?)$"
)
_NAMES = {"pp": "ping-pong", "ul": "under-load", "tp": "throughput", "pb": "playback"}
_TIMED = ("", "ping-pong", "under-load")
_SIZE = re.compile(r"(?:\s-m|--msg-size|using msg-size)[\s=]*(?P<size>[0-9]+)")
_PACE = re.compile(r"--mps[\s=]*(?P<mps>\w+)")
_ADDRESS = re.compile(r"\s*\[\s*(?P<at>[0-9]{1,9})\] IP = .*# (?P<protocol>TCP|UDP)")
_SERVER = re.compile(r".*Printing statistics for Server No: (?P<server>[0-9]+)")
_SUMMARY = re.compile(r".*Summary: (?P<rest>.*)")
_TIME = re.compile(
    r"(?P<what>Latency|Round trip)(?: of burst of (?P<burst>[0-9]+) \w+)? is (?P<value>\S+) usec", re.IGNORECASE
)
_RATE = re.compile(r"Message Rate is (?P<value>\S+) \[msg/sec\]")
_BANDWIDTH = re.compile(r"BandWidth is (?P<value>\S+) (?P<unit>[MG])Bps")
_STATISTIC = re.compile(r".*(?:<(?P<end>MIN|MAX)> observation|percentile (?P<share>[0-9.]+))\s*=\s*(?P<value>\S+)")
_OBSERVATIONS = re.compile(r".*Total (?P<n>[0-9]+) observations")
_LOST = re.compile(r".*# dropped messages = (\d+).*duplicated messages = (\d+).*out-of-order messages = (\d+)")
_EXACT = 9  # decimals with which sockperf writes GBps and means MBps


@dataclass
class _Run:
    """A run of a client, or its results for one server."""

    op: str = ""
    size: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    found: list[Quantity] = field(default_factory=list)


def read_sockperf(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of sockperf, each with its command line.

    Only throughput tests name themselves, and no output names every size. Average, least, median and 99th percentile of
    the time one way are in ns, bandwidths in B/s (its MB are 2^20 B), and messages per second. Protocol, messages a
    second (mps), burst and server are options. `notes` gets a line for each omission. Raises UsageError with file and
    line for a damaged number.
    """
    run = _Run(op)
    for line, words in enumerate(_COLOUR.sub("", text).splitlines(), 1):
        command, server = _COMMAND.match(words), _SERVER.match(words)
        address = _ADDRESS.match(words)
        begins = (_BEGINS.match(words) and run.found) or (
            address and not int(address["at"]) and "protocol" in run.facts
        )
        if command or begins or (server and run.found):
            yield from run.found
            run = _Run(run.op, run.size, dict(run.facts)) if server else _Run(op)
        if command:
            run.op = _NAMES.get(command["op"], command["op"])
            run.facts |= {"mps": match["mps"]} if (match := _PACE.search(words)) else {}
        if server:
            run.facts["server"] = server["server"] if int(server["server"][:9]) else ""
        if (command or "msg-size" in words) and (match := _SIZE.search(words)):
            run.size = whole(match["size"], name, line)
        if address:
            run.facts["protocol"] = address["protocol"].lower()
        if match := _SUMMARY.match(words):
            if run.found and (run.found[0].unit == "ns" or _TIME.match(match["rest"])):
                yield from run.found
                run = _Run(op)  # a run whose beginning was lost
            run.found.extend(_summary(run, match["rest"], name, line))
        elif run.found:
            run.found[-1] = _detail(run.found[-1], words, name, line)
        if notes is not None and (match := _LOST.match(words)) and set("".join(match.groups())) != {"0"}:
            notes.append(f"line {line}: messages dropped, duplicated, out of order: {', '.join(match.groups())}")
    yield from run.found


def _summary(run: _Run, words: str, name: str, line: int) -> Iterator[Quantity]:
    """Yield the quantities of a summary; only throughput and playback print rates."""
    time, rate, bandwidth = _TIME.match(words), _RATE.match(words), _BANDWIDTH.match(words)
    match = time or rate or bandwidth
    if match is None:
        return
    if bandwidth:
        decimals = len(bandwidth["value"].partition(".")[2])
        metric, unit, factor = "bandwidth", "B/s", MIB * (1000 if bandwidth["unit"] == "G" and decimals < _EXACT else 1)
    elif rate:
        metric, unit, factor = "rate", "1/s", 1.0
    else:
        metric, unit, factor = "latency" if match["what"].lower() == "latency" else "round_trip", "ns", 1e3
    op = run.op if time or run.op not in _TIMED else "throughput"
    facts = {**run.facts, "burst": (time["burst"] or "") if time else ""}
    yield Quantity(
        op=slug(op), metric=metric, unit=unit, value=number(match["value"], name, line) * factor, ranks=2,
        semantics=f"sockperf {op}: {words.partition(' is ')[0]}", size_bytes=run.size, options=options_text(facts),
        line=line,
    )  # fmt: skip


def _detail(quantity: Quantity, words: str, name: str, line: int) -> Quantity:
    """Return a time with details from a line below its summary about its distribution."""
    if quantity.unit != "ns":
        return quantity
    if match := _OBSERVATIONS.match(words):
        return replace(quantity, n=whole(match["n"], name, line))
    if match := _STATISTIC.match(words):
        value = number(match["value"], name, line) * 1e3
        rank_text = match["end"] or match["share"]
        quantity = replace(quantity, minimum=value) if rank_text == "MIN" else quantity
        quantity = replace(quantity, p50=value) if rank_text == "50.000" else quantity
        return replace(quantity, p99=value) if rank_text == "99.000" else quantity
    return quantity
