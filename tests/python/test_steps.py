"""Steps of a tier: what passed is kept by tree, and not run again where that is asked for."""

import subprocess
from pathlib import Path

import pytest

STEPS = Path(__file__).parents[1] / "steps.sh"
SCRIPT = f"""\
set -euo pipefail
tier=trial
. {STEPS}
if [ "${{1:-}}" = --resume ]; then resume=1 && shift; fi
chosen=("$@")
if step "first of all"; then attempt sh -c 'echo first >>ran'; fi
if step "second"; then attempt sh -c 'echo second >>ran; test -e there'; fi
if step "third"; then attempt sh -c 'echo third >>ran'; fi
"""


@pytest.fixture
def tier(tmp_path):
    """Return what runs the steps in a repository of its own."""

    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "step_seconds.tsv").write_text("tier\tstep\tseconds\n")
    (tmp_path / "file").write_text("a\n")
    (tmp_path / ".gitignore").write_text("build\nran\nthere\n")
    git("add", "-A")
    git("commit", "-qm", "one")

    def run(*words):
        ran = tmp_path / "ran"
        ran.unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-c", SCRIPT, "tier", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.returncode, ran.read_text().split() if ran.exists() else [], done.stdout

    run.folder, run.git = tmp_path, git
    return run


def test_steps_that_passed_on_this_tree_are_not_run_again(tier):
    status, ran, output = tier()
    assert (status, ran) == (1, ["first", "second", "third"])
    assert "all of the trial tier: FAILED in 1 step" in output
    (tier.folder / "there").touch()
    status, ran, output = tier("--resume")
    assert (status, ran) == (0, ["second"])
    assert output.count("passed before on this tree, in 0 s") == 2
    assert "all of the trial tier: passed" in output
    assert tier("--resume")[1] == []
    assert tier()[1] == ["first", "second", "third"]


def test_a_changed_tree_has_passed_nothing(tier):
    (tier.folder / "there").touch()
    assert tier("first")[:2] == (0, ["first"])
    (tier.folder / "file").write_text("b\n")
    assert tier("--resume")[1] == ["first", "second", "third"]
    tier.git("commit", "-qam", "two")
    assert tier("--resume")[1] == ["first", "second", "third"]
    assert tier("--resume")[1] == []


def test_a_step_that_is_stopped_has_not_passed(tier):
    (tier.folder / "there").touch()
    stopped = SCRIPT.replace("echo third >>ran", "kill -INT $PPID; sleep 1")
    done = subprocess.run(["bash", "-c", stopped], cwd=tier.folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert tier("--resume")[1] == ["third"]
