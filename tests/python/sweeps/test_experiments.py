import importlib.util
import math
import sys
from pathlib import Path

import pytest

import gasmeter as gm
from gasmeter.library import this_build
from gasmeter.measuring.summary import digest, speed_lines, summarise_run, verdict
from gasmeter.stores.store import open_result
from gasmeter.sweeps.declarations import read_declaration
from gasmeter.sweeps.loading import ProgramFile, load_experiment, load_file
from gasmeter.sweeps.sweep import estimated_seconds

NAN = math.nan
ROOT = Path(__file__).resolve().parents[3]
ALL = sorted((ROOT / "experiments").glob("*.py"))
PROGRAMS = [file for file in ALL if "__main__" in file.read_text()]  # run with python, print ratios
FILES = [file for file in ALL if file not in PROGRAMS]
REAL = {"loggp", "reference", "vis_map", "vis_speed"}  # use kernels and conduits that the fake machine lacks
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
LONG = {"address_cache", "aries_specialisations", "extoll_what_if", "portals_credits_and_registration"}
NEEDS_CORE = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")


@NEEDS_CORE
@pytest.mark.parametrize("name", sorted(REAL))
def test_a_shipped_experiment_of_kernels_the_fake_machine_lacks_loads_and_plans(name):
    experiment = load_experiment(ROOT / "experiments" / f"{name}.py")
    assert experiment.name == name
    assert experiment.title
    assert experiment.question
    assert 0 < estimated_seconds(experiment.groups(quick=True)) <= estimated_seconds(experiment.groups())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_shipped_experiment_declares_is_what_running_its_file_gives(file):
    declared = read_declaration(file)
    assert declared.name == file.stem
    assert declared.experiment in (load_experiment(file), None)


@pytest.mark.parametrize("file", [file for file in FILES if file.stem not in REAL], ids=lambda file: file.stem)
def test_a_shipped_experiment_loads_plans_and_runs(machine, file):
    experiment = load_experiment(file)
    assert experiment.name == file.stem
    assert experiment.title
    assert experiment.question
    result = experiment.run(quick=True)
    assert result.verified
    assert len(result.rows) > len(experiment.series)


@pytest.mark.parametrize("file", PROGRAMS, ids=[file.stem for file in PROGRAMS])
def test_a_shipped_program_is_one_and_runs_nothing_when_loaded(file, capsys):
    result = load_file(file)
    assert isinstance(result, ProgramFile)
    assert result.summary
    assert capsys.readouterr().out == ""


def test_the_first_look_is_short(machine):
    experiment = load_experiment(ROOT / "experiments" / "first_look.py")
    assert estimated_seconds(experiment.groups()) < 45
    assert estimated_seconds(experiment.groups(quick=True)) < 8
    before = machine.now
    experiment.run(quick=True)
    assert machine.now - before < 12


def test_every_speed_line_has_a_figure(machine):
    experiment = load_experiment(ROOT / "experiments" / "smp_speed.py")
    lines = speed_lines(experiment, experiment.run(quick=True))
    named = {series.target.line for series in experiment.series}
    assert {line for line in named if any(entry[0].startswith(line) for entry in lines)} == named
    assert all(entry[1] != "-" for entry in lines)


@pytest.mark.usefixtures("machine")
def test_the_summary_names_the_algorithm_of_each_collective():
    experiment = load_experiment(ROOT / "experiments" / "all_to_all.py")
    result = experiment.run(quick=True)
    ops = {line[1] for line in digest(result)[1]}
    assert ops == {"exchange algorithm=pairwise", "exchange algorithm=bruck"}
    rows = summarise_run(experiment, result).partition("## Rows")[2]
    assert rows.count("exchange algorithm=bruck") == rows.count("exchange algorithm=pairwise") > 0


@pytest.mark.usefixtures("machine")
def test_the_summary_leaves_out_options_that_all_rows_share():
    experiment = gm.Experiment(
        name="one", kernel="collective", op="exchange", conduit="extoll", sizes="64,1K", options={"algorithm": "bruck"}
    )
    assert {line[1] for line in digest(experiment.run())[1]} == {"exchange"}


@NEEDS_CORE
@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=[pytest.mark.slow] if file.stem in LONG else []) for file in NOTEBOOKS],
)
def test_a_notebook_runs(file, tmp_path):
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    notebook = jupytext.read(file)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)


def test_the_speed_of_the_simulation_is_published_as_a_store(tmp_path):
    path = ROOT / "experiments" / "engine_speed.py"
    spec = importlib.util.spec_from_file_location("engine_speed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [module.row_of(number, (2.0, 1.5, 2.5), 11) for number in range(len(module.LINES))]
    module.publish(tmp_path, ["| a | table |"], rows)
    (tmp_path / "journal.jsonl").unlink()
    result = open_result(tmp_path)
    assert len({(row["op"], row["run_id"]) for row in result.rows}) == len(module.LINES)
    assert {(row["metric"], row["unit"]) for row in result.rows} == {
        ("rate", "1/s"), ("memory_per_rank", "B"), ("latency", "ns"), ("speedup", "ratio"),
    }  # fmt: skip
    assert result.records[0].build == this_build()["digest"]
    assert "| a | table |" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ((0.9, 0.8, 0.95), "yes"),
        ((0.9, 0.8, 1.1), "undecided"),
        ((1.1, 0.9, 1.2), "undecided"),
        ((1.1, 1.05, 1.2), "no"),
        ((0.9, NAN, NAN), "undecided"),
        ((1.1, NAN, NAN), "undecided"),
        ((NAN, NAN, NAN), "-"),
    ],
)
def test_a_limit_is_reached_missed_or_undecided_by_the_whole_interval(figure, message):
    assert verdict(gm.Target(line="x", at_most=1.0), *figure) == message
    above = tuple(2 - value for value in (figure[0], figure[2], figure[1]))
    assert verdict(gm.Target(line="x", at_least=1.0), *above) == message


def test_virtual_time_needs_no_interval_to_reach_a_limit():
    target = gm.Target(line="x", at_most=1.0)
    assert [verdict(target, value, NAN, NAN, exact=True) for value in (0.9, 1.1)] == ["yes", "no"]


def test_lines_of_several_conduits_name_theirs_and_points_measured_twice_stand_twice(machine):
    series = [
        gm.Series(
            kernel="ping-pong", op="put", sizes=8, conduit=conduit, options=options, against="raw@shm",
            target=gm.Target(line="put", at_most=9.0),
        )
        for conduit, options in ((("smp", "udp"), {}), ("smp", {"threads": "true"}))
    ]  # fmt: skip
    experiment = gm.Experiment(name="several", series=series)
    result = experiment.run()
    assert [line[0] for line in speed_lines(experiment, result)] == [
        "put (put on smp 8 B)", "put (put on udp 8 B)", "put (put 8 B threads=true)",
    ]  # fmt: skip
    heads, table = digest(result)
    medians = [line[heads.index("median")] for line in table if "raw@shm" in line[heads.index("conduit")]]
    assert len(medians) == len(set(medians)) == 2


DATACLASS = """from __future__ import annotations

from dataclasses import dataclass

import gasmeter as gm


@dataclass
class Axis:
    ranks: int | str = 3


"""


def test_a_file_may_have_dataclasses_whose_annotations_are_text(tmp_path):
    file = tmp_path / "ours.py"
    file.write_text(DATACLASS + 'e = gm.Experiment(name="e", kernel="barrier", conduit="ideal", ranks=Axis().ranks)\n')
    assert load_experiment(file).points()[0].ranks == 3


def test_a_file_of_dataclasses_that_is_no_experiment_is_one_line(tmp_path):
    file = tmp_path / "ours.py"
    file.write_text(DATACLASS)
    with pytest.raises(gm.UsageError, match=r"^\S+/ours.py describes no experiment; allowed: one gasmeter.Experiment"):
        load_experiment(file)


def test_a_file_that_raises_leaves_no_module_behind(tmp_path):
    file = tmp_path / "torn.py"
    file.write_text("x = 1\nx.y\n")
    with pytest.raises(gm.UsageError, match=r"torn.py:2: AttributeError: .*; allowed: a Python file with one"):
        load_experiment(file)
    assert "gasmeter_experiment_torn" not in sys.modules
