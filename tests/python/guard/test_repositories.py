"""Revisions that git cannot give: of a shallow clone, and of a repository of somebody else."""

import subprocess

import pytest
from click.testing import CliRunner

from gasmeter.cli.app import cli
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.guard.builds import find_build


def git(folder, *words):
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *names, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    place = tmp_path / "whole"
    place.mkdir()
    git(place, "init", "--quiet")
    for number in range(3):
        git(place, "commit", "--quiet", "--allow-empty", "-m", str(number))
    return place


def test_a_shallow_clone_is_named_with_what_to_do(repository, tmp_path, monkeypatch):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", str(clone))
    monkeypatch.chdir(clone)
    done = CliRunner().invoke(cli, ["compare", "HEAD~1", "HEAD"])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert f"'HEAD~1' is no revision of the clone {clone}, which is shallow" in done.stderr
    assert "git fetch --unshallow" in done.stderr
    assert "fetch-depth: 0" in done.stderr


def test_a_whole_clone_says_that_there_is_no_such_revision(repository):
    with pytest.raises(UsageError, match="no git revision here"):
        find_build("HEAD~9", repository)


def test_a_repository_of_somebody_else_is_named(repository, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(EnvironmentLacks) as refused:
        find_build("HEAD~1", repository)
    message = str(refused.value)
    assert f"the repository {repository} belongs to another user (git's dubious ownership)" in message
    assert f"git config --global --add safe.directory {repository}" in message
    assert "\n" not in message
