"""A colour and one marker for each conduit in all pictures; raw programs have a related look."""

from __future__ import annotations

import zlib
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgb

__all__ = [
    "CONDUITS", "MARKERS", "TONES", "lighter", "line_style", "marker_of", "of_conduit", "ordered", "owner", "toned",
]  # fmt: skip

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of lines, in turn."""
_BLUE = "#0072B2"
CONDUITS: dict[str, tuple[str, str]] = {
    "smp": ("#009E73", "o"),
    "udp": ("#E69F00", "s"),
    "mpi": (_BLUE, "^"),
    "extoll": ("#D55E00", "D"),
    "ibv": ("#44AA99", "v"),
    "sci": ("#882255", "P"),
    "portals": ("#A6611A", "X"),
    "aries": ("#332288", "o"),
    "gm": ("#999933", "s"),
    "lapi": ("#AA3377", "D"),
    "ideal": ("#4D4D4D", "P"),
    "fabric": ("#767676", "v"),
    "ipoib": ("#5F6B2F", "X"),
    "udp@ethernet": ("#000000", "s"),
    "udp@ibv": ("#B27300", "s"),
    # MPI is blue over every network, since its partner is the network's own conduit.
    **{f"mpi@{network}": (_BLUE, "^") for network in ("aries", "extoll", "ibv", "portals", "sci")},
}
"""Colour and marker by conduit: Okabe and Ito's colours and Tol's, distinguishable without red or green."""

_OWNERS = {"shm": "smp", "ethernet": "udp@ethernet"}
_OTHERS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
_RAW = "raw@"
_LIGHTER = 0.38
_ORDERED_TO = 0.75  # part of the colour map; the rest is too light on white
TONES = 3
"""Tones of a conduit's colour: itself, darker, darker still; lighter ones belong to raw programs."""
_STEPS, _DIM = (0.4, 0.7), 0.17
_RAW_DASHES = (0, (2.4, 1.3))
_MODELLED = (0, (6, 2))
_RAW_MODELLED = (0, (6, 1.6, 1.4, 1.6))


def owner(conduit: str) -> str:
    """Return the conduit of a raw program (``smp`` for ``raw@shm``), or the conduit itself."""
    network = conduit.removeprefix(_RAW)
    return _OWNERS.get(network, network) if conduit.startswith(_RAW) else conduit


def of_conduit(conduit: str) -> str:
    """Return the hexadecimal colour of a conduit, the same in every picture; lighter for a raw program.

    A conduit outside the table gets a colour by its letters.
    """
    conduit_owner = owner(conduit)
    colour = (
        CONDUITS[conduit_owner][0]
        if conduit_owner in CONDUITS
        else _OTHERS[zlib.crc32(conduit_owner.encode()) % len(_OTHERS)]
    )
    return lighter(colour) if conduit.startswith(_RAW) else colour


def marker_of(conduit: str, variation: int = 0) -> str:
    """Return matplotlib's marker for a conduit's line number `variation`; raw programs share the conduit's."""
    conduit_owner = owner(conduit)
    first = (
        CONDUITS[conduit_owner][1]
        if conduit_owner in CONDUITS
        else MARKERS[zlib.crc32(conduit_owner.encode()) % len(MARKERS)]
    )
    return MARKERS[(MARKERS.index(first) + variation) % len(MARKERS)]


def ordered(count: int) -> list[str]:
    """Return colours from dark to light, evenly and also in grey, for lines of one conduit."""
    steps = [_ORDERED_TO * number / max(1, count - 1) for number in range(count)]
    return [str(to_hex(mpl.colormaps["viridis"](step))) for step in steps]


def lighter(colour: str, share: float = _LIGHTER) -> str:
    """Return a hexadecimal colour mixed with that share of white."""
    red, green, blue = to_rgb(colour)
    return str(to_hex((red + share * (1 - red), green + share * (1 - green), blue + share * (1 - blue))))


def toned(colour: str, tone: int) -> str:
    """Return a tone of a colour: 0 is the colour, 1 darker, 2 darker still, or lighter for a dark colour."""
    if tone == 0:
        return colour
    red, green, blue = to_rgb(colour)
    if 0.3 * red + 0.6 * green + 0.1 * blue < _DIM:
        return lighter(colour, _STEPS[tone - 1])
    left = 1 - _STEPS[tone - 1]
    return str(to_hex((left * red, left * green, left * blue)))


def line_style(conduit: str, *, modelled: bool) -> Any:
    """Return matplotlib's line style: raw programs have short dashes, modelled lines among measured ones long ones."""
    if conduit.startswith(_RAW):
        return _RAW_MODELLED if modelled else _RAW_DASHES
    return _MODELLED if modelled else "-"
