"""Origin of a build: this installation, another one, a worker program, or a git revision that is built here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.guard.alternating import Build
from gasmeter.measuring.probe import PROGRAM as PROBE
from gasmeter.version import package_version

__all__ = ["INSTALLED", "cache_folder", "find_build"]

INSTALLED = "installed"
"""Name of the build that this program belongs to."""
_PROGRAM = "gasmeter-rank"
_ASK_S = 30
# The code runs in other versions, too: all of them keep the worker program beside the compiled core.
_WHERE = (
    "import importlib.util, pathlib; core = importlib.util.find_spec('gasmeter._core').origin;"
    f" print(pathlib.Path(core).with_name('bin') / '{_PROGRAM}')"
)


def cache_folder() -> Path:
    """Return the folder of built revisions: ``GASMETER_CACHE``, else ``gasmeter/builds`` in the user's cache.

    It may be deleted at any time.
    """
    folder = os.environ.get("GASMETER_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) if folder else Path(base) / "gasmeter" / "builds"


def find_build(text: str, repository: Path | None = None) -> Build:
    """Return the build that a word on the command line names; its worker program exists and answers.

    The word is ``installed``, the path of a worker program, a Python or a virtual environment with gasmeter, or a git
    revision of `repository`, built on first use. Raises UsageError for anything else, EnvironmentLacks if building or
    asking fails.
    """
    if text == INSTALLED:
        return _build(text, worker_binary(), {"version": package_version()})
    path = Path(text)
    if path.is_dir() and (path / "bin" / "python").exists():
        return _build(text, _worker_of(path / "bin" / "python"), {"environment": str(path)})
    if path.is_file() and os.access(path, os.X_OK):
        if path.name.startswith("python"):
            return _build(text, _worker_of(path), {"environment": str(path)})
        return _build(text, path.absolute(), {"program": str(path)})
    commit = _commit(text, repository or Path.cwd())
    if commit is None:
        raise UsageError(
            f"{text!r} is no store, no build and no git revision here; allowed: a folder written by `gasmeter run`,"
            f" {INSTALLED}, the path of a {_PROGRAM}, a Python or a virtual environment, or a revision such as HEAD~1",
            text,
        )
    return _build(text, _built(commit, repository or Path.cwd()), {"git": commit})


def _build(name: str, binary: Path, facts: dict[str, str]) -> Build:
    try:
        done = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacks(f"worker program {binary} of {name} cannot be run: {error}") from error
    if done.returncode != 0 or not done.stdout.startswith(_PROGRAM):
        raise UsageError(f"{name}: {binary} is no {_PROGRAM}; allowed: the worker program of an installation", name)
    probe = binary.with_name(PROBE)
    return Build(name, binary, {**facts, "worker": done.stdout.strip()}, probe if probe.is_file() else None)


def _worker_of(python: Path) -> Path:
    """Ask another installation for its worker program."""
    try:
        done = subprocess.run(
            [python, "-c", _WHERE], capture_output=True, text=True, timeout=_ASK_S, check=False,
            env={name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "GASMETER_RANK"}},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacks(f"{python} cannot be asked for its gasmeter: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise EnvironmentLacks(f"{python} has no working gasmeter: {last}")
    return Path(done.stdout.strip())


def _commit(text: str, repository: Path) -> str | None:
    git = shutil.which("git")
    if git is None or text.startswith("-"):
        return None
    done = subprocess.run(
        [git, "-C", str(repository), "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    commit = done.stdout.strip()
    if done.returncode == 0 and re.fullmatch(r"[0-9a-f]{40,64}", commit):
        return commit
    _check_repository(git, text, repository)
    return None


def _check_repository(git: str, text: str, repository: Path) -> None:
    """Refuse a repository in which git fails for another reason than the revision's name."""
    done = subprocess.run(
        [git, "-C", str(repository), "rev-parse", "--is-shallow-repository"],
        capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if "dubious ownership" in done.stderr:
        (owned,) = re.findall(r"repository at '(.+?)'", done.stderr) or [str(repository)]
        raise EnvironmentLacks(
            f"revision {text!r} cannot be read: the repository {owned} belongs to another user (git's dubious"
            f" ownership); trust it by `git config --global --add safe.directory {owned}`"
        )
    if done.stdout.strip() == "true":
        raise UsageError(
            f"{text!r} is no revision of the clone {repository}, which is shallow: older commits are not there; fetch"
            " them by `git fetch --unshallow` (in CI: fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)",
            text,
        )


def _built(commit: str, repository: Path) -> Path:
    """Return the worker program of a revision, built beside its final place and moved there when it is complete."""
    place = cache_folder() / commit
    if (program := _program_in(place)) is not None:
        return program
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{commit[:12]}-", dir=place.parent) as name:
        making = Path(name)
        log = place.parent / f"{commit}.log"
        source, installed = making / "source", making / "build"
        source.mkdir()
        with log.open("w", encoding="utf-8") as file:
            archive = making / "source.tar"
            _run(["git", "-C", str(repository), "archive", "--output", str(archive), commit], file.fileno(), log)
            _run(["tar", "-xf", str(archive), "-C", str(source)], file.fileno(), log)
            venv.create(installed, with_pip=True, symlinks=True)
            # The worker needs no Python library: this installation controls both builds.
            python = str(installed / "bin" / "python")
            _run([python, "-m", "pip", "install", "--no-deps", str(source)], file.fileno(), log)
        if _program_in(installed) is None:
            raise EnvironmentLacks(f"revision {commit} has no program {_PROGRAM} after it was installed; see {log}")
        if not place.exists():
            installed.rename(place)
    program = _program_in(place)
    if program is None:
        raise EnvironmentLacks(f"the build of revision {commit} in {place} is not whole; delete it")
    return program


def _program_in(folder: Path) -> Path | None:
    return next(iter(folder.glob(f"lib/python*/site-packages/gasmeter/bin/{_PROGRAM}")), None)


def _run(command: list[str], output: int, log: Path) -> None:
    print(f"gasmeter: {' '.join(command[:4])} …", file=sys.stderr)
    try:
        done = subprocess.run(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise EnvironmentLacks(f"{command[0]} cannot be run: {error.strerror}; install it") from error
    if done.returncode != 0:
        raise EnvironmentLacks(f"`{' '.join(command)}` failed with status {done.returncode}; see {log}")
