"""Identity of this build of gasmeter: its revision, and a digest of everything that results come from."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from gasmeter.environment.installed import EXPERIMENTS, worker_binary
from gasmeter.errors import EnvironmentLacks

__all__ = ["build_revision", "git_revision", "this_build"]

_PACKAGE = Path(__file__).resolve().parent
_DIGITS = 16


@functools.cache
def this_build(worker: Path | None = None, revision: str | None = None) -> dict[str, str]:
    """Return ``revision`` and ``digest`` of this build, or of another worker program led by it.

    The revision is empty if unknown. The digest is 16 hexadecimal digits of the sha256 of the compiled core, the worker
    program with its neighbours, and the Python sources without the shipped experiments, as rows name the experiment.
    """
    whole = hashlib.sha256()
    for name, path in sorted(_parts(worker)):
        whole.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    measured = build_revision() if revision is None else revision
    return {"revision": measured, "digest": whole.hexdigest()[:_DIGITS]}


def _parts(worker: Path | None) -> Iterator[tuple[str, Path]]:
    for pattern in ("**/*.py", "_core*.so"):
        files = ((path.relative_to(_PACKAGE), path) for path in _PACKAGE.glob(pattern))
        yield from ((name.as_posix(), path) for name, path in files if name.parts[0] != EXPERIMENTS)
    try:
        program = worker or worker_binary()
    except EnvironmentLacks:
        return
    beside = (path for path in program.parent.glob("gasmeter-*") if path.name != program.name)
    yield from ((f"worker/{path.name}", path) for path in (program, *beside) if path.is_file())


def build_revision() -> str:
    """Return the revision that this gasmeter was built from (`git_revision`); empty without a checkout."""
    try:
        return (_PACKAGE / "revision").read_text(encoding="utf-8").strip()
    except OSError:
        return git_revision(_PACKAGE) if _git(_PACKAGE, "ls-files", "--error-unmatch", Path(__file__).name) else ""


def git_revision(folder: Path) -> str:
    """Return the commit of a source tree, ``-dirty`` if tracked files differ; empty outside a repository."""
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *words: str) -> str:
    """Return git's output; empty if git is missing or fails."""
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
