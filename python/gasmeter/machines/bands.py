"""Whether a statement holds wherever the estimates of a machine may lie."""

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
"""Corners of the box of all ranges that are tried."""
_SEED = 1


def bands(
    machine: Machine, keys: Iterable[str] | None = None, corners: int = CORNERS, seed: int = _SEED
) -> Iterator[tuple[str, Machine]]:
    """Yield a machine, then variants with estimates at the ends of their ranges.

    Parameters
    ----------
    machine : Machine
        The machine as it stands; numbers that it overrides stay as given.
    keys : iterable of str, optional
        The estimates that are moved; all by default.
    corners : int, default 16
        Corners, at each of which every estimate stands at one end; all of them if there are fewer.
    seed : int, default 1
        Decides which corners.

    Yields
    ------
    tuple of str and Machine
        ``as given``, then ``KEY=VALUE`` for each end of each estimate alone, then ``corner 1`` and so on.

    Raises
    ------
    UsageError
        If a key is no estimate of the machine.
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
    """Return whether a statement holds over a band.

    Parameters
    ----------
    values : iterable
        What was found on each machine of `bands`.
    predicate : callable
        The statement: whether it holds for one of them.

    Returns
    -------
    {"within", "outside", "depends"}
        It holds everywhere, nowhere, or some value within an estimate's range flips it.

    Raises
    ------
    UsageError
        If there is nothing to judge.
    """
    outcomes = {bool(predicate(value)) for value in values}
    if not outcomes:
        raise UsageError("nothing to judge: no value; allowed: one for each machine of the band", "")
    if len(outcomes) > 1:
        return "depends"
    return "within" if outcomes.pop() else "outside"
