"""Placement of the ranks of a modelled job on nodes, by name."""

from __future__ import annotations

from collections import Counter

from gasmeter.errors import UsageError, did_you_mean

__all__ = [
    "FILL",
    "ONE_PER_NODE",
    "default_placement",
    "listed_nodes",
    "nodes_used",
    "parse_placement",
    "split_placements",
]

FILL = "fill"
"""Consecutive ranks share a node."""
ONE_PER_NODE = "one-per-node"
"""Any two ranks communicate over the network; this is the default."""

_ROUND_ROBIN = "round-robin"
_NAMES = (FILL, _ROUND_ROBIN, ONE_PER_NODE)
_LIST = "list:"
_ALLOWED = f"{', '.join(_NAMES)} or the node of each rank, for instance list:0,0,3,1"


def split_placements(text: str) -> list[str]:
    """Split a text with commas into placements; the numbers after ``list:`` stay together. Nothing is checked."""
    placements: list[str] = []
    for part in (word.strip() for word in text.split(",")):
        if placements and placements[-1].startswith(_LIST) and part not in _NAMES and not part.startswith(_LIST):
            placements[-1] += f",{part}"
        else:
            placements.append(part)
    return placements


def parse_placement(text: str) -> str:
    """Return the canonical spelling of ``fill``, ``round-robin``, ``one-per-node`` or ``list:0,0,3,1``.

    Raises UsageError for any other placement.
    """
    if text in _NAMES:
        return text
    if text.startswith(_LIST):
        return _LIST + ",".join(str(node) for node in _listed(text))
    hint = did_you_mean(text, [*_NAMES, _LIST])
    raise UsageError(f"unknown placement {text!r}{f'{hint} ' if hint else '; '}allowed: {_ALLOWED}", text)


def default_placement(ranks: int, nodes: int) -> str:
    """Return the default placement: ``one-per-node``, or ``round-robin`` for more ranks than nodes.

    Ranks then reach each other through the network, which is the object of the measurement.
    """
    return ONE_PER_NODE if ranks <= nodes else _ROUND_ROBIN


def listed_nodes(placement: str) -> list[int]:
    """Return the node of each rank in a ``list:`` placement; empty for placements by a rule.

    Raises UsageError if an item is no node.
    """
    return _listed(placement) if placement.startswith(_LIST) else []


def _listed(text: str) -> list[int]:
    nodes = [word.strip() for word in text.removeprefix(_LIST).split(",")]
    for node in nodes:
        if not (node.isascii() and node.isdigit()):
            raise UsageError(f"placement {text!r}: {node!r} is not the number of a node; allowed: {_ALLOWED}", text)
    return [int(node) for node in nodes]


def nodes_used(placement: str, ranks: int, *, nodes: int, per_node: int, where: str) -> int:
    """Return how many nodes carry ranks, 1 or more; raise UsageError if the ranks do not fit.

    `per_node` is the most ranks of a node; `where` names the owner of the nodes in messages.
    """
    if placement.startswith(_LIST):
        return _nodes_listed(placement, ranks, nodes=nodes, per_node=per_node, where=where)
    together = 1 if placement == ONE_PER_NODE else per_node
    if ranks > nodes * together:
        room = f"{_counted(nodes, 'node')}, {_counted(together, 'rank')} on each"
        raise UsageError(
            f"{_counted(ranks, 'rank')} do not fit on {where}: {room} with placement"
            f" {placement}; allowed: up to {nodes * together} ranks, or a larger topology",
            str(ranks),
        )
    return -(-ranks // together) if placement == FILL else min(ranks, nodes)


def _nodes_listed(placement: str, ranks: int, *, nodes: int, per_node: int, where: str) -> int:
    listed = _listed(placement)
    if len(listed) != ranks:
        raise UsageError(
            f"placement {placement} names the nodes of {_counted(len(listed), 'rank')}, but there are"
            f" {_counted(ranks, 'rank')}; allowed: one node for each rank",
            placement,
        )
    if max(listed) >= nodes:
        raise UsageError(
            f"placement {placement}: there is no node {max(listed)} on {where}; allowed: 0 to {nodes - 1}", placement
        )
    load = Counter(listed)
    if max(load.values()) > per_node:
        ((crowded, number),) = load.most_common(1)
        raise UsageError(
            f"placement {placement} puts {number} ranks on node {crowded}; allowed: {per_node} on each node of {where}",
            placement,
        )
    return len(load)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
