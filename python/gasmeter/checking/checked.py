"""A machine against every independent measurement of its hardware."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gasmeter.catalogue import topology
from gasmeter.checking.points import check_points, checks_of, modelled
from gasmeter.errors import CheckFailed, UsageError
from gasmeter.machines.check_row import Check, in_si
from gasmeter.machines.checks import checks
from gasmeter.machines.hardware import Fact, facts
from gasmeter.machines.machine import TOPOLOGY, Machine
from gasmeter.machines.named import machine, machines
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.experiment import Experiment
from gasmeter.measuring.runner import Runner

__all__ = ["Checked", "Finding", "check", "checked_rows", "findings", "met_sentence", "prepared"]

_BOUNDS = frozenset({"at_least", "at_most"})


@dataclass(frozen=True)
class Checked:
    """A check row, and the machine's value."""

    check: Check
    modelled: float  # in SI units

    @property
    def holds(self) -> bool:
        """Whether the value is within the row's accuracy."""
        return self.check.holds(self.modelled)

    @property
    def ratio(self) -> float:
        """Modelled over published; for a range, over its geometric middle."""
        return self.check.ratio(self.modelled)

    @property
    def shown(self) -> float:
        """Modelled value, in the unit of the published one."""
        return self.modelled / in_si(self.check.fact.unit)[1]

    def facts(self) -> dict[str, Any]:
        """Return everything about it for JSON; ``modelled`` is in the unit of the published value."""
        row = self.check.fact
        return {
            "machine": self.check.machine,
            "hardware": row.id,
            "parameter": row.parameter,
            "source": row.source,
            "confidence": row.confidence,
            "accuracy": self.check.accuracy,
            "kind": self.check.kind,
            "published": row.value,
            "modelled": self.shown,
            "unit": row.unit,
            "ratio": self.ratio,
            "likelihood": self.check.likelihood(self.modelled),
            "holds": self.holds,
            "weighs": self.check.weighs,
            "how": self.check.modelled,
            "note": self.check.note,
        }


@dataclass(frozen=True)
class Finding:
    """A row of high confidence about a machine that no machine's number and no check row uses."""

    fact: Fact
    why: str  # reason in checks.toml why it decides nothing; empty without one


def met_sentence(checked: Sequence[Checked]) -> str:
    """Return how many check rows a machine meets, with a second sentence about bounds, which are easy to meet."""
    met = sum(entry.holds for entry in checked)
    bounds = sum(entry.check.kind in _BOUNDS for entry in checked)
    sentence = f"{met} of {len(checked)} check rows are in."
    if not bounds:
        return sentence
    are = "is a bound, which does" if bounds == 1 else "are bounds, which do"
    return f"{sentence} {bounds} of them {are} not say how near a value is."


def check(installed: str | Machine, *, runner: Runner | None = None) -> list[Checked]:
    """Run all check rows of a machine's hardware; return them in the order of published/checks.toml.

    Raises UsageError for an unknown machine, one without measurements, or one that a network refuses; CheckFailed for
    wrong data.
    """
    installed_machine = prepared(installed)
    series = check_points(installed_machine)
    rows = []
    if series:
        result = execute(Experiment(name="check-machine", series=tuple(series)), Run(runner=runner, bare=True))
        if result.errors:
            raise CheckFailed(result.errors[0])
        rows = result.rows
    return checked_rows(rows, installed_machine)


def prepared(installed: str | Machine) -> Machine:
    """Return a machine with its topology as rows write it, ready for its check rows.

    Raises UsageError for an unknown machine, or one without measurements.
    """
    described = machine(installed)
    if not checks_of(described.name):
        available = ", ".join(name for name in machines() if checks_of(name))
        raise UsageError(
            f"machine {described.label} has no check rows: nobody measured such hardware; allowed: {available}",
            described.label,
        )
    return described.with_({TOPOLOGY: topology(described.topology)["name"]}) if described.topology else described


def checked_rows(rows: Iterable[Mapping[str, Any]], installed: Machine) -> list[Checked]:
    """Return the results of a machine's check rows, in the order of published/checks.toml.

    `rows` may hold other rows in front of those of `gasmeter.checking.check_points`.
    """
    values = modelled(rows, installed)
    return [Checked(entry, values[entry.hardware]) for entry in checks_of(installed.name)]


def findings(name: str) -> list[Finding]:
    """Return the rows of high confidence about a machine that nothing uses, in the order of hardware.csv."""
    content = checks()
    used = {row for other in machines() for number in machine(other).numbers for row in number.hardware}
    used |= {entry.hardware for entry in content.checks}
    begins = content.describes.get(name, ())
    return [
        Finding(fact, content.left_out.get(fact.id, ""))
        for fact in facts().values()
        if fact.confidence == "high" and begins and fact.id.startswith(begins) and fact.id not in used
    ]
