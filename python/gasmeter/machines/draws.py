"""Draws of a machine: every estimate somewhere in its range, all of them together, the same everywhere and always.

``machine("extoll+draw=17")`` is one of `DRAWS` draws: a scrambled Sobol sequence over all estimates of each file of the
machine, log-uniform between low and high, in an order specific to the file. Machines that share a file of hosts
therefore have the same hosts in a draw, and a new machine changes no draw of another. ``machine("extoll+null=17")`` is
the null model's: the same estimates, and every time of software multiplied by a factor of its own between 1/2 and 2.
Overrides hold in either: ``extoll+draw=17+link.bandwidth=1 TB/s``.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gasmeter.catalogue import declared
from gasmeter.errors import UsageError
from gasmeter.machines.machine import DRAW_SEED, Drawn, Machine
from gasmeter.machines.number import Number, share_of
from gasmeter.units import QUANTITIES, quantity_text

__all__ = ["DRAWS", "DRAW_SEED", "NULL_FACTOR", "draw", "drawn_values", "null"]

_POWER = 12

DRAWS = 1 << _POWER
"""Draws of a machine: enough that some hundred agree with its measurements; a power of 2, as Sobol needs."""

NULL_FACTOR = 2.0
"""The null model's factors lie between this and its inverse, log-uniform."""

_DIGITS = 6
"""Significant digits of a drawn number: the last bits of a power differ between computers."""


def draw(machine: Machine, number: int, *, seed: int = DRAW_SEED) -> Machine:
    """Return a machine with every estimate of its file drawn from its range; overridden numbers stay.

    `number` is 0 to `DRAWS` - 1 in the sequence of `seed`. Sizes and counts are whole numbers, and shares of a drawn
    number follow it. Raises UsageError for an unknown draw or a range that begins at 0.
    """
    return _varied(machine, Drawn(number, null=False, seed=seed))


def null(machine: Machine, number: int, *, seed: int = DRAW_SEED) -> Machine:
    """Return a draw of the null model: as `draw`, with the software's times wrong by an arbitrary factor.

    `seed` also decides the factors. Parameters that `gasmeter.catalogue.Parameter.software` marks are multiplied,
    estimates or not.
    """
    return _varied(machine, Drawn(number, null=True, seed=seed))


def drawn_values(machine: Machine, number: int) -> dict[str, float | str]:
    """Return the numbers of a draw as the compiled core takes them: SI base units by key.

    It does for thousands of draws what `draw` does for one.
    """
    given = {key: number.value for key, number in _by_key(machine).items() if number.origin == "override"}
    return {**machine.values(), **_values(machine, Drawn(number, null=False, seed=DRAW_SEED)), **given}


def _by_key(machine: Machine) -> dict[str, Number]:
    return {number.key: number for number in machine.numbers}


def _varied(machine: Machine, drawn: Drawn) -> Machine:
    values = _values(machine, drawn)
    filed = {number.key: number.in_file for number in machine.numbers}
    now = {key: _drawn(number, values[key], drawn) if key in values else number for key, number in filed.items()}
    return replace(machine, numbers=tuple(now.values()), drawn=drawn).with_(machine.overrides())


def _values(machine: Machine, drawn: Drawn) -> dict[str, float]:
    """Return the numbers of a draw of a file: its estimates, times of software in the null model, and shares."""
    if not 0 <= drawn.number < DRAWS:
        raise UsageError(
            f"{drawn} of machine {machine.name} does not exist; allowed: whole numbers from 0 to {DRAWS - 1}",
            str(drawn.number),
        )
    filed = {number.key: number.in_file for number in machine.numbers}
    values = {
        number.key: _between(number, _point(number.place.file, number.place.entries, drawn)[number.place.entry])
        for number in filed.values()
        if number.estimate
    }
    if drawn.null:
        values |= _doubted(machine, filed, values, drawn)
    for key, number in filed.items():
        if number.share is not None:
            whole = filed[number.of]
            values[key] = share_of(number, replace(whole, value=values.get(number.of, float(whole.value))))
    return values


def _point(file: str, entries: int, drawn: Drawn) -> Sequence[float]:
    """Return a draw's point in the unit cube: a coordinate for each of the file's entries."""
    points, order = _points(file, entries, drawn.seed)
    return points[order[drawn.number]]


@functools.lru_cache(maxsize=32)
def _points(place: str, dimensions: int, seed: int) -> tuple[Sequence[Sequence[float]], Sequence[int]]:
    """Return the points of a file's draws in the unit cube, and their order.

    Two sequences in their own order would rise and fall together, as each fills its cube the same way.
    """
    import numpy as np  # noqa: PLC0415 - most machines are none
    from scipy.stats import qmc  # noqa: PLC0415 - likewise

    stream = int.from_bytes(hashlib.sha256(f"{seed} {place}".encode()).digest()[:8], "little")
    points: Sequence[Sequence[float]] = qmc.Sobol(dimensions, scramble=True, rng=stream).random_base2(_POWER).tolist()
    order: list[int] = np.random.default_rng(stream).permutation(DRAWS).tolist()
    return points, order


def _between(number: Number, part: float) -> float:
    """Return the value of an estimate at a part of its range, by its logarithm."""
    low, high = number.ends()
    if low == 0:
        raise UsageError(
            f"{number.key}: its range begins at {number.low}; allowed: above 0, as draws are even in its logarithm",
            number.low,
        )
    return min(max(_rounded(low * (high / low) ** part, number.kind), low), high)


def _rounded(value: float, kind: str) -> float:
    return float(max(1, round(value))) if QUANTITIES[kind].whole else float(f"{value:.{_DIGITS - 1}e}")


def _doubted(
    machine: Machine, filed: Mapping[str, Number], values: Mapping[str, float], drawn: Drawn
) -> dict[str, float]:
    """Return the times of software, each with its own factor, which does not depend on other times."""
    doubted = {}
    for parameter in declared().networks[machine.network].parameters:
        if parameter.software and parameter.key in filed:
            value = values.get(parameter.key, float(filed[parameter.key].value))
            part = random.Random(f"{drawn.seed} {drawn.number} {parameter.key}").random()
            if value != 0:
                doubted[parameter.key] = _rounded(value * NULL_FACTOR ** (2 * part - 1), parameter.kind)
    return doubted


def _drawn(number: Number, value: float, drawn: Drawn) -> Number:
    return replace(
        number,
        text=quantity_text(value, number.kind),
        value=value,
        source=f"{drawn}; the machine's file says {number.text} ({number.source})",
        filed=number,
        origin="draw",
    )
