"""Pages for people: links lead somewhere, commands of the recipe for CI and of the wishes exist, versions agree."""

import ast
import inspect
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest
import yaml

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.measuring.measurement import measurement
from gasmeter.sweeps.names import parse_assignments

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for where in ("*.md", "docs/*.md", *(f"{folder}/**/*.md" for folder in ("cpp", "python", "results", "tests")))
    for path in ROOT.glob(where)
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
WISHES = re.findall(r"^\| (.+) \| (yes|in part: .+|not yet) \|(.*)\|$", README, flags=re.MULTILINE)
RECIPE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", RECIPE, flags=re.MULTILINE | re.DOTALL)
    return found


def unknown_options(command):
    """The options of a line that its command does not have."""
    words = command.split()
    known = {name for parameter in cli.commands[words[1]].params for name in parameter.opts}
    return {word for word in words if word.startswith("--")} - known


def links_of(page):
    """The links of a page into the repository, without places on pages; code has none."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    return [link for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text) if "://" not in link]


@pytest.mark.parametrize("page", PAGES)
def test_a_link_of_a_page_leads_to_a_file(page):
    assert [link for link in links_of(page) if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "results/README.md", "docs/index.md", "docs/tour.md", "docs/adding.md"])
def test_a_page_that_leads_on_has_links(page):
    assert links_of(page)


def parsed(line):
    """What the program takes from a command line; nothing runs."""
    _, *words = shlex.split(line)
    command = cli
    while isinstance(command, click.Group):
        name, *words = words
        command = command.commands[name]
    return command.make_context(name, words)


@pytest.mark.parametrize(("wish", "state", "answer"), WISHES, ids=[wish[0] for wish in WISHES])
def test_what_fulfils_a_wish_is_there(wish, state, answer):
    told = re.findall(r"`([^`]+)`", answer)
    assert bool(told) == (state != "not yet")
    for line in told:
        if line.startswith("gm."):
            called = {node.attr for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Attribute)}
            assert called <= set(gm.__all__)
            continue
        context = parsed(line)
        if context.info_name == "measure":
            taken = inspect.signature(measurement).parameters
            given = {name: value for name, value in context.params.items() if name in taken}
            assert measurement(**{**given, "options": parse_assignments(context.params["options"])}).groups()


def test_there_are_24_wishes_and_some_are_open():
    states = [state.partition(":")[0] for _, state, _ in WISHES]
    assert len(WISHES) == 24
    assert states.count("not yet") >= 1


@pytest.mark.parametrize(
    "line",
    ["gasmeter measure ping-pong --conduit smp --size 8", "gasmeter export otava a --out b", "gasmeter trace put"],
)
def test_a_command_that_is_not_there_is_found(line):
    with pytest.raises((click.UsageError, KeyError)):
        parsed(line)


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
