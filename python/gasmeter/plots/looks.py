"""Looks of a figure's lines: colour of the conduit, marker, dashes, and a label of the differences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gasmeter.plots.palette import TONES, lighter, line_style, marker_of, of_conduit, ordered, owner, toned

__all__ = ["BESIDE", "KEYS", "Look", "Looks", "shared_options"]

BESIDE = "beside"
"""Column with the partner of a line that was measured several times."""
KEYS = ("kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "options", BESIDE)
"""Columns in which lines may differ."""
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Look:
    """Look of one line."""

    label: str
    colour: str
    marker: str
    track: int
    thin: bool
    style: Any = "-"

    @property
    def line(self) -> dict[str, Any]:
        """Arguments for matplotlib; a reference is thinner."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.style,
            "linewidth": 1.3 if self.thin else 1.7,
            "markersize": 3.8 if self.thin else 4.8,
        }


def shared_options(frame: pd.DataFrame) -> list[str]:
    """Return the options that all rows share as ``key=value``, for the subtitle; labels leave them out."""
    each = [str(text).split(";") for text in dict.fromkeys(frame["options"])] if "options" in frame else []
    return [part for part in (each[0] if each else []) if part and all(part in parts for parts in each)]


class Looks:
    """Gives each line of a figure a colour, a marker and a label of its differences from other lines.

    Conduits have the colour of `gasmeter.plots.palette.CONDUITS`, a raw program's is lighter and dashed; lines of one
    conduit differ in tone and marker. If one conduit alone is drawn, with its raw program or without, lines have the
    colours of an ordered palette instead.

    `references` are conduits that others are compared with, drawn thinner. `ranks` is False if ranks are the axis.
    """

    def __init__(self, frame: pd.DataFrame, references: set[str], *, ranks: bool = True) -> None:
        self.references = references
        self.mixed = frame["kind"].nunique() > 1 if "kind" in frame else False
        self._ranks = ranks
        self._shared = set(shared_options(frame))
        # Differences between lines of one conduit identify them; differences between conduits do not.
        self._varying = {
            str(conduit): [key for key in KEYS if key != "conduit" and rows[key].nunique() > 1]
            for conduit, rows in frame.groupby("conduit")
        }
        self._several = len(self._varying) > 1
        self._alone = len({owner(name) for name in self._varying}) == 1
        rows = frame[list(KEYS)].drop_duplicates().to_dict("records")
        lines = [{str(name): value for name, value in row.items()} for row in rows]
        tracks: dict[str, dict[str, None]] = {}
        for key in lines:
            tracks.setdefault(owner(str(key["conduit"])), {}).setdefault(self._variation(key), None)
        self._tracks = {name: sorted(texts, key=_natural) for name, texts in tracks.items()}
        self._order = list(self._tracks)

    def look(self, key: dict[str, Any]) -> Look:
        """Return the look of a line, the same for the same key; a raw program shares it with its conduit's line."""
        conduit = str(key["conduit"])
        conduit_owner = owner(conduit)
        variations = self._tracks[conduit_owner]
        number = variations.index(self._variation(key))
        parts = self._parts(key)
        beside = [str(key[BESIDE])] if key[BESIDE] else []
        kind = [f"({key['kind']})"] if self.mixed else []
        return Look(
            label=" ".join([*parts, *([conduit] if self._several or not parts else []), *beside, *kind]),
            colour=self._colour(conduit, number, len(variations)),
            marker=marker_of(conduit, number),
            track=self._order.index(conduit_owner) * 1000 + number,
            thin=conduit in self.references,
            style=line_style(conduit, modelled=self.mixed and key["kind"] == "modelled"),
        )

    def _parts(self, key: dict[str, Any]) -> list[str]:
        named = {"ranks": f"{key['ranks']} ranks", "options": " ".join(self._own_options(key))}
        names = [name for name in self._varying[str(key["conduit"])] if name != BESIDE]
        texts = [named.get(name, str(key[name])) for name in names if self._ranks or name != "ranks"]
        return [text for text in texts if text]

    def _own_options(self, key: dict[str, Any]) -> list[str]:
        return [part for part in str(key["options"]).split(";") if part and part not in self._shared]

    def _variation(self, key: dict[str, Any]) -> str:
        """Return the number of a line among its conduit's; a raw program has the number of its partner."""
        conduit = str(key["conduit"])
        words = " ".join(self._parts(key)).split()
        if conduit == owner(conduit):
            return " ".join([*sorted(words), str(key[BESIDE])]).strip()
        beside = str(key[BESIDE]).replace(",", " ").split()
        return " ".join(sorted({*words, *beside} - {"beside", conduit, owner(conduit)}))

    def _colour(self, conduit: str, number: int, count: int) -> str:
        if self._alone and count > 1:
            colour = ordered(count)[number]
            return colour if conduit == owner(conduit) else lighter(colour)
        return toned(of_conduit(conduit), number % TONES)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Order texts with their numbers as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in _NUMBERS.split(text) if part]
