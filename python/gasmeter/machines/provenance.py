"""Honesty by program: claims that a machine's numbers know already, and the ledger of all their changes."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine, machines

__all__ = ["LedgerLine", "label", "ledger", "ledger_digest", "ledger_problems"]

_LEDGER = Path(__file__).resolve().parent / "ledger.toml"
_WHOLE = "*"


def label(machine: Machine, claim: str, keys: Iterable[str] | None = None) -> Literal["calibrated", "predicted"]:
    """Return the label of a claim that is reproduced on a machine.

    It is ``calibrated`` exactly if the claim touched a fact behind a parameter in `keys`, by default any.
    """
    return "calibrated" if claim in machine.tainted_by(keys) else "predicted"


@dataclass(frozen=True)
class LedgerLine:
    """A change of one machine file."""

    machine: str  # name of the machine
    date: str  # ISO 8601
    key: str  # changed number; ``*`` is the whole file
    old: str
    new: str
    source: str  # source of the new value
    reason: str  # why the number changed
    verdicts: tuple[str, ...]  # claims whose verdict changed with it
    digest: str  # `ledger_digest` of the machine afterwards, the same in all lines of one change


def ledger_digest(machine: Machine) -> str:
    """Return 16 hexadecimal digits that change with any value, range, confidence, source or fact of a machine."""
    content = [machine.network, machine.effective()]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def ledger(text: str | None = None) -> tuple[LedgerLine, ...]:
    """Return the lines of a TOML ledger, by default the installed one, the oldest first.

    Raises UsageError if a line lacks a field or has an unknown one.
    """
    content = tomllib.loads(_LEDGER.read_text(encoding="utf-8") if text is None else text)
    return tuple(_line(entry, number) for number, entry in enumerate(content.get("line", []), 1))


def _line(entry: dict[str, Any], number: int) -> LedgerLine:
    names = [field.name for field in fields(LedgerLine)]
    if set(entry) != set(names):
        wrong = ", ".join(sorted(set(entry) ^ set(names)))
        raise UsageError(f"ledger.toml: line {number} lacks or does not know {wrong}; allowed: {', '.join(names)}")
    return LedgerLine(**{**entry, "date": str(entry["date"]), "verdicts": tuple(entry["verdicts"])})


def ledger_problems(lines: Iterable[LedgerLine], installed: Iterable[Machine] | None = None) -> list[str]:
    """Return a line for each difference between machine files and ledger; empty if every change is recorded."""
    entries = list(lines)
    problems = []
    for entry in map(machine, machines()) if installed is None else installed:
        changes = [line for line in entries if line.machine == entry.name]
        digest = ledger_digest(entry)
        if not changes or changes[-1].digest != digest:
            last = changes[-1].digest if changes else "none"
            problems.append(
                f"machine {entry.name}: its file has digest {digest}, the last line of ledger.toml {last}; allowed: a"
                " line for each change (date, key, old, new, source, reason, verdicts, digest)"
            )
        newest = {line.key: line.new for line in changes}
        problems.extend(
            f"machine {entry.name}: {key} is {entry[key].text if key in entry else 'gone'}, but the last line of"
            f" ledger.toml says {new}"
            for key, new in newest.items()
            if key != _WHOLE and new != (entry[key].text if key in entry else "")
        )
    return problems
