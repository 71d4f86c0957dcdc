"""Pages for people: their links lead somewhere, commands that others copy are ones that exist, versions agree."""

import importlib.util
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


def understood(line):
    """What the program makes of a command line, by its own parser; nothing is run."""
    words = shlex.split(line.partition(" #")[0])
    assert words[0] == "gasmeter"
    if words[1:] == ["--version"]:
        return {}
    return cli.commands[words[1]].make_context(words[1], words[2:]).params


@pytest.mark.parametrize("page", PAGES)
def test_a_link_of_a_page_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not ((ROOT / page).parent / link).exists()] == []
    assert local or page.startswith("docs/")


def test_the_recipe_for_ci_has_commands_that_exist():
    (job,) = yaml.safe_load(block("yaml"))["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "gasmeter " in step.get("run", "")]
    found = [understood(command) for command in commands if not command.startswith("pip ")]
    assert [str(entry.get("file", entry.get("new"))) for entry in found] == ["bench/ours.py", "out/new"]
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
            parameter=tuple, sanity_function=lambda one: one, run_before=lambda _: lambda one: one,
            performance_function=lambda _: lambda one: one,
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
        Path(check.stdout).write_text(done.stdout.replace('"verified": true', '"verified": false', 1))
        assert not check.verified()


def test_what_tries_a_wheel_are_commands_that_exist():
    """Of the wheels' containers, and of the recipe for a container of one's own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = project["tool"]["cibuildwheel"]
    found = [understood(line) for line in wheels["test-command"]]
    assert [entry["file"] for entry in found if "file" in entry] == ["ours.py", "first_look"]
    assert (ROOT / wheels["before-all"].removeprefix("{project}/")).stat().st_mode & 0o100
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
