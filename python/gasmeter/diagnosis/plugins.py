"""Build plug-ins for an MPI on the user's computer, from sources in the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from gasmeter.environment.installed import package_folders, worker_binary
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.stores.files import refused

__all__ = ["build_plugins", "plugin_sources"]

_SOURCES = "plugin_sources"
_ALLOWED = "a folder that you may write (--out)"
_LACKS_MPI = "no MPI was found; install openmpi-bin and libopenmpi-dev, or mpich and libmpich-dev"


def plugin_sources() -> Path | None:
    """Return the folder of plug-in sources; None in an installation without them."""
    return next((folder / _SOURCES for folder in package_folders() if (folder / _SOURCES).is_dir()), None)


def build_plugins(out: Path | None = None) -> list[Path]:
    """Build a plug-in for each MPI: that of `mpicxx` in the active environment, then the system's; return them.

    `out` defaults to the worker program's folder, where gasmeter looks for them. Raises EnvironmentLacks without MPI,
    compiler, CMake or sources, UsageError if the folder cannot be written.
    """
    sources = plugin_sources()
    if sources is None:
        raise EnvironmentLacks(
            "this gasmeter came without what plug-ins are built from; install it by `pip install .` in its source tree"
        )
    folder = out or worker_binary().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(folder, error, _ALLOWED) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"cannot write {folder}: it is not yours; allowed: {_ALLOWED}", str(folder))
    folder = folder.resolve()
    cmake = _program("cmake")
    if cmake is None:
        raise EnvironmentLacks("cmake is missing, which builds plug-ins; install it with `pip install cmake`")
    ninja = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={_program('ninja')}"] if _program("ninja") else []
    with tempfile.TemporaryDirectory(prefix="gasmeter-plugins-") as place:
        worker = folder / "gasmeter-rank"
        output = _run(
            [cmake, "-S", str(sources), "-B", place, f"-DGASMETER_RANK={worker}", *ninja], "configuring plug-ins"
        )
        names = re.findall(r"^-- MPI: (\w+) ", output, flags=re.MULTILINE)
        if not names:
            raise EnvironmentLacks(_LACKS_MPI)
        _run([cmake, "--build", place], "compiling plug-ins")
    return [folder / f"gasmeter-mpi-{name}.so" for name in names]


def _program(name: str) -> str | None:
    program = Path(sysconfig.get_path("scripts")) / name  # from PyPI's wheel, in an environment that is not active
    return str(program) if program.is_file() else shutil.which(name)


def _run(command: list[str], what: str) -> str:
    """Return a program's output; raise EnvironmentLacks with the line that explains a failure."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise EnvironmentLacks(f"{what}: {command[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        reasons = [line for line in lines if re.search(r"error|No CMAKE_CXX_COMPILER", line, flags=re.IGNORECASE)]
        raise EnvironmentLacks(f"{what} failed: {(reasons or lines or ['it says nothing'])[0]}")
    return done.stdout
