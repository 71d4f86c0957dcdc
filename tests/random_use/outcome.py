"""Judge how a case ended: in results, in one clear line, or in a fault of gasmeter's."""

from __future__ import annotations

import csv
import io
import math
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gasmeter.errors import Deadlock, GasmeterError, Timeout

STATUSES = {0, 2, 3, 5}
"""Exit statuses of a command that may follow from its words: good, usage, environment, undecided."""
SUSPICIOUS = re.compile(
    r"Traceback|deadlock|nothing has happened|wait for what will not come|std::|bad_alloc|vector::|basic_string"
    r"|\b0x[0-9a-f]{6}|\.-\d|-\d{16}|\d{19}\d* ps|assert|lost|ended by signal|internal",
    re.IGNORECASE,
)
"""Words of a message that point to a fault of gasmeter's, not of the input."""
PARTIAL = re.compile(r"\d+ of \d+ points left out")
"""Last line of a command that measured some of its points and refused the others."""
UNFINISHED = "not finished within its time limit"
"""Words beside status 4 where real ranks were stopped at --max-time."""
LONGEST_LINE = 900
"""Characters of a message."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended.

    Parameters
    ----------
    fault : str
        Kind of the fault; empty where the case ended well.
    text : str
        The message, or what was wrong with the results.
    """

    fault: str = ""
    text: str = ""


def values_fault(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return which value of the rows cannot be; empty if all can."""
    for row in rows:
        for name in ("value", "ci_low", "ci_high", "min", "p50", "p99"):
            given = row.get(name)
            if given in {None, ""} or (isinstance(given, float) and math.isnan(given)):
                continue  # a row without a value
            number = float(given)
            least = -1.0 if row.get("metric") == "overhead" else 0.0
            # An interval may reach below zero where a difference of two times is what is measured.
            if not math.isfinite(number) or (number < least and name in {"value", "min", "p50"}):
                return f"{row.get('metric')} {name} = {given} {row.get('unit')}"
    return ""


def of_message(text: str, exit_code: int) -> Outcome:
    """Judge the one line that a refusal consists of."""
    line = text.strip()
    if not line:
        return Outcome("silent", f"status {exit_code} without a word")
    if "\n" in line:
        return Outcome("many-lines", line)
    if len(line) > LONGEST_LINE:
        return Outcome("long-line", line)
    if match := SUSPICIOUS.search(line):
        return Outcome("suspicious", f"[{match.group()}] {line}")
    return Outcome(text=line)


def of_exception(error: BaseException) -> Outcome:
    """Judge what a call raised."""
    if isinstance(error, Deadlock):
        return Outcome("deadlock", str(error))
    if isinstance(error, GasmeterError):
        return of_message(str(error), error.exit_code)
    if isinstance(error, TypeError):  # as Python itself refuses arguments
        return Outcome(text=str(error))
    return Outcome("traceback", "".join(traceback.format_exception(error))[-3000:])


def of_command(exit_code: int, error: BaseException | None, stdout: str, stderr: str) -> Outcome:
    """Judge a command line that was run in this process."""
    if error is not None and not isinstance(error, SystemExit):
        return Outcome("traceback", "".join(traceback.format_exception(error))[-3000:])
    if exit_code not in STATUSES and not (exit_code == Timeout.exit_code and UNFINISHED in stderr):
        return Outcome(f"status-{exit_code}", (stderr or stdout)[-2000:])
    if exit_code in {2, 3, Timeout.exit_code}:
        last = stderr.strip().splitlines()[-1] if stderr.strip() else ""
        if PARTIAL.fullmatch(last) and stdout.strip():
            return of_results(stdout, stderr)
        if not last.startswith("Error: "):
            return Outcome("no-error-line", stderr[-2000:])
        return of_message(last, exit_code)
    return of_results(stdout, stderr)


def of_results(stdout: str, stderr: str) -> Outcome:
    """Judge the results of a command that measured all points, or some of them."""
    if not stdout.strip():
        return Outcome("no-results", stderr[-2000:])
    if match := SUSPICIOUS.search(stderr):
        return Outcome("suspicious", f"[{match.group()}] {stderr[-2000:]}")
    if stdout.startswith("experiment,"):
        rows = list(csv.DictReader(io.StringIO(stdout)))
        if wrong := values_fault(rows):
            return Outcome("impossible-value", wrong)
        if any(row["verified"] == "false" for row in rows):
            return Outcome("unverified", stdout[-2000:])
    return Outcome()
