"""The revision of what is measured, and that of gasmeter itself."""

import json
import subprocess

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter import library
from gasmeter.cli import cli
from gasmeter.exchange import to_asv
from gasmeter.library import build_revision, git_revision
from gasmeter.measuring import context
from gasmeter.measuring.context import measured_revision

COMMIT = "0123456789abcdef0123456789abcdef01234567"
EXPERIMENT = """
import gasmeter as gm
experiment = gm.Experiment(name="s", kernel="ping-pong", conduit="smp", op="put", sizes="8", time_s=0.05)
"""


@pytest.fixture
def nowhere(machine, tmp_path, monkeypatch):
    """Run in a folder without git and without a CI, from an installed package; return what run.json says."""
    for name in context._OF_A_JOB:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "s.py").write_text(EXPERIMENT)

    def run(*words, status=0):
        done = CliRunner().invoke(cli, ["run", "s.py", "--out", "store", *words])
        assert done.exit_code == status, done.output
        return json.loads((tmp_path / "store/run.json").read_text())["runs"][-1] if status == 0 else done.stderr

    return run


def repository(folder):
    def git(*words):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        return subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True)

    git("init", "-q")
    (folder / "file").write_text("x")
    git("add", "file")
    git("commit", "-qm", "m")
    return git("rev-parse", "HEAD").stdout.strip()


def test_a_run_without_git_has_no_revision_and_asv_says_what_to_do(nowhere, tmp_path):
    facts = nowhere()
    assert (facts["git"], facts["git_from"]) == ("", "")
    with pytest.raises(gm.UsageError, match="gasmeter run --revision REV"):
        to_asv(tmp_path / "store")


def test_the_working_directory_says_what_is_measured(nowhere, tmp_path):
    commit = repository(tmp_path)
    facts = nowhere()
    assert (facts["git"], facts["git_from"]) == (commit, "working directory")
    assert any(name.endswith(f"{commit[:8]}-gasmeter.json") for name in to_asv(tmp_path / "store"))
    (tmp_path / "file").write_text("y")
    assert git_revision(tmp_path) == f"{commit}-dirty"


@pytest.mark.parametrize("name", context._OF_A_JOB)
def test_a_service_that_builds_says_it_before_git(nowhere, tmp_path, monkeypatch, name):
    repository(tmp_path)
    monkeypatch.setenv(name, COMMIT)
    assert measured_revision() == {"git": COMMIT, "git_from": name}


def test_the_caller_says_it_before_all_others(nowhere, tmp_path, monkeypatch):
    repository(tmp_path)
    monkeypatch.setenv("GITHUB_SHA", COMMIT)
    facts = nowhere("--revision", "v1.2")
    assert (facts["git"], facts["git_from"]) == ("v1.2", "--revision")
    assert facts["options"]["revision"] == {"value": "v1.2", "origin": "command line"}
    assert nowhere("--resume")["git"] == COMMIT
    assert "revision 'v 1' is not allowed" in nowhere("--revision", "v 1", status=2)


def test_an_experiment_takes_it_too(nowhere, tmp_path):
    experiment = gm.Experiment(name="s", kernel="ping-pong", conduit="smp", op="put", sizes="8", time_s=0.05)
    experiment.run(tmp_path / "own", revision=COMMIT)
    assert json.loads((tmp_path / "own/run.json").read_text())["runs"][-1]["git"] == COMMIT


def test_gasmeter_names_what_it_was_built_from_beside_it(nowhere, tmp_path, monkeypatch):
    monkeypatch.setattr(library, "_PACKAGE", tmp_path / "installed")
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed/revision").write_text(f"{COMMIT}\n")
    facts = nowhere()
    assert (facts["built_from"], facts["git"]) == (COMMIT, "")


def test_a_package_that_lies_in_another_projects_tree_has_not_its_revision(tmp_path, monkeypatch):
    commit = repository(tmp_path)
    package = tmp_path / "venv"
    package.mkdir()
    (package / "library.py").write_text("")
    monkeypatch.setattr(library, "_PACKAGE", package)
    assert build_revision() == ""
    subprocess.run(["git", "-C", tmp_path, "add", "venv/library.py"], check=True)
    assert build_revision() == f"{commit}-dirty"
