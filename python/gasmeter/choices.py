"""Choices and bounds that the command line names before it loads what carries them out."""

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
"""Other tools whose output is read: `gasmeter.exchange.import_results`."""

Blind = Literal["removed", "tripled"]
BLIND: tuple[Blind, ...] = ("removed", "tripled")
"""What a blind run does with the results of the papers."""

Undecided = Literal["fail", "ok"]
UNDECIDED: tuple[Undecided, ...] = ("fail", "ok")
"""What becomes of a check of whose measured figures too many stay undecided."""

MOST_ITERATIONS = (1 << 63) - 1
"""Operations per block that a rank still counts."""

FEWEST_STARTS = 10
"""Process starts that two builds are compared by, at least."""


def whole_number(value: object, what: str, least: int = 1) -> int:
    """Return a whole number of at least `least`; raise UsageError naming the parameter `what` otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} {value!r} is not allowed; allowed: whole numbers of {least} or more", str(value))
    return value
