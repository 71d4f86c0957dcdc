"""Independent measurements of a machine's hardware, frozen in published/checks.toml.

A check row is no result of a paper, and no result had touched it: a machine may be conditioned on it and still predict
the paper's results. `weight` is the likelihood of a draw by all check rows of its machine. `gasmeter.checking`, above,
runs their points.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gasmeter.errors import UsageError, first_mistake, unknown
from gasmeter.machines.arithmetic import Arithmetic
from gasmeter.machines.check_row import ACCURACY, Check
from gasmeter.machines.folder import lacking
from gasmeter.machines.hardware import TABLE, facts
from gasmeter.machines.named import machine

__all__ = ["Checks", "checks", "checks_digest", "read_checks", "weight"]

_FILE = Path(__file__).resolve().parent.parent / "published" / "checks.toml"


class Checks(BaseModel):
    """Content of published/checks.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    checks: tuple[Check, ...]  # in order
    describes: dict[str, tuple[str, ...]]  # by machine: prefixes of the ids of rows about it
    left_out: dict[str, str]  # rows of high confidence that decide nothing, with the reason


def read_checks(text: str) -> Checks:
    """Return the check rows in a TOML text, each for an installed machine.

    Raises UsageError if a row is a result of a paper or was touched by one, differs from hardware.csv, or names
    something that does not exist.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"checks.toml is not TOML ({error})") from error
    all_checks = tuple(_check(entry, number) for number, entry in enumerate(content.pop("check", []), 1))
    describes = {name: tuple(entry["describes"]) for name, entry in content.pop("machines", {}).items()}
    left_out = {entry["hardware"]: entry["why"] for entry in content.pop("left_out", [])}
    if content:
        raise UsageError(f"checks.toml: unknown {', '.join(content)}; allowed: machines, check, left_out")
    for row in left_out:
        if row not in facts():
            raise unknown("hardware fact that is left out in checks.toml", row, facts(), TABLE)
    seen: set[tuple[str, str]] = set()
    absent = lacking()
    for entry in all_checks:
        where = f"checks.toml: {entry.hardware} of machine {entry.machine}"
        if (entry.machine, entry.hardware) in seen:
            raise UsageError(f"{where} stands there twice; allowed: once", entry.hardware)
        seen.add((entry.machine, entry.hardware))
        if entry.machine not in describes:
            raise UsageError(f"{where}: [machines.{entry.machine}] does not say what describes it", entry.machine)
        for name in Arithmetic(entry.modelled).names:
            if name not in entry.points and entry.machine not in absent and name not in machine(entry.machine):
                raise UsageError(f"{where}: {name} is neither one of its points nor a parameter", name)
    return Checks(checks=all_checks, describes=describes, left_out=left_out)


def _check(entry: Mapping[str, Any], number: int) -> Check:
    where = f"checks.toml: check {number}"
    try:
        return Check.model_validate(entry)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_mistake(error, Check.model_fields)}", str(entry.get("hardware"))) from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}", error.value) from None


@functools.cache
def checks() -> Checks:
    """Return the installed published/checks.toml; see `read_checks`."""
    return read_checks(_FILE.read_text(encoding="utf-8"))


def checks_digest(all_checks: Checks | None = None) -> str:
    """Return 16 hexadecimal digits that change with check rows, published values, accuracies or points."""
    rows = (checks() if all_checks is None else all_checks).checks
    content = [[entry.model_dump(exclude={"note"}), entry.fact.confidence] for entry in rows]
    text = json.dumps([dict(ACCURACY), content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def weight(name: str, modelled: Mapping[str, float]) -> float:
    """Return the likelihood of a draw by the machine's check rows, 0 to 1; 1 without check rows.

    `modelled` holds the draw's values in SI units by hardware id. The likelihoods of measured rows are multiplied. Rows
    about one quantity count once together, and rows that are estimates do not count. Raises UsageError if a check row
    has no value.
    """
    rows = [entry for entry in checks().checks if entry.machine == name]
    missing = [entry.hardware for entry in rows if entry.hardware not in modelled]
    if missing:
        raise UsageError(f"machine {name}: check row {', '.join(missing)} has no value", missing[0])
    by_quantity: dict[str, list[float]] = {}
    for entry in rows:
        if entry.weighs:
            by_quantity.setdefault(entry.quantity, []).append(entry.likelihood(modelled[entry.hardware]))
    return math.prod(math.prod(likely) ** (1 / len(likely)) for likely in by_quantity.values())
