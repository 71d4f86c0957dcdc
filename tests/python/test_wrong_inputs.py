"""Wrong inputs and the one line that each gives: data/wrong_inputs.tsv, command lines and calls alike.

A line of the table holds the input (a command line, or an expression of Python), the exit status, the wrong value as
the message quotes it, an allowed word, and the whole message. Everything runs in this process.
"""

import csv
import json
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli
from gasmeter.cli.commands import TABLE
from gasmeter.errors import GasmeterError
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.measurement import measurement

FILE = Path(__file__).parent / "data" / "wrong_inputs.tsv"
NUMBER = 'base = "extoll"\nsummary = "s"\nlink.bandwidth = '
FILES = {
    "text.txt": "hello\n",
    "kernal.py": "import gasmeter as gm\nexperiment = gm.Experiment(name='e', kernal='ping-pong', conduit='ideal')\n",
    "ready.py": "import gasmeter as gm\nexperiment = gm.Experiment(name='e', kernel='barrier', conduit='ideal')\n",
    "points.csv": "figure,series,x,y\n8,a,b,1\n",
    "heads.csv": "a,b\n1,2\n",
    "no_toml.toml": "base = \n",
    "no_network.toml": 'summary = "s"\n',
    "extol.toml": 'base = "extol"\nsummary = "s"\n',
    "sure.toml": NUMBER + '{ value = "1 GB/s", confidence = "sure", source = "choice: s" }\n',
    "no_source.toml": NUMBER + '{ value = "1 GB/s", confidence = "high" }\n',
    "plain.toml": NUMBER + "3\n",
    "no_unit.toml": NUMBER + '{ value = "1.25", confidence = "high", source = "choice: s" }\n',
}


def rows():
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def fill(room):
    """Put what the table speaks of into a folder: files with mistakes, stores that are damaged."""
    for name, text in FILES.items():
        (room / name).write_text(text, encoding="utf-8")
    (room / "empty").mkdir()
    experiment = measurement("ping-pong", conduit="ideal", op="put", sizes=8)
    for name in ("store", "other"):
        execute(experiment, Run(out=room / name, bare=True))
    for name in ("no_json", "list_json", "newer", "no_samples"):
        shutil.copytree(room / "store", room / name)
    (room / "no_json" / "run.json").write_text("{")
    (room / "list_json" / "run.json").write_text("[1]")
    run = json.loads((room / "store" / "run.json").read_text())
    (room / "newer" / "run.json").write_text(json.dumps({**run, "schema": 99}))
    (room / "no_samples" / "samples.parquet").unlink()


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("room")
    fill(folder)
    return folder


@pytest.fixture
def folder(room, monkeypatch):
    monkeypatch.chdir(room)
    return room


def act(begin):
    """Let each of two virtual ranks do what `begin` returns of its endpoint."""

    def program(ep):
        yield begin(ep)

    return gm.launch(program, conduit="ideal")


def shared(shape=100, dtype="int64", block=8, index=0, **space):
    """Let each of two virtual ranks read an element of a shared array."""

    def program(ep):
        made = yield gm.shared_space(ep, **space)
        array = yield made.all_alloc(shape, dtype, block=block)
        yield array[index]

    return gm.launch(program, conduit="ideal")


def given(text):
    """Give what a line of the table says; return the exit status, and what is said on standard error."""
    if text.startswith("gasmeter "):
        result = CliRunner().invoke(cli, shlex.split(text)[1:])
        assert isinstance(result.exception, SystemExit), repr(result.exception)
        assert result.stdout == ""
        return result.exit_code, result.stderr
    with pytest.raises(GasmeterError) as caught:
        eval(text, {"gm": gm, "act": act, "shared": shared, "nan": float("nan")})
    return caught.value.exit_code, f"Error: {caught.value}\n"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["input"])
def test_it_is_one_line_with_the_value_and_what_is_allowed(row, folder, capsys):
    status, message = given(row["input"])
    assert message == f"Error: {row['line']}\n"
    assert status == int(row["status"])
    assert row["wrong"] in row["line"]
    assert row["allowed"] in row["line"].replace(row["wrong"], "", 1)
    assert capsys.readouterr() == ("", "")


def test_there_are_sixty_and_some_for_every_command():
    inputs = [row["input"] for row in rows()]
    assert len(inputs) == len(set(inputs)) >= 60
    commands = {shlex.split(text)[1] for text in inputs if text.startswith("gasmeter ")}
    assert set(TABLE) <= commands
    calls = {text.partition("(")[0] for text in inputs if not text.startswith("gasmeter ")}
    assert {"gm.measure", "gm.reproduce", "gm.compare", "gm.check", "gm.trace", "gm.fit", "gm.dashboard"} <= calls
    assert {"gm.machine", "gm.launch", "gm.open_result", "gm.Series", "act", "shared"} <= calls
    for row in rows():
        assert row["wrong"]
        assert row["allowed"]
