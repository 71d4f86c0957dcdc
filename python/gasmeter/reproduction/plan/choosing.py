"""Choice of the draws to run: some of the prior, and some as likely as the machines' check rows make them."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gasmeter.machines.checks import weight
from gasmeter.machines.draws import DRAW_SEED, DRAWS
from gasmeter.machines.machine import Machine
from gasmeter.rows.formats import to_csv
from gasmeter.verdicts.chances import choose, effective

__all__ = ["CONDITIONED", "PRIOR", "Candidates", "Choice", "candidates_csv", "choose_draws", "read_candidates"]

PRIOR, CONDITIONED = 100, 100
"""Draws from the ranges alone, and draws that the check rows make likely: 200 whole figures."""

Candidates = Mapping[str, Sequence[Mapping[str, float] | None]]
"""By machine and number of a draw: values of the check rows in SI units, or None for a refused draw."""

_COLUMNS = ("machine", "draw", "hardware", "modelled")
_REFUSED = "refused"


@dataclass(frozen=True)
class Choice:
    """The draws that are run."""

    drawn: tuple[Mapping[str, int], ...] = ()  # number of each machine's own draw, for each conditioned draw
    # By machine: equally likely draws that its check rows leave; infinite without check rows
    effective: Mapping[str, float] = field(default_factory=dict)

    def worth(self, machines: Iterable[str]) -> float:
        """Return the number of equally likely draws for a figure: that of its machine with the fewest."""
        return min((self.effective.get(name, math.inf) for name in machines), default=math.inf)


def choose_draws(machines: Sequence[Machine], candidates: Candidates) -> Choice:
    """Choose `CONDITIONED` draws by how well they meet the check rows.

    Machines that share hosts, or a base, are one installation: their weights multiply, and a draw has the same number
    in all of them. Machines that share nothing are chosen apart from each other.

    `candidates` holds the check rows of every draw of each machine.
    """
    drawn: list[dict[str, int]] = [{} for _ in range(CONDITIONED)]
    worth: dict[str, float] = {}
    for group in _groups(machines):
        weights = [1.0] * DRAWS
        for name in group:
            draws = candidates[name]
            weights = [by * _weight(name, values) for by, values in zip(weights, draws, strict=True)]
        says_nothing = all(not values for name in group for values in candidates[name] if values is not None)
        sizes = effective(weights)
        worth.update(dict.fromkeys(group, math.inf if says_nothing else sizes))
        numbers = choose(weights if sizes else [1.0] * DRAWS, CONDITIONED, _seed(group))
        for entry, number in zip(drawn, numbers, strict=True):
            entry.update(dict.fromkeys(group, number))
    return Choice(tuple(drawn), worth)


def _weight(name: str, values: Mapping[str, float] | None) -> float:
    return 0.0 if values is None else weight(name, values)


def _seed(group: Sequence[str]) -> int:
    return int.from_bytes(hashlib.sha256(f"{DRAW_SEED} {' '.join(group)}".encode()).digest()[:8], "little")


def _groups(machines: Sequence[Machine]) -> list[tuple[str, ...]]:
    """Return machines grouped by the files that they share."""
    groups: list[tuple[set[str], set[str]]] = []
    for installed in machines:
        files = {number.place.file for number in installed.estimates()}
        names = {installed.name}
        apart = []
        for other_files, other_names in groups:
            if files & other_files:
                files, names = files | other_files, names | other_names
            else:
                apart.append((other_files, other_names))
        groups = [*apart, (files, names)]
    return sorted(tuple(sorted(names)) for _, names in groups)


def candidates_csv(candidates: Candidates) -> str:
    """Return the check rows of every draw as CSV with a header, in SI units; ``refused`` for a refused draw."""
    rows: list[dict[str, object]] = []
    for name, every in candidates.items():
        for number, values in enumerate(every):
            if values is None:
                rows.append(dict(zip(_COLUMNS, (name, number, _REFUSED, ""), strict=True)))
            for hardware, value in (values or {}).items():
                rows.append(dict(zip(_COLUMNS, (name, number, hardware, f"{value:.9g}"), strict=True)))
    return to_csv(rows, _COLUMNS)


def read_candidates(text: str, machines: Iterable[str]) -> dict[str, list[dict[str, float] | None]]:
    """Return the content of `candidates_csv` by machine and number of the draw; machines without a row are allowed."""
    by_machine: dict[str, list[dict[str, float] | None]] = {name: [{} for _ in range(DRAWS)] for name in machines}
    for row in csv.DictReader(io.StringIO(text)):
        number = int(row["draw"])
        if row["hardware"] == _REFUSED:
            by_machine[row["machine"]][number] = None
        else:
            values = by_machine[row["machine"]][number]
            if values is not None:
                values[row["hardware"]] = float(row["modelled"])
    return by_machine
