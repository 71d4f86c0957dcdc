"""Files for a forge: workflows, issue forms and hooks parse, and the commands in them exist in the tree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]


def jobs_of(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))["jobs"]


def commands_of(name):
    return [step["run"] for job in jobs_of(name).values() for step in job["steps"] if "run" in step]


def missing_programs(command):
    """Return the scripts of the tree that a command names and that are not there or cannot be run."""
    scripts = re.findall(r"(?<![\w./-])((?:\.ci|\.github|tests|experiments)/[\w./-]+)", command)
    return [script for script in scripts if not (ROOT / script).is_file() or not (ROOT / script).stat().st_mode & 0o100]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_names_programs_of_the_tree_and_pins_its_actions(path):
    for job in jobs_of(path.stem).values():
        for step in job["steps"]:
            assert missing_programs(step.get("run", "")) == []
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+(\.\d+)*", step["uses"])


def test_a_program_that_is_not_there_is_found():
    assert missing_programs(".ci/run && tests/absent.sh") == ["tests/absent.sh"]
    assert missing_programs("tests/steps.sh") == ["tests/steps.sh"]  # to be sourced, not run


def test_a_change_runs_one_tier_within_fifteen_minutes_and_the_night_runs_the_others():
    (job,) = jobs_of("change").values()
    assert job["timeout-minutes"] <= 15
    assert ".ci/change" in commands_of("change")
    nightly = " ".join(commands_of("nightly"))
    assert ".ci/run" in nightly
    assert "tests/thorough.sh" in nightly


def test_the_change_tier_has_style_unit_tests_and_one_conformance_family():
    text = (ROOT / ".ci" / "change").read_text(encoding="utf-8")
    assert missing_programs("\n".join(re.findall(r"^(tests/.*)", text, flags=re.MULTILINE))) == []
    assert "\ntests/style.sh\n" in text
    assert all((ROOT / sourced).is_file() for sourced in re.findall(r"^\. (.*)", text, flags=re.MULTILINE))
    assert r"cpp\." in text
    assert re.findall(r"conformance\\\.(\w+)", text) == ["ideal"]
    (folders,) = re.findall(r"--dist loadfile ([^)]*)\)", text)
    places = folders.replace("\\\n", " ").split()
    assert len(places) > 10
    assert [place for place in places if not (ROOT / "tests" / "python" / place).exists()] == []


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_fields_of_the_kinds_that_forges_know(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    fields = form["body"]
    assert {field["type"] for field in fields} <= {"markdown", "input", "textarea", "dropdown", "checkboxes"}
    names = [field["id"] for field in fields]
    assert len(names) == len(set(names))
    assert all(field["attributes"]["label"] for field in fields)


def test_there_are_forms_for_a_bug_a_wrong_figure_and_a_new_conduit():
    assert [path.stem for path in FORMS] == ["bug", "new-conduit", "wrong-figure"]


def test_hooks_run_tools_that_the_project_installs():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    tools = {re.split(r"[>=<]", requirement)[0] for requirement in extras["lint"]}
    assert {hook["entry"].split()[0] for hook in local["hooks"]} == {"ruff", "clang-format", "mypy"} <= tools
    for hook in local["hooks"]:
        re.compile(hook.get("files", ""))
