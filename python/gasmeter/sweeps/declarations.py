"""Read the declarations of an experiment file without running it: values come from its text, without imports.

The reader knows literals, names given to them at the top level, and descriptions of gasmeter made from these, also by
`functools.partial`. Values that a file computes by its own code need a run of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gasmeter.errors import GasmeterError, UsageError
from gasmeter.machines.named import machine
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.loading import ProgramFile, locate, parsed, program_in
from gasmeter.sweeps.series import Plot, Series, Target
from gasmeter.sweeps.shipped import has_main, sentence

__all__ = ["Declared", "read_declaration"]

_PACKAGE = "gasmeter"
_DEEPEST = 64  # length of a chain of names
_EXPERIMENT = "Experiment"
_KNOWN: dict[str, Callable[..., Any]] = {
    _EXPERIMENT: Experiment, "Plot": Plot, "Series": Series, "Target": Target, "machine": machine,
}  # fmt: skip


@dataclass(frozen=True)
class Declared:
    """An experiment as its file declares it."""

    path: Path
    name: str  # as declared, or the file's name
    title: str  # as declared, or the first line of the docstring
    summary: str  # first line of its docstring, possibly empty
    experiment: Experiment | None  # the experiment, if it can be read without running the file


class _WorkedOut(Exception):
    """A value that only running the file can tell."""


def read_declaration(path: Path) -> Declared | ProgramFile:
    """Return the declaration in an experiment file, or the program it is, without running it.

    Raises UsageError with the line if the file cannot be read or has a mistake, or if it declares no or several
    experiments and is no program.
    """
    source, tree = parsed(path)
    names = _Names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and names.called(node) == _EXPERIMENT]
    top = [call for call in calls if any(call is getattr(node, "value", None) for node in tree.body)]
    if not top and has_main(tree):
        return program_in(path, tree)
    if len(top or calls) != 1:
        count = "no experiment" if not calls else f"{len(top or calls)} experiments"
        raise UsageError(f"{path} declares {count}; allowed: one gasmeter.Experiment at its top level", str(path))
    call = (top or calls)[0]
    summary = sentence(tree)
    try:
        experiment = names.value(call) if top else None
    except _WorkedOut:
        experiment = None
    except GasmeterError as error:
        line = locate(source, error.value, call.lineno) or call.lineno
        raise type(error)(f"{path}:{line}: {error}", error.value) from error
    if isinstance(experiment, Experiment):
        return Declared(path, experiment.name, experiment.title, summary, experiment)
    words = {name: names.word(call, name) for name in ("name", "title")}
    return Declared(path, words["name"] or path.stem, words["title"] or summary, summary, None)


def _changed(tree: ast.Module) -> set[str]:
    """Return names that code may give another value than the single assignment that is read."""
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    inside = [node.value for node in ast.walk(tree) if isinstance(node, ast.Subscript | ast.Attribute)
              and not isinstance(node.ctx, ast.Load)]  # fmt: skip
    statements = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    methods = [node.func for node in statements if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    inside.extend(method.value for method in methods)
    again = {name for name in stored if stored.count(name) > 1}
    return again | {node.id for node in inside if isinstance(node, ast.Name)}


class _Names:
    """Meanings of names at a file's top level: descriptions imported from gasmeter, and values."""

    def __init__(self, tree: ast.Module) -> None:
        self._packages: set[str] = set()
        self._imported: dict[str, str] = {}
        self._partials: set[str] = set()  # the names of their calls
        self._values: dict[str, ast.expr] = {}
        self._depth = 0
        for node in tree.body:
            if isinstance(node, ast.Import):
                self._packages.update(alias.asname or alias.name for alias in node.names if alias.name == _PACKAGE)
                modules = (alias.asname or alias.name for alias in node.names if alias.name == "functools")
                self._partials.update(f"{module}.partial" for module in modules)
            elif isinstance(node, ast.ImportFrom) and node.module == "functools":
                self._partials.update(alias.asname or alias.name for alias in node.names if alias.name == "partial")
            elif isinstance(node, ast.ImportFrom) and node.module == _PACKAGE:
                self._imported.update((alias.asname or alias.name, alias.name) for alias in node.names)
            elif isinstance(node, ast.Assign):
                self._values.update((to.id, node.value) for to in node.targets if isinstance(to, ast.Name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self._values[node.target.id] = node.value
        for name in _changed(tree):
            self._values.pop(name, None)

    def called(self, call: ast.Call) -> str:
        """Return the gasmeter name that a call refers to; empty for any other call."""
        return self._named(call.func)

    def _named(self, function: ast.expr) -> str:
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.attr if function.value.id in self._packages else ""
        return self._imported.get(function.id, "") if isinstance(function, ast.Name) else ""

    def word(self, call: ast.Call, name: str) -> str:
        """Return a call's keyword that is plain text; empty without one."""
        given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression; raise `_WorkedOut` if it is more than a declaration."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self._values and self._depth < _DEEPEST:
            self._depth += 1
            value = self.value(self._values[node.id])
            self._depth -= 1
            return value
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(self._each(node.elts))
        if isinstance(node, ast.Dict):
            return self._mapping(zip(node.keys, node.values, strict=True))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._number(node.operand)
        if isinstance(node, ast.Call):
            return self._result_of_call(node)
        raise _WorkedOut

    def _result_of_call(self, call: ast.Call) -> Any:
        """Return the result of calling a description, its partial or `functools.partial`."""
        factory: Callable[..., Any]
        args = call.args
        if ast.unparse(call.func) in self._partials and args and self._named(args[0]) in _KNOWN:
            factory, args = partial(partial, _KNOWN[self._named(args[0])]), args[1:]
        elif (name := self.called(call)) in _KNOWN:
            factory = _KNOWN[name]
        else:
            named = self.value(call.func) if isinstance(call.func, ast.Name) else None
            if not isinstance(named, partial):
                raise _WorkedOut
            factory = named
        given = self._mapping((keyword.arg and ast.Constant(keyword.arg), keyword.value) for keyword in call.keywords)
        return factory(*self._each(args), **given)

    def _each(self, nodes: list[ast.expr]) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self.value(node.value))
            else:
                values.append(self.value(node))
        return values

    def _mapping(self, items: Any) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for key, node in items:
            value = self.value(node)
            if key is None:
                mapping.update(value if isinstance(value, Mapping) else {})
            else:
                mapping[self.value(key)] = value
        return mapping

    def _number(self, node: ast.expr) -> int | float:
        value = self.value(node)
        if not isinstance(value, int | float):
            raise _WorkedOut
        return value
