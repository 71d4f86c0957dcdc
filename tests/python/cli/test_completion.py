"""What the shell completes: by the functions that click calls, and as a shell asks."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gasmeter.catalogue import catalogue
from gasmeter.cli import cli, completion
from gasmeter.errors import EnvironmentLacks
from gasmeter.machines.named import machines
from gasmeter.papers.registry import PAPERS
from gasmeter.sweeps import shipped

ROOT = Path(__file__).resolve().parents[3]


def offered(complete, typed="", **before):
    context = click.Context(cli)
    context.params.update(before)
    return [item.value for item in complete(context, click.Option(["--x"]), typed)]


def test_every_kind_of_name_is_completed():
    assert offered(completion.complete_kernels) == list(catalogue().kernels)
    assert offered(completion.complete_kernels, "ping") == ["ping-pong"]
    assert {"smp", "raw@shm"} <= set(offered(completion.complete_conduits))
    assert offered(completion.complete_machines) == machines()
    assert "torus3d" in offered(completion.complete_topologies, "tor")
    assert offered(completion.complete_papers) == list(PAPERS)


def test_operations_are_those_of_the_kernel_that_stands_before():
    ping_pong = [op.name for op in catalogue().kernel("ping-pong").ops]
    assert offered(completion.complete_ops, kernel="ping-pong") == ping_pong
    assert len(offered(completion.complete_ops)) > len(ping_pong)
    assert {"put", "ping-pong"} <= set(offered(completion.complete_kernels_or_ops))


def test_of_names_with_commas_the_last_is_completed():
    found = offered(completion.complete_conduits, "smp,ide")
    assert "smp,ideal" in found
    assert all(value.startswith("smp,ide") for value in found)
    assert "smp,smp" not in offered(completion.complete_conduits, "smp,")


def test_figures_are_those_of_the_paper():
    figures = offered(completion.complete_figures, name="extoll")
    assert figures == [figure.number for figure in PAPERS["extoll"].figures if figure.lines]
    assert offered(completion.complete_figures, name="none") == []


@pytest.mark.parametrize(("what", "name"), [("kernels", "ping-pong"), ("conduits", "smp"), ("machines", "extoll")])
def test_names_of_lists(what, name):
    assert name in offered(completion.complete_listed, name[:2], what=what)


def test_experiments_are_names_and_files_that_are_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "own.py").write_text('"""What it is."""\n')
    (tmp_path / "experiments" / "torn.py").write_text("x = = 1")
    (tmp_path / "experiments" / "counts.py").write_text('if __name__ == "__main__":\n    print(1)\n')
    (tmp_path / "here.py").write_text("")
    monkeypatch.setattr(shipped, "shipped_folder", lambda: ROOT / "experiments")
    found = offered(completion.complete_experiments)
    assert {"own", "here.py", "first_look", "what_if"} <= set(found)
    assert not {"counts", "torn", "engine_speed"} & set(found)  # `gasmeter run` refuses them
    assert offered(completion.complete_experiments, "fir") == ["first_look"]
    (item,) = completion.complete_experiments(click.Context(cli), click.Option(["--x"]), "some/folder/x")
    assert (item.type, item.value) == ("file", "some/folder/x")
    assert "counts" in offered(completion.complete_listed, "co", what="experiments")


def test_nothing_is_said_where_nothing_can_be_read(monkeypatch):
    def lacks():
        raise EnvironmentLacks("no core")

    monkeypatch.setattr("gasmeter.catalogue.catalogue", lacks)
    assert offered(completion.complete_kernels) == []


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("gasmeter measure ping", "ping-pong"),
        ("gasmeter measure ping-pong --op pu", "put"),
        ("gasmeter measure ping-pong --conduit smp,ext", "smp,extoll"),
        ("gasmeter measure ping-pong --machine aries-c", "aries-cori1"),
        ("gasmeter measure ping-pong --topology mesh", "mesh3d"),
        ("gasmeter trace am-m", "am-medium"),
        ("gasmeter reproduce por", "portals"),
        ("gasmeter hardware por", "portals-catamount"),
        ("gasmeter check-machine por", "portals-catamount"),
        ("gasmeter ha", "hardware"),
        ("gasmeter reproduce --fr", "--from"),
        ("gasmeter list machines gm", "gm-marenostrum"),
        ("gasmeter measure ping-pong --format js", "json"),
    ],
)
def test_a_shell_is_answered(words, answer):
    environment = {
        "_GASMETER_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gasmeter"], capture_output=True, text=True, check=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert answer in [line.partition(",")[2] for line in done.stdout.splitlines()]
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    if "reproduce" not in words:  # papers are read from what judges them
        assert loaded.isdisjoint({"numpy", "pandas", "scipy", "matplotlib"})


PAGE = ROOT / "docs" / "shell.md"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_for_a_shell_stands_in_the_help_and_on_the_page(shell):
    (line,) = re.findall(rf"^\| {shell}.*\| `(.*)` \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    line = line.replace("\\|", "|")
    assert line in CliRunner().invoke(cli, ["--help"]).stdout
    done = subprocess.run(
        [sys.executable, "-m", "gasmeter"], capture_output=True, text=True, check=True,
        env={**os.environ, "_GASMETER_COMPLETE": f"{shell}_source"},
    )  # fmt: skip
    assert f"_GASMETER_COMPLETE={shell}_complete" in line.replace("_source", "_complete")
    assert f"_GASMETER_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "answer"),
    [(["gasmeter", "measure", "ping"], "ping-pong"), (["gasmeter", "measure", "flood", "--conduit", "ext"], "extoll")],
)
def test_bash_completes_names_by_the_line_of_the_page(words, answer, tmp_path):
    program = tmp_path / "gasmeter"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gasmeter "$@"\n')
    program.chmod(0o755)
    script = f"""
        eval "$(_GASMETER_COMPLETE=bash_source gasmeter)"
        COMP_WORDS=({" ".join(words)})
        COMP_CWORD={len(words) - 1}
        _gasmeter_completion gasmeter
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert answer in done.stdout.split()
