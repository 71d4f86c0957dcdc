"""From points and rows to the values of lines, alike for fresh runs and for files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gasmeter.reproduction.plan.cases import DRAWN, GIVEN, RunCase
from gasmeter.reproduction.plan.figure import Figure, Line, Paper
from gasmeter.reproduction.plan.planning import LONGER, Planned, Role, Spot, Witness
from gasmeter.rows.record import Row
from gasmeter.verdicts.evidence import STEADY, Case, Evidence
from gasmeter.verdicts.series import COUNTER, SeriesKey, Table, X

__all__ = ["Gathered", "Values", "evidence", "gather", "unmoved", "values_of"]

Values = Mapping[tuple[str, str], float]
"""Verified values by point and metric."""


@dataclass
class Gathered:
    """Values of every line, by case and placement."""

    # By role, case and placement
    tables: dict[tuple[str, str, str], dict[Line, dict[X, float]]] = field(default_factory=dict)
    # Placements and spots at which four times the work moves the value by 2 % or more
    unsteady: set[tuple[str, Spot]] = field(default_factory=set)
    # By placement and spot: relative change at four times the work
    moves: dict[tuple[str, Spot], float] = field(default_factory=dict)
    # By placement and spot: operations of each rank behind the value
    lengths: dict[tuple[str, Spot], int] = field(default_factory=dict)
    # By placement and spot: value at four times the work, where it was run
    longer: dict[tuple[str, Spot], float] = field(default_factory=dict)

    def values(self, line: Line, placement: str, case: str = GIVEN, role: Role = "figure") -> dict[X, float]:
        """Return the values of a line by x; empty if it was not run."""
        return self.tables.get((role, case, placement), {}).get(line, {})


def values_of(rows: Iterable[Row], counters: Iterable[Row] = ()) -> dict[tuple[str, str], float]:
    """Return finite values by point and metric; counters count per operation.

    Comparisons and unverified rows are left out.
    """
    values = {
        (row["run_id"], row["metric"]): float(row["value"])
        for row in rows
        if row["verified"] not in {False, "false"} and not row["reference"] and math.isfinite(row["value"])
    }
    values |= {(row["run_id"], COUNTER + row["counter"]): float(row["per_operation"]) for row in counters}
    return values


def gather(planned: Sequence[Planned], values: Values) -> Gathered:
    """Return the value of every line at every x, and whether it still moves with the length of the run.

    As given, the value comes from the shortest run that four times the work does not move by `STEADY`. If every run
    moves, the longest run with a partner of four times the work counts. All other cases have a single run.
    """
    tables: dict[tuple[Role, str, str], dict[Spot, dict[int, float]]] = {}
    for point in planned:
        value = values.get((point.run_id, point.line.metric))
        if value is not None:
            spots = tables.setdefault((point.role, point.case, point.placement), {})
            spots.setdefault(Spot(point.line, point.x), {})[point.length] = value
    gathered = Gathered()
    for (role, case, placement), spots in tables.items():
        lines = gathered.tables.setdefault((role, case, placement), {})
        for spot, by_length in spots.items():
            length, value, moved = _settled(by_length)
            lines.setdefault(spot.line, {})[spot.x] = value
            if role in {"figure", "beside"}:
                gathered.lengths[placement, spot] = length
                if moved is not None:
                    gathered.moves[placement, spot] = moved
                    gathered.longer[placement, spot] = by_length[LONGER * length]
                    if abs(moved) >= STEADY:
                        gathered.unsteady.add((placement, spot))
    return gathered


def _settled(by_length: Mapping[int, float]) -> tuple[int, float, float | None]:
    """Return the length that gives a value, the value, and its change at four times the work."""
    lengths = sorted(length for length in by_length if LONGER * length in by_length)
    for length in lengths:
        shorter, longer = by_length[length], by_length[LONGER * length]
        # A counter that begins with 0 has changed wholly.
        moved = longer / shorter - 1 if shorter else float(longer != 0)
        if abs(moved) < STEADY or length == lengths[-1]:
            return length, by_length[length], moved
    only = min(by_length)
    return only, by_length[only], None


def unmoved(witnesses: Iterable[Witness], values: Values) -> set[Line]:
    """Return the lines whose every witness equals the value as given, to the last digit.

    A draw that the machine refuses proves nothing.
    """
    same: dict[Line, bool] = {}
    for witness in witnesses:
        drawn, given = (values.get((run_id, witness.line.metric)) for run_id in (witness.run_id, witness.given))
        if drawn is not None and given is not None:
            same[witness.line] = same.get(witness.line, True) and drawn == given
    return {line for line, is_so in same.items() if is_so}


def evidence(
    paper: Paper, figure: Figure, gathered: Gathered, *, cases: Mapping[str, RunCase],
    estimates: Mapping[str, Mapping[str, float]], effective: float, refused: Mapping[str, str],
) -> Evidence:  # fmt: skip
    """Return the evidence for the claims of a figure.

    A claim may read lines of other figures of the paper. The evidence has one table for each placement of `figure`. A
    line of another figure may have other placements (two ranks have only one). Its values then stand in every table.
    `effective` is the number of equally likely draws, `refused` maps draws that a machine refuses to reasons.
    """
    tables = _Tables(paper, gathered)
    given = {placement: tables.of("figure", GIVEN, placement, 0) for placement in figure.placements}
    drawn: dict[str, dict[int, Case]] = {kind: {} for kind in DRAWN}
    ablations: dict[str, dict[str, Table]] = {}
    for name, case in cases.items():
        if case.kind in DRAWN:
            place = figure.placements[case.number % len(figure.placements)]
            table = tables.of(case.kind, name, place, case.number)
            if table and name not in refused:
                drawn[case.kind][case.number] = Case(place, table, estimates.get(name, {}))
        elif case.without is not None:
            for placement in figure.placements:
                if values := tables.of("ablation", name, placement, 0):
                    ablations.setdefault(case.without.name, {})[placement] = {**given[placement], **values}
    return Evidence(
        given, drawn["prior"], drawn["draw"], effective, drawn["null"], ablations,
        {mechanism.name: mechanism.takes_away for mechanism in paper.without},
        tuple(f"{name} ({why})" for name, why in refused.items() if cases[name].kind != "null"),
        _unsteady(gathered, figure), {placement: tables.longer(placement) for placement in figure.placements},
    )  # fmt: skip


class _Tables:
    """Values of all lines of a paper on one case and placement."""

    def __init__(self, paper: Paper, gathered: Gathered) -> None:
        self._where = {line: figure for figure in paper.figures for line in figure.lines}
        self._gathered = gathered

    def of(self, role: Role, case: str, placement: str, number: int) -> dict[SeriesKey, dict[X, float]]:
        """Return the values; for a figure with other placements those on its own."""
        merged: dict[SeriesKey, dict[X, float]] = {}
        for line, figure in self._where.items():
            used_placement = _place(figure, placement, number)
            if curve := self._gathered.values(line, used_placement, case, role):
                merged[line.key] = curve
        return merged

    def longer(self, placement: str) -> dict[SeriesKey, dict[X, float]]:
        """Return the values as given at four times the work, where they were run."""
        merged: dict[SeriesKey, dict[X, float]] = {}
        for line, figure in self._where.items():
            used_placement = _place(figure, placement, 0)
            if curve := self._gathered.values(line, used_placement):
                merged[line.key] = {
                    x: self._gathered.longer.get((used_placement, Spot(line, x)), y) for x, y in curve.items()
                }
        return merged


def _place(figure: Figure, placement: str, number: int) -> str:
    """Return the placement at which `figure` is read for `placement`: the same if it has it, else one of its own."""
    return placement if placement in figure.placements else figure.placements[number % len(figure.placements)]


def _unsteady(gathered: Gathered, figure: Figure) -> frozenset[tuple[SeriesKey, str, X]]:
    """Return the spots whose values still move; a line with other placements moves on all of them."""
    return frozenset(
        (spot.line.key, placement, spot.x)
        for place, spot in gathered.unsteady
        for placement in ((place,) if place in figure.placements else figure.placements)
    )
