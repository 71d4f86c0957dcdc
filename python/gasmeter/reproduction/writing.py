"""claims.csv, plots and report.html of a reproduction: made of its rows, in the folder of its store."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from gasmeter.library import this_build
from gasmeter.machines.hardware import facts
from gasmeter.machines.machine import Machine
from gasmeter.measuring import context
from gasmeter.reproduction.digitised import Points
from gasmeter.reproduction.drawing import Picture, draw_figure, draw_heat_maps, quantity_of, save
from gasmeter.reproduction.figure import Figure, Line
from gasmeter.reproduction.planning import LONGER
from gasmeter.reproduction.running import Judged, Reproduction
from gasmeter.reproduction.steps import link_loads, steps
from gasmeter.reproduction.timing import Stage
from gasmeter.rows.formats import to_csv
from gasmeter.rows.record import taken_points
from gasmeter.stores.builds import build_text, builds_of
from gasmeter.stores.files import refused, write_atomically
from gasmeter.units import format_bytes, format_duration
from gasmeter.verdicts.predicates import predicates_digest
from gasmeter.version import package_version

__all__ = ["CLAIM_COLUMNS", "claim_rows", "claims_csv", "report_html", "write_reproduction"]

CLAIM_COLUMNS = (
    "id", "paper", "figure", "what", "published", "reproduced", "unit", "tolerance", "label", "verdict",
    "deciding_parameter", "note",
)  # fmt: skip
"""Columns of claims.csv, in order."""

_WORDS = {
    "by_construction": "by construction",
    "not_decidable": "not judgeable",
    "no_band": "no band",
    "not_run": "not run",
}
_STAGES: Mapping[Stage, str] = {
    "line": "{}",
    "suite": "the conformance suite on {} (runs of cases)",
    "planning": "planning",
    "judging": "judging",
}
_SMALL = 0.02
_MOST_MOVES = 3
_KINDS = {"svg": "svg+xml", "png": "png"}


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def _band(judged: Judged) -> str:
    own = judged.judgement
    return "" if math.isnan(own.low) else f"{own.low:.4g} to {own.high:.4g}"


def claim_rows(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    """Return the rows of claims.csv.

    Parameters
    ----------
    judged : iterable of Judged
        Claims and what became of them.

    Returns
    -------
    list of dict
        By the names of `CLAIM_COLUMNS`.
    """
    rows = []
    for entry in judged:
        own = entry.judgement
        band = f"band {_band(entry)}" if _band(entry) else ""
        rows.append(
            {
                "id": entry.claim.id,
                "paper": entry.claim.paper,
                "figure": entry.claim.figure,
                "what": entry.claim.statement,
                "published": entry.claim.published,
                "reproduced": own.value,
                "unit": "" if math.isnan(own.value) else entry.predicate.unit,
                "tolerance": entry.predicate.tolerance,
                "label": entry.label,
                "verdict": own.verdict,
                "deciding_parameter": own.deciding,
                "note": "; ".join(note for note in [band, *own.notes] if note),
            }
        )
    return rows


def claims_csv(judged: Iterable[Judged]) -> str:
    """Return claims.csv.

    Parameters
    ----------
    judged : iterable of Judged
        Claims and what became of them.

    Returns
    -------
    str
        With a header.
    """
    return to_csv(claim_rows(judged), CLAIM_COLUMNS)


def write_reproduction(reproduction: Reproduction, folder: Path, digitised: Sequence[Points] = ()) -> list[Path]:
    """Write claims.csv, plots and report.html.

    Parameters
    ----------
    reproduction : Reproduction
        What came out.
    folder : Path
        Where its store is.
    digitised : sequence of Points, optional
        A reader's own points.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    UsageError, ResourceError
        If the folder cannot be written.
    """
    pictures = _pictures(reproduction, digitised)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [path for picture in pictures.values() for path in save(picture, folder / "plots")]
        for name, text in (
            ("claims.csv", claims_csv(reproduction.judged)),
            ("report.html", _html(reproduction, pictures)),
        ):
            write_atomically(folder / name, text)
            written.append(folder / name)
    except OSError as error:
        raise refused(folder, error) from error
    return written


def report_html(reproduction: Reproduction, digitised: Sequence[Points] = ()) -> str:
    """Return the report: one file that needs no other.

    Parameters
    ----------
    reproduction : Reproduction
        What came out.
    digitised : sequence of Points, optional
        A reader's own points.

    Returns
    -------
    str
        HTML with its pictures inside.
    """
    return _html(reproduction, _pictures(reproduction, digitised))


def _pictures(reproduction: Reproduction, digitised: Sequence[Points]) -> dict[str, Picture]:
    """Return every picture by name: plots first, then heat maps."""
    plots = [draw_figure(reproduction, figure, digitised) for figure in reproduction.plan.figures]
    heat = [picture for figure in reproduction.plan.figures for picture in draw_heat_maps(reproduction, figure)]
    return {picture.name: picture for picture in [*plots, *heat] if picture is not None}


def _data(picture: Picture) -> dict[str, str]:
    text = base64.b64encode(picture.content).decode()
    return {"title": picture.title, "data": f"data:image/{_KINDS[picture.ending]};base64,{text}"}


def _html(reproduction: Reproduction, pictures: Mapping[str, Picture]) -> str:
    import jinja2  # noqa: PLC0415 - reports only

    template = files("gasmeter.reproduction").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    claims = {entry.claim.id: _claim(entry) for entry in reproduction.judged}
    shown = {figure.number for figure in reproduction.plan.figures}
    return environment.from_string(template).render(
        paper=reproduction.plan.paper,
        quick=reproduction.plan.quick,
        facts=_facts(reproduction),
        notes=_notes(reproduction),
        claims=[claims[entry.claim.id] for entry in reproduction.judged],
        figures=[_figure(reproduction, figure, pictures, claims) for figure in reproduction.plan.figures],
        elsewhere=[claims[entry.claim.id] for entry in reproduction.judged if entry.figure.number not in shown],
        machines=[
            {"name": one.name, "summary": one.summary, "parameters": _parameters(reproduction, one)}
            for one in reproduction.plan.machines()
        ],
        seconds=_seconds(reproduction),
        cite=_cite(reproduction),
    )


def _facts(reproduction: Reproduction) -> list[tuple[str, str]]:
    points = len({row["run_id"] for row in reproduction.result.rows})
    builds = builds_of(reproduction.result.records) or [this_build()]
    taken = len(taken_points(reproduction.result.records))
    return [
        ("figures", ", ".join(figure.number for figure in reproduction.plan.figures)),
        ("written", context.now()),
        ("gasmeter", ", ".join([package_version(), *map(build_text, builds)])),
        ("machine", "; ".join(f"{one.name}, digest {one.digest}" for one in reproduction.plan.machines())),
        ("predicates", f"digest {predicates_digest()}"),
        ("points", f"{points} in {format_duration(reproduction.seconds)}"),
        ("of them", f"{points - taken} run; {taken} differ in numbers that nothing depended on and take their rows"),
    ]


def _notes(reproduction: Reproduction) -> list[str]:
    missing = [f"Not run: {line}: {why}." for line, why in reproduction.plan.missing.items()]
    options = [f"{note[0].upper()}{note[1:]}." for note in reproduction.plan.notes]
    refused_points = [note for note in reproduction.result.notes if note.startswith("not run: ")]
    more = [f"{len(refused_points)} points were refused; the first: {note}" for note in refused_points[:1]]
    return [*missing, *options, *more, *(f"Error: {line}" for line in reproduction.result.errors)]


def _claim(entry: Judged) -> dict[str, Any]:
    own = entry.judgement
    unit = "" if entry.predicate.unit == "ratio" else f" {entry.predicate.unit}"
    several = len(own.by_placement) > 1
    moves = [f"{key} ({by:.2g})" for key, by in list(own.moves.items())[:_MOST_MOVES]]
    return {
        "id": entry.claim.id,
        "figure": entry.figure.number,
        "where": entry.claim.figure,
        "statement": entry.claim.statement,
        "published": entry.claim.published,
        "reproduced": f"{_number(own.value)}{unit}" if _number(own.value) else "",
        "band": f"{_band(entry)}{unit}" if _band(entry) else "",
        "by_placement": ", ".join(f"{name} {value:.4g}" for name, value in own.by_placement.items()) if several else "",
        "tolerance": entry.predicate.tolerance,
        "rule": entry.predicate.rule,
        "digest": entry.predicate.digest,
        "label": entry.label,
        "verdict": own.verdict,
        "verdict_words": _WORDS.get(own.verdict, own.verdict),
        "deciding": own.deciding,
        "moves": ", ".join(moves),
        "notes": "; ".join(own.notes),
    }


def _said(line: Line) -> str:
    return f"{line.label}, {line.topology}" if line.topology else line.label


def _figure(
    reproduction: Reproduction, figure: Figure, pictures: Mapping[str, Picture], claims: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    xs = reproduction.plan.effort(figure).xs
    picture = pictures.get(f"figure_{figure.number}")
    heat = [entry for entry in pictures.values() if entry.figure == figure.number and entry is not picture]
    longer = _longer(reproduction, figure)
    values = [
        {
            "line": _said(line),
            "placement": placement,
            "cells": [_number(own.get(x, math.nan)) for x in xs],
            "unit": quantity_of(line).unit,
        }
        for line in (*figure.lines, *figure.beside)
        for placement in figure.placements
        if (own := reproduction.values(line, placement))
    ]
    return {
        "number": figure.number,
        "title": figure.title,
        "left_out": figure.left_out,
        "picture": _data(picture) if picture else None,
        "claims": [claims[name] for name in figure.claims if name in claims],
        "heads": [f"{x} ranks" if figure.axis == "ranks" else format_bytes(x) for x in xs],
        "table": values,
        "longer": [
            {"line": _said(line), "placement": placement, "ranks": count, "change": f"{change:+.2%}"}
            for line, placement, count, change in longer
        ],
        "longer_said": _longer_said([change for *_, change in longer]),
        "steps": [
            {"line": _said(step.line), "placement": step.placement, "before": f"{step.growth[0]:.3f}",
             "after": f"{step.growth[1]:.3f}", "ratio": f"{step.ratio:.3f}", "kind": step.kind}
            for step in steps(reproduction, figure)
        ],
        "loads": [
            {"line": _said(load.line), "placement": load.placement, "ranks": load.ranks,
             "busiest": f"{load.busiest:.0%}", "mean": f"{load.mean:.0%}", "used": f"{load.used:.0%}"}
            for load in link_loads(reproduction, figure)
        ],
        "heat": [_data(entry) for entry in heat],
    }  # fmt: skip


def _longer(reproduction: Reproduction, figure: Figure) -> list[tuple[Line, str, int, float]]:
    """Return what four times as many updates change."""
    return [
        (line, placement, count, value / short[count] - 1)
        for line in figure.lines
        for placement in figure.placements
        if (short := reproduction.values(line, placement)) is not None
        for count, value in sorted(reproduction.values(line, placement, "longer").items())
        if count in short
    ]


def _longer_said(changes: Sequence[float]) -> str:
    if not changes:
        return ""
    most = max(changes, key=abs)
    word = "no more than" if abs(most) <= _SMALL else "more than"
    return f"{LONGER} times as many updates per rank change the rate by {most:+.2%} at most: {word} {_SMALL:.0%}."


def _parameters(reproduction: Reproduction, machine: Machine) -> list[dict[str, str]]:
    by_figure = {figure.number: set(reproduction.used(figure, machine)) for figure in reproduction.plan.figures}
    rows = []
    for number in machine.numbers:
        used = [figure.number for figure in reproduction.plan.figures if number.key in by_figure[figure.number]]
        rows.append(
            {
                "key": number.key,
                "value": number.text,
                "range": f"{number.low} to {number.high}" if number.estimate else "",
                "used": ", ".join(used) or "none",
                "confidence": number.confidence,
                "source": number.source,
                "facts": ", ".join(number.hardware),
            }
        )
    return rows


def _seconds(reproduction: Reproduction) -> dict[str, Any]:
    whole = sum(part.seconds for part in reproduction.took) or 1.0
    return {
        "jobs": reproduction.jobs,
        "wall": f"{reproduction.seconds:.1f}",
        "processor": f"{reproduction.processor_seconds:.1f}",
        "parts": [
            {"what": _STAGES[part.stage].format(part.what), "count": part.count or "", "taken": part.taken or "",
             "seconds": f"{part.seconds:.2f}", "share": f"{part.seconds / whole:.1%}"}
            for part in reproduction.took
        ],
    }  # fmt: skip


def _cite(reproduction: Reproduction) -> list[str]:
    known = facts()
    machines = reproduction.plan.machines()
    used = {
        (one.name, key)
        for one in machines
        for figure in reproduction.plan.figures
        for key in reproduction.used(figure, one)
    }
    sources = dict.fromkeys(
        known[name].source
        for one in machines
        for number in one.numbers
        if (one.name, number.key) in used
        for name in number.hardware
        if name in known and not known[name].source.startswith(("estimate", "seed:", "recalled"))
    )
    said = ", ".join(f"machine {one.name} ({one.digest})" for one in machines)
    own = f"For the modelled numbers: gasmeter {package_version()}, {said}, predicates {predicates_digest()}."
    return [*reproduction.plan.paper.cite, *(f"For the hardware: {source}." for source in sources), own]
