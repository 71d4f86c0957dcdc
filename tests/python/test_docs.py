"""Pages for people: their links lead somewhere, the commands of the recipe for CI exist, versions agree."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from gasmeter.cli.app import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md", "results/README.md", "results/speed.md",
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]  # fmt: skip
RECIPE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", RECIPE, flags=re.MULTILINE | re.DOTALL)
    return found


def unknown_options(command):
    """The options of a line that its command does not have."""
    words = command.split()
    known = {name for parameter in cli.commands[words[1]].params for name in parameter.opts}
    return {word for word in words if word.startswith("--")} - known


@pytest.mark.parametrize("page", PAGES)
def test_a_link_of_a_page_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not ((ROOT / page).parent / link).exists()] == []
    assert local or page.startswith("docs/")


def test_the_recipe_for_ci_has_commands_that_exist():
    (job,) = yaml.safe_load(block("yaml"))["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "gasmeter " in step.get("run", "")]
    assert [command.split()[1] for command in commands] == ["run", "check"]
    assert [unknown_options(command) for command in commands] == [set(), set()]
    assert unknown_options("gasmeter check --base-line x") == {"--base-line"}


def test_the_reframe_check_is_python_and_measures_with_options_that_exist():
    tree = ast.parse(block("python"))
    (command,) = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and "--op" in str(node.value)]
    assert unknown_options(f"gasmeter {command}") == set()


def test_citation_and_package_say_the_same():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["title"], cited["version"], cited["license"]) == tuple(
        project[key] for key in ("name", "version", "license")
    )
    assert not [name for name in project["classifiers"] if name.startswith("License")]  # the license field says it
