"""The check rows of a reproduction's machines: as given and on every draw, and how much each draw counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gasmeter.checking import Checked, check_points, modelled
from gasmeter.checking.points import checks_of
from gasmeter.errors import UsageError
from gasmeter.machines.checks import weight
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.cases import RunCase
from gasmeter.rows.record import Row
from gasmeter.sweeps.series import Series
from gasmeter.verdicts.evidence import Case

__all__ = ["Checks", "check_series", "checked"]


@dataclass
class Checks:
    """What the machines have where something independent was measured.

    Attributes
    ----------
    given : dict of str to list of Checked
        By machine, as its file stands.
    weights : dict of tuple of str to float
        By machine and case, how well a draw meets the machine's check rows; no draw that could not be checked.
    estimates : dict of tuple of str to dict of str to float
        By machine and case, what each estimate is.
    """

    given: dict[str, list[Checked]] = field(default_factory=dict)
    weights: dict[tuple[str, str], float] = field(default_factory=dict)
    estimates: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)

    def weight(self, case: str, machines: Iterable[str]) -> float:
        """Return how much a draw counts for lines on some machines.

        Parameters
        ----------
        case : str
            Name of the draw.
        machines : iterable of str
            Their names.

        Returns
        -------
        float
            The product over the machines; 1 of machines without check rows.
        """
        return math.prod(self.weights.get((name, case), 1.0) for name in dict.fromkeys(machines))

    def drawn(self, cases: Mapping[str, RunCase], machines: Sequence[str]) -> dict[str, Case]:
        """Return the draws with their weights and estimates, without values yet.

        Parameters
        ----------
        cases : mapping of str to RunCase
            By name.
        machines : sequence of str
            Those of a figure's lines; what several share stands with the first.

        Returns
        -------
        dict of str to Case
            Draws of the machines and of the null model.
        """
        found: dict[str, Case] = {}
        for name, case in cases.items():
            if case.kind not in {"draw", "null"}:
                continue
            estimates: dict[str, float] = {}
            for one in machines:
                own = self.estimates.get((one, name), {})
                estimates |= {
                    f"{one}: {key}": value for key, value in own.items() if not _is_shared(key, one, machines)
                }
            found[name] = Case("", {}, self.weight(name, machines), estimates)
        return found

    def failing(self) -> dict[str, list[str]]:
        """Return the check rows that machines do not meet as given.

        Returns
        -------
        dict of str to list of str
            Ids of rows of hardware.csv, by machine.
        """
        return {name: [one.check.hardware for one in own if not one.holds] for name, own in self.given.items()}

    def rows(self) -> list[dict[str, Any]]:
        """Return the check rows of the machines as given.

        Returns
        -------
        list of dict
            As `gasmeter.checking.Checked.facts` has them.
        """
        return [one.facts() for own in self.given.values() for one in own]


def _is_shared(key: str, name: str, machines: Sequence[str]) -> bool:
    """Return whether an earlier machine has the same number from the same file."""
    mine = machine(name)[key].place
    before = machines[: list(machines).index(name)]
    return any(key in machine(other) and machine(other)[key].place == mine for other in before)


def check_series(machines: Sequence[Machine], cases: Iterable[RunCase]) -> list[Series]:
    """Return what is run for the check rows.

    Parameters
    ----------
    machines : sequence of Machine
        As their files stand.
    cases : iterable of RunCase
        As given, and draws.

    Returns
    -------
    list of Series
        Each point once.
    """
    return [series for case in cases for one in machines for series in check_points(_label(one.name, case))]


def _label(name: str, case: RunCase) -> str:
    return name if case.kind == "given" else f"{name}+{case.kind}={case.number}"


def checked(machines: Sequence[Machine], cases: Mapping[str, RunCase], rows: Sequence[Row]) -> Checks:
    """Return what the check rows came to.

    Parameters
    ----------
    machines : sequence of Machine
        As their files stand.
    cases : mapping of str to RunCase
        By name.
    rows : sequence of dict
        Of a reproduction: those of `check_series` among them.

    Returns
    -------
    Checks
        Of a case that a machine refuses there is no weight.
    """
    found = Checks()
    by_machine: dict[str, list[Row]] = {}
    for row in rows:
        by_machine.setdefault(row["machine"], []).append(row)
    draws = [case for case in cases.values() if case.kind in {"draw", "null"}]
    for one in machines:
        values = _modelled(one.name, by_machine)
        if values:
            found.given[one.name] = [Checked(check, values[check.hardware]) for check in checks_of(one.name)]
        for case in draws:
            label = _label(one.name, case)
            drawn = machine(label)
            found.estimates[one.name, case.name] = {
                number.key: float(drawn[number.key].value) for number in one.estimates()
            }
            if case.kind == "draw" and (values := _modelled(label, by_machine)):
                found.weights[one.name, case.name] = weight(one.name, values)
    return found


def _modelled(label: str, by_machine: Mapping[str, Sequence[Row]]) -> dict[str, float]:
    """Return the values of a machine's check rows; none if a point of them could not be run."""
    try:
        return modelled(by_machine.get(machine(label).column, ()), label)
    except UsageError:
        return {}
