"""Parts of the package beside its modules, and their places."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import gasmeter
from gasmeter.errors import EnvironmentLacks, UsageError

__all__ = ["EXPERIMENTS", "installed_program", "package_folders", "worker_binary"]

EXPERIMENTS = "experiments"
"""Folder of the shipped experiments in an installed package, which measure nothing by themselves."""

_REINSTALL = "`pip install --force-reinstall --no-deps gasmeter`"


def worker_binary() -> Path:
    """Return the program of native ranks: ``GASMETER_RANK`` if set, else ``bin/gasmeter-rank``.

    Raises UsageError if the variable names no executable file, EnvironmentLacks for an incomplete installation.
    """
    return installed_program("gasmeter-rank", "GASMETER_RANK", "worker program")


def package_folders() -> list[Path]:
    """Return the package's folders; an editable installation has its modules and compiled files in two."""
    folders = [Path(folder) for folder in gasmeter.__path__]
    core = importlib.util.find_spec("gasmeter._core")
    if core is not None and core.origin is not None:
        folders.append(Path(core.origin).parent)
    return list(dict.fromkeys(folders))


def installed_program(name: str, variable: str, what: str) -> Path:
    """Return a program of the package: the variable's value if set, else ``bin/NAME``.

    `what` names it in messages. Raises UsageError if the variable names no executable file, EnvironmentLacks for an
    incomplete installation.
    """
    override = os.environ.get(variable)
    if override:
        path = Path(override)
        if not path.is_file():
            raise UsageError(f"{variable}={override}: no such file; unset it to use the installed {what}", override)
        if not os.access(path, os.X_OK):
            raise UsageError(f"{variable}={override}: not executable; `chmod +x` it or unset it", override)
        return path
    candidates = [folder / "bin" / name for folder in package_folders()]
    for path in candidates:
        if path.is_file():
            if not os.access(path, os.X_OK):
                raise EnvironmentLacks(f"{what} {path} is not executable; reinstall with {_REINSTALL}")
            return path
    raise EnvironmentLacks(f"{what} {candidates[-1]} is missing; reinstall with {_REINSTALL}")
