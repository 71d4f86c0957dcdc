"""Machines as data: modelled installations, each number with its source, and what-ifs made of them.

``gm.machine("extoll").with_(link_bandwidth="1.25 GB/s")`` is a machine like any other; its label
``extoll+link.bandwidth=1.25 GB/s`` names it wherever a machine's name is taken.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gasmeter.catalogue import Parameter, declared
from gasmeter.errors import UsageError, unknown
from gasmeter.machines import hardware
from gasmeter.units import QUANTITIES, parse_quantity, quantity_text

__all__ = ["TOPOLOGY", "WHERE", "Machine", "Number", "number_value"]

TOPOLOGY = "topology"
"""Key and kind of a machine's topology."""

_TOPOLOGY = re.compile(r"[a-z][a-z0-9_-]*(:[^\s+;,]+)?", re.ASCII)
WHERE = "gasmeter list machines"
"""What lists them, for messages."""


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Number:
    """One number of a machine, or its topology.

    Attributes
    ----------
    key, kind : str
        Name and kind, as the parameters of its network say.
    text : str
        As written, with its unit.
    value : float or str
        In SI base units; a topology is text.
    source : str
        Where it was published, or how it was estimated.
    confidence : {"high", "medium", "low", "given"}
        Of the source; ``given`` for what `Machine.with_` replaced.
    hardware : tuple of str
        Facts it rests on, ids of published/hardware.csv.
    low, high : str
        Range of an estimate, as written; empty otherwise.
    filed : Number or None
        What the machine's file says, if this replaces it.
    """

    key: str
    kind: str
    text: str
    value: float | str
    source: str
    confidence: str
    hardware: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    filed: Number | None = None

    @property
    def unit(self) -> str:
        """SI unit of the value; empty for counts and topologies."""
        return QUANTITIES[self.kind].unit if self.kind in QUANTITIES else ""

    @property
    def origin(self) -> Literal["file", "override"]:
        """Who says so."""
        return "override" if self.filed else "file"

    @property
    def estimate(self) -> bool:
        """Whether it is declared to lie anywhere in a range."""
        return bool(self.low)

    def facts(self) -> dict[str, Any]:
        """Return everything about it.

        Returns
        -------
        dict
            JSON-able; ``low`` and ``high`` are null unless it is an estimate.
        """
        bounds = [number_value(text, self.kind, self.key) if text else None for text in (self.low, self.high)]
        return {
            "value": self.value,
            "unit": self.unit,
            "text": self.text,
            "source": self.source,
            "confidence": self.confidence,
            "hardware": list(self.hardware),
            "low": bounds[0],
            "high": bounds[1],
            "origin": self.origin,
        }


@dataclass(frozen=True)
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
        The parameters of the network, in the order they are listed; optional ones that nothing says are not there.
    """

    name: str
    network: str
    summary: str
    numbers: tuple[Number, ...]

    def __getitem__(self, key: str) -> Number:
        """Return a number by its dotted key."""
        numbers = {number.key: number for number in self.numbers}
        if key not in numbers:
            raise unknown(f"parameter of machine {self.name}", key, numbers, WHERE)
        return numbers[key]

    def __contains__(self, key: object) -> bool:
        """Return whether the machine has a parameter."""
        return any(number.key == key for number in self.numbers)

    def __str__(self) -> str:
        """Return the label."""
        return self.label

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
            A new value; this one is unchanged. An optional parameter of its network may be given that it has not, and
            0 for one that it has: no such cost.

        Raises
        ------
        UsageError
            If there is no such parameter, or a value has no unit, another unit, or is not positive where it must be.

        Examples
        --------
        >>> machine("extoll").with_(link_bandwidth="1250 MB/s").label
        'extoll+link.bandwidth=1.25 GB/s'
        """
        said, unsaid = {number.key: number for number in self.numbers}, _unsaid(self.network)
        known = {**said, **{key: number for key, number in unsaid.items() if key not in said}}
        spelt = {key.replace(".", "_"): key for key in known}
        wanted: dict[str, Number] = {}
        for name, value in [*(changes or {}).items(), *named.items()]:
            key = name if name in known else spelt.get(name, name)
            if key not in known:
                raise unknown(f"parameter of machine {self.name}", key, known, WHERE)
            if key in wanted:
                raise UsageError(f"{key} of machine {self.name} is given twice; allowed: once", str(value))
            wanted[key] = _override(known[key], value, f"{key} of machine {self.name}")
        now = {**said, **wanted}
        place = {parameter.key: number for number, parameter in enumerate(_parameters(self.network))}
        kept = [number for key, number in now.items() if number != unsaid.get(key)]
        return replace(self, numbers=tuple(sorted(kept, key=lambda number: place.get(number.key, 0))))

    def overrides(self) -> dict[str, str]:
        """Return what differs from the machine's file.

        Returns
        -------
        dict of str to str
            Values in their one spelling by key, sorted.
        """
        changed = [number for number in self.numbers if number.origin == "override"]
        return {number.key: number.text for number in sorted(changed, key=lambda number: number.key)}

    @property
    def label(self) -> str:
        """Name and overrides, for instance ``extoll+link.bandwidth=1.25 GB/s``; `machine` reads it back."""
        return "+".join([self.name, *(f"{key}={text}" for key, text in self.overrides().items())])

    @property
    def column(self) -> str:
        """The label as it stands in the column ``machine``: without the topology, which has a column of its own."""
        changed = ((key, text) for key, text in self.overrides().items() if key != TOPOLOGY)
        return "+".join([self.name, *(f"{key}={text}" for key, text in changed)])

    @property
    def topology(self) -> str:
        """How nodes are connected; empty if the network has no topology."""
        return str(self[TOPOLOGY].value) if TOPOLOGY in self else ""

    @property
    def digest(self) -> str:
        """Hash of the network and the effective numbers: 16 hexadecimal digits, the same everywhere."""
        return _digest({"network": self.network, "numbers": self.values()})

    def values(self) -> dict[str, float | str]:
        """Return the effective numbers as the compiled core takes them.

        Returns
        -------
        dict of str to float or str
            In SI base units by key; without an optional one that is 0, which is no such cost.
        """
        optional = _unsaid(self.network)
        return {number.key: number.value for number in self.numbers if number.value != 0 or number.key not in optional}

    def effective(self) -> dict[str, dict[str, Any]]:
        """Return every number with its unit, source, confidence, facts, range and origin.

        Returns
        -------
        dict of str to dict
            JSON-able, by key.
        """
        return {number.key: number.facts() for number in self.numbers}

    def facts(self) -> dict[str, Any]:
        """Return the machine as it stands in run.json.

        Returns
        -------
        dict
            JSON-able: ``label``, ``name``, ``network``, ``digest`` and `effective` as ``parameters``.
        """
        return {
            "label": self.label,
            "name": self.name,
            "network": self.network,
            "digest": self.digest,
            "parameters": self.effective(),
        }

    def estimates(self) -> tuple[Number, ...]:
        """Return the numbers that are declared to lie in a range.

        Returns
        -------
        tuple of Number
            In order.
        """
        return tuple(number for number in self.numbers if number.estimate)

    def tainted_by(self, keys: Iterable[str] | None = None) -> frozenset[str]:
        """Return the claims that touched a fact which this machine's numbers rest on.

        Parameters
        ----------
        keys : iterable of str, optional
            The parameters that a figure uses; all of them by default.

        Returns
        -------
        frozenset of str
            Ids of claims.
        """
        numbers = self.numbers if keys is None else [self[key] for key in keys]
        return hardware.tainted_by(name for number in numbers for name in number.hardware)


def _parameters(network: str) -> tuple[Parameter, ...]:
    found = declared().networks.get(network)
    return found.parameters if found else ()


def _unsaid(network: str) -> dict[str, Number]:
    """Return a network's optional parameters as a machine has them that says nothing of them."""
    return {
        parameter.key: Number(parameter.key, parameter.kind, "nothing", 0.0, "no such cost", "high")
        for parameter in _parameters(network)
        if parameter.optional
    }


def number_value(given: object, kind: str, what: str) -> float | str:
    """Return a value in SI base units; a topology stays text.

    Parameters
    ----------
    given : object
        With its unit.
    kind : str
        As the parameters of a network say.
    what : str
        What it is, for the message.

    Returns
    -------
    float or str
        The value.

    Raises
    ------
    UsageError
        If it does not fit its kind.
    """
    if kind != TOPOLOGY:
        return parse_quantity(given, kind, what)
    text = str(given).strip()
    if not _TOPOLOGY.fullmatch(text):
        raise UsageError(
            f"{what}: {text!r} is not a topology; allowed: a name and its extents, for instance torus3d:4x4x4"
            " (see `gasmeter list topologies`)",
            text,
        )
    return text


def _override(now: Number, given: object, what: str) -> Number:
    filed = now.filed or now
    value = number_value(given, now.kind, what)
    if value == filed.value:
        return filed
    return replace(
        filed,
        text=value if isinstance(value, str) else quantity_text(value, now.kind),
        value=value,
        source=f"given; the machine's file says {filed.text} ({filed.source})",
        confidence="given",
        filed=filed,
    )
