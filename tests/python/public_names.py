"""The one rule that says which names of the package are public; every other name is inner.

Public are the names and members that docs/api.md shows, the classes that these return as annotated, with their public
members, and the objects that a program on ranks works with. Only their docstrings have numpydoc sections.
"""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import gasmeter

API = Path(__file__).parents[2] / "docs" / "api.md"
PROGRAM_OBJECTS = (
    "gasmeter.programs.endpoint:ProgramEndpoint",
    "gasmeter.programs.objects:ProgramPrepared",
    "gasmeter.programs.objects:ProgramToken",
)
_ENTRY = re.compile(r"^\.\. auto\w+:: (\w+)\n(?:   :members:(.*)\n)?", re.MULTILINE)


def function_of(value):
    """The function behind a method, property or cached property; None for other values."""
    value = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
    return inspect.unwrap(value) if inspect.isfunction(value) else None


def members_of(kind, names=None):
    """Public functions of a class and of its bases in the package, those named or all."""
    for base in kind.__mro__:
        if base.__module__.startswith("gasmeter."):
            for name, value in vars(base).items():
                if not name.startswith("_") and (names is None or name in names) and function_of(value):
                    yield function_of(value)


def shown():
    """Classes and functions that docs/api.md shows, with the members that it names."""
    for name, members in _ENTRY.findall(API.read_text()):
        value = getattr(gasmeter, name)
        yield value
        if inspect.isclass(value):
            yield from (base for base in value.__mro__[1:] if base.__module__.startswith("gasmeter."))
            yield from members_of(value, members.replace(",", " ").split() or None)


def home_of(name, module):
    """The module of the package that a name in another module's annotation comes from; None for other packages."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            return node.module if node.module.startswith("gasmeter.") else None
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module.__name__
    return None


def returned_by(function):
    """Classes of the package that the annotation of a function's result names."""
    module = sys.modules[function.__module__]
    for word in re.findall(r"\w+", str(function.__annotations__.get("return", ""))):
        home = home_of(word, module)
        value = getattr(importlib.import_module(home), word, None) if home else None
        if inspect.isclass(value):
            yield value


def public_values():
    """Every public class and function of the package."""
    values = set(shown())
    for place in PROGRAM_OBJECTS:
        module, name = place.split(":")
        kind = getattr(importlib.import_module(module), name)
        values |= {kind, *members_of(kind)}
    new = values
    while new:
        answers = {kind for value in new if inspect.isfunction(value) for kind in returned_by(value)}
        new = {value for kind in answers for value in (kind, *members_of(kind))} - values
        values |= new
    return values


def public_names():
    """The same as `module:name`, methods as `module:class.name`."""
    return {f"{value.__module__}:{value.__qualname__}" for value in public_values()}
