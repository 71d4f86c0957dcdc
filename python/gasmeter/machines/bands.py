"""Test whether a statement holds wherever the estimates of a machine may lie."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine

__all__ = ["CORNERS", "Verdict", "bands", "judge"]

T = TypeVar("T")
Verdict = Literal["within", "outside", "depends"]

CORNERS = 16
"""Tried corners of the box of all ranges."""
_SEED = 1


def bands(
    machine: Machine, keys: Iterable[str] | None = None, corners: int = CORNERS, seed: int = _SEED
) -> Iterator[tuple[str, Machine]]:
    """Yield a machine ``as given``, then variants with estimates at the ends of their ranges.

    First each end of each estimate in `keys` (default: all) alone as ``KEY=VALUE``, then ``corner 1`` and so on, where
    every estimate stands at one end. `seed` picks the corners; if there are fewer than `corners`, all come. Overridden
    numbers stay. Raises UsageError if a key is no estimate of the machine.
    """
    numbers = {number.key: number for number in machine.estimates() if number.origin == "file"}
    wanted = list(numbers) if keys is None else list(dict.fromkeys(keys))
    for key in wanted:
        if key not in numbers:
            number = machine[key]
            raise UsageError(
                f"{key} of machine {machine.label} is {'given' if number.origin == 'override' else 'no estimate'};"
                " allowed: numbers of its file with low and high (see `gasmeter list machines`)",
                key,
            )
    yield "as given", machine
    for key in wanted:
        for text in (numbers[key].low, numbers[key].high):
            variant = machine.with_({key: text})
            if variant != machine:
                yield f"{key}={text}", variant
    chosen = _corners(len(wanted), corners, seed)
    for index, corner in enumerate(chosen, 1):
        ends = {key: numbers[key].high if corner >> place & 1 else numbers[key].low for place, key in enumerate(wanted)}
        yield f"corner {index}", machine.with_(ends)


def _corners(dimensions: int, count: int, seed: int) -> list[int]:
    """Return corners as bit masks, each once."""
    if dimensions == 0:
        return []
    if dimensions < 63 and count >= 1 << dimensions:
        return list(range(1 << dimensions))
    draw = random.Random(seed)
    corners: dict[int, None] = {}
    while len(corners) < count:
        corners[draw.getrandbits(dimensions)] = None
    return list(corners)


def judge(values: Iterable[T], predicate: Callable[[T], bool]) -> Verdict:
    """Return whether a statement holds on all machines of `bands`, on none, or on some only.

    Raises UsageError if there is nothing to judge.
    """
    outcomes = {bool(predicate(value)) for value in values}
    if not outcomes:
        raise UsageError("nothing to judge: no value; allowed: one for each machine of the band", "")
    if len(outcomes) > 1:
        return "depends"
    return "within" if outcomes.pop() else "outside"
