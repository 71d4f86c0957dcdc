import inspect
from typing import get_args, get_type_hints

import pytest

import gasmeter as gm
from gasmeter import catalogue
from gasmeter.arguments import names
from gasmeter.papers.registry import PAPERS
from gasmeter.sweeps.declarations import read_declaration
from gasmeter.sweeps.given import Fields
from gasmeter.sweeps.loading import load_experiment
from gasmeter.sweeps.series import SPELT, Series

PARTIAL = """
{imported}
import gasmeter as gm

beside = {partial}(gm.Series, kernel="ping-pong", conduit="smp", sizes="8,64")
experiment = gm.Experiment(name="two", series=(beside(op="put"), beside(op="get", sizes="8")))
"""


def test_type_checkers_are_told_every_field_of_a_series_by_the_name_it_is_given_by():
    message = {"kernel", "conduit", "target", *get_type_hints(Fields)}
    assert message == {SPELT.get(field, field) for field in Series.model_fields}


def test_fields_that_measure_takes_too_are_told_alike():
    fields = get_type_hints(Fields)
    measured = inspect.get_annotations(gm.measure, eval_str=True)
    for name in ("op", "variant", "machine", "topology", "placement", "ci"):
        assert fields[name] == measured[name], name


def test_names_are_types_that_editors_complete_and_names_of_ones_own_pass(machine):
    catalogued = catalogue.catalogue()
    ops = {op.name for kernel in catalogued.kernels.values() for op in kernel.ops}
    raw = {f"raw@{network}" for network in catalogued.raw_networks()}
    for type_, allowed in (
        (names.KernelName, set(catalogued.kernels)), (names.OpName, ops),
        (names.ConduitName, {*catalogued.conduits, *raw}),
        (names.MachineName, set(gm.machines())), (names.PaperName, set(PAPERS)),
    ):  # fmt: skip
        assert set(get_args(type_)) == allowed
    for function, parameter, type_ in (
        (gm.measure, "kernel", names.KernelName), (gm.measure, "op", names.OpName), (gm.trace, "what", names.OpName),
        (gm.measure, "conduit", names.ConduitName), (gm.measure, "machine", names.MachineName),
        (gm.machine, "name", names.MachineName), (gm.reproduce, "name", names.PaperName),
    ):  # fmt: skip
        taken = get_args(inspect.get_annotations(function, eval_str=True)[parameter])
        assert {type_, str} <= set(taken), (function, parameter)


@pytest.mark.parametrize(
    ("imported", "partial"),
    [
        ("from functools import partial", "partial"),
        ("from functools import partial as given", "given"),
        ("import functools", "functools.partial"),
    ],
)
def test_what_partial_series_declare_is_read_without_running_the_file(tmp_path, imported, partial):
    file = tmp_path / "two.py"
    file.write_text(PARTIAL.format(imported=imported, partial=partial))
    declared = read_declaration(file).experiment
    assert declared == load_experiment(file)
    assert [(each.op, each.size) for each in declared.series] == [(("put",), (8, 64)), (("get",), (8,))]


def test_a_partial_of_something_else_is_left_to_those_who_run_the_file(tmp_path):
    file = tmp_path / "two.py"
    file.write_text(PARTIAL.format(imported="def partial(made, **given): return made", partial="partial"))
    assert read_declaration(file).experiment is None
