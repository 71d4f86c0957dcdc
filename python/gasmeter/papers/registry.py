"""Papers whose figures are reproduced, and their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gasmeter.errors import UsageError, unknown
from gasmeter.papers.aries import ARIES
from gasmeter.papers.extoll import EXTOLL
from gasmeter.papers.portals import PORTALS
from gasmeter.papers.sci import SCI
from gasmeter.papers.xlupc import XLUPC
from gasmeter.reproduction.plan.figure import Figure, Paper

__all__ = ["PAPERS", "figures_of", "paper"]

PAPERS: Mapping[str, Paper] = {one.name: one for one in (EXTOLL, SCI, PORTALS, ARIES, XLUPC)}
"""Papers by name."""
_WHERE = "gasmeter list figures"


def paper(name: str) -> Paper:
    """Return a paper with its figures; raise UsageError for an unknown name."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS, _WHERE)
    return PAPERS[name]


def figures_of(chosen: Paper, numbers: Sequence[str] = ()) -> tuple[Figure, ...]:
    """Return the numbered figures of a paper, by default all, with those whose lines their claims read.

    They stand in the order of the paper. Raises UsageError for an unknown figure, or one that cannot be run yet.
    """
    by_number = {figure.number: figure for figure in chosen.figures}
    for number in numbers:
        if number not in by_number:
            raise unknown(f"figure of {chosen.name}", number, by_number, _WHERE)
        if not by_number[number].lines:
            ready = ", ".join(figure.number for figure in chosen.figures if figure.lines)
            raise UsageError(
                f"figure {number} of {chosen.name} cannot be run yet: {by_number[number].left_out}; allowed: {ready}",
                number,
            )
    wanted = {*numbers, *(other for number in numbers for other in by_number[number].beyond)}
    return tuple(figure for figure in chosen.figures if figure.lines and (not numbers or figure.number in wanted))
