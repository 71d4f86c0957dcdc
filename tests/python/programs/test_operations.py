"""The table of operations: what it says of an operation is so on every object that has it, and in the stub."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import pytest

from gasmeter import _core
from gasmeter.programs.objects import ProgramPrepared, ProgramToken
from gasmeter.programs.program import ProgramEndpoint
from gasmeter.programs.teams import Team

TESTS = Path(__file__).parents[2]
PROGRAMS = TESTS.parent / "docs" / "programs.md"
# None of them is asked for more than the first argument of what is made.
OBJECTS = {
    "EndpointOperations": ProgramEndpoint(None),
    "PreparedOperations": ProgramPrepared(None),
    "TokenOperations": ProgramToken(None),
    "TeamOperations": Team(None, _core.Operation),
}
CLAIMS = [
    pytest.param(operation, name, id=f"{name}.{operation['method']}")
    for operation in _core.operations()
    for name in operation["stubs"]
]
IN_PROGRAMS = [claim for claim in CLAIMS if claim.values[1] in OBJECTS]


def stub_is_current():
    spec = importlib.util.spec_from_file_location("stub_is_current", TESTS / "stub_is_current.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parameters_of(signature):
    return [(each.name, each.kind, each.default) for each in list(signature.parameters.values())[1:]]


def signature_of(stub):
    space = {}
    exec(f"from __future__ import annotations\ndef method{stub}: ...", space)
    return inspect.signature(space["method"])


def method_of(operation, name):
    return getattr(getattr(_core, name), operation["method"])


def made(operation, name, *arguments, **named):
    """Name and arguments of what a method of a program's object makes."""
    it = getattr(OBJECTS[name], operation["method"])(*arguments, **named)
    it.carried_out = True
    return it.name, it.arguments[0 if name == "EndpointOperations" else 1 :]


def positional(operation, name):
    parameters = list(inspect.signature(method_of(operation, name)).parameters.values())[1:]
    return {each.name: each.default for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}


def test_every_operation_has_its_own_name_and_some_object():
    operations = _core.operations()
    assert len({operation["name"] for operation in operations}) == len(operations) >= 35
    assert all(operation["stubs"] for operation in operations)
    assert {name for operation in operations for name in operation["stubs"]} >= OBJECTS.keys()


@pytest.mark.parametrize(("operation", "name"), CLAIMS)
def test_method_has_the_parameters_of_the_table_and_a_doc(operation, name):
    method = method_of(operation, name)
    for stub in operation["stubs"][name]:
        assert parameters_of(signature_of(stub)) == parameters_of(inspect.signature(method))
    doc = inspect.getdoc(method)
    assert all(f"\n{each} : " in doc.replace("*", "") for each, _, _ in parameters_of(inspect.signature(method)))
    assert name not in OBJECTS or "Returns\n-------\n" in doc or name == "TeamOperations"
    assert max(map(len, doc.splitlines())) <= 120


@pytest.mark.parametrize(("operation", "name"), IN_PROGRAMS)
def test_operation_is_made_by_position_and_by_name(operation, name):
    values = {each: object() for each in positional(operation, name)}
    assert made(operation, name, *values.values()) == (operation["name"], tuple(values.values()))
    assert made(operation, name, **values) == (operation["name"], tuple(values.values()))


@pytest.mark.parametrize(("operation", "name"), IN_PROGRAMS)
def test_what_is_left_out_before_the_last_argument_is_the_default(operation, name):
    defaults = positional(operation, name)
    given = {each: object() for each, default in defaults.items() if default is inspect.Parameter.empty}
    if last := list(defaults)[-1:]:
        given[last[0]] = object()
    assert made(operation, name, **given)[1] == tuple((defaults | given).values())


@pytest.mark.parametrize(("operation", "name"), IN_PROGRAMS)
def test_arguments_that_no_parameter_takes_are_type_errors_at_once(operation, name):
    method = getattr(OBJECTS[name], operation["method"])
    defaults = positional(operation, name)
    required = [object() for default in defaults.values() if default is inspect.Parameter.empty]
    start = rf"^{operation['method']}\(.*\): "
    with pytest.raises(TypeError, match=start + "unexpected argument 'nonsense'$"):
        method(*required, nonsense=1)
    if required:
        with pytest.raises(TypeError, match=start + f"{len(required) - 1} arguments given$"):
            method(*required[1:])
        with pytest.raises(TypeError, match=start + f"unexpected argument '{next(iter(defaults))}'$"):
            method(*required, **{next(iter(defaults)): 1})
    if not any("*" in stub.replace(" *,", "") for stub in operation["stubs"][name]):
        with pytest.raises(TypeError, match=start + f"{len(defaults) + 1} arguments given$"):
            method(*defaults, 1)


def test_the_stub_says_what_the_table_says():
    check = stub_is_current()
    assert check.problems_of(check.STUB.read_text()) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def get_value(self, rank", "def get_value(self, owner", "stub: def get_value(self, owner"),
        ("into: SupportsIndex, *, flags: int = 0", "into: SupportsIndex, *, flags: int", "table: def get(self"),
        (") -> Operation[Event]: ...", ") -> Operation[int]: ...", "-> Operation[int]"),
        ("    def drop(self) -> None: ...\n", "", "Prepared.drop: in the extension, not in the stub"),
        ("    def barrier(self) -> Any: ...\n", "", "TeamOperations.barrier: in the extension, not in the stub"),
        ('op: str = "sum"', 'op: str = "max"', "op: str='max'"),
    ],
)
def test_a_stub_that_differs_is_told(old, new, told):
    check = stub_is_current()
    text = check.STUB.read_text()
    assert old in text
    assert any(told in problem for problem in check.problems_of(text.replace(old, new, 1)))


def test_the_page_of_programs_names_every_operation_of_an_endpoint():
    text = PROGRAMS.read_text()
    methods = [operation["method"] for operation in _core.operations() if "EndpointOperations" in operation["stubs"]]
    assert [method for method in methods if f"ep.{method}(" not in text] == []
