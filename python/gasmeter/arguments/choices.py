"""Choices and bounds that the command line names before it loads the modules behind them."""

from __future__ import annotations

from typing import Literal

from gasmeter.errors import UsageError

__all__ = [
    "BLIND",
    "CHECK_FORMATS",
    "FEWEST_STARTS",
    "FORMATS",
    "IMPORT_FORMATS",
    "MOST_ITERATIONS",
    "REPORT_FORMATS",
    "UNDECIDED",
    "Blind",
    "Undecided",
    "whole_number",
]

FORMATS = ("table", "csv", "json", "osu")
"""Forms of rows: `gasmeter.rows.formats.render`."""

REPORT_FORMATS = ("table", "markdown", "junit", "json")
"""Forms of a judgement: `gasmeter.guard.reports.render_judgement`."""

CHECK_FORMATS = ("table", "csv", "json")
"""Forms of a machine's check rows."""

IMPORT_FORMATS = (
    "osu", "imb", "perftest", "ucx_perftest", "gasnet", "nccl-tests", "netpipe", "fabtests", "sockperf",
)  # fmt: skip
"""Tools whose output gasmeter reads: `gasmeter.exchange.import_results`."""

Blind = Literal["removed", "tripled"]
BLIND: tuple[Blind, ...] = ("removed", "tripled")
"""Treatment of the papers' results in a blind run."""

Undecided = Literal["fail", "ok"]
UNDECIDED: tuple[Undecided, ...] = ("fail", "ok")
"""Result of a check with too many undecided measured values."""

MOST_ITERATIONS = (1 << 63) - 1
"""Most operations per block that a rank can count."""

FEWEST_STARTS = 10
"""Least process starts for a comparison of two builds."""


def whole_number(value: object, what: str, least: int = 1) -> int:
    """Return a whole number of at least `least`; raise UsageError naming the parameter `what` otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} {value!r} is not allowed; allowed: whole numbers of {least} or more", str(value))
    return value
