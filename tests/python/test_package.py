import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest

import gasmeter
from gasmeter.errors import (
    BrokenJob,
    Deadlock,
    EnvironmentLacks,
    GasmeterError,
    ResourceError,
    UsageError,
    error_named,
    unknown,
)
from gasmeter.option import Option
from public_names import public_names, public_values

# Modules that need the compiled core, and those of the command line.
_LEFT_OUT = {"gasmeter.rank", "gasmeter.programs.rank", "gasmeter._core"}
MODULES = [
    module.name for module in pkgutil.walk_packages(gasmeter.__path__, "gasmeter.") if module.name not in _LEFT_OUT
]


def in_another_process(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_loads_no_heavy_library():
    heavy = {"pandas", "scipy", "matplotlib", "pydantic", "gasmeter._core"}
    loaded = in_another_process("import sys, gasmeter, gasmeter.errors; print(*sys.modules)")
    assert heavy.isdisjoint(loaded)


def test_describing_and_planning_load_no_plotting():
    loaded = in_another_process("import sys, gasmeter.cli; print(*sys.modules)")
    assert "matplotlib.pyplot" not in loaded


def test_machines_stays_a_function_when_its_room_is_imported():
    kinds = in_another_process(
        "import importlib, gasmeter\nimportlib.import_module('gasmeter.machines')\n"
        "print(type(gasmeter.machines).__name__)\n"
        "from gasmeter.machines.named import machines\nprint(gasmeter.machines is machines)"
    )
    assert kinds == ["function", "True"]


def test_every_promised_name_is_there():
    for name in gasmeter.__all__:
        assert getattr(gasmeter, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'mesure'"):
        _ = gasmeter.mesure


def public_objects():
    for name in MODULES:
        module = importlib.import_module(name)
        yield name, module
        for member in getattr(module, "__all__", ()):
            value = getattr(module, member)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{name}.{member}", value


def test_every_offered_name_has_a_docstring():
    assert [name for name, value in public_objects() if not inspect.getdoc(value)] == []


def test_every_public_function_has_the_sections_of_its_parameters():
    missing = []
    for value in filter(inspect.isfunction, public_values()):
        parameters = [name for name in inspect.signature(value).parameters if name != "self"]
        text = inspect.getdoc(value) or ""
        if not text or (parameters and not re.search("^Parameters\n-|parameters (as|are)", text, re.MULTILINE)):
            missing.append(f"{value.__module__}:{value.__qualname__}")
    assert missing == []


def described(tree, prefix):
    """Names of the functions and classes in a tree with their docstrings."""
    for node in ast.iter_child_nodes(tree):
        name = f"{prefix}{getattr(node, 'name', '')}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield name, ast.get_docstring(node) or ""
            yield from described(node, f"{name}.")


def test_no_inner_name_has_sections():
    public = public_names()
    wordy = []
    for module in MODULES:
        tree = ast.parse(inspect.getsource(importlib.import_module(module)))
        names = [f"{module}:{name}" for name, text in described(tree, "") if re.search(r"^---+$", text, re.MULTILINE)]
        wordy += [name for name in names if name not in public]
    assert wordy == []


def test_modules_say_what_they_offer():
    assert [name for name in MODULES if not hasattr(importlib.import_module(name), "__all__")] == []


def test_only_one_module_imports_the_compiled_core():
    pattern = re.compile(r"^(from gasmeter import _core|import gasmeter\._core)", re.MULTILINE)
    match = [name for name in MODULES if pattern.search(inspect.getsource(importlib.import_module(name)))]
    assert match == []


@pytest.mark.parametrize(
    ("kind", "status", "builtin"),
    [(UsageError, 2, ValueError), (ResourceError, 3, Exception), (EnvironmentLacks, 3, ResourceError),
     (BrokenJob, 4, RuntimeError), (Deadlock, 4, BrokenJob)],
)  # fmt: skip
def test_errors_have_a_status_and_a_builtin_above_them(kind, status, builtin):
    assert kind("x").exit_code == status
    assert issubclass(kind, (GasmeterError,))
    assert issubclass(kind, builtin)


def test_every_public_error_lives_in_one_module():
    results = {value for _, value in public_objects() if inspect.isclass(value) and issubclass(value, BaseException)}
    assert {value.__module__ for value in results} == {"gasmeter.errors"}
    assert {value.__name__ for value in results} <= set(gasmeter.__all__)


def test_errors_of_workers_keep_their_class():
    assert isinstance(error_named("ResourceError", "no room"), ResourceError)
    assert isinstance(error_named("ValueError", "bad"), UsageError)
    assert type(error_named("Other", "odd")) is GasmeterError


def test_an_unknown_name_is_answered_with_the_nearest():
    text = str(unknown("kernel", "fload", ["flood", "barrier"], "gasmeter list kernels"))
    assert text == (
        "unknown kernel 'fload'; did you mean 'flood'? allowed: flood, barrier (see `gasmeter list kernels`)"
    )


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        (Option("a", "bool", "false"), True, "true"),
        (Option("a", "bool", "false"), "on", "true"),
        (Option("a", "int", "1"), "0x10", "16"),
        (Option("a", "float", "1"), 2, "2.0"),
        (Option("a", "float", "0", unit="ratio"), "4%", "0.04"),
        (Option("a", "choice", "x", choices=("x", "y")), "y", "y"),
        (Option("a", "text", ""), " z ", "z"),
    ],
)
def test_options_have_one_spelling(option, value, text):
    assert option.parse(value, "conduit smp") == text
