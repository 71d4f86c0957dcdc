"""What comes with the package beside its modules, and where it lies."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import gasmeter
from gasmeter.errors import EnvironmentLacks, UsageError

__all__ = ["EXPERIMENTS", "installed_program", "package_folders", "worker_binary"]

EXPERIMENTS = "experiments"
"""Folder of the installed package with the experiments that come along; no part of what measures."""

_REINSTALL = "`pip install --force-reinstall --no-deps gasmeter`"


def worker_binary() -> Path:
    """Return the program that native ranks run.

    Returns
    -------
    Path
        The value of the environment variable ``GASMETER_RANK`` if set, else ``bin/gasmeter-rank`` of the installed
        package.

    Raises
    ------
    UsageError
        If ``GASMETER_RANK`` names no executable file.
    EnvironmentLacks
        If the package has no such program, which means the installation is not complete.
    """
    return installed_program("gasmeter-rank", "GASMETER_RANK", "worker program")


def package_folders() -> list[Path]:
    """Return the folders that the package lies in.

    Returns
    -------
    list of Path
        An editable installation keeps modules in the source tree and what was compiled in site-packages.
    """
    folders = [Path(folder) for folder in gasmeter.__path__]
    core = importlib.util.find_spec("gasmeter._core")
    if core is not None and core.origin is not None:
        folders.append(Path(core.origin).parent)
    return list(dict.fromkeys(folders))


def installed_program(name: str, variable: str, what: str) -> Path:
    """Return a program that comes with the package.

    Parameters
    ----------
    name : str
        Its file in ``bin`` of the package.
    variable : str
        Environment variable that may name another one.
    what : str
        What it is, for messages.

    Returns
    -------
    Path
        The value of the variable if set, else that of the installed package.

    Raises
    ------
    UsageError
        If the variable names no executable file.
    EnvironmentLacks
        If the package has no such program, which means the installation is not complete.
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
