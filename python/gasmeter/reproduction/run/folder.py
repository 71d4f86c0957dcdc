"""Files of a reproduction from which a reader judges again: results.csv, points.csv, draws.csv, run.json."""

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
from gasmeter.reproduction.judge.seen import Seen
from gasmeter.reproduction.plan.cases import DRAWN, RunCase, conditioned_draws, null_draws, prior_draws
from gasmeter.reproduction.plan.choosing import Candidates, Choice, candidates_csv, choose_draws, read_candidates
from gasmeter.reproduction.plan.figure import Figure, Line, Paper, describe
from gasmeter.reproduction.plan.planning import Planned, Role
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
"""Key of run.json for the evidence of verdicts."""

_POINT_COLUMNS = ("run_id", "role", "case", "line", "placement", "x", "length")
_DRAW_COLUMNS = ("case", "machine", "key", "value", "unit")
_COUNTERS = "counters.csv"
_CHOICE = "choice"


def _names(figures: Iterable[Figure]) -> dict[Line, str]:
    """Return the names of lines in points.csv: words, and a distinction where two have the same words."""
    every = dict.fromkeys(line for figure in figures for line in (*figure.lines, *figure.beside))
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
    """Return CSV with a header: for each point and purpose its row, role, case, line, placement, x and length."""
    names = _names(figures)
    rows = (
        dict(zip(_POINT_COLUMNS,
                 (point.run_id, point.role, point.case, names[point.line], point.placement, point.x, point.length),
                 strict=True))
        for point in dict.fromkeys(planned)
    )  # fmt: skip
    return to_csv(rows, _POINT_COLUMNS)


def draws_csv(seen: Seen) -> str:
    """Return CSV with every estimate of every draw, for readers without gasmeter.

    Columns: the case, the machine's label, key, value in SI units, unit.
    """
    names = list(dict.fromkeys(name for figure in seen.figures for name in figure.machines))
    rows = (
        dict(
            zip(
                _DRAW_COLUMNS,
                (case.name, variant.label, number.key, variant[number.key].value, number.unit),
                strict=True,
            )
        )
        for case in seen.cases.values()
        if case.kind in DRAWN
        for variant in (machine(case.label(name)) for name in names)
        for number in machine(variant.name).estimates()
    )
    return to_csv(rows, _DRAW_COLUMNS)


def write_evidence(seen: Seen, folder: Path, candidates: Candidates, *, quick: bool, method: str) -> None:
    """Write the evidence of verdicts beside the rows.

    `candidates` are check rows of every draw that could be run, `method` the digest of all that decides. Raises
    UsageError or ResourceError if the folder cannot be written.
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
        "used": {figure: {name: list(keys) for name, keys in used.items()} for figure, used in seen.used.items()},
        "suites": {name: {key: value for key, value in asdict(suite).items() if key in {"verdict", "value", "notes"}}
                   for name, suite in seen.suites.items()},
        "files": digests(folder, [POINTS_FILE, DRAWS_FILE, CANDIDATES_FILE]),
    }  # fmt: skip
    add_to_run(folder, {EVIDENCE: facts})


def seen_in(folder: Path, papers: Mapping[str, Paper]) -> tuple[Seen, dict[str, Any]]:
    """Return the evidence in a folder written by `gasmeter reproduce`, and run.json's part of it.

    Raises UsageError if it is no such folder, a file is missing or has changed, or a point belongs to an unknown line.
    """
    run = read_run(folder)
    if run is None or EVIDENCE not in run:
        raise UsageError(
            f"{folder} holds no reproduction; allowed: a folder written by `gasmeter reproduce`", str(folder)
        )
    evidence_facts: dict[str, Any] = run[EVIDENCE]
    if evidence_facts["paper"] not in papers:
        raise UsageError(
            f"{folder}: paper {evidence_facts['paper']!r} is not known; allowed: {', '.join(papers)}",
            evidence_facts["paper"],
        )
    paper = papers[evidence_facts["paper"]]
    figures = tuple(figure for figure in paper.figures if figure.number in evidence_facts["figures"])
    for name, facts in evidence_facts["files"].items():
        if digests(folder, [name]).get(name) != facts:
            raise UsageError(f"{folder / name} is missing or not as it was written; run the reproduction again", name)
    planned = list(_points(folder, figures))
    counters = [
        {**row, "per_operation": float(row["per_operation"] or "nan")} for row in _rows(folder, _COUNTERS)
    ] if is_there(folder, _COUNTERS) else []  # fmt: skip
    suites = {
        name: Judgement(
            suite["verdict"], value=math.nan if suite["value"] is None else suite["value"], notes=suite["notes"]
        )
        for name, suite in evidence_facts["suites"].items()
    }
    machines = [machine(name) for name in dict.fromkeys(name for figure in figures for name in figure.machines)]
    choice = Choice() if evidence_facts["quick"] else _choice(folder, evidence_facts, machines)
    seen = Seen(
        paper, figures, planned, _cases(paper, planned, choice), read_table(folder).rows(), counters,
        evidence_facts["refused"],
        evidence_facts["used"], suites, choice,
    )  # fmt: skip
    return seen, evidence_facts


def _choice(folder: Path, facts: Mapping[str, Any], machines: Sequence[Machine]) -> Choice:
    """Return the draws that were run; a published folder names them instead of all candidates."""
    if _CHOICE not in facts:
        text = _text(folder, CANDIDATES_FILE)
        return choose_draws(machines, read_candidates(text, [installed.name for installed in machines]))
    drawn_facts = facts[_CHOICE]
    effective = {
        name: math.inf if number is None else float(number) for name, number in drawn_facts["effective"].items()
    }
    names = list(drawn_facts["drawn"])
    drawn = zip(*drawn_facts["drawn"].values(), strict=True)
    return Choice(tuple(dict(zip(names, numbers, strict=True)) for numbers in drawn), effective)


def choice_facts(choice: Choice) -> dict[str, Any]:
    """Return the draws that were run, by machine, and the number of equally likely draws, for run.json."""
    names = choice.drawn[0] if choice.drawn else {}
    effective = {name: None if math.isinf(number) else number for name, number in choice.effective.items()}
    drawn = {name: [numbers[name] for numbers in choice.drawn] for name in names}
    return {_CHOICE: {"drawn": drawn, "effective": effective}}


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
        # Folders of older versions name all lines with the same words alike.
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
    """Return the cases of the points by name."""
    every = [
        *(RunCase("ablation", without=mechanism) for mechanism in paper.without), *prior_draws(),
        *conditioned_draws(choice),
        *null_draws(),
    ]  # fmt: skip
    ran = {point.case for point in planned}
    return {case.name: case for case in every if case.name in ran}
