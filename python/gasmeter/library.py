"""Which build of gasmeter this is: its revision, and a digest of everything that figures come from."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gasmeter.errors import EnvironmentLacks
from gasmeter.measuring.workers import worker_binary
from gasmeter.rows.record import Record, Row

__all__ = ["build_revision", "build_text", "builds_of", "git_revision", "records_of", "this_build"]

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
        core, of the worker program with what lies beside it, and of the Python sources.
    """
    whole = hashlib.sha256()
    for name, path in sorted(_parts(worker)):
        whole.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    found = build_revision() if revision is None else revision
    return {"revision": found, "digest": whole.hexdigest()[:_DIGITS]}


def _parts(worker: Path | None) -> Iterator[tuple[str, Path]]:
    for pattern in ("**/*.py", "_core*.so"):
        yield from ((path.relative_to(_PACKAGE).as_posix(), path) for path in _PACKAGE.glob(pattern))
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


def builds_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return which builds made the rows of a store.

    Parameters
    ----------
    records : sequence of Record
        Of the store.

    Returns
    -------
    list of dict
        ``revision`` and ``digest``, and ``points``, the run_ids of its rows, where there are several builds. Empty if
        no record names one, as in a measurement without a store or in an import.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    for entry in records:
        if entry.build:
            found.setdefault((entry.revision, entry.build), {}).update((row["run_id"], None) for row in entry.rows)
    builds: list[dict[str, Any]] = [{"revision": revision, "digest": digest} for revision, digest in found]
    if len(builds) > 1:
        for build, points in zip(builds, found.values(), strict=True):
            build["points"] = list(points)
    return builds


def records_of(rows: Sequence[Row], builds: Sequence[dict[str, Any]]) -> list[Record]:
    """Return the rows of a store without journal as records, as far as the rows tell groups apart.

    Parameters
    ----------
    rows : sequence of dict
        In their order, which is kept: of each group its points, then their comparisons.
    builds : sequence of dict
        As run.json has them, see `builds_of`.

    Returns
    -------
    list of Record
        One for each group that has comparisons, and one for each stretch of others that holds no point twice; each
        names the build that measured it.
    """
    only = builds[0] if len(builds) == 1 else {}
    owners = {point: build for build in builds for point in build.get("points", ())}
    records: list[Record] = []
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        build = owners.get(row["run_id"], only)
        names = {"revision": build.get("revision", ""), "build": build.get("digest", "")}
        key = (row["run_id"], row["metric"], row["reference"])
        last = records[-1] if records else None
        compared = last is not None and last.rows[-1]["reference"] and not row["reference"]
        if last is None or compared or key in seen or last.build != names["build"]:
            last, seen = Record(group="", **names), set()
            records.append(last)
        last.rows.append(row)
        seen.add(key)
    for entry in records:
        text = "\n".join(f"{row['run_id']} {row['metric']} {row['reference']}" for row in entry.rows)
        entry.group = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return records


def build_text(build: dict[str, Any]) -> str:
    """Return a build for people.

    Parameters
    ----------
    build : dict
        With ``revision`` and ``digest``.

    Returns
    -------
    str
        For instance ``revision 1a690c7… (build 0123456789abcdef)``.
    """
    revision = str(build["revision"]) or "unknown"
    return f"revision {revision} (build {build['digest']})"
