"""Context of a result: the host, versions, revisions of the code under test and of gasmeter, the command."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import archspec.cpu
import psutil

from gasmeter.catalogue import build_info
from gasmeter.environment.limits import cpus, shared_memory
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.library import git_revision
from gasmeter.measuring.host import host_traits
from gasmeter.version import package_version

__all__ = [
    "command_line",
    "host_facts",
    "measured_revision",
    "now",
    "versions",
]

_OF_A_JOB = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",  # GitLab, Woodpecker
    "GIT_COMMIT",  # Jenkins
    "BUILDKITE_COMMIT",
    "CIRCLE_SHA1",
    "BITBUCKET_COMMIT",
    "BUILD_SOURCEVERSION",  # Azure
    "TRAVIS_COMMIT",
    "DRONE_COMMIT_SHA",
    "APPVEYOR_REPO_COMMIT",
    "SEMAPHORE_GIT_SHA",
    "CODEBUILD_RESOLVED_SOURCE_VERSION",
    "BUILD_VCS_NUMBER",  # TeamCity
)
"""Variables in which CI services name the commit they have checked out."""

_LIBRARIES = ("numpy", "pandas", "scipy", "matplotlib", "pyarrow", "pydantic", "click", "rich", "psutil", "archspec")


def now() -> str:
    """Return the time in UTC, as ISO 8601 to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions of gasmeter, Python, the libraries and, if built, the core."""
    by_name = {"gasmeter": package_version(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            by_name[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            by_name[name] = "missing"
    try:
        by_name.update({f"core.{key}": str(value) for key, value in build_info().items()})
    except EnvironmentLacks:
        by_name["core"] = "missing"
    return by_name


def host_facts() -> dict[str, Any]:
    """Return facts of this machine: name, system, processor, cores, memory in bytes, load and `host_traits`."""
    memory = shared_memory()
    processor = archspec.cpu.host()
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor_name(),
        "microarchitecture": processor.name,
        "vendor": processor.vendor,
        "cores": psutil.cpu_count(logical=False) or 0,
        "logical_cores": psutil.cpu_count() or 0,
        "usable_cpus": list(cpus()),
        "memory_bytes": psutil.virtual_memory().total,
        "shared_memory_bytes": memory.total if memory else 0,
        "load": list(psutil.getloadavg()),
        **host_traits(),
    }


def _processor_name() -> str:
    try:
        brand = archspec.cpu.brand_string()
    except (AttributeError, OSError):
        brand = None
    return str(brand or platform.processor() or platform.machine())


def measured_revision(
    given: str = "", environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> dict[str, str]:
    """Return the revision under measurement as ``git``, and its source as ``git_from``; both empty if unknown.

    `given` wins (UsageError unless it is one word), then variables of a CI service (``GITHUB_SHA``, ``CI_COMMIT_SHA``,
    …), then git in `folder`.
    """
    if given:
        if len(given.split()) != 1 or not given.isprintable():
            raise UsageError(f"revision {given!r} is not allowed; allowed: one word, for instance a commit", given)
        return {"git": given.strip(), "git_from": "--revision"}
    for name in _OF_A_JOB:
        if commit := environment.get(name, "").strip():
            return {"git": commit, "git_from": name}
    commit = git_revision(folder or Path.cwd())
    return {"git": commit, "git_from": "working directory" if commit else ""}


def command_line() -> str:
    """Return the command line of this process as a user types it, the program without its folder."""
    program = Path(sys.argv[0])
    name = "gasmeter" if program.name == "__main__.py" else program.name  # by `python -m gasmeter`
    return shlex.join([name, *sys.argv[1:]])
