"""Pages for people: links lead somewhere, commands of the recipe for CI and of the wishes exist, versions agree."""

import ast
import html
import importlib.util
import inspect
import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import click
import pytest
import yaml
from click.testing import CliRunner

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
WISHES = re.findall(
    r"^\| (.+) \| (yes|in part: .+|not yet) \|(.*)\|$",
    (ROOT / "docs" / "wishes.md").read_text(encoding="utf-8"), flags=re.MULTILINE,
)  # fmt: skip
RECIPE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", RECIPE, flags=re.MULTILINE | re.DOTALL)
    return text


def parsed(line):
    """Return the context that the program's own parser makes of a command line; nothing runs."""
    first, *words = shlex.split(line.partition(" #")[0])
    assert first == "gasmeter"
    command = cli
    while isinstance(command, click.Group):
        name, *words = words
        command = command.commands[name]
    return command.make_context(name, words)


def understood(line):
    """The parameters of a command line."""
    return {} if line.partition(" #")[0].strip() == "gasmeter --version" else parsed(line).params


def links_of(page):
    """The links of a page into the repository, without places on pages; code has none."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text)
    # Generated pages exist only in the built site, whose own check finds broken links.
    return [link for link in links if "://" not in link and not link.startswith("generated/")]


@pytest.mark.parametrize("page", PAGES)
def test_a_link_of_a_page_leads_to_a_file(page):
    assert [link for link in links_of(page) if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize(
    "page", ["README.md", "results/README.md", "docs/index.md", "docs/folders.md", "docs/adding.md"]
)
def test_a_page_that_leads_on_has_links(page):
    assert links_of(page)


@pytest.mark.parametrize(("wish", "state", "answer"), WISHES, ids=[wish[0] for wish in WISHES])
def test_what_fulfils_a_wish_is_there(wish, state, answer):
    lines = re.findall(r"`([^`]+)`", answer)
    assert bool(lines) == (state != "not yet")
    for line in lines:
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
    ["gasmeter measure ping-pong --conduit smp --size 8", "gasmeter export nothing a --out b", "gasmeter trace put"],
)
def test_a_command_that_is_not_there_is_found(line):
    with pytest.raises((click.UsageError, KeyError)):
        parsed(line)


def test_the_recipe_for_ci_has_commands_that_exist():
    (job,) = yaml.safe_load(block("yaml"))["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "gasmeter " in step.get("run", "")]
    results = [understood(command) for command in commands if not command.startswith("pip ")]
    assert [str(entry.get("file", entry.get("new"))) for entry in results] == ["bench/ours.py", "out/new"]
    assert len(block("yaml").splitlines()) <= 10
    for line in re.findall(r"`(gasmeter [^`]+)`", RECIPE):
        assert understood(line) is not None
    for wrong in (
        "gasmeter check --base-line x y",
        "gasmeter run",
        "gasmeter measure flood --conduit smp --iters many",
    ):
        with pytest.raises(click.UsageError):
            understood(wrong)


@pytest.fixture
def reframe(monkeypatch):
    """As much of ReFrame as its check asks for; the check itself."""
    plain = SimpleNamespace(simple_test=lambda check: check, RunOnlyRegressionTest=object)
    parts = {
        "reframe": plain, "reframe.core": SimpleNamespace(), "reframe.utility": SimpleNamespace(),
        "reframe.utility.sanity": SimpleNamespace(
            all=all, evaluate=str,
            assert_found=lambda what, where: re.search(what, Path(where).read_text()) is not None,
            assert_not_found=lambda what, where: re.search(what, Path(where).read_text()) is None,
        ),
        "reframe.core.builtins": SimpleNamespace(
            parameter=tuple, sanity_function=lambda entry: entry, run_before=lambda _: lambda entry: entry,
            performance_function=lambda _: lambda entry: entry,
        ),
    }  # fmt: skip
    for name, part in parts.items():
        module = ModuleType(name)
        vars(module).update(vars(part))
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["reframe.utility"].sanity = sys.modules["reframe.utility.sanity"]
    spec = importlib.util.spec_from_file_location("reframe_check", ROOT / "docs" / "ci" / "reframe_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ShortRoundTrip


@pytest.mark.usefixtures("machine")
def test_the_reframe_check_reads_what_its_command_prints(reframe, tmp_path):
    for conduit in reframe.conduit:
        check = reframe()
        check.conduit, check.stagedir, check.stdout = conduit, tmp_path, str(tmp_path / "rfm_job.out")
        check.measured()
        done = CliRunner().invoke(cli, check.executable_opts)
        assert done.exit_code == 0, done.output
        Path(check.stdout).write_text(done.stdout)
        assert check.verified()
        assert check.round_trip() > 0
        assert check.overhead() == pytest.approx(
            check.round_trip() / json.loads(done.stdout)[0]["value"] - 1, rel=0.5, abs=0.5
        )
        for other in ("false", '"not_checked"'):
            Path(check.stdout).write_text(done.stdout.replace('"verified": true', f'"verified": {other}', 1))
            assert not check.verified()


def test_what_tries_a_wheel_are_commands_that_exist():
    """Commands of the wheels' containers, and of the recipe for another container."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = project["tool"]["cibuildwheel"]
    results = [understood(line) for line in wheels["test-command"]]
    assert [entry["file"] for entry in results if "file" in entry] == ["ours.py", "first_look"]
    oldest = project["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert wheels["build"].split()[0] == f"cp{oldest}-*"
    container = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^#   docker run .* (gasmeter run .*)$", container, flags=re.MULTILINE)
    assert understood(shown)["quick"]
    (shown,) = re.findall(r"docker run .* (gasmeter run .*)$", block("bash"), flags=re.MULTILINE)
    assert understood(shown)["file"] == "bench/ours.py"
    assert set(re.findall(r"^FROM (\S+)", container, flags=re.MULTILINE)) == {"python:3.11-slim-bookworm"}


def test_a_tag_publishes_what_was_built_and_tried():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["publish"]["needs"] == [name for name in jobs if name != "publish"]
    assert "refs/tags/v" in jobs["publish"]["if"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}  # and no password
    kept = [
        step["with"]["name"]
        for job in jobs.values()
        for step in job["steps"]
        if "upload-artifact" in step.get("uses", "")
    ]
    (pattern,) = [
        step["with"]["pattern"] for step in jobs["publish"]["steps"] if "download-artifact" in step.get("uses", "")
    ]
    assert len(kept) == 2
    assert all(name.startswith(pattern.removesuffix("*")) for name in kept)


def test_a_container_takes_along_all_that_git_tracks():
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    bare = {line.removeprefix("**/").strip("/") for line in left_out if line and not line.startswith("#")}
    assert bare <= {line.strip("/") for line in ignored}


def test_citation_and_package_say_the_same():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["title"], cited["version"], cited["license"]) == tuple(
        project[key] for key in ("name", "version", "license")
    )
    assert not [name for name in project["classifiers"] if name.startswith("License")]  # the license field says it


def test_scores_of_published_papers_are_those_of_their_reports():
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    scores = re.findall(r"^\| (\w+) \| (\d+) of (\d+) \| (\d+) \| (\d+) \| (\d+ of \d+) \|$", page, flags=re.MULTILINE)
    assert len(scores) == 5
    for paper, within, judged, outside, left, null in scores:
        report = (ROOT / "results" / paper.lower() / "report.html").read_text(encoding="utf-8")
        text = html.unescape(re.sub(r"<[^>]*>", "", report))
        score = rf"{within} of {judged} independent quantities (is|are) within the paper's statements"
        sentence = rf"{score}; {outside} (is|are) outside, {left} depends? on unpublished estimates"
        assert re.search(rf"{sentence}\. A control model with random software times: {null} within", text), paper
