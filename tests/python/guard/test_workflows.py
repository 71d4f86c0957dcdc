"""The workflow files that the guard ships, and the script that follows one of them on a clone."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gasmeter.cli.app import cli

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests" / "checks" / "guard_on_a_clone.py"
WORKFLOWS = ROOT / "python" / "gasmeter" / "guard" / "workflows"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("guard_on_a_clone", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def compare_of(text, revision):
    """The words of the one comparison a workflow makes, with its revision written BASE."""
    (command,) = re.findall(r"gasmeter compare [^\n]*\n?(?: +--report [^\n]*)?", text)
    return command.replace(revision, "BASE").split()


def test_both_forges_run_the_same_comparison_with_options_that_exist(script):
    github = compare_of((WORKFLOWS / "github-actions.yml").read_text(), script.BASE)
    gitlab = compare_of((WORKFLOWS / "gitlab-ci.yml").read_text(), '"$CI_MERGE_REQUEST_DIFF_BASE_SHA"')
    assert github == gitlab
    assert github[2:4] == ["BASE", "installed"]
    names = {name for parameter in cli.commands["compare"].params for name in parameter.opts}
    assert {word for word in github if word.startswith("--")} <= names


def test_the_steps_of_the_workflow_are_read_as_they_stand(script):
    steps = script.steps((WORKFLOWS / "github-actions.yml").read_text())
    assert [step.command.split()[0] for step in steps] == ["pip", "gasmeter", "cat"]
    assert [step.always for step in steps] == [False, False, True]
    assert steps[1].command.count("--report") == 2
    assert script.BASE in steps[1].command


def test_the_place_where_the_slow_down_is_planted_is_there(script):
    assert (ROOT / script.SOURCE).read_text().count(script.PLACE) == 1


@pytest.mark.parametrize(
    ("status", "figures", "message"),
    [
        (1, ["ping-pong am-short on smp, 2 ranks: round_trip", "flood am-long 8 B on smp, 2 ranks: rate"], ""),
        (0, [], "ended with status 0, not 1"),
        (3, [], "ended with status 3, not 1"),
        (1, ["ping-pong am-short on smp", "ping-pong put 8 B on smp"], "blamed were ping-pong put 8 B"),
        (1, ["flood am-long 8 B on smp"], "blamed were flood am-long"),
        (1, [], "blamed were none"),
    ],
)
def test_red_for_another_reason_is_no_success(script, tmp_path, status, figures, message):
    cases = "".join(f'<testcase name="{name}"><failure/></testcase>' for name in figures)
    (tmp_path / "check.xml").write_text(f'<testsuites><testsuite>{cases}<testcase name="x"/></testsuite></testsuites>')
    problems = script.judge_planted(tmp_path, status)
    assert message in problems
    assert bool(problems) == bool(message)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_workflow_goes_red_with_a_slow_down_and_only_then():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
