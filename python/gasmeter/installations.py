"""Which modelled machine each conduit of a series runs on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gasmeter.catalogue import Conduit, topologies
from gasmeter.errors import UsageError, unknown
from gasmeter.machine import Machine, machine, machines
from gasmeter.parameters import TOPOLOGY

__all__ = ["Installations", "default_machine"]


def default_machine(network: str) -> Machine | None:
    """Return the machine of a modelled network when none is named: the one of its name.

    Parameters
    ----------
    network : str
        Name of the network.

    Returns
    -------
    Machine or None
        None if there is no such machine.
    """
    return machine(network) if network in machines() else None


class Installations:
    """The machines of a series, checked against its conduits.

    A machine or topology applies to the modelled conduits it fits, and has to fit one at least; the others run on their
    network's own.

    Parameters
    ----------
    conduits : iterable of Conduit
        Every conduit of the series.
    named : sequence of str
        Names or labels of machines.
    topologies : sequence of str
        Topologies.

    Raises
    ------
    UsageError
        If there is no such machine or topology, or none of the conduits can run on it.
    """

    def __init__(self, conduits: Iterable[Conduit], named: Sequence[str], topologies: Sequence[str]) -> None:
        known = list(conduits)
        self._named = {text: machine(text) for text in named if text}
        self._found: dict[tuple[str, str, str], Machine | None] = {}
        modelled = {conduit.network: conduit for conduit in known if conduit.virtual}
        running = ", ".join(dict.fromkeys(conduit.name for conduit in known))
        for text, found in self._named.items():
            if found.network not in modelled:
                raise UsageError(
                    f"machine {text!r} belongs to network {found.network}, but {running} "
                    + (f"runs on {', '.join(modelled)}" if modelled else "runs on this host")
                    + f"; allowed: conduits on {found.network} (see `gasmeter list conduits`)",
                    text,
                )
        for text in filter(None, topologies):
            self._check_topology(text)
            hosts = [self._base(conduit, name) for conduit in modelled.values() for name in (*self._named, "")]
            if not any(host is not None and TOPOLOGY in host for host in hosts):
                raise UsageError(
                    f"topology {text!r}: {running} has none; allowed: conduits on a machine with a topology"
                    " (see `gasmeter list machines`)",
                    text,
                )

    @staticmethod
    def _check_topology(text: str) -> None:
        known = [entry["name"] for entry in topologies()]
        name = text.partition(":")[0]
        if known and name not in known:
            raise UsageError(str(unknown("topology", name, known, "gasmeter list topologies")), text)

    def _base(self, conduit: Conduit, name: str) -> Machine | None:
        if not conduit.virtual:
            return None
        named = self._named.get(name)
        return named if named and named.network == conduit.network else default_machine(conduit.network)

    def of(self, conduit: Conduit, name: str, topology: str) -> Machine | None:
        """Return the machine on which a conduit runs.

        Parameters
        ----------
        conduit : Conduit
            One of the series.
        name, topology : str
            Values of the axes; empty for the default.

        Returns
        -------
        Machine or None
            None on real conduits, and on networks that have no machine file.
        """
        key = (conduit.name, name, topology)
        if key not in self._found:
            base = self._base(conduit, name)
            changes = {TOPOLOGY: topology} if topology and base is not None and TOPOLOGY in base else {}
            self._found[key] = base.with_(changes) if base is not None else None
        return self._found[key]
