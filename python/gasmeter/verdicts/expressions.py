"""Quantities of predicates: arithmetic over series, with a few functions and nothing else.

A series is an array over the x values it was run at; the functions below make numbers, or arrays, of them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gasmeter.errors import UsageError

__all__ = ["FUNCTIONS", "OVER_X", "Array", "Expression"]

Array = npt.NDArray[np.float64]
Value = float | Array | None


class NotThere(Exception):
    """A quantity cannot be made: a series is missing, lacks a point, or gives no finite number."""


def _scalars(values: Sequence[Value]) -> list[float]:
    """Return the numbers among arguments of which some may be missing."""
    return [float(np.asarray(value)) for value in values if value is not None]


def _flat(values: Sequence[Value]) -> Array:
    arrays = [np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values if value is not None]
    if not arrays:
        raise NotThere("no series")
    return np.concatenate(arrays)


def _agree(*values: Value) -> float:
    """Return how far from 1 at least two values go on one side; 1 if no two are on the same side.

    This is the second largest if two are above 1, or the second smallest if two are below.
    """
    numbers = sorted(_scalars(values))
    if len(numbers) < 2:
        raise NotThere("two series are needed")
    if numbers[-2] > 1:
        return numbers[-2]
    return numbers[1] if numbers[1] < 1 else 1.0


def _widest(*values: Value) -> float:
    """Return the value whose ratio to 1 is the largest."""
    numbers = _scalars(values)
    if not numbers:
        raise NotThere("no series")
    return max(numbers, key=lambda number: abs(math.log(number)) if number > 0 else math.inf)


def _farthest(value: Value) -> float:
    """Return the element farthest from 0."""
    array = _flat([value])
    return float(array[int(np.argmax(np.abs(array)))])


def _inside(value: Value, low: Value, high: Value) -> float:
    """Return the share of elements in an interval."""
    array = _flat([value])
    least, most = _scalars([low, high])
    return float(np.mean((array >= least) & (array <= most)))


def _extreme(function: Callable[[Any, Any], Any]) -> Callable[..., Value]:
    def of(*values: Value) -> Value:
        present = [value for value in values if value is not None]
        if not present:
            raise NotThere("no series")
        result: Value = present[0]
        for value in present[1:]:
            result = function(result, value)
        return result

    return of


def _elementwise(function: Callable[[Any], Any]) -> Callable[..., Value]:
    return lambda value: None if value is None else function(value)


def _steps(value: Value, fewest: int = 2) -> Array:
    array = _flat([value])
    if array.size < fewest:
        raise NotThere(f"{fewest} points are needed")
    return array


def _step(value: Value) -> Value:
    """Return how the last growth differs from the one before: (last / middle) / (middle / first)."""
    if value is None:
        return None
    first, middle, last = _steps(value, 3)[-3:]
    return float((last / middle) / (middle / first))


def _share(holds: Callable[[Array], npt.NDArray[np.bool_]]) -> Callable[..., Value]:
    return lambda value: float(np.mean(holds(np.diff(_steps(value)))))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "max": lambda *values: float(np.max(_flat(values))),
    "min": lambda *values: float(np.min(_flat(values))),
    "mean": lambda *values: float(np.mean(_flat(values))),
    "geomean": lambda *values: float(np.exp(np.mean(np.log(_flat(values))))),
    "median": lambda *values: float(np.median(_flat(values))),
    "abs": _elementwise(np.abs),
    "ln": _elementwise(np.log),
    "lower": _extreme(np.minimum),
    "higher": _extreme(np.maximum),
    "inside": _inside,
    "farthest": _farthest,
    "agree": _agree,
    "widest": _widest,
    "step": _step,
    "rising": _share(lambda steps: steps >= 0),
    "falling": _share(lambda steps: steps <= 0),
}
"""Functions of values alone, by their name in expressions."""


def _argmax(xs: Array, value: Value) -> float:
    return float(xs[int(np.argmax(_flat([value])))])


def _argmin(xs: Array, value: Value) -> float:
    return float(xs[int(np.argmin(_flat([value])))])


def _at(xs: Array, value: Value, x: Value) -> float:
    (wanted,) = _scalars([x])
    where = np.flatnonzero(xs == wanted)
    if not where.size:
        raise NotThere(f"not run at {wanted:g}")
    return float(_flat([value])[where[0]])


def _slope(xs: Array, value: Value) -> float:
    return float(np.polyfit(xs, _steps(value), 1)[0])


def _elasticity(xs: Array, value: Value) -> float:
    return float(np.polyfit(np.log(xs), np.log(_steps(value)), 1)[0])


def _knee(xs: Array, value: Value) -> float:
    """Return the x at which two straight pieces of ln y over ln x that meet there leave the least squares."""
    ys = np.log(_steps(value, 4))
    logs = np.log(xs)

    def left(knee: float) -> float:
        basis = np.stack([np.ones_like(logs), logs, np.maximum(logs - knee, 0.0)], axis=1)
        fitted = basis @ np.linalg.lstsq(basis, ys, rcond=None)[0]
        return float(np.sum((ys - fitted) ** 2))

    return float(xs[1 + int(np.argmin([left(knee) for knee in logs[1:-1]]))])


def _crossover(xs: Array, first: Value, second: Value) -> float:
    """Return the least x at which the first curve has reached or crossed the second.

    Between two points this is the x at which straight lines over ln x meet; infinite if the curves never meet.
    """
    gap = _flat([first]) - _flat([second])
    for at in range(1, gap.size):
        if gap[0] * gap[at] <= 0 and gap[0] != 0:
            before, after = gap[at - 1], gap[at]
            share = before / (before - after)
            return float(np.exp(np.log(xs[at - 1]) + share * (np.log(xs[at]) - np.log(xs[at - 1]))))
    return math.inf


def _first_below(xs: Array, value: Value, bound: Value) -> float:
    (least,) = _scalars([bound])
    below = np.flatnonzero(_flat([value]) < least)
    return float(xs[below[0]]) if below.size else math.inf


OVER_X: Mapping[str, Callable[..., float]] = {
    "argmax": _argmax,
    "argmin": _argmin,
    "at": _at,
    "slope": _slope,
    "elasticity": _elasticity,
    "knee": _knee,
    "crossover": _crossover,
    "first_below": _first_below,
}
"""Functions of values and their x, by their name in expressions."""

_MAY_BE_INFINITE = {"crossover", "first_below"}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


class Expression:
    """A checked expression, for instance ``max(am2 / am1) - 1``.

    Raises UsageError if the text has anything but numbers, names of series, + - * / and the functions.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise UsageError(f"quantity {text!r} is no expression ({error.msg})", text) from error
        self.names = tuple(dict.fromkeys(self._check(self._tree)))
        self._infinite = any(f"{name}(" in text for name in _MAY_BE_INFINITE)

    def _check(self, node: ast.expr) -> list[str]:
        """Return the series that a part names; refuse parts that are not allowed."""
        match node:
            case ast.Constant(value=int() | float()):
                return []
            case ast.Name(id=name):
                return [name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._check(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return [*self._check(left), *self._check(right)]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in {*FUNCTIONS, *OVER_X}:
                return [series for argument in arguments for series in self._check(argument)]
        allowed = ", ".join(["numbers", "series", "+ - * /", *FUNCTIONS, *OVER_X])
        raise UsageError(
            f"quantity {self.text!r}: {ast.unparse(node)!r} is not allowed; allowed: {allowed}",
            self.text,
        )

    def value(self, series: Mapping[str, Array | None], xs: Array | None = None) -> float:
        """Return the quantity as a finite number; a missing x (``crossover``, ``first_below``) is infinite.

        All series have the same ascending `xs`, by default 1, 2, 3, …; an optional series that is missing is None.
        Raises NotThere if the quantity cannot be computed.
        """
        count = next((value.size for value in series.values() if value is not None), 0)
        places = np.arange(1.0, count + 1) if xs is None else xs
        with np.errstate(all="ignore"):
            quantity = self._evaluate(self._tree, series, places)
        if quantity is None or np.ndim(quantity) or math.isnan(float(quantity)):
            raise NotThere(f"{self.text} is no finite number")
        if math.isinf(float(quantity)) and not self._infinite:
            raise NotThere(f"{self.text} is no finite number")
        return float(quantity)

    def curve(self, series: Mapping[str, Array | None], xs: Array) -> Array:
        """Return the quantity at every x: a line that is computed from other lines.

        All series have the same ascending `xs`. Raises NotThere if the result is no array.
        """
        with np.errstate(all="ignore"):
            quantity = self._evaluate(self._tree, series, xs)
        if quantity is None or np.ndim(quantity) != 1:
            raise NotThere(f"{self.text} is no line")
        return np.asarray(quantity, dtype=np.float64)

    def _evaluate(self, node: ast.expr, series: Mapping[str, Array | None], xs: Array) -> Value:
        match node:
            case ast.Constant(value=value):
                return float(value)  # type: ignore[arg-type]
            case ast.Name(id=name):
                return series[name]
            case ast.UnaryOp(operand=operand):
                inner = self._evaluate(operand, series, xs)
                return None if inner is None else -inner
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._evaluate(left, series, xs), self._evaluate(right, series, xs)
                return None if a is None or b is None else _OPERATORS[type(op)](np.float64(1) * a, b)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                values = [self._evaluate(argument, series, xs) for argument in arguments]
                return OVER_X[name](xs, *values) if name in OVER_X else FUNCTIONS[name](*values)
        raise NotThere(self.text)  # not reached: _check refused it
