"""Digest of Python code by its syntax trees: what the code does, without words, places and names of its own.

Comments, docstrings, annotations, imports, messages and the names of files, functions and local variables do not count.
Each function, class and constant is digested by itself. A reference to one of them stands for its digest, so that code
may be moved between files and renamed. Names of attributes, methods and fields count.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["syntax_digest"]

_WORDS = re.compile(r"[A-Za-z]\s|\s[A-Za-z]")
_TEXT = "text for people"
_UNCOUNTED = frozenset({"annotation", "ctx", "kind", "returns", "type_comment", "type_params"})
_PACKAGE = "gasmeter"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Statement = ast.stmt | ast.expr


@dataclass(eq=False)
class _Definition:
    """A function, class or constant at the top of a module."""

    module: _Module
    node: _Statement


@dataclass(eq=False)
class _Module:
    """The definitions of a module and the names that it imports from this package."""

    definitions: dict[str, _Definition] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)


def syntax_digest(sources: Iterable[str]) -> str:
    """Return the digest of the code of modules in any order: 16 hexadecimal digits, alike in every Python version."""
    code = _Code([_parsed(source) for source in sources])
    return _hash(code.roots())


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _parsed(source: str) -> _Module:
    module, tree = _Module(), ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == _PACKAGE:
            module.imported.update({alias.asname or alias.name: alias.name for alias in node.names})
    for node in tree.body:
        module.definitions.update({name: _Definition(module, value) for name, value in _defined(node)})
    return module


def _defined(node: ast.stmt) -> Iterator[tuple[str, _Statement]]:
    """Yield the names that a statement at the top of a module defines, each with its own part of the statement."""
    if isinstance(node, _Function | ast.ClassDef):
        yield node.name, node
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) and len(names) > 1 else [node.value]
            for number, name in enumerate(names):
                if isinstance(name, ast.Name):
                    yield name.id, values[number] if len(values) == len(names) else node.value


class _Code:
    """All modules whose code is digested together.

    References between the modules are followed; other names stand for themselves.
    """

    def __init__(self, modules: Sequence[_Module]) -> None:
        self._modules = modules
        self._known: dict[_Definition, str] = {}
        self._open: list[_Definition] = []
        self._lowest = 0

    def roots(self) -> list[str]:
        """Return the digests of the functions and classes that no other definition refers to, sorted."""
        every = [one for module in self._modules for one in module.definitions.values()]
        referred = {other for one in every for other in self._references(one)}
        roots = {one for one in every if one not in referred and isinstance(one.node, _Function | ast.ClassDef)}
        return sorted(self.digest(one) for one in roots)

    def find(self, name: str, module: _Module) -> _Definition | None:
        """Return the definition that a name of a module refers to; None for a name from elsewhere."""
        if name in module.definitions:
            return module.definitions[name]
        original = module.imported.get(name)
        owners = [other.definitions[original] for other in self._modules if original in other.definitions]
        return owners[0] if original is not None and len(owners) == 1 else None

    def digest(self, definition: _Definition) -> str:
        """Return the digest of a definition; a reference back to an open one gives the number of levels up."""
        if definition in self._known:
            return self._known[definition]
        if definition in self._open:
            place = self._open.index(definition)
            self._lowest = min(self._lowest, place)
            return f"up {len(self._open) - place}"
        outside, self._lowest = self._lowest, len(self._open)
        self._open.append(definition)
        text = _hash(_Tree(self, definition).written())
        self._open.pop()
        if self._lowest >= len(self._open):
            self._known[definition] = text
        self._lowest = min(outside, self._lowest)
        return text

    def _references(self, definition: _Definition) -> Iterator[_Definition]:
        for node in _counted(definition.node):
            if isinstance(node, ast.Name):
                other = self.find(node.id, definition.module)
                if other is not None and other is not definition:
                    yield other


def _counted(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it that count."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in _UNCOUNTED:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _counted(child)


class _Tree:
    """The tree of one definition, written with numbers for local and private names."""

    def __init__(self, code: _Code, definition: _Definition) -> None:
        self._code = code
        self._definition = definition
        self._local: set[str] = set()
        self._numbers: dict[str, str] = {}
        self._depth = 0

    def written(self) -> Any:
        """Return the tree as nested lists of texts."""
        node = self._definition.node
        if not isinstance(node, ast.ClassDef):
            self._local = _bound(node)
        return self._write(node)

    def _write(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._write(one) for one in node if not _is_silent(one)]
        if not isinstance(node, ast.AST):
            return repr(node)
        writer = getattr(self, f"_write_{type(node).__name__}", None)
        return writer(node) if writer is not None else self._write_fields(node)

    def _write_fields(self, node: ast.AST) -> Any:
        fields = ((name, value) for name, value in ast.iter_fields(node) if name not in _UNCOUNTED)
        return [type(node).__name__, *([name, self._write(value)] for name, value in fields if value not in (None, []))]

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(name, f"name {len(self._numbers)}")

    def _is_private(self, name: str) -> bool:
        return name.startswith("_") and not name.startswith("__")

    def _write_Name(self, node: ast.Name) -> Any:
        if node.id in self._local:
            return self._number(node.id)
        other = self._code.find(node.id, self._definition.module)
        if other is not None:
            return ["defined", self._code.digest(other)]
        return self._definition.module.imported.get(node.id, node.id)

    def _write_Attribute(self, node: ast.Attribute) -> Any:
        name = self._number(node.attr) if self._is_private(node.attr) else node.attr
        return ["Attribute", self._write(node.value), name]

    def _write_arg(self, node: ast.arg) -> Any:
        return self._number(node.arg)

    def _write_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        name = self._number(node.name) if node.name else ""
        return ["ExceptHandler", self._write(node.type), name, self._write(node.body)]

    def _write_Constant(self, node: ast.Constant) -> Any:
        return _TEXT if _is_text(node) else repr(node.value)

    def _write_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return _TEXT if any(_is_text(part) for part in node.values) else self._write_fields(node)

    def _write_Raise(self, node: ast.Raise) -> Any:
        return ["Raise", self._write(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)]

    def _write_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return ["Assign", self._write(node.target), self._write(node.value)]

    def _write_FunctionDef(self, node: _Function) -> Any:
        outermost = self._depth == 0
        if outermost:
            self._local = _bound(node)
        self._depth += 1
        top = node is self._definition.node
        named = node.name in self._local or self._is_private(node.name)
        name = "" if top else self._number(node.name) if named else node.name
        parts = [self._write(part) for part in (node.decorator_list, node.args, node.body)]
        self._depth -= 1
        if outermost:
            self._local = set()
        return [type(node).__name__, name, *parts]

    _write_AsyncFunctionDef = _write_FunctionDef

    def _write_ClassDef(self, node: ast.ClassDef) -> Any:
        parts = (node.decorator_list, node.bases, node.keywords, node.body)
        return ["ClassDef", *(self._write(part) for part in parts)]

    def _write_Call(self, node: ast.Call) -> Any:
        places = self._parameters(node.func)
        keywords = [[places.get(one.arg or "", one.arg or "**"), self._write(one.value)] for one in node.keywords]
        return ["Call", self._write(node.func), self._write(node.args), keywords]

    def _parameters(self, called: ast.expr) -> dict[str, str]:
        """Return the parameters of a called function of these modules, by name, as their places."""
        if not isinstance(called, ast.Name) or called.id in self._local:
            return {}
        other = self._code.find(called.id, self._definition.module)
        if other is None or not isinstance(other.node, _Function):
            return {}
        given = other.node.args
        names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        return {name: f"parameter {place}" for place, name in enumerate(names)}


def _bound(node: ast.AST) -> set[str]:
    """Return the names that are bound below a node: parameters, variables and inner functions."""
    names = set()
    for one in ast.walk(node):
        if isinstance(one, ast.arg):
            names.add(one.arg)
        elif isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            names.add(one.id)
        elif isinstance(one, _Function | ast.ExceptHandler) and one is not node and one.name:
            names.add(one.name)
    return names


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORDS.search(node.value) is not None


def _is_silent(node: Any) -> bool:
    """Return whether a statement does nothing that counts: an import, a docstring, or an annotation alone."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None and not isinstance(node.target, ast.Name)
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) or isinstance(value, ast.Constant)
