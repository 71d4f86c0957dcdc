"""Modules that a command loads before it answers: only the modules that it needs."""

import os
import subprocess
import sys

import click
import pytest

from gasmeter.arguments.choices import IMPORT_FORMATS, REPORT_FORMATS
from gasmeter.cli import cli
from gasmeter.cli.commands import TABLE
from gasmeter.exchange.importing import _READERS
from gasmeter.guard.reports import REPORTS

HEAVY = {"numpy", "pandas", "scipy", "ruptures", "pyarrow", "matplotlib"}
EXPERIMENT = """
import gasmeter as gm
experiment = gm.Experiment(name="small", series=(gm.Series(kernel="barrier", conduit="ideal"),))
"""


def loaded(folder, *words, **environment):
    """The libraries that a command line imports, as the interpreter itself tells."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gasmeter", *words], cwd=folder, capture_output=True, text=True,
        check=True, env={**os.environ, **environment},
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}, done.stdout


@pytest.mark.parametrize(
    "words",
    [("--version",), ("--help",), (), ("list",), ("list", "machines"), ("export", "goal", "--help"),
     ("fit", "loggp", "--help"), *((name, "--help") for name in TABLE)],
    ids=" ".join,
)  # fmt: skip
def test_what_measures_nothing_loads_no_numerics(words, tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/small.py").write_text(EXPERIMENT)
    libraries, output = loaded(tmp_path, *words)
    assert "click" in libraries  # the table of imports was read
    assert HEAVY.isdisjoint(libraries)
    assert output


@pytest.mark.parametrize(("words", "answer"), [("gasmeter me", "measure"), ("gasmeter measure --top", "--topology")])
def test_completion_loads_no_numerics(words, answer, tmp_path):
    number = str(len(words.split()) - 1)
    environment = {"_GASMETER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": number}
    libraries, output = loaded(tmp_path, **environment)
    assert answer in output
    assert HEAVY.isdisjoint(libraries)


@pytest.mark.parametrize(
    "words",
    ["nosuch", "measure nosuch", "measure nosuch --conduit ideal", "measure ping-pong --conduit nosuch",
     "measure ping-pong --conduit ideal --op nosuch", "measure ping-pong --conduit ideal --option nosuch=1",
     "measure ping-pong --conduit extoll --machine nosuch", "run nosuch", "trace nosuch --conduit ideal",
     "list kernels nosuch", "list machines nosuch", "list claims nosuch", "reproduce nosuch",
     "reproduce extoll --figures nosuch", "hardware nosuch", "compare nosuch other",
     "check nosuch --baseline other", "reproduce --from nosuch", "fit loggp nosuch", "dashboard nosuch --out site",
     "links nosuch", "verify nosuch"],
)  # fmt: skip
def test_a_refused_name_waits_for_no_library_of_figures(words, tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gasmeter", *words.split()], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported  # the table of imports was read
    assert imported.isdisjoint(HEAVY - {"numpy"})


def test_a_modelled_point_loads_numpy_alone(tmp_path):
    libraries, output = loaded(tmp_path, "measure", "ping-pong", "--conduit", "extoll", "--op", "put", "--sizes", "8")
    assert "latency" in output
    assert libraries & HEAVY == {"numpy"}


def test_every_command_is_in_the_table_by_its_name():
    for name in TABLE:
        command = cli.commands[name]
        assert isinstance(command, click.Command)
        assert command.name == name
    assert list(cli.commands) == list(TABLE)


def test_choices_are_those_of_what_carries_them_out():
    assert tuple(REPORTS) == REPORT_FORMATS
    assert tuple(_READERS) == IMPORT_FORMATS
