"""Looks of a paper's lines in all of its figures: a colour for each conduit, a tone and a marker for each line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from gasmeter.plots.palette import TONES, line_style, marker_of, of_conduit, toned
from gasmeter.reproduction.plan.figure import Line, Paper

__all__ = ["Look", "looks"]


@dataclass(frozen=True)
class Look:
    """Look of one line."""

    colour: str  # for matplotlib
    marker: str  # for matplotlib
    conduit: str = ""  # decides the dashes: raw programs have short ones

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments for matplotlib's plot; markers are filled, as hollow ones mark published values."""
        return {"color": self.colour, "marker": self.marker}

    def style(self, *, dashed: bool) -> Any:
        """Return matplotlib's line style; `dashed` marks a modelled line in a picture that also shows measured ones."""
        return line_style(self.conduit, modelled=dashed)


def looks(paper: Paper) -> dict[Line, Look]:
    """Return the look of every line of a paper, the same in all of its pictures.

    Lines of one conduit share its colour (`gasmeter.plots.palette.CONDUITS`). Within a figure they differ in tone and
    marker. Lines of one label look the same unless they meet.
    """
    figures = [tuple(dict.fromkeys((*figure.lines, *figure.beside))) for figure in paper.figures]
    lines = list(dict.fromkeys(line for group in figures for line in group))
    alike: dict[tuple[str, str], int] = {}
    variations: dict[Line, int] = {}
    for line in lines:
        taken = {
            variations[other]
            for group in figures if line in group
            for other in group if other in variations and other.conduit == line.conduit
        }  # fmt: skip
        wanted = alike.get((line.conduit, line.label))
        free = next(number for number in itertools.count() if number not in taken)
        variations[line] = free if wanted is None or wanted in taken else wanted
        alike.setdefault((line.conduit, line.label), variations[line])
    return {line: _look(line.conduit, variation) for line, variation in variations.items()}


def _look(conduit: str, variation: int) -> Look:
    colour = toned(of_conduit(conduit), variation % TONES)
    return Look(colour, marker_of(conduit, variation), conduit)
