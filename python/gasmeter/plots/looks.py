"""How the lines of a figure look: colour, marker, width, and a label made of what differs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["KEYS", "Look", "Looks"]

KEYS = ("kernel", "op", "variant", "conduit", "ranks", "options")
"""Columns in which lines may differ."""
# Okabe and Ito's colours, ordered so that neighbours differ in lightness too.
_COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


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
        self._varying = [key for key in KEYS if frame[key].nunique() > 1 and key not in {"ranks", "conduit"}]
        self._several_ranks = frame["ranks"].nunique() > 1
        self._several_conduits = frame["conduit"].nunique() > 1
        self._tracks: dict[tuple[Any, ...], int] = {}

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
            The same for the same key.
        """
        thin = key["conduit"] in self.references
        parts = [str(key[name]) for name in self._varying if key[name]]
        parts += [f"{key['ranks']} ranks"] if ranks and self._several_ranks else []
        if "variant" in self._varying and key["variant"] == "raw" and thin:
            parts = [part for part in parts if part != "raw"]
        # A reference shares colour and marker with what is compared with it, unless they differ by more than conduit.
        track = (*parts, "" if thin or not self.references else key["conduit"]) if parts else (key["conduit"],)
        if thin and parts:
            followers = [known for known in self._tracks if known[:-1] == tuple(parts)]
            track = followers[0] if followers else (*parts, "")
        number = self._tracks.setdefault(track, len(self._tracks))
        names = [*parts, key["conduit"]] if self._several_conduits or not parts else parts
        return Look(
            " ".join(names), _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)], number, thin,
            key["kind"] == "modelled",
        )  # fmt: skip
