"""Machine files: one number as it stands there, and a whole file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gasmeter.catalogue import Parameter, declared
from gasmeter.errors import UsageError, unknown
from gasmeter.machines.machine import WHERE, Machine, Number, number_value

__all__ = ["Entry", "read_machine"]


class Entry(BaseModel):
    """One number: value with unit, source, confidence, the facts it rests on, and its range if it is an estimate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: str = Field(min_length=1)
    source: str = Field(min_length=1)
    confidence: Literal["high", "medium", "low"]
    hardware: tuple[str, ...] = ()
    low: str = ""
    high: str = ""

    @model_validator(mode="after")
    def _accounted_for(self) -> Entry:
        if bool(self.low) != bool(self.high):
            raise ValueError("a range needs both low and high")
        # A shape may be a choice, which has no range.
        if not self.low and not self.hardware and not self.source.startswith("choice: "):
            raise ValueError("it names no hardware; a number without is an estimate with low and high")
        if not self.low and self.confidence == "low":
            raise ValueError("confidence is low; such a number is an estimate with low and high")
        return self


def read_machine(text: str, name: str) -> Machine:
    """Return the machine that a file describes.

    Parameters
    ----------
    text : str
        Content of the file, TOML.
    name : str
        Name of the machine.

    Returns
    -------
    Machine
        With every parameter of its network.

    Raises
    ------
    UsageError
        If the file is no TOML, a parameter is missing or unknown, or a number is not as its kind demands.
    """
    where = f"machine file {name}.toml"
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML ({error}); allowed: see python/gasmeter/machines", name) from error
    network, summary = (content.pop(field, None) for field in ("network", "summary"))
    known = {entry.name: entry.parameters for entry in declared().networks.values() if entry.parameters}
    if not isinstance(network, str) or network not in known:
        raise unknown(f"network in {where}", str(network), sorted(known), "gasmeter list conduits")
    if not isinstance(summary, str) or not summary:
        raise UsageError(f"{where}: the summary is missing; allowed: one line of text", name)
    entries = _flattened(content)
    parameters = {parameter.key: parameter for parameter in known[network]}
    for key in entries:
        if key not in parameters:
            raise unknown(f"parameter in {where}", key, parameters, WHERE)
    missing = [key for key in parameters if key not in entries]
    if missing:
        raise UsageError(f"{where}: {', '.join(missing)} missing; allowed: every parameter of network {network}", name)
    numbers = tuple(_read_number(parameters[key], entries[key], f"{where}: {key}") for key in parameters)
    return Machine(name, network, summary, numbers)


def _flattened(content: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Return the entries by dotted key; a table that holds a value is an entry."""
    found: dict[str, object] = {}
    for name, entry in content.items():
        if isinstance(entry, Mapping) and "value" not in entry and entry:
            found.update(_flattened(entry, f"{prefix}{name}."))
        else:
            found[f"{prefix}{name}"] = entry
    return found


def _read_number(parameter: Parameter, entry: object, where: str) -> Number:
    try:
        read = Entry.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{where}{f': {field}' if field else ''}: {message}", str(first["input"])) from None
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
        read.high,
    )  # fmt: skip
