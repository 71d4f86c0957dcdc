"""What a result must be read with: the host, versions, the revision of the source, the command line."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import archspec.cpu
import psutil

from gasmeter.catalogue import build_info
from gasmeter.errors import EnvironmentLacks
from gasmeter.limits import cpus, shared_memory
from gasmeter.version import package_version

__all__ = ["command_line", "git_revision", "host_facts", "now", "versions"]

_LIBRARIES = ("numpy", "pandas", "scipy", "matplotlib", "pyarrow", "pydantic", "click", "rich", "psutil", "archspec")


def now() -> str:
    """Return the time in UTC.

    Returns
    -------
    str
        ISO 8601, to the second.
    """
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions of what took part in a measurement.

    Returns
    -------
    dict of str to str
        gasmeter, python, libraries, and the build of the core where there is one.
    """
    found = {"gasmeter": package_version(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    try:
        found.update({f"core.{key}": str(value) for key, value in build_info().items()})
    except EnvironmentLacks:
        found["core"] = "missing"
    return found


def host_facts() -> dict[str, Any]:
    """Return what this machine is.

    Returns
    -------
    dict
        Name, operating system, processor, cores, memory and shared memory, in bytes.
    """
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
    }


def _processor_name() -> str:
    try:
        brand = archspec.cpu.brand_string()
    except (AttributeError, OSError):
        brand = None
    return str(brand or platform.processor() or platform.machine())


def git_revision(folder: Path | None = None) -> str:
    """Return the revision of the source tree.

    Parameters
    ----------
    folder : Path, optional
        Where to look; the folder of this package by default.

    Returns
    -------
    str
        The commit, with ``-dirty`` if tracked files differ; empty outside a repository.
    """
    program = shutil.which("git")
    if program is None:
        return ""
    place = folder or Path(__file__).resolve().parent
    try:
        done = subprocess.run(
            [program, "-C", str(place), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True, text=True, timeout=5, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def command_line() -> str:
    """Return how this process was started.

    Returns
    -------
    str
        As one would type it, the program without its folder.
    """
    program = Path(sys.argv[0])
    name = "gasmeter" if program.name == "__main__.py" else program.name  # by `python -m gasmeter`
    return shlex.join([name, *sys.argv[1:]])
