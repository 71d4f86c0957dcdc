"""Input forms of series fields, for type checkers and editors; validators reduce them to one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from gasmeter.arguments.names import ConduitName, MachineName, OpName
from gasmeter.machines.machine import Machine

__all__ = ["Conduits", "Fields", "Machines", "Names", "Ops"]

Names = str | Sequence[str]
"""``"put"``, ``"put,get"`` or a list of names."""

Ops = OpName | Names | Sequence[OpName | str]
"""Operations: one name, names with commas, or a list."""

Conduits = ConduitName | Names | Sequence[ConduitName | str]
"""Conduits: one name, names with commas, or a list."""

Machines = MachineName | str | Machine | Sequence[MachineName | str | Machine]
"""Names, labels and machines."""

Numbers = str | int | Sequence[str | int]
"""2, ``"1,2,4"`` or a list; sizes also ``"8:4M"``."""

Value = bool | int | float | str


class Fields(TypedDict, total=False):
    """Fields of a series besides kernel, conduit and target; see `gasmeter.sweeps.series.Series`."""

    op: Ops
    variant: Names
    sizes: Numbers | None
    ranks: Numbers
    options: Mapping[str, Value | Sequence[Value]]
    seed: Numbers
    repetitions: int
    zip: Sequence[Sequence[str]]
    against: str | Mapping[str, str] | None
    compare: Literal["ratio", "difference", "both"]
    ci: str | float | None
    time_s: str | float
    max_time_s: str | float
    iterations: int | None
    blocks: int | None
    bisect: str | float | None
    quick: Mapping[str, object]
    machine: Machines
    topology: Names
    placement: Names
