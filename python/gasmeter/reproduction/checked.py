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
from gasmeter.reproduction.cases import DRAWN, RunCase
from gasmeter.rows.record import Row
from gasmeter.sweeps.series import Series

__all__ = ["Checks", "check_series", "checked", "estimates_of"]


@dataclass
class Checks:
    """Values of the machines at independently measured check rows."""

    given: dict[str, list[Checked]] = field(default_factory=dict)  # by machine, as its file stands

    def failing(self) -> dict[str, list[str]]:
        """Return the check rows that machines as given do not meet: ids of hardware.csv by machine."""
        return {name: [one.check.hardware for one in own if not one.holds] for name, own in self.given.items()}

    def rows(self) -> list[dict[str, Any]]:
        """Return the check rows of the machines as given, as `gasmeter.checking.Checked.facts` has them."""
        return [one.facts() for own in self.given.values() for one in own]


def check_series(machines: Sequence[Machine]) -> list[Series]:
    """Return the series for the check rows of machines as their files stand, each point once."""
    return [series for one in machines for series in check_points(one)]


def checked(machines: Sequence[Machine], rows: Sequence[Row]) -> Checks:
    """Return the results of the check rows, without machines whose check rows were not run."""
    found = Checks()
    own = {one.name: [row for row in rows if row["machine"] == one.name] for one in machines}
    for one in machines:
        try:
            values = modelled(own[one.name], one)
        except UsageError:
            continue
        found.given[one.name] = [Checked(check, values[check.hardware]) for check in checks_of(one.name)]
    return found


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
            own = {name: machine(case.label(name)).values() for name in machines}
            drawn[case_name] = {f"{name}: {key}": float(own[name][key]) for name, key in keys}
    return drawn
