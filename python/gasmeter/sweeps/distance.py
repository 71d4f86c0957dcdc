"""Distance of the ranks of a modelled job, without which a latency between them says little."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gasmeter.catalogue import core
from gasmeter.errors import GasmeterError
from gasmeter.sweeps.placement import FILL, listed_nodes

__all__ = ["Hops", "distance", "distances", "hops_between"]

_SAME = "same node"


class Hops(NamedTuple):
    """Links that a packet of rank 0 passes: to rank 1, and to the farthest rank."""

    near: int
    far: int


@functools.cache
def hops_between(topology: str, placement: str, ranks: int, nodes: int) -> Hops | None:
    """Return the distances of the other ranks from rank 0; None without topology or placement, or for one rank.

    `topology` is for instance ``torus3d:4x4x4``. An unknown topology gives None, too.
    """
    if not topology or not placement or ranks < 2:
        return None
    if nodes == 1:
        return Hops(0, 0)
    # Rules fill nodes in order.
    others = listed_nodes(placement) or [0, 0 if placement == FILL and nodes < ranks else 1, *range(1, nodes)]
    try:
        ways = core().routes(topology, others[:1] * (len(others) - 1), others[1:])["first"].tolist()
    except GasmeterError:
        return None
    hops = [end - begin for begin, end in itertools.pairwise(ways)]
    return Hops(hops[0], max(hops))


def distance(place: Mapping[str, Any]) -> str:
    """Return the distance of the other ranks from rank 0 in words: ``same node``, ``1 hop to rank 1, 9 at most``."""
    hops = _hops(place)
    if hops is None:
        return ""
    return _counted(hops.near) + (f" to rank 1, {hops.far} at most" if hops.far > hops.near else "")


def distances(places: Iterable[Mapping[str, Any]]) -> str:
    """Return the distances of many rows for the line below a table: ``same node, 1 hop``, ``1 to 9 hops``, or empty."""
    seen = {hops for place in places if (hops := _hops(place)) is not None}
    together = [_SAME] if Hops(0, 0) in seen else []
    apart = [hop for hops in seen for hop in hops if hop > 0]
    if not apart:
        return "".join(together)
    low, high = min(apart), max(apart)
    return ", ".join([*together, _counted(high) if low == high else f"{low} to {high} hops"])


def _hops(place: Mapping[str, Any]) -> Hops | None:
    return hops_between(place["topology"], place["placement"], int(place["ranks"]), int(place["nodes"]))


def _counted(hops: int) -> str:
    return _SAME if hops == 0 else f"{hops} hop{'' if hops == 1 else 's'}"
