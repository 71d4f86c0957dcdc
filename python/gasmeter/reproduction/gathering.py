"""From points and rows to the values of lines: the same whether they have just been run or are read from files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gasmeter.reproduction.cases import GIVEN, RunCase
from gasmeter.reproduction.figure import Figure, Line, Paper
from gasmeter.reproduction.planning import LONGER, Planned, Role, Spot
from gasmeter.rows.record import Row
from gasmeter.verdicts.evidence import Case, Evidence
from gasmeter.verdicts.series import COUNTER, SeriesKey, X

__all__ = ["STEADY", "Gathered", "Values", "evidence", "gather", "values_of"]

STEADY = 0.02
"""What four times the work may move a value by."""

Values = Mapping[tuple[str, str], float]
"""Verified values by point and metric."""


@dataclass
class Gathered:
    """Values of every line, by case and placement.

    Attributes
    ----------
    tables : dict of tuple of str to dict of Line to dict of X to float
        By role, case and placement.
    unsteady : set of tuple
        Placement and spot at which four times the work moves the value by 2 % or more.
    moves : dict of tuple to float
        By placement and spot, how much it moves it.
    lengths : dict of tuple to int
        By placement and spot, operations of each rank that the value comes from.
    """

    tables: dict[tuple[str, str, str], dict[Line, dict[X, float]]] = field(default_factory=dict)
    unsteady: set[tuple[str, Spot]] = field(default_factory=set)
    moves: dict[tuple[str, Spot], float] = field(default_factory=dict)
    lengths: dict[tuple[str, Spot], int] = field(default_factory=dict)

    def values(self, line: Line, placement: str, case: str = GIVEN, role: Role = "figure") -> dict[X, float]:
        """Return what a line came to.

        Parameters
        ----------
        line : Line
            Which.
        placement : str
            On which placement.
        case : str
            On which case.
        role : {"figure", "beside", "draw", "null", "ablation"}
            In which role.

        Returns
        -------
        dict of X to float
            Empty if it was not run.
        """
        return self.tables.get((role, case, placement), {}).get(line, {})


def values_of(rows: Iterable[Row], counters: Iterable[Row] = ()) -> dict[tuple[str, str], float]:
    """Return what rows and counters say, by point and metric.

    Parameters
    ----------
    rows : iterable of dict
        By the names of `gasmeter.rows.record.COLUMNS`; of comparisons and unverified ones nothing is taken.
    counters : iterable of dict
        By the names of `gasmeter.rows.counters.COUNTER_COLUMNS`; per operation.

    Returns
    -------
    dict of tuple of str to float
        Finite values.
    """
    values = {
        (row["run_id"], row["metric"]): float(row["value"])
        for row in rows
        if row["verified"] not in {False, "false"} and not row["reference"] and math.isfinite(row["value"])
    }
    values |= {(row["run_id"], COUNTER + row["counter"]): float(row["per_operation"]) for row in counters}
    return values


def gather(planned: Sequence[Planned], values: Values) -> Gathered:
    """Return the value of every line at every x, from the longest run of it, and whether it still moves.

    Parameters
    ----------
    planned : sequence of Planned
        Every point and why.
    values : mapping of tuple of str to float
        As `values_of` returns them.

    Returns
    -------
    Gathered
        As given a value is that of the shortest run that four times the work does not move by `STEADY`, or of the
        longest but one where every run moves it; on other cases that of the run there is.
    """
    found: dict[tuple[Role, str, str], dict[Spot, dict[int, float]]] = {}
    for point in planned:
        value = values.get((point.run_id, point.line.metric))
        if value is not None:
            spots = found.setdefault((point.role, point.case, point.placement), {})
            spots.setdefault(Spot(point.line, point.x), {})[point.length] = value
    gathered = Gathered()
    for (role, case, placement), spots in found.items():
        lines = gathered.tables.setdefault((role, case, placement), {})
        for spot, runs in spots.items():
            by_length = _marginal(runs) if spot.line.marginal else runs
            if not by_length:
                continue
            length, value, moved = _settled(by_length)
            lines.setdefault(spot.line, {})[spot.x] = value
            if role in {"figure", "beside"}:
                gathered.lengths[placement, spot] = length
                if moved is not None:
                    gathered.moves[placement, spot] = moved
                    if abs(moved) >= STEADY:
                        gathered.unsteady.add((placement, spot))
    return gathered


def _marginal(runs: Mapping[int, float]) -> dict[int, float]:
    """Return rates of what a run of four times the length has more, by the shorter one's length.

    Of n operations a rank at rate r the time is n / r, but for the number of ranks.
    """
    rates: dict[int, float] = {}
    for length, rate in runs.items():
        longer = runs.get(LONGER * length)
        if longer:
            more = LONGER / longer - 1 / rate
            if more > 0:
                rates[length] = (LONGER - 1) / more
    return rates


def _settled(by_length: Mapping[int, float]) -> tuple[int, float, float | None]:
    """Return the length that a value is taken from, the value, and what four times the work moves it by."""
    lengths = sorted(length for length in by_length if LONGER * length in by_length)
    for length in lengths:
        moved = by_length[LONGER * length] / by_length[length] - 1
        if abs(moved) < STEADY or length == lengths[-1]:
            return length, by_length[length], moved
    only = min(by_length)
    return only, by_length[only], None


def evidence(
    paper: Paper, figure: Figure, gathered: Gathered, *, cases: Mapping[str, RunCase], drawn: Mapping[str, Case],
    refused: Mapping[str, str],
) -> Evidence:  # fmt: skip
    """Return what the claims of a figure are judged by.

    Parameters
    ----------
    paper : Paper
        Whose lines there are: a claim may read lines of several figures.
    figure : Figure
        The one that carries the claims: its placements count.
    gathered : Gathered
        Values of all lines.
    cases : mapping of str to RunCase
        By name.
    drawn : mapping of str to Case
        By name of a draw, its weight and estimates; placements and tables are filled in here.
    refused : mapping of str to str
        Draws that a machine refuses, and why.

    Returns
    -------
    Evidence
        Lines that have other placements than the figure's stand in every table: those of two ranks have one.
    """
    where = {line: other for other in paper.figures for line in other.lines}

    def table(role: Role, name: str, placement: str, number: int) -> dict[SeriesKey, dict[X, float]]:
        merged: dict[SeriesKey, dict[X, float]] = {}
        for line, owner in where.items():
            own = placement
            if placement not in owner.placements:
                own = owner.placements[number % len(owner.placements)]
            curve = gathered.values(line, own, name, role)
            if curve:
                merged[line.key] = curve
        return merged

    given = {placement: table("figure", GIVEN, placement, 0) for placement in figure.placements}
    draws: dict[int, Case] = {}
    nulls: dict[int, Case] = {}
    for name, own in drawn.items():
        run_case = cases[name]
        place = figure.placements[run_case.number % len(figure.placements)]
        role: Role = "draw" if run_case.kind == "draw" else "null"
        values = table(role, name, place, run_case.number)
        if values and name not in refused:
            whole = draws if run_case.kind == "draw" else nulls
            whole[run_case.number] = Case(place, values, own.weight, own.estimates)
    ablations: dict[str, dict[str, dict[SeriesKey, dict[X, float]]]] = {}
    for name, run_case in cases.items():
        if run_case.without is None:
            continue
        for placement in figure.placements:
            if own := table("ablation", name, placement, 0):
                ablations.setdefault(run_case.without.name, {})[placement] = {**given[placement], **own}
    words = {one.name: one.takes_away for one in paper.without}
    unsteady = {(spot.line.key, placement, spot.x) for placement, spot in gathered.unsteady}
    unsteady |= {
        (key, placement, x) for key, own, x in list(unsteady) for placement in figure.placements
        if own not in figure.placements
    }  # fmt: skip
    said = tuple(f"{name} ({why})" for name, why in refused.items() if cases[name].kind == "draw")
    return Evidence(given, draws, nulls, ablations, words, said, frozenset(unsteady))
