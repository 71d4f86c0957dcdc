"""What decides the verdicts of a paper, under one digest: a change of any of it needs a line in the ledger."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterable
from pathlib import Path

from gasmeter.machines import checks, draws
from gasmeter.reproduction.figure import Paper
from gasmeter.verdicts.predicates import predicates, predicates_digest

__all__ = ["method_digest", "method_parts"]

_PACKAGE = Path(__file__).resolve().parent.parent
_JUDGING = ("cases", "checked", "choosing", "facets", "figure", "gathering", "judged", "planning", "seen")
_PROGRAMS = "programs.txt"
# What some kernels have beside their own file.
_PARTS = {"shared-access": ("kernels/shared_space.hpp",), "stressmark": ("kernels/shared_space.hpp", "kernels/dis/")}


def method_parts(paper: Paper) -> dict[str, str]:
    """Return the digests of what decides.

    Parameters
    ----------
    paper : Paper
        Whose verdicts.

    Returns
    -------
    dict of str to str
        ``paper`` (its module), ``predicates``, ``checks``, ``draws``, ``judging`` and ``programs``: the kernels and raw
        programs that its lines run, empty where this build does not say.
    """
    claims = [name for figure in paper.figures for name in figure.claims]
    own = [one for name, one in predicates().items() if name in claims]
    return {
        "paper": _of_files([_module(paper)]),
        "predicates": predicates_digest(own),
        "checks": _checks(paper),
        "draws": _of_files([Path(draws.__file__)]),
        "judging": _judging(),
        "programs": _programs(paper),
    }  # fmt: skip


def method_digest(paper: Paper) -> str:
    """Return the hash of everything that decides the verdicts of a paper.

    Parameters
    ----------
    paper : Paper
        Whose.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    return _digest(json.dumps(method_parts(paper), sort_keys=True).encode())


def _checks(paper: Paper) -> str:
    """Return the hash of the check rows of a paper's machines."""
    names = {line.machine for figure in paper.figures for line in figure.lines}
    every = checks.checks()
    own = tuple(check for check in every.checks if check.machine in names)
    return checks.checks_digest(every.model_copy(update={"checks": own}))


def _judging() -> str:
    """Return the hash of the sources that judge."""
    own = (_PACKAGE / "reproduction" / f"{name}.py" for name in _JUDGING)
    return _of_files([*sorted((_PACKAGE / "verdicts").glob("*.py")), *own])


def _module(paper: Paper) -> Path:
    found = importlib.util.find_spec(paper.module) if paper.module else None
    return Path(found.origin) if found is not None and found.origin else Path(__file__)


def _of_files(paths: Iterable[Path]) -> str:
    return _digest(b"\0".join(path.read_bytes() for path in paths))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _programs(paper: Paper) -> str:
    """Return the hash of the sources of a paper's kernels and raw programs, as the build wrote them down."""
    table = _PACKAGE / _PROGRAMS
    if not table.exists():
        return ""
    lines = [line for figure in paper.figures for line in figure.lines]
    kernels = {f"kernels/{line.kernel.replace('-', '_')}.cpp" for line in lines}
    parts = {part for line in lines for part in _PARTS.get(line.kernel, ())}
    raw = {
        f"networks/{part}/raw"
        for line in lines
        if line.conduit.startswith("raw@")
        for part in line.conduit.split("@")[1:]
    }
    entries = [line.split(maxsplit=1) for line in table.read_text(encoding="utf-8").splitlines()]
    used = sorted(
        f"{name} {digest}" for digest, name in entries
        if name in kernels or name.startswith(("bench/", *parts, *raw))
    )  # fmt: skip
    return _digest("\n".join(used).encode())
