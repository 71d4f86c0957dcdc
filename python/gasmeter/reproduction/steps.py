"""The change of pace between the last two doublings: searched for on every line, with what the links carried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gasmeter.reproduction.figure import Figure, Line
from gasmeter.reproduction.running import Reproduction
from gasmeter.rows.links import unpack
from gasmeter.verdicts.predicates import predicates

__all__ = ["LinkLoad", "Step", "link_loads", "steps"]

_POINTS = (128, 256, 512)
_JUMP = "extoll-fig12-14-jump"


@dataclass(frozen=True)
class Step:
    """J of one line on one placement.

    Attributes
    ----------
    line : Line
        Which.
    placement : str
        Where its ranks ran.
    growth : tuple of float
        From 128 to 256 ranks, and from 256 to 512.
    ratio : float
        J, the second by the first.
    kind : str
        ``a rise``, ``a fall`` or ``no jump``, by the intervals of the frozen predicate.
    """

    line: Line
    placement: str
    growth: tuple[float, float]
    ratio: float
    kind: str


@dataclass(frozen=True)
class LinkLoad:
    """What the links of one point carried.

    Attributes
    ----------
    line : Line
        Which.
    placement : str
        Where its ranks ran.
    ranks : int
        How many.
    busiest, mean : float
        Share of the time that the busiest link was busy, and that all were on average.
    used : float
        Share of the links that carried anything.
    """

    line: Line
    placement: str
    ranks: int
    busiest: float
    mean: float
    used: float


def steps(reproduction: Reproduction, figure: Figure) -> list[Step]:
    """Return J of every line of a figure.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    figure : Figure
        Whose lines.

    Returns
    -------
    list of Step
        Lines with all three points.
    """
    holds = predicates()[_JUMP].conditions[0]
    result: list[Step] = []
    if figure.axis != "ranks":
        return result
    for line in figure.lines:
        for placement in figure.placements:
            values = reproduction.values(line, placement)
            if not all(ranks in values for ranks in _POINTS):
                continue
            first, middle, last = (values[ranks] for ranks in _POINTS)
            ratio = (last / middle) / (middle / first)
            jump = holds.holds_for(ratio)
            name = "no jump" if not jump else "a rise" if ratio > 1 else "a fall"
            result.append(Step(line, placement, (middle / first, last / middle), ratio, name))
    return result


def link_loads(reproduction: Reproduction, figure: Figure) -> list[LinkLoad]:
    """Return what the links carried at the ranks whose links are shown.

    Parameters
    ----------
    reproduction : Reproduction
        What was run.
    figure : Figure
        Whose lines.

    Returns
    -------
    list of LinkLoad
        Points that have links.
    """
    tables: Mapping[str, Mapping[str, object]] = {table["run_id"]: table for table in reproduction.result.link_tables()}
    loads = []
    for line in figure.heat_lines:
        for placement in figure.placements:
            for ranks in figure.heat_ranks:
                packed = tables.get(reproduction.run_id(line, placement, ranks))
                if packed is None:
                    continue
                table = unpack(packed)
                busy, used = table["busy"], float((table["packets"] > 0).mean())
                loads.append(LinkLoad(line, placement, ranks, float(busy.max()), float(busy.mean()), used))
    return loads
