"""How the lines of a figure look: colour, marker, width, and a label made of what differs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["BESIDE", "COLOURS", "KEYS", "MARKERS", "Look", "Looks"]

BESIDE = "beside"
"""Column that says what a line was measured beside, where it was measured several times."""
KEYS = ("kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "options", BESIDE)
"""Columns in which lines may differ."""
COLOURS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
"""Okabe and Ito's colours, ordered so that neighbours differ in lightness too."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of lines, in the same order."""


@dataclass(frozen=True)
class Look:
    """How one line is drawn."""

    label: str
    colour: str
    marker: str
    track: int
    thin: bool
    dashed: bool

    @property
    def line(self) -> dict[str, Any]:
        """Arguments for matplotlib; a reference is thin, a modelled line dashed."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": (0, (5, 2)) if self.dashed else "-",
            "linewidth": 0.8 if self.thin else 1.6,
            "markersize": 3.2 if self.thin else 4.8,
        }


class Looks:
    """Gives each line of a figure a colour, a marker and a label made of what differs between the lines.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows drawn.
    references : set of str
        Conduits drawn thin, because others are compared with them.
    """

    def __init__(self, frame: pd.DataFrame, references: set[str]) -> None:
        self.references = references
        # What differs between the lines of one conduit tells them apart; what differs between conduits does not.
        self._varying = {
            str(conduit): [key for key in KEYS if key != "conduit" and rows[key].nunique() > 1]
            for conduit, rows in frame.groupby("conduit")
        }
        compared = set(self._varying) - references
        self._several = len(self._varying) > 1
        self._several_compared = len(compared) > 1
        self._tracks: dict[tuple[str, ...], int] = {}

    def look(self, key: dict[str, Any], *, ranks: bool = True) -> Look:
        """Return the look of one line.

        Parameters
        ----------
        key : dict
            Values of the columns that make a line.
        ranks : bool, default True
            Whether lines differ in ranks; False where ranks are the axis.

        Returns
        -------
        Look
            The same for the same key. A reference shares colour and marker with what is compared with it.
        """
        conduit = str(key["conduit"])
        thin = conduit in self.references
        parts = [
            f"{key[name]} ranks" if name == "ranks" else str(key[name])
            for name in self._varying[conduit]
            if key[name] and name != BESIDE and (ranks or name != "ranks")
        ]
        beside = [str(key[BESIDE])] if key[BESIDE] else []
        track = (*parts, *beside) if parts and not (self._several_compared and not thin) else (*parts, conduit, *beside)
        number = self._tracks.setdefault(track, len(self._tracks))
        label = " ".join([*parts, *([conduit] if self._several or not parts else []), *beside])
        return Look(
            label=label,
            colour=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            track=number,
            thin=thin,
            dashed=key["kind"] == "modelled",
        )
