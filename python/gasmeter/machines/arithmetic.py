"""Arithmetic over named numbers: the expressions that a check compares with a published value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping

from gasmeter.errors import UsageError

__all__ = ["Arithmetic"]

_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Arithmetic:
    """A checked expression: numbers, names (also dotted), ``+ - * /`` and parentheses.

    An example is ``6 * 2 * link.bandwidth``. Raises UsageError for anything else.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as error:
            raise UsageError(f"{text!r} is no arithmetic ({error})", text) from None
        self.names = tuple(dict.fromkeys(self._check(self._tree)))

    def _check(self, node: ast.expr) -> Iterator[str]:
        """Yield the names below a node, and refuse everything but arithmetic."""
        name = _name(node)
        if name:
            yield name
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield from self._check(node.left)
            yield from self._check(node.right)
        elif not (isinstance(node, ast.Constant) and type(node.value) in {int, float}):
            raise UsageError(
                f"{self.text!r}: {ast.unparse(node)} is not allowed; allowed: numbers, names, + - * / and parentheses",
                self.text,
            )

    def value(self, values: Mapping[str, float]) -> float:
        """Return the value of the expression; raise UsageError for a name without value or a division by 0."""
        return self._value(self._tree, values)

    def _value(self, node: ast.expr, values: Mapping[str, float]) -> float:
        name = _name(node)
        if name:
            if name not in values:
                raise UsageError(f"{self.text!r}: {name} has no value", name)
            return values[name]
        if isinstance(node, ast.BinOp):
            left, right = self._value(node.left, values), self._value(node.right, values)
            if isinstance(node.op, ast.Div) and right == 0:
                raise UsageError(f"{self.text!r} divides by 0", self.text)
            return _OPERATORS[type(node.op)](left, right)
        return float(ast.literal_eval(node))


def _name(node: ast.expr) -> str:
    """Return a dotted name; empty for other nodes."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _name(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""
