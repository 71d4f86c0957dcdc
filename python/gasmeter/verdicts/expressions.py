"""Quantities of predicates: arithmetic over series, with a few functions and nothing else.

A series is an array over the x values it was run at; the functions below make numbers of them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gasmeter.errors import UsageError

__all__ = ["FUNCTIONS", "Expression"]

Array = npt.NDArray[np.float64]
Value = float | Array | None


class NotThere(Exception):
    """A quantity cannot be made: a series is missing, lacks a point, or gives no finite number."""


def _scalars(values: Sequence[Value]) -> list[float]:
    """Return the numbers among arguments of which some may be missing."""
    return [float(np.asarray(value)) for value in values if value is not None]


def _flat(values: Sequence[Value]) -> Array:
    there = [np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values if value is not None]
    if not there:
        raise NotThere("no series")
    return np.concatenate(there)


def _agree(*values: Value) -> float:
    """Return how far from 1, on one side, at least two go; 1 if no two are on the same side."""
    numbers = sorted(_scalars(values))
    if len(numbers) < 2:
        raise NotThere("two series are needed")
    if numbers[-2] > 1:
        return numbers[-2]
    return numbers[1] if numbers[1] < 1 else 1.0


def _widest(*values: Value) -> float:
    """Return the one whose ratio to 1 is the largest."""
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
    (least, most) = _scalars([low, high])
    return float(np.mean((array >= least) & (array <= most)))


def _elementwise(function: Callable[[Any], Any]) -> Callable[..., Value]:
    return lambda value: None if value is None else function(value)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "max": lambda *values: float(np.max(_flat(values))),
    "min": lambda *values: float(np.min(_flat(values))),
    "mean": lambda *values: float(np.mean(_flat(values))),
    "median": lambda *values: float(np.median(_flat(values))),
    "abs": _elementwise(np.abs),
    "ln": _elementwise(np.log),
    "inside": _inside,
    "farthest": _farthest,
    "agree": _agree,
    "widest": _widest,
}
"""What an expression may call, besides ``step``."""

STEP = "step"
_STEP_POINTS = 3
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def _step(value: Value) -> Value:
    """Return how the last doubling differs from the one before: (last / middle) / (middle / first)."""
    if value is None:
        return None
    array = _flat([value])
    if array.size < _STEP_POINTS:
        raise NotThere("three points are needed")
    first, middle, last = array[-_STEP_POINTS:]
    return float((last / middle) / (middle / first))


class Expression:
    """A checked expression.

    Parameters
    ----------
    text : str
        For instance ``max(am2 / am1) - 1``.

    Raises
    ------
    UsageError
        If it holds anything but numbers, names, + - * / and the functions.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise UsageError(f"quantity {text!r} is no expression ({error.msg})", text) from error
        self.names = tuple(dict.fromkeys(self._check(self._tree)))

    def _check(self, node: ast.expr) -> list[str]:
        """Return the series a part names; refuse what is not allowed."""
        match node:
            case ast.Constant(value=int() | float()):
                return []
            case ast.Name(id=name):
                return [name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._check(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return [*self._check(left), *self._check(right)]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in {*FUNCTIONS, STEP}:
                return [series for argument in arguments for series in self._check(argument)]
        allowed = ", ".join(["numbers", "series", "+ - * /", *FUNCTIONS, STEP])
        raise UsageError(
            f"quantity {self.text!r}: {ast.unparse(node)!r} is not allowed; allowed: {allowed}",
            self.text,
        )

    def value(self, series: Mapping[str, Array | None]) -> float:
        """Return the quantity.

        Parameters
        ----------
        series : mapping of str to array or None
            Values over the same x values; None for an optional one that is missing.

        Returns
        -------
        float
            A finite number.

        Raises
        ------
        NotThere
            If it has none.
        """
        with np.errstate(all="ignore"):
            quantity = self._evaluate(self._tree, series)
        if quantity is None or np.ndim(quantity) or not math.isfinite(float(quantity)):
            raise NotThere(f"{self.text} is no finite number")
        return float(quantity)

    def _evaluate(self, node: ast.expr, series: Mapping[str, Array | None]) -> Value:
        match node:
            case ast.Constant(value=value):
                return float(value)  # type: ignore[arg-type]
            case ast.Name(id=name):
                return series[name]
            case ast.UnaryOp(operand=operand):
                inner = self._evaluate(operand, series)
                return None if inner is None else -inner
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._evaluate(left, series), self._evaluate(right, series)
                return None if a is None or b is None else _OPERATORS[type(op)](np.float64(1) * a, b)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                values = [self._evaluate(argument, series) for argument in arguments]
                return _step(values[0]) if name == STEP else FUNCTIONS[name](*values)
        raise NotThere(self.text)  # not reached: _check refused it
