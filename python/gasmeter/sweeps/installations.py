"""The modelled machine of each conduit of a series, and of each point."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter.catalogue import Conduit, catalogue, check_topology_name, topology
from gasmeter.errors import UsageError
from gasmeter.machines.machine import TOPOLOGY, Machine
from gasmeter.machines.named import machine, machines
from gasmeter.sweeps.placement import FILL, default_placement, nodes_used

if TYPE_CHECKING:
    from gasmeter.sweeps.point import Point

__all__ = ["Installations", "default_machine", "machine_of"]


def default_machine(network: str) -> Machine | None:
    """Return the machine named like a modelled network, its default; None if there is none."""
    return machine(network) if network in machines() else None


def machine_of(point: Point) -> Machine | None:
    """Return the machine of a point with the point's topology; None for real conduits."""
    if not point.machine:
        return None
    installed = machine(point.machine)
    return installed.on(point.topology) if point.topology else installed


def _with_topology() -> list[str]:
    """Name the modelled conduits that run on a machine with a topology."""
    entry = catalogue()
    raw = (entry.conduit(f"raw@{network}") for network in entry.raw_networks())
    modelled = {conduit.name: conduit for conduit in [*entry.conduits.values(), *raw] if conduit.virtual}
    hosts = {name: default_machine(conduit.network) for name, conduit in modelled.items()}
    return [name for name, host in hosts.items() if host is not None and host.topology]


@functools.lru_cache(maxsize=256)
def _shape(text: str) -> Mapping[str, Any]:
    """Return the facts of a topology; a sweep asks for the same few at every point."""
    return topology(text)


class Installations:
    """The machines of a series, checked against its conduits.

    A machine or topology applies to the modelled conduits that it fits, at least one; the others run on their network's
    own. Raises UsageError for an unknown machine, topology or placement, or if no conduit can run on it.
    """

    def __init__(
        self,
        conduits: Iterable[Conduit],
        named: Sequence[str],
        topologies: Sequence[str],
        placements: Sequence[str] = (),
    ) -> None:
        names = list(conduits)
        self._named = {text: machine(text) for text in named if text}
        self._machines: dict[tuple[str, str, str], Machine | None] = {}
        modelled = {conduit.network: conduit for conduit in names if conduit.virtual}
        running = ", ".join(dict.fromkeys(conduit.name for conduit in names))
        for text, installed in self._named.items():
            if installed.network not in modelled:
                raise UsageError(
                    f"machine {text!r} belongs to network {installed.network}, but {running} "
                    + (f"runs on {', '.join(modelled)}" if modelled else "runs on this host")
                    + f"; allowed: conduits on {installed.network} (see `gasmeter list conduits`)",
                    text,
                )
        hosts = (self._base(conduit, name) for conduit in modelled.values() for name in (*self._named, ""))
        placed = any(host is not None and TOPOLOGY in host for host in hosts)
        for what, text in [*(("topology", text) for text in topologies), *(("placement", text) for text in placements)]:
            if text and what == "topology":
                check_topology_name(text)
            if text and not placed:
                raise UsageError(
                    f"{what} {text!r}: {running} has no topology; allowed: conduits on a machine with one,"
                    f" {', '.join(_with_topology())} (see `gasmeter list machines`)",
                    text,
                )

    def _base(self, conduit: Conduit, name: str) -> Machine | None:
        if not conduit.virtual:
            return None
        named = self._named.get(name)
        return named if named and named.network == conduit.network else default_machine(conduit.network)

    def of(self, conduit: Conduit, name: str, topology: str) -> Machine | None:
        """Return the machine of a conduit; None for real conduits and networks without a machine file."""
        key = (conduit.name, name, topology)
        if key not in self._machines:
            base = self._base(conduit, name)
            if base is not None and base.topology:
                asked = base.on(topology or base.topology)
                base = base.on(_shape(asked.topology)["name"])
            self._machines[key] = base
        return self._machines[key]

    def place(self, installed: Machine, placement: str, ranks: int, *, together: bool = False) -> tuple[str, int]:
        """Return the placement of ranks on a machine and how many nodes carry ranks; no placement without a topology.

        `together` lets ranks share nodes if no placement is named. Raises UsageError if the ranks do not fit.
        """
        if not installed.topology:
            return "", 1
        per_node = int(installed["ranks_per_node"].value)
        where = f"{installed.topology} of machine {installed.column}"
        nodes = int(_shape(installed.topology)["terminals"])
        name = placement or (FILL if together else default_placement(ranks, nodes))
        return name, nodes_used(name, ranks, nodes=nodes, per_node=per_node, where=where)
