"""Experiments by name, wherever gasmeter is installed, and those that `gasmeter new` writes."""

import ast
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gasmeter.catalogue import catalogue
from gasmeter.cli import cli
from gasmeter.environment.installed import EXPERIMENTS
from gasmeter.errors import UsageError
from gasmeter.sweeps import shipped
from gasmeter.sweeps.beginning import beginning
from gasmeter.sweeps.loading import load_experiment
from gasmeter.sweeps.shipped import experiment_file, experiment_files, sentence, shipped_folder

ROOT = Path(__file__).resolve().parents[3]
TEXT = '''"""What {name} is."""
import gasmeter as gm
experiment = gm.Experiment(name="{name}", kernel="barrier", conduit="smp")
'''


def written(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT.format(name=path.stem))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, and an installation of gasmeter with two experiments elsewhere."""
    package = tmp_path / "site-packages" / "gasmeter"
    for name in ("first_look", "what_if"):
        written(package / "experiments" / f"{name}.py")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(shipped, "shipped_folder", lambda: shipped_folder(package))
    return work


def test_installed_experiments_lie_in_the_package_those_of_a_tree_beside_it(tmp_path):
    package = tmp_path / "python" / "gasmeter"
    package.mkdir(parents=True)
    assert shipped_folder(package) is None
    (tmp_path / "experiments").mkdir()
    assert shipped_folder(package) is None  # any folder of that name: no tree of gasmeter's
    (tmp_path / "pyproject.toml").touch()
    assert shipped_folder(package) == tmp_path / "experiments"
    (package / "experiments").mkdir()
    assert shipped_folder(package) == package / "experiments"
    assert shipped_folder(ROOT / "python" / "gasmeter") == ROOT / "experiments"


def test_a_name_is_of_an_own_folder_first_and_a_path_is_a_path(folder, tmp_path):
    installed = tmp_path / "site-packages" / "gasmeter" / "experiments"
    assert experiment_file("first_look") == installed / "first_look.py"
    (folder / "first_look").mkdir()  # the folder of an earlier run
    assert experiment_file("first_look") == installed / "first_look.py"
    own_written = written(Path("experiments/first_look.py"))
    assert experiment_file("first_look") == own_written
    assert list(experiment_files()) == ["first_look", "what_if"]
    for path in ("first_look.py", "./first_look", "elsewhere/first_look", "."):
        assert experiment_file(path) == Path(path)
    Path("bare").write_text("")
    assert experiment_file("bare") == Path("bare")


def test_an_unknown_name_is_told_the_nearest_and_where_they_are_listed(folder):
    with pytest.raises(UsageError, match=r"'first_lok'; did you mean 'first_look'\? .*`gasmeter list experiments`"):
        experiment_file("first_lok")
    with pytest.raises(UsageError, match=r"'x.py' does not exist; allowed: .*`gasmeter list experiments`"):
        load_experiment("x.py")
    with pytest.raises(UsageError, match=r"does not exist; did you mean 'first_look'\?"):
        load_experiment("experiments/first_look.py")  # as in a clone
    written(folder / "x.py")
    with pytest.raises(UsageError, match=r"unknown experiment 'x'"):
        experiment_file("x")


def test_commands_take_and_list_names(folder, machine):
    runner = CliRunner()
    done = runner.invoke(cli, ["run", "what_if", "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "what_if: 1 points" in done.stdout
    assert "first_look  1 points, " in runner.invoke(cli, ["list", "experiments"]).stdout
    text = runner.invoke(cli, ["list", "experiments", "first_look"]).stdout
    assert "What first_look is. (ready, 1 points" in re.sub(r"\s+", " ", text)
    assert "`gasmeter run first_look`" in re.sub(r"\s+", " ", text)
    result = json.loads(runner.invoke(cli, ["list", "experiments", "--json"]).stdout)
    assert [(entry["name"], entry["summary"]) for entry in result] == [
        ("first_look", "What first_look is."), ("what_if", "What what_if is."),
    ]  # fmt: skip


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.py")), ids=lambda path: path.stem)
def test_what_comes_along_says_in_a_sentence_what_it_is(path):
    text = sentence(ast.parse(path.read_text(encoding="utf-8")))
    assert text.endswith(".")
    assert len(text) > 20


def test_the_build_installs_them_where_they_are_looked_for():
    text = (ROOT / "cpp" / "gasmeter" / "bindings" / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "${PROJECT_SOURCE_DIR}/experiments/*.py" in text
    assert f"DESTINATION gasmeter/{EXPERIMENTS})" in text


@pytest.mark.parametrize("kernel", ["ping-pong", "flood", "barrier", "random-access", "fetch-add"])
@pytest.mark.parametrize("conduit", ["smp", "raw@shm", "udp", "ideal"])
def test_a_new_experiment_loads_as_what_it_was_checked_as(machine, tmp_path, kernel, conduit):
    program = catalogue().kernels.get(kernel)
    if program is None or (conduit.startswith("raw@") and "shm" not in program.raw):
        pytest.skip("not of this catalogue")
    text, meant = beginning("ours", kernel=kernel, conduit=conduit)
    path = tmp_path / "ours.py"
    path.write_text(text)
    loaded = load_experiment(path)
    assert loaded == meant
    assert [point.id for point in loaded.points()] == [point.id for point in meant.points()]
    assert {point.kernel for point in loaded.points()} == {kernel}
    assert conduit in loaded.series[0].conduit
    assert all(len(line) <= 120 for line in text.splitlines())


def test_a_new_experiment_runs_as_it_stands_and_is_not_written_over(machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    done = runner.invoke(cli, ["new", "ours"])
    assert done.exit_code == 0, done.output
    before = Path("ours.py").read_text()
    assert done.stdout.startswith("ours.py: 6 points")
    assert "run it with `gasmeter run ours.py`" in done.stdout
    result = load_experiment("ours.py").run(quick=True)
    assert result.verified
    assert {row["metric"] for row in result.rows} >= {"overhead"}
    again = runner.invoke(cli, ["new", "ours.py", "--op", "put"])
    assert again.exit_code == 2
    assert again.stderr == "Error: ours.py is there already; allowed: the name of a new file\n"
    assert Path("ours.py").read_text() == before
