"""Overhead of the tool itself within a measured value: reading the clock around a block, and an empty loop.

Both come from blocks of the kernel ping-pong's op `call`, whose loop calls an empty function: blocks of one and of many
operations alternate. A block of one is the time between two readings of the clock, plus one operation.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gasmeter.arguments.sizes import format_size
from gasmeter.measuring.sessions import Pool, RealSession
from gasmeter.rows.record import Record, Row
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.point import Point
from gasmeter.units import format_quantity

__all__ = ["KEY", "RANKS", "SelfOverhead", "is_timed", "self_overhead_line"]

KEY = "self_overhead"
"""Key under ``host`` of run.json."""
RANKS = 2
"""Number of ranks in the measuring job."""

_EMPTY = "call"
_MANY = 10_000
_LEAST, _BLOCKS, _LONGEST_S = 3, 25, 0.3
_TIMES = frozenset({"latency", "round_trip"})
_NOTHING = "self-overhead: none, since the tool's own work takes no virtual time"
_LEFT_OUT = "not in it: what the loop keeps in caches, ranks that begin late, polls, other programs"


@dataclass(frozen=True)
class SelfOverhead:
    """Time of a block that does nothing."""

    block_ns: float  # begin and end of a block: one reading of the clock, and the code between two readings
    operation_ns: float  # an empty operation of its loop, a call that does nothing; inlined operations cost less

    @classmethod
    def measured(cls, pool: Pool) -> SelfOverhead:
        """Measure the overhead on a living job of `RANKS` ranks: medians of up to 25 blocks of each length, in 0.3 s.

        Raises GasmeterError as a rank reports it.
        """
        session = RealSession(pool, Point(kernel="ping-pong", op=_EMPTY, conduit="smp", ranks=RANKS))
        try:
            singles: list[float] = []
            many: list[float] = []
            end = time.monotonic() + _LONGEST_S
            while len(singles) < _BLOCKS and (len(singles) < _LEAST or time.monotonic() < end):
                singles.append(session.block(1).elapsed_ns)
                many.append(session.block(_MANY).elapsed_ns)
        finally:
            session.close()
        single, whole = statistics.median(singles), statistics.median(many)
        operation = max(0.0, (whole - single) / (_MANY - 1))
        return cls(max(0.0, single - operation), operation)

    def facts(self) -> dict[str, float]:
        """Return ``block_ns`` and ``operation_ns`` as run.json holds them."""
        return {"block_ns": self.block_ns, "operation_ns": self.operation_ns}

    def words(self) -> str:
        """Return the overhead in words, without a share of anything."""
        ends, operation = (format_quantity(value, "ns") for value in (self.block_ns, self.operation_ns))
        return (
            f"begin and end of a block {ends} (reading the clock), an empty operation of its loop {operation} at most"
        )


def is_timed(rows: Iterable[Row]) -> bool:
    """Tell whether a clock timed any of the rows; False if all were modelled or imported."""
    return any(row["kind"] == "measured" for row in rows)


def self_overhead_line(records: Sequence[Record], runs: Sequence[Mapping[str, Any]]) -> str:
    """Return one line about the overhead of the tool within a run's figures; empty if it was not measured.

    The last run in run.json that knows the overhead counts.
    """
    rows = [row for entry in records for row in entry.rows]
    if not rows:
        return ""
    if not is_timed(rows):
        return _NOTHING
    measured_runs = [run["host"][KEY] for run in runs if KEY in run.get("host", {})]
    if not measured_runs:
        return ""
    overhead = SelfOverhead(**measured_runs[-1])
    parts = [f"self-overhead: {overhead.words()}"]
    if (smallest := _smallest(rows)) is not None:
        count = _iterations(records, smallest)
        share = (overhead.operation_ns + overhead.block_ns / count) / smallest["value"]
        size = [format_size(smallest["size_bytes"])] if smallest["size_bytes"] else []
        what = " ".join(dict.fromkeys([smallest["kernel"], smallest["op"], *size, "on", smallest["conduit"]]))
        what += ", data not checked" if smallest["verified"] is Verified.NOT_CHECKED else ""
        latency = format_quantity(smallest["value"], "ns")
        times = f"{share:.2g} times" if share >= 1 else f"{100 * share:.2g} % of"
        metric = smallest["metric"].replace("_", " ")
        parts.append(f"together at most {times} the smallest {metric}, {latency} ({what}, blocks of {count:,})")
    parts.append(_LEFT_OUT)
    if any(row["kind"] == "modelled" for row in rows):
        parts.append("modelled figures have none of it")
    return "; ".join(parts)


def _smallest(rows: Iterable[Row]) -> Row | None:
    """Return the row with the smallest measured time of a real operation."""
    timed = [
        row
        for row in rows
        if row["kind"] == "measured" and row["metric"] in _TIMES and row["unit"] == "ns" and not row["reference"]
        and row["verified"] is not Verified.FALSE and row["op"] != _EMPTY
        and math.isfinite(row["value"]) and row["value"] > 0
    ]  # fmt: skip
    return min(timed, key=lambda row: float(row["value"]), default=None)


def _iterations(records: Sequence[Record], row: Row) -> int:
    """Return the median operations of a row's blocks; 1 without samples."""
    counts = [
        count
        for entry in records
        for columns in entry.samples
        if columns["run_id"] == row["run_id"] and columns["metric"] == row["metric"]
        for count in columns["iterations"]
    ]
    return max(1, round(statistics.median(counts))) if counts else 1
