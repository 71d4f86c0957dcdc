"""Which build of gasmeter this is: its revision, and a digest of everything that figures come from."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from gasmeter.errors import EnvironmentLacks
from gasmeter.installed import EXPERIMENTS, worker_binary

__all__ = ["build_revision", "git_revision", "this_build"]

_PACKAGE = Path(__file__).resolve().parent
_DIGITS = 16


@functools.cache
def this_build(worker: Path | None = None, revision: str | None = None) -> dict[str, str]:
    """Return the build that measures in this process, or another one's worker program led by it.

    Parameters
    ----------
    worker : Path, optional
        Worker program; by default this installation's.
    revision : str, optional
        Of the worker program; by default what this package was built from.

    Returns
    -------
    dict of str to str
        ``revision``, empty where nobody knows it, and ``digest``: 16 hexadecimal digits of the sha256 of the compiled
        core, of the worker program with what lies beside it, and of the Python sources; not of the experiments that
        come along: what was asked for stands in the rows.
    """
    whole = hashlib.sha256()
    for name, path in sorted(_parts(worker)):
        whole.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    measured = build_revision() if revision is None else revision
    return {"revision": measured, "digest": whole.hexdigest()[:_DIGITS]}


def _parts(worker: Path | None) -> Iterator[tuple[str, Path]]:
    for pattern in ("**/*.py", "_core*.so"):
        found = ((path.relative_to(_PACKAGE), path) for path in _PACKAGE.glob(pattern))
        yield from ((name.as_posix(), path) for name, path in found if name.parts[0] != EXPERIMENTS)
    try:
        program = worker or worker_binary()
    except EnvironmentLacks:
        return
    beside = (path for path in program.parent.glob("gasmeter-*") if path.name != program.name)
    yield from ((f"worker/{path.name}", path) for path in (program, *beside) if path.is_file())


def build_revision() -> str:
    """Return the revision that this gasmeter was built from.

    Returns
    -------
    str
        As `git_revision`: of the tree that this package lies in, or that it was installed from; empty if neither was a
        checkout.
    """
    try:
        return (_PACKAGE / "revision").read_text(encoding="utf-8").strip()
    except OSError:
        return git_revision(_PACKAGE) if _git(_PACKAGE, "ls-files", "--error-unmatch", Path(__file__).name) else ""


def git_revision(folder: Path) -> str:
    """Return the revision of a source tree.

    Parameters
    ----------
    folder : Path
        Where to look.

    Returns
    -------
    str
        The commit, with ``-dirty`` if tracked files differ; empty outside a repository.
    """
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *words: str) -> str:
    """Return what git says; nothing where it is not there or fails."""
    program = shutil.which("git")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "-C", str(folder), *words], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
