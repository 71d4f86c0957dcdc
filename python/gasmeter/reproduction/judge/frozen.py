"""The seal on a paper's method: one digest of what decides its verdicts. A new digest needs a line in the ledger.

Parts of the seal are values, syntax trees and small runs, never bytes of sources: comments, words and folders do not
count (`gasmeter.reproduction.judge.syntax`, `gasmeter.reproduction.judge.program_runs`). A change that none of the
parts can see is declared by a person, who raises `gasmeter.reproduction.plan.figure.Paper.version`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from gasmeter.machines import checks, draws
from gasmeter.machines.machine import Machine
from gasmeter.machines.number import Number, Place
from gasmeter.reproduction.judge.program_runs import program_runs
from gasmeter.reproduction.judge.syntax import syntax_digest
from gasmeter.reproduction.plan.figure import Figure, Line, Paper
from gasmeter.verdicts.predicates import predicates, predicates_digest

__all__ = ["method_digest", "method_parts"]

_JUDGING = (
    *(f"gasmeter.reproduction.plan.{name}" for name in ("cases", "choosing", "planning")),
    *(f"gasmeter.reproduction.judge.{name}" for name in ("checked", "facets", "gathering", "judged", "seen")),
    *(f"gasmeter.verdicts.{name}" for name in (
        "chances", "claims", "evidence", "expressions", "judging", "predicates", "quantities", "scoring", "series",
        "suites",
    )),
)  # fmt: skip
_DRAWN = 3  # draws of an invented machine whose numbers are sealed


def method_parts(paper: Paper) -> dict[str, str]:
    """Return the digests that the seal on a paper's method is made of, by the names in verdicts/README.md."""
    sealed = {name for figure in paper.figures for name in figure.claims}
    return {
        "version": str(paper.version),
        "figures": _digest(_figures(paper)),
        "predicates": predicates_digest(one for name, one in predicates().items() if name in sealed),
        "checks": _checks(paper),
        "draws": _draws(),
        "judging": _judging(),
        "programs": _digest(program_runs(paper)),
    }  # fmt: skip


def method_digest(paper: Paper) -> str:
    """Return the digest of everything that decides the verdicts of a paper: 16 hexadecimal digits."""
    return _digest(method_parts(paper))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _figures(paper: Paper) -> list[Any]:
    """Return what a paper runs, without what readers alone see."""
    without = [[one.name, [astuple(line.key) for line in one.lines], one.machine, one.options] for one in paper.without]
    return [paper.native, without, [_figure(figure) for figure in paper.figures]]


def _figure(figure: Figure) -> list[Any]:
    full = figure.full
    places = {str(x): figure.x_of(x, full) for x in (*full.xs, *full.drawn)}
    return [
        figure.number, figure.claims, figure.axis, figure.placements, figure.bytes_per_rank, figure.beyond,
        places, [str(x) for x in full.drawn], [_line(line, figure, tuple(places.values())) for line in figure.lines],
    ]  # fmt: skip


def _line(line: Line, figure: Figure, xs: Sequence[int | float]) -> list[Any]:
    lengths = [figure.full.lengths_at(x, line.times) for x in xs]
    return [astuple(line.key), line.wanted, line.drawn_to, line.counted, lengths]


def _checks(paper: Paper) -> str:
    """Return the digest of the check rows of a paper's machines."""
    names = {line.machine for figure in paper.figures for line in figure.lines}
    every = checks.checks()
    chosen = tuple(check for check in every.checks if check.machine in names)
    return checks.checks_digest(every.model_copy(update={"checks": chosen}))


def _draws() -> str:
    """Return the digest of how machines are drawn: draws of two invented values change with the method."""
    places = (Place("invented", entry, 2) for entry in range(2))
    numbers = (
        Number(f"time.{place.entry}", "time", "2 us", 2e-6, "invented", "low", low="1 us", high="4 us", place=place)
        for place in places
    )
    invented = Machine("invented", "ideal", "", tuple(numbers))
    drawn = [draws.drawn_values(invented, number) for number in range(_DRAWN)]
    return _digest([_syntax([draws.__name__]), drawn])


@functools.cache
def _judging() -> str:
    return _syntax(_JUDGING)


def _syntax(names: Sequence[str]) -> str:
    return syntax_digest(inspect.getsource(importlib.import_module(name)) for name in names)
