"""Contradictions between a machine's numbers: a network refuses some combinations.

Parameters name the number that bounds them. No value in an estimate's range may meet a value in another's range with
which the network would refuse the machine, since a draw could be such a pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from gasmeter.catalogue import Parameter
from gasmeter.errors import UsageError
from gasmeter.machines.number import Number
from gasmeter.units import quantity_text

__all__ = ["check_bounds"]


def check_bounds(parameters: Iterable[Parameter], numbers: Mapping[str, Number], where: str) -> None:
    """Raise UsageError for a number whose range reaches beyond that of its bound; `where` names the source."""
    for parameter in parameters:
        for key, may_reach in ((parameter.at_most, True), (parameter.below, False)):
            if not key or parameter.key not in numbers or key not in numbers:
                continue
            number, bound = numbers[parameter.key], numbers[key]
            if not _holds(number, bound, numbers, may_reach=may_reach):
                raise UsageError(
                    f"{where}: {number.key} may be {_text(number, numbers, 1)}, and {bound.key}"
                    f" {_text(bound, numbers, 0)}; allowed: a range that ends {'at' if may_reach else 'below'} the"
                    f" least {bound.key}, or a share of it",
                    number.text,
                )


def _holds(number: Number, bound: Number, numbers: Mapping[str, Number], *, may_reach: bool) -> bool:
    """Tell whether a number stays below another, or at most at it; two that move together keep their proportion."""
    share, other = _part(number), _part(bound)
    if (number.of or number.key) == (bound.of or bound.key):
        return share < other or (may_reach and share == other)
    most, least = _ends(number, numbers)[1], _ends(bound, numbers)[0]
    return most < least or (may_reach and most == least)


def _part(number: Number) -> Fraction:
    return Fraction(1) if number.share is None else number.share


def _ends(number: Number, numbers: Mapping[str, Number]) -> tuple[float, float]:
    """Return the least and the largest value of a number; a dependent number moves with the range of its source."""
    if number.share is None:
        return number.ends()
    low, high = numbers[number.of].ends()
    return low * float(number.share), high * float(number.share)


def _text(number: Number, numbers: Mapping[str, Number], end: int) -> str:
    return quantity_text(_ends(number, numbers)[end], number.kind)
