"""Check rows of a reproduction's machines as given, and the estimates of its draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gasmeter.checking import Checked, check_points, modelled
from gasmeter.checking.points import checks_of
from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.plan.cases import DRAWN, RunCase
from gasmeter.rows.record import Row
from gasmeter.sweeps.series import Series

__all__ = ["Checks", "check_series", "checked", "estimates_of"]


@dataclass
class Checks:
    """Values of the machines at independently measured check rows."""

    given: dict[str, list[Checked]] = field(default_factory=dict)  # by machine, as its file stands

    def failing(self) -> dict[str, list[str]]:
        """Return the check rows that machines as given do not meet: ids of hardware.csv by machine."""
        return {name: [entry.check.hardware for entry in rows if not entry.holds] for name, rows in self.given.items()}

    def rows(self) -> list[dict[str, Any]]:
        """Return the check rows of the machines as given, as `gasmeter.checking.Checked.facts` has them."""
        return [entry.facts() for rows in self.given.values() for entry in rows]


def check_series(machines: Sequence[Machine]) -> list[Series]:
    """Return the series for the check rows of machines as their files stand, each point once."""
    return [series for installed in machines for series in check_points(installed)]


def checked(machines: Sequence[Machine], rows: Sequence[Row]) -> Checks:
    """Return the results of the check rows, without machines whose check rows were not run."""
    results = Checks()
    rows_by_machine = {
        installed.name: [row for row in rows if row["machine"] == installed.name] for installed in machines
    }
    for installed_machine in machines:
        try:
            values = modelled(rows_by_machine[installed_machine.name], installed_machine)
        except UsageError:
            continue
        results.given[installed_machine.name] = [
            Checked(check, values[check.hardware]) for check in checks_of(installed_machine.name)
        ]
    return results


def estimates_of(cases: Mapping[str, RunCase], machines: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return each estimate of a figure's machines in every draw: in SI units by case and ``machine: key``.

    An estimate that machines share stands with the first of them.
    """
    keys: list[tuple[str, str]] = []
    seen: set[tuple[object, str]] = set()
    for name in machines:
        for number in machine(name).estimates():
            if (number.place, number.key) not in seen:
                seen.add((number.place, number.key))
                keys.append((name, number.key))
    drawn: dict[str, dict[str, float]] = {}
    for case_name, case in cases.items():
        if case.kind in DRAWN:
            numbers = {name: machine(case.label(name)).values() for name in machines}
            drawn[case_name] = {f"{name}: {key}": float(numbers[name][key]) for name, key in keys}
    return drawn
