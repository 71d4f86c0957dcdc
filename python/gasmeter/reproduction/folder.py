"""The files of a reproduction from which a reader judges again: results.csv, points.csv, draws.csv, run.json."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.cases import DRAWN, RunCase, conditioned_draws, null_draws, prior_draws
from gasmeter.reproduction.choosing import Candidates, Choice, candidates_csv, choose_draws, read_candidates
from gasmeter.reproduction.figure import Figure, Line, Paper, describe
from gasmeter.reproduction.planning import Planned, Role
from gasmeter.reproduction.seen import Seen
from gasmeter.rows.formats import to_csv
from gasmeter.stores.files import digests, is_there, read_content, write_atomically
from gasmeter.stores.store import add_to_run
from gasmeter.stores.tables import read_run, read_table
from gasmeter.verdicts.judging import Judgement

__all__ = [
    "DRAWS_FILE",
    "EVIDENCE",
    "POINTS_FILE",
    "choice_facts",
    "draws_csv",
    "points_csv",
    "seen_in",
    "write_evidence",
]

POINTS_FILE, DRAWS_FILE, CANDIDATES_FILE = "points.csv", "draws.csv", "candidates.csv"
EVIDENCE = "reproduction"
"""Key of run.json under which a reproduction says what its verdicts rest on."""

_POINT_COLUMNS = ("run_id", "role", "case", "line", "placement", "x", "length")
_DRAW_COLUMNS = ("case", "machine", "key", "value", "unit")
_COUNTERS = "counters.csv"
_CHOICE = "choice"


def _names(figures: Iterable[Figure]) -> dict[Line, str]:
    """Return what lines are called in points.csv: in words, and by what tells those apart that have the same words."""
    every = dict.fromkeys(line for one in figures for line in (*one.lines, *one.beside))
    called: dict[str, set[tuple[str, int]]] = {}
    for line in every:
        called.setdefault(describe(line), set()).add((line.metric, line.size))
    names: dict[Line, str] = {}
    for line in every:
        text = describe(line)
        metrics, sizes = zip(*called[text], strict=True)
        apart = [line.metric] if len(set(metrics)) > 1 else []
        apart += [f"{line.size} B"] if len(set(sizes)) > 1 else []
        names[line] = f"{text} [{', '.join(apart)}]" if apart else text
    return names


def points_csv(planned: Iterable[Planned], figures: Iterable[Figure]) -> str:
    """Return why each point was run.

    Parameters
    ----------
    planned : iterable of Planned
        Every point; one that serves several purposes has a row for each.
    figures : iterable of Figure
        Which were run.

    Returns
    -------
    str
        With a header: the row of results.csv, the role and case it was run for, the line, its placement, x and length.
    """
    names = _names(figures)
    rows = (
        dict(zip(_POINT_COLUMNS, (one.run_id, one.role, one.case, names[one.line], one.placement, one.x, one.length),
                 strict=True))
        for one in dict.fromkeys(planned)
    )  # fmt: skip
    return to_csv(rows, _POINT_COLUMNS)


def draws_csv(seen: Seen) -> str:
    """Return every estimate of every draw, for readers without gasmeter.

    Parameters
    ----------
    seen : Seen
        What was run.

    Returns
    -------
    str
        With a header: the case, the machine as its label names it, key, value in SI units, unit.
    """
    names = list(dict.fromkeys(name for figure in seen.figures for name in figure.machines))
    rows = (
        dict(zip(_DRAW_COLUMNS, (case.name, own.label, number.key, own[number.key].value, number.unit), strict=True))
        for case in seen.cases.values()
        if case.kind in DRAWN
        for own in (machine(case.label(name)) for name in names)
        for number in machine(own.name).estimates()
    )
    return to_csv(rows, _DRAW_COLUMNS)


def write_evidence(seen: Seen, folder: Path, candidates: Candidates, *, quick: bool, method: str) -> None:
    """Write what verdicts rest on beside the rows.

    Parameters
    ----------
    seen : Seen
        What was run.
    folder : Path
        Of its store.
    candidates : mapping
        Check rows of every draw that could have been run.
    quick : bool
        Whether it was a quick run.
    method : str
        Digest of all that decides.

    Raises
    ------
    UsageError, ResourceError
        If the folder cannot be written.
    """
    write_atomically(folder / POINTS_FILE, points_csv(seen.planned, seen.figures))
    write_atomically(folder / DRAWS_FILE, draws_csv(seen))
    write_atomically(folder / CANDIDATES_FILE, candidates_csv(candidates))
    facts = {
        "paper": seen.paper.name,
        "figures": [figure.number for figure in seen.figures],
        "quick": quick,
        "method": method,
        "machines": {name: machine(name).digest for figure in seen.figures for name in figure.machines},
        "refused": dict(seen.refused),
        "used": {figure: {name: list(keys) for name, keys in own.items()} for figure, own in seen.used.items()},
        "suites": {name: {key: value for key, value in asdict(one).items() if key in {"verdict", "value", "notes"}}
                   for name, one in seen.suites.items()},
        "files": digests(folder, [POINTS_FILE, DRAWS_FILE, CANDIDATES_FILE]),
    }  # fmt: skip
    add_to_run(folder, {EVIDENCE: facts})


def seen_in(folder: Path, papers: Mapping[str, Paper]) -> tuple[Seen, dict[str, Any]]:
    """Return what a folder holds of a reproduction.

    Parameters
    ----------
    folder : Path
        Written by `gasmeter reproduce`.
    papers : mapping of str to Paper
        Those that are known, by name.

    Returns
    -------
    tuple of Seen and dict
        What its verdicts are made of, and what run.json says of them.

    Raises
    ------
    UsageError
        If it is no such folder, a file is missing or has changed, or a point belongs to a line that is gone.
    """
    run = read_run(folder)
    if run is None or EVIDENCE not in run:
        raise UsageError(
            f"{folder} holds no reproduction; allowed: a folder written by `gasmeter reproduce`", str(folder)
        )
    said: dict[str, Any] = run[EVIDENCE]
    if said["paper"] not in papers:
        raise UsageError(f"{folder}: paper {said['paper']!r} is not known; allowed: {', '.join(papers)}", said["paper"])
    paper = papers[said["paper"]]
    figures = tuple(figure for figure in paper.figures if figure.number in said["figures"])
    for name, facts in said["files"].items():
        if digests(folder, [name]).get(name) != facts:
            raise UsageError(f"{folder / name} is missing or not as it was written; run the reproduction again", name)
    planned = list(_points(folder, figures))
    counters = [
        {**row, "per_operation": float(row["per_operation"] or "nan")} for row in _rows(folder, _COUNTERS)
    ] if is_there(folder, _COUNTERS) else []  # fmt: skip
    suites = {
        name: Judgement(one["verdict"], value=math.nan if one["value"] is None else one["value"], notes=one["notes"])
        for name, one in said["suites"].items()
    }
    machines = [machine(name) for name in dict.fromkeys(name for figure in figures for name in figure.machines)]
    choice = Choice() if said["quick"] else _choice(folder, said, machines)
    seen = Seen(
        paper, figures, planned, _cases(paper, planned, choice), read_table(folder).rows(), counters, said["refused"],
        said["used"], suites, choice,
    )  # fmt: skip
    return seen, said


def _choice(folder: Path, said: Mapping[str, Any], machines: Sequence[Machine]) -> Choice:
    """Return the draws that were run; a published folder names them in place of all that could have been."""
    if _CHOICE not in said:
        text = _text(folder, CANDIDATES_FILE)
        return choose_draws(machines, read_candidates(text, [one.name for one in machines]))
    worth = {name: math.inf if known is None else float(known) for name, known in said[_CHOICE]["effective"].items()}
    names = list(said[_CHOICE]["drawn"])
    drawn = zip(*said[_CHOICE]["drawn"].values(), strict=True)
    return Choice(tuple(dict(zip(names, numbers, strict=True)) for numbers in drawn), worth)


def choice_facts(choice: Choice) -> dict[str, Any]:
    """Return the draws that were run, as run.json of a published folder has them.

    Parameters
    ----------
    choice : Choice
        Of a reproduction.

    Returns
    -------
    dict
        Under ``choice``: by machine the number of each draw, and how many equally likely draws there are.
    """
    names = choice.drawn[0] if choice.drawn else {}
    worth = {name: None if math.isinf(known) else known for name, known in choice.effective.items()}
    return {_CHOICE: {"drawn": {name: [one[name] for one in choice.drawn] for name in names}, "effective": worth}}


def _text(folder: Path, name: str) -> str:
    try:
        return read_content(folder, name).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder / name} cannot be read: {error}", name) from error


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(folder, name))))


def _points(folder: Path, figures: Iterable[Figure]) -> Iterable[Planned]:
    lines: dict[str, list[Line]] = {}
    for line, name in _names(figures).items():
        # Folders of older versions say no more than the words, of all lines that have them.
        for called in dict.fromkeys((name, describe(line))):
            lines.setdefault(called, []).append(line)
    for number, row in enumerate(_rows(folder, POINTS_FILE), 2):
        if row["line"] not in lines:
            raise UsageError(
                f"{folder / POINTS_FILE}:{number}: {row['line']!r} is no line of the paper any more; allowed: a folder"
                " of this version", row["line"],
            )  # fmt: skip
        x = float(row["x"])
        for line in lines[row["line"]]:
            yield Planned(
                cast(Role, row["role"]), row["case"], line, row["placement"], int(x) if x.is_integer() else x,
                int(row["length"]), row["run_id"],
            )  # fmt: skip


def _cases(paper: Paper, planned: Iterable[Planned], choice: Choice) -> dict[str, RunCase]:
    """Return the cases that points were run on, by name."""
    every = [
        *(RunCase("ablation", without=one) for one in paper.without), *prior_draws(), *conditioned_draws(choice),
        *null_draws(),
    ]  # fmt: skip
    ran = {one.case for one in planned}
    return {case.name: case for case in every if case.name in ran}
