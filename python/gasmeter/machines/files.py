"""Machine files: a single number, and a whole file with its base and hosts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gasmeter.catalogue import Parameter, declared
from gasmeter.errors import EnvironmentLacks, UsageError, first_mistake, unknown
from gasmeter.machines.bounds import check_bounds
from gasmeter.machines.folder import hosts, installed, lacking, read_file
from gasmeter.machines.machine import WHERE, Machine
from gasmeter.machines.number import TOPOLOGY, Number, Place, number_value, share_of
from gasmeter.units import quantity_text

__all__ = ["Entry", "read_machine"]

_SHARE = re.compile(r"[1-9]\d{0,5}(/[1-9]\d{0,5})?", re.ASCII)


class _Said(NamedTuple):
    """An entry, its location for messages, and its position in the file."""

    entry: object
    where: str
    place: Place


class Entry(BaseModel):
    """A number: value with unit, source, confidence, the facts behind it, and the range of an estimate.

    ``share`` and ``of`` replace the range of a number that is a share of another one and follows it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: str = Field(min_length=1)
    source: str = Field(min_length=1)
    confidence: Literal["high", "medium", "low"]
    hardware: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    share: str = ""
    of: str = ""

    @model_validator(mode="after")
    def _accounted_for(self) -> Entry:
        if bool(self.low) != bool(self.high):
            raise ValueError("a range needs both low and high")
        if bool(self.share) != bool(self.of):
            raise ValueError("what follows another number needs both share and of")
        if self.share:
            return self._followed()
        # A shape may be a choice, which has no range.
        if not self.low and not self.hardware and not self.source.startswith("choice: "):
            raise ValueError("it names no hardware; a number without is an estimate with low and high")
        if not self.low and self.confidence == "low":
            raise ValueError("confidence is low; such a number is an estimate with low and high")
        return self

    def _followed(self) -> Entry:
        if not _SHARE.fullmatch(self.share):
            raise ValueError(f"share {self.share!r} is none; allowed: a fraction of whole numbers above 0, such as 1/4")
        if self.low:
            raise ValueError("it has a share of another number and a range; allowed: one of both")
        if not self.hardware:
            raise ValueError("it names no hardware; what says that it is such a share")
        return self


def read_machine(text: str, name: str) -> Machine:
    """Return the machine that a TOML text describes, with every parameter of its network.

    The file itself wins over its ``hosts``, and these over its ``base``.

    `name` is the machine's name, or the path of a file that is not installed. Raises UsageError for a text that is no
    TOML, parameters that are missing, unknown or contradictory, and a base or hosts that do not exist or form a circle.
    Raises EnvironmentLacks if this build has no such network.
    """
    return _read(text, name, ())


def _read(text: str, name: str, above: tuple[str, ...]) -> Machine:
    where = f"machine file {name.removesuffix('.toml')}.toml"
    content = _parsed(text, where, name)
    base, shared, named, summary = (content.pop(field, None) for field in ("base", "hosts", "network", "summary"))
    below = None if base is None else _read_base(base, where, (*above, name))
    network = _network(named, below, where)
    if not isinstance(summary, str) or not summary:
        raise UsageError(f"{where}: the summary is missing; allowed: one line of text", name)
    parameters = {parameter.key: parameter for parameter in _by_network()[network]}
    in_file = _entries(content, where, parameters)
    entries = {**({} if shared is None else _read_hosts(shared, where)), **in_file}
    absent = {key for key in parameters if key not in entries and (below is None or key not in below)}
    missing = [key for key in parameters if key in absent and not parameters[key].optional]
    if missing:
        raise UsageError(f"{where}: {', '.join(missing)} missing; allowed: every parameter of network {network}", name)
    numbers = {
        key: below[key] if below is not None and key not in entries else _read_number(parameter, *entries[key])
        for key, parameter in parameters.items()
        if key not in absent
    }
    for key, number in numbers.items():
        if number.share is not None:
            numbers[key] = _followed(
                number, numbers, entries[key].where if key in entries else f"{where}: {key}", key in entries
            )
    check_bounds(parameters.values(), numbers, where)
    return Machine(name, network, summary, tuple(numbers.values()))


def _followed(number: Number, numbers: Mapping[str, Number], where: str, is_said: bool) -> Number:
    """Return a number that is a share of another; the base's value may have moved with that number."""
    other = numbers.get(number.of)
    if other is None or other.share is not None or TOPOLOGY in {other.kind, number.kind}:
        raise UsageError(
            f"{where}: of: {number.of!r} is nothing to have a share of; allowed: another number of the machine that"
            " has no share itself",
            number.of,
        )
    value = share_of(number, other)
    text = quantity_text(value, number.kind)
    if is_said and value != number.value:
        raise UsageError(f"{where}: {number.text} is not {number.share} of {number.of}; allowed: {text}", number.text)
    return number if value == number.value else replace(number, value=value, text=text)


def _by_network() -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of each network that has some."""
    return {entry.name: entry.parameters for entry in declared().networks.values() if entry.parameters}


def _network(named: object, below: Machine | None, where: str) -> str:
    """Return the network in a file, or else in its base."""
    network = below.network if below is not None and named is None else named
    if network is None:
        raise UsageError(
            f"{where}: network is missing, and so is base; allowed: base, a machine of `{WHERE}`, or network, one of"
            f" {', '.join(sorted(_by_network()))}",
            where,
        )
    if network in lacking().values():
        raise EnvironmentLacks(
            f"{where}: network {network} was left out of this build of gasmeter; allowed: machines of"
            f" {', '.join(sorted(_by_network()))}; a build without the CMake option GASMETER_NETWORKS has all"
        )
    if not isinstance(network, str) or network not in _by_network():
        raise unknown(f"network in {where}", str(network), sorted(_by_network()), "gasmeter list conduits")
    if below is not None and network != below.network:
        raise UsageError(
            f"{where}: its network is {network}, that of its base {below.name} is {below.network}; allowed: a base of"
            " the same network",
            network,
        )
    return network


def _read_base(base: object, where: str, above: tuple[str, ...]) -> Machine:
    if not isinstance(base, str) or base not in installed():
        raise unknown(f"base in {where}", str(base), installed(), WHERE)
    if base in above:
        circle = " -> ".join([*above, base])
        raise UsageError(
            f"{where}: its base {base} goes round in a circle ({circle}); allowed: bases that end at a machine without",
            base,
        )
    return _read(read_file(base), base, above)


def _read_hosts(name: object, where: str) -> dict[str, _Said]:
    """Return the entries of shared hosts, which may have more than one network needs."""
    if not isinstance(name, str) or name not in hosts():
        raise unknown(f"hosts in {where}", str(name), hosts(), "python/gasmeter/machines/hosts")
    named = f"machine file hosts/{name}.toml"
    keys = [parameter.key for network in _by_network().values() for parameter in network]
    return _entries(_parsed(read_file(name, shared=True), named, name), named, dict.fromkeys(keys))


def _parsed(text: str, where: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML ({error}); allowed: see python/gasmeter/machines", name) from error


def _entries(content: Mapping[str, Any], where: str, keys: Collection[str]) -> dict[str, _Said]:
    """Return the entries of a file by dotted key, each with its location."""
    entries = _flattened(content)
    for key in entries:
        if key not in keys:
            raise unknown(f"parameter in {where}", key, keys, WHERE)
    at = {key: number for number, key in enumerate(sorted(entries))}  # the order of lines does not matter
    return {
        key: _Said(entry, f"{where}: {key}", Place(where.removeprefix("machine file "), at[key], len(entries)))
        for key, entry in entries.items()
    }


def _flattened(content: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Return the entries by dotted key; a table with a value is an entry."""
    entries: dict[str, object] = {}
    for name, entry in content.items():
        if isinstance(entry, Mapping) and "value" not in entry and entry:
            entries.update(_flattened(entry, f"{prefix}{name}."))
        else:
            entries[f"{prefix}{name}"] = entry
    return entries


def _read_number(parameter: Parameter, entry: object, where: str, place: Place) -> Number:
    try:
        read = Entry.model_validate(entry)
    except ValidationError as error:
        raise UsageError(
            f"{where}: {first_mistake(error, Entry.model_fields)}", str(error.errors()[0]["input"])
        ) from None
    value = number_value(read.value, parameter.kind, where)
    if read.low:
        low, high = (number_value(bound, parameter.kind, f"{where}: range") for bound in (read.low, read.high))
        if not (isinstance(value, float) and isinstance(low, float) and isinstance(high, float)):
            raise UsageError(f"{where}: a topology has no range; allowed: no low and high", read.low)
        if not low <= value <= high or low == high:
            raise UsageError(
                f"{where}: {read.value} does not lie between {read.low} and {read.high}; allowed: low <= value <= high,"
                " low below high",
                read.value,
            )
    return Number(
        parameter.key, parameter.kind, read.value, value, read.source, read.confidence, read.hardware, read.low,
        read.high, share=Fraction(read.share) if read.share else None, of=read.of, place=place,
    )  # fmt: skip
