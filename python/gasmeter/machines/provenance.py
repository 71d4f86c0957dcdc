"""Honesty by program: which claims a machine's numbers know already, and the ledger of every change to them."""

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
    """Return how a claim that is reproduced on a machine has to be labelled.

    Parameters
    ----------
    machine : Machine
        What it is reproduced on.
    claim : str
        Id of the claim.
    keys : iterable of str, optional
        The parameters that its figure uses; all by default.

    Returns
    -------
    {"calibrated", "predicted"}
        ``calibrated`` exactly if the claim touched a fact on which such a parameter rests.
    """
    return "calibrated" if claim in machine.tainted_by(keys) else "predicted"


@dataclass(frozen=True)
class LedgerLine:
    """One change of one machine file.

    Attributes
    ----------
    machine : str
        Name of the machine.
    date : str
        ISO 8601.
    key, old, new : str
        What changed; ``*`` is the whole file.
    source, reason : str
        Where the new value comes from, and why it changed.
    verdicts : tuple of str
        Claims whose verdict flipped with it.
    digest : str
        `ledger_digest` of the machine afterwards; lines of one change repeat it.
    """

    machine: str
    date: str
    key: str
    old: str
    new: str
    source: str
    reason: str
    verdicts: tuple[str, ...]
    digest: str


def ledger_digest(machine: Machine) -> str:
    """Return the hash of everything a machine file says: values, ranges, confidence, sources and facts.

    Parameters
    ----------
    machine : Machine
        Without overrides.

    Returns
    -------
    str
        16 hexadecimal digits; a change of a range or of a fact changes it as well as one of a value.
    """
    content = [machine.network, machine.effective()]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def ledger(text: str | None = None) -> tuple[LedgerLine, ...]:
    """Return every line of the ledger.

    Parameters
    ----------
    text : str, optional
        TOML; the installed ledger by default.

    Returns
    -------
    tuple of LedgerLine
        In the order written, the oldest first.

    Raises
    ------
    UsageError
        If a line lacks a field or has another one.
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
    """Return where machine files and ledger disagree.

    Parameters
    ----------
    lines : iterable of LedgerLine
        The ledger.
    installed : iterable of Machine, optional
        The machines as their files describe them; every installed one by default.

    Returns
    -------
    list of str
        One line each; empty if every change of every file is accounted for.
    """
    entries = list(lines)
    problems = []
    for entry in map(machine, machines()) if installed is None else installed:
        own = [line for line in entries if line.machine == entry.name]
        digest = ledger_digest(entry)
        if not own or own[-1].digest != digest:
            last = own[-1].digest if own else "none"
            problems.append(
                f"machine {entry.name}: its file has digest {digest}, the last line of ledger.toml {last}; allowed: a"
                " line for each change (date, key, old, new, source, reason, verdicts, digest)"
            )
        newest = {line.key: line.new for line in own}
        problems.extend(
            f"machine {entry.name}: {key} is {entry[key].text if key in entry else 'gone'}, but the last line of"
            f" ledger.toml says {new}"
            for key, new in newest.items()
            if key != _WHOLE and new != (entry[key].text if key in entry else "")
        )
    return problems
