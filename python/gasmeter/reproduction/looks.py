"""How the lines of a paper look in all of its figures: a colour for each conduit, a tone and a marker for each line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from gasmeter.plots.looks import COLOURS, MARKERS
from gasmeter.reproduction.figure import Line, Paper

__all__ = ["Look", "looks"]

_TONES = 3
_LIGHT, _DARK = 0.42, 0.45
_DIM = 0.35


@dataclass(frozen=True)
class Look:
    """How one line is drawn.

    Attributes
    ----------
    colour, marker : str
        Of matplotlib.
    filled : bool
        Whether the marker is.
    """

    colour: str
    marker: str
    filled: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """What matplotlib's plot takes."""
        face = self.colour if self.filled else "white"
        return {"color": self.colour, "marker": self.marker, "markerfacecolor": face}


def looks(paper: Paper) -> dict[Line, Look]:
    """Return the look of every line of a paper: the same wherever it is drawn.

    Parameters
    ----------
    paper : Paper
        Whose lines.

    Returns
    -------
    dict of Line to Look
        Lines of one conduit share a colour; conduits that meet in a figure do not, as far as there are colours; lines
        of one conduit that meet differ in tone and marker, and those of one label look the same unless they meet.
    """
    figures = [tuple(dict.fromkeys((*figure.lines, *figure.beside))) for figure in paper.figures]
    lines = list(dict.fromkeys(line for own in figures for line in own))
    colours = _distinct(
        list(dict.fromkeys(line.conduit for line in lines)), [{line.conduit for line in own} for own in figures]
    )
    alike: dict[tuple[str, str], int] = {}
    variations: dict[Line, int] = {}
    for line in lines:
        taken = {
            variations[other]
            for own in figures if line in own
            for other in own if other in variations and other.conduit == line.conduit
        }  # fmt: skip
        wanted = alike.get((line.conduit, line.label))
        free = next(number for number in itertools.count() if number not in taken)
        variations[line] = free if wanted is None or wanted in taken else wanted
        alike.setdefault((line.conduit, line.label), variations[line])
    return {line: _look(colours[line.conduit], variation) for line, variation in variations.items()}


def _distinct(names: Iterable[str], meeting: Iterable[set[str]]) -> Mapping[str, int]:
    """Return a number for each name: in turn the least used of those that no name has which it meets."""
    groups = list(meeting)
    found: dict[str, int] = {}
    for name in names:
        taken = {found[other] for group in groups if name in group for other in group if other in found}
        uses = [sum(number == use for use in found.values()) for number in range(len(COLOURS))]
        found[name] = min(range(len(COLOURS)), key=lambda number: (number in taken, uses[number], number))
    return found


def _look(colour: int, variation: int) -> Look:
    marker = MARKERS[(colour + 2 * variation) % len(MARKERS)]
    return Look(_tone(COLOURS[colour], variation % _TONES), marker, filled=variation % 2 == 0)


def _tone(colour: str, tone: int) -> str:
    """Return a colour as it is, lighter, or darker; of a dark one there is nothing darker, but lighter still."""
    red, green, blue = to_rgb(colour)
    dark = 0.3 * red + 0.6 * green + 0.1 * blue < _DIM / 2
    end, share = [(0.0, 0.0), (1.0, _LIGHT), (1.0, 0.7) if dark else (0.0, _DARK)][tone]
    mixed = (red + share * (end - red), green + share * (end - green), blue + share * (end - blue))
    return str(to_hex(mixed))
