"""Machines as data: modelled installations, each number with its source, and what-ifs made of them.

``gm.machine("extoll").with_(link_bandwidth="1.25 GB/s")`` is a machine like any other; its label
``extoll+link.bandwidth=1.25 GB/s`` names it wherever a machine's name is taken.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gasmeter import catalogue
from gasmeter.catalogue import Parameter, declared
from gasmeter.errors import UsageError, unknown
from gasmeter.machines import hardware
from gasmeter.machines.number import TOPOLOGY, Number, number_value
from gasmeter.machines.shown import machine_html

__all__ = ["DRAW_SEED", "TOPOLOGY", "WHERE", "Drawn", "Machine", "Number", "number_value"]

DRAW_SEED = 21
"""Seed of the draws that a label names."""

WHERE = "gasmeter list machines"
"""Command that lists the machines, for messages."""


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Drawn:
    """The draw that a machine is."""

    number: int  # from 0
    null: bool = False  # whether the times of software are off by a factor, too (`gasmeter.machines.draws.null`)
    seed: int = DRAW_SEED  # seed of the sequence; the label names it unless it is `DRAW_SEED`

    def __str__(self) -> str:
        """Return the draw's part of a label, for instance ``draw=17``."""
        return f"{'null' if self.null else 'draw'}={self.number}{'' if self.seed == DRAW_SEED else f'@{self.seed}'}"


@dataclass(frozen=True, repr=False)
class Machine:
    """A modelled installation: hosts, cards, links and how they are connected.

    Attributes
    ----------
    name : str
        Name of its file.
    network : str
        The modelled network it belongs to.
    summary : str
        One line for people.
    numbers : tuple of Number
        The parameters of the network in display order, without optional ones that the machine does not mention.
    drawn : Drawn or None
        Its draw (`gasmeter.machines.draws`); None for the machine as in its file.

    Examples
    --------
    >>> number = gm.machine("extoll")["link.bandwidth"]
    >>> number.text, number.confidence
    ('625 MB/s', 'high')
    """

    name: str
    network: str
    summary: str
    numbers: tuple[Number, ...]
    drawn: Drawn | None = None

    def __getitem__(self, key: str) -> Number:
        """Return a number by its dotted key."""
        if key not in self._by_key:
            raise unknown(f"parameter of machine {self.name}", key, self._by_key, WHERE)
        return self._by_key[key]

    def __contains__(self, key: object) -> bool:
        """Return whether the machine has a parameter."""
        return key in self._by_key

    def __str__(self) -> str:
        """Return the label."""
        return self.label

    def __repr__(self) -> str:
        """Return the machine's description in one line, without numbers; `effective` has these."""
        numbers = f"{len(self.numbers)} numbers, {len(self.estimates())} of them estimates"
        return f"<Machine {self.label}: {self._kind}, {numbers}>"

    def _repr_html_(self) -> str:
        """Return changed numbers as an HTML table, and every number with its source below, folded."""
        summaries = {parameter.key: parameter.summary for parameter in _parameters(self.network)}
        return machine_html(self.label, f"{self.summary} ({self._kind})", self.numbers, summaries)

    @property
    def _kind(self) -> str:
        where = f" on {self.topology}" if self.topology else ""
        return f"modelled network {self.network}{where}"

    def with_(self, changes: Mapping[str, object] | None = None, /, **named: object) -> Machine:
        """Return the machine with some numbers replaced.

        Parameters
        ----------
        changes : mapping of str to object, optional
            Values by dotted key, for instance ``{"link.bandwidth": "1.25 GB/s"}``.
        **named
            Values by key with ``_`` for the dot, for instance ``link_bandwidth="1.25 GB/s"``.

        Returns
        -------
        Machine
            A new value; this one is unchanged. An optional parameter that the machine lacks may be given; 0 removes the
            cost of one that it has. A share of a number that changes follows it, unless it is given itself.

        Raises
        ------
        UsageError
            If there is no such parameter, a value has no unit, another unit, or is not positive where it must be, or a
            topology cannot be built.

        Examples
        --------
        >>> gm.machine("extoll").with_(link_bandwidth="1250 MB/s").label
        'extoll+link.bandwidth=1.25 GB/s'
        """
        if not isinstance(changes, Mapping | None):
            raise UsageError(
                f"changes {changes!r} of machine {self.name} are not allowed; allowed: values by key, for instance"
                " {'link.bandwidth': '1.25 GB/s'}",
                str(changes),
            )
        stated, unsaid = self._by_key, _unsaid(self.network)
        numbers = {**stated, **{key: number for key, number in unsaid.items() if key not in stated}}
        spelt = {key.replace(".", "_"): key for key in numbers}
        wanted: dict[str, Number] = {}
        for name, value in [*(changes or {}).items(), *named.items()]:
            key = name if name in numbers else spelt.get(name, name)
            if key not in numbers:
                raise unknown(f"parameter of machine {self.name}", key, numbers, WHERE)
            if key in wanted:
                raise UsageError(f"{key} of machine {self.name} is given twice; allowed: once", str(value))
            wanted[key] = numbers[key].given(value, f"{key} of machine {self.name}")
            if numbers[key].kind == TOPOLOGY:
                catalogue.topology(str(wanted[key].value))  # refuses an impossible topology
        now = {**stated, **wanted}
        now |= {key: number.following(now[number.of]) for key, number in now.items() if number.share is not None}
        place = {parameter.key: number for number, parameter in enumerate(_parameters(self.network))}
        kept = [number for key, number in now.items() if number != unsaid.get(key)]
        return replace(self, numbers=tuple(sorted(kept, key=lambda number: place.get(number.key, 0))))

    def on(self, topology: str) -> Machine:
        """Return the machine with another topology between its nodes.

        Parameters
        ----------
        topology : str
            For instance ``"torus3d:4x4x4"``.

        Returns
        -------
        Machine
            The variant, as from `with_`; made once, since a sweep asks for it at every point.

        Raises
        ------
        UsageError
            If the machine has no topology.
        """
        if topology not in self._elsewhere:
            self._elsewhere[topology] = self.with_({TOPOLOGY: topology})
        return self._elsewhere[topology]

    @functools.cached_property
    def _by_key(self) -> dict[str, Number]:
        return {number.key: number for number in self.numbers}

    @functools.cached_property
    def _elsewhere(self) -> dict[str, Machine]:
        """Results of `on`, by topology."""
        return {}

    def overrides(self) -> dict[str, str]:
        """Return the given numbers: the differences from the machine's file, or from its draw.

        Returns
        -------
        dict of str to str
            Values in their canonical text by key, sorted; without drawn numbers and numbers that follow another.
        """
        changed = [number for number in self.numbers if number.origin == "override"]
        return {number.key: number.text for number in sorted(changed, key=lambda number: number.key)}

    @functools.cached_property
    def label(self) -> str:
        """Name, draw and overrides, for instance ``extoll+draw=17+link.bandwidth=1 GB/s``; `machine` reads it back."""
        return "+".join([self._drawn_name, *(f"{key}={text}" for key, text in self.overrides().items())])

    @functools.cached_property
    def column(self) -> str:
        """The label as it stands in the column ``machine``: without the topology, which has a column of its own."""
        changed = ((key, text) for key, text in self.overrides().items() if key != TOPOLOGY)
        return "+".join([self._drawn_name, *(f"{key}={text}" for key, text in changed)])

    @property
    def _drawn_name(self) -> str:
        return self.name if self.drawn is None else f"{self.name}+{self.drawn}"

    @property
    def draw(self) -> int | None:
        """Number of the draw of its estimates; None for undrawn ones and for the null model."""
        return self.drawn.number if self.drawn is not None and not self.drawn.null else None

    @property
    def null(self) -> int | None:
        """Number of the null model's draw; None for any other machine."""
        return self.drawn.number if self.drawn is not None and self.drawn.null else None

    @property
    def topology(self) -> str:
        """How nodes are connected; empty if the network has no topology."""
        return str(self[TOPOLOGY].value) if TOPOLOGY in self else ""

    @functools.cached_property
    def digest(self) -> str:
        """Hash of the network and the effective numbers: 16 hexadecimal digits, the same everywhere."""
        return _digest({"network": self.network, "numbers": self.values()})

    def values(self) -> dict[str, float | str]:
        """Return the effective numbers as the compiled core takes them.

        Returns
        -------
        dict of str to float or str
            Numbers in SI base units by key; an optional number of 0 is left out, as it has no cost.
        """
        optional = _unsaid(self.network)
        return {number.key: number.value for number in self.numbers if number.value != 0 or number.key not in optional}

    def effective(self) -> dict[str, dict[str, Any]]:
        """Return every number with its unit, source, confidence, facts, range and origin.

        Returns
        -------
        dict of str to dict
            Facts for JSON, by key.
        """
        return {number.key: number.facts() for number in self.numbers}

    def facts(self) -> dict[str, Any]:
        """Return the machine as it stands in run.json.

        Returns
        -------
        dict
            Facts for JSON: ``label``, ``name``, ``network``, ``digest`` and `effective` as ``parameters``. A draw, one
            of perhaps thousands, has only value and origin of each number.
        """
        drawn = any(number.origin == "draw" for number in self.numbers)
        return {
            "label": self.label,
            "name": self.name,
            "network": self.network,
            "digest": self.digest,
            "parameters": {number.key: number.drawn_facts() for number in self.numbers} if drawn else self.effective(),
        }

    def estimates(self) -> tuple[Number, ...]:
        """Return the numbers with a declared range.

        Returns
        -------
        tuple of Number
            Estimates in display order.
        """
        return tuple(number for number in self.numbers if number.estimate)

    def tainted_by(self, keys: Iterable[str] | None = None) -> frozenset[str]:
        """Return the claims that touched a fact behind this machine's numbers.

        Parameters
        ----------
        keys : iterable of str, optional
            The parameters of a figure; by default all.

        Returns
        -------
        frozenset of str
            Ids of claims.
        """
        numbers = self.numbers if keys is None else [self[key] for key in keys]
        return hardware.tainted_by(name for number in numbers for name in number.hardware)


def _parameters(network: str) -> tuple[Parameter, ...]:
    declared_network = declared().networks.get(network)
    return declared_network.parameters if declared_network else ()


@functools.cache  # from the core's declarations, which are read once
def _unsaid(network: str) -> Mapping[str, Number]:
    """Return a network's optional parameters with the values that apply if a machine does not mention them."""
    return {
        parameter.key: Number(parameter.key, parameter.kind, "nothing", 0.0, "no such cost", "high")
        for parameter in _parameters(network)
        if parameter.optional
    }
