"""report.html of a reproduction: results in sentences, then all of their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter.checking import findings
from gasmeter.library import this_build
from gasmeter.machines.check_row import accuracy_text
from gasmeter.machines.hardware import facts
from gasmeter.machines.machine import Machine
from gasmeter.measuring import context
from gasmeter.rendering.pages import render
from gasmeter.reproduction.plan.figure import Figure
from gasmeter.reproduction.report.claim_texts import VERDICT_WORDS, number, verdict_meanings
from gasmeter.reproduction.report.claims import claim_entry
from gasmeter.reproduction.report.conditions import Conditions
from gasmeter.reproduction.report.digitised import Points
from gasmeter.reproduction.report.drawing import Picture, draw_figure, draw_heat_maps
from gasmeter.reproduction.report.figures import lengths_of, values_of_figure
from gasmeter.reproduction.report.lead import figure_name, is_added, lead_sentences, verdict_counts
from gasmeter.reproduction.report.marks import unit_text
from gasmeter.reproduction.report.plain_words import line_names
from gasmeter.reproduction.run.timing import Stage
from gasmeter.rows.pictures import picture_facts
from gasmeter.rows.record import taken_points
from gasmeter.stores.builds import build_text, builds_of
from gasmeter.units import format_duration
from gasmeter.verdicts.predicates import predicates_digest
from gasmeter.version import package_version

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["facts_of", "pictures_of", "report_html"]

_STAGES: Mapping[Stage, str] = {
    "line": "{}",
    "suite": "the conformance suite on {} (runs of cases)",
    "planning": "planning",
    "tables": "steps of operations, and other tables",
    "draws": "choosing draws by the check rows",
    "judging": "judging",
}


def report_html(
    reproduction: Reproduction, digitised: Sequence[Points] = (), *, pictures: Mapping[str, Picture] | None = None
) -> str:
    """Return the report: HTML with embedded pictures and without scripts."""
    drawn = pictures_of(reproduction, digitised) if pictures is None else pictures
    conditions = Conditions(reproduction)
    claims = {entry.claim.id: claim_entry(reproduction, entry, conditions) for entry in reproduction.judged}
    shown = {figure.number for figure in reproduction.plan.figures}
    return render(
        "gasmeter.reproduction.report",
        "report.html.j2",
        paper=reproduction.plan.paper,
        quick=reproduction.plan.quick,
        sentences=lead_sentences(reproduction.judged, quick=reproduction.plan.quick),
        verdicts=[] if reproduction.plan.quick else _verdicts(reproduction),
        facts=_facts(reproduction),
        notes=_notes(reproduction),
        claims=list(claims.values()),
        meanings=verdict_meanings(reproduction.judged),
        names=line_names(reproduction.plan.paper.name),
        figures=[_figure(reproduction, figure, drawn, claims) for figure in reproduction.plan.figures],
        elsewhere=[claims[entry.claim.id] for entry in reproduction.judged if entry.figure.number not in shown],
        checks=[_check(row) for row in reproduction.checks.rows()],
        accuracy=accuracy_text(),
        findings=_findings(reproduction),
        machines=[
            {"name": installed.name, "summary": installed.summary, "parameters": _parameters(reproduction, installed)}
            for installed in reproduction.plan.machines()
        ],
        seconds=_seconds(reproduction),
        cite=_cite(reproduction),
    )


def pictures_of(reproduction: Reproduction, digitised: Sequence[Points] = ()) -> dict[str, Picture]:
    """Return every picture of a reproduction by name: plots first, then heat maps."""
    plots = [draw_figure(reproduction, figure, digitised) for figure in reproduction.plan.figures]
    heat = [picture for figure in reproduction.plan.figures for picture in draw_heat_maps(reproduction, figure)]
    facts = facts_of(reproduction)
    for picture in plots:
        if picture is not None:
            picture.drawing.facts = facts
    return {picture.name: picture for picture in [*plots, *heat] if picture is not None}


def facts_of(reproduction: Reproduction) -> dict[str, Any]:
    """Return the metadata of pictures and report, which cover all rows of the run, draws included."""
    result = reproduction.result
    return picture_facts(result.name, result.rows, records=result.records, runs=result.runs, named=False)


def _data(picture: Picture) -> dict[str, str]:
    """Return a picture as the template names it; its address needs no escape in markup."""
    return {"title": picture.title, "data": picture.small}


def _verdicts(reproduction: Reproduction) -> list[dict[str, Any]]:
    """Return the number of statements by verdict, for the first line of the page."""
    counts = verdict_counts(reproduction.judged)
    return [{"name": name, "words": VERDICT_WORDS[name], "count": count} for name, count in counts.items()]


def _facts(reproduction: Reproduction) -> list[tuple[str, str]]:
    points = len({row["run_id"] for row in reproduction.result.rows})
    builds = builds_of(reproduction.result.records) or [this_build()]
    taken = len(taken_points(reproduction.result.records)) or sum(part.taken for part in reproduction.took)
    kinds = [case.kind for case in reproduction.plan.cases.values()]
    refused = [name for name in reproduction.seen.refused if not name.startswith("null ")]
    drawn = (
        f"{kinds.count('draw')} as likely as the check rows make them, {kinds.count('prior')} from the ranges alone,"
        f" {kinds.count('null')} of the null model; {len(refused)} were refused by a machine and left out"
    )
    return [
        ("figures", ", ".join(figure.number for figure in reproduction.plan.figures)),
        ("written", context.now()),
        ("gasmeter", ", ".join([package_version(), *map(build_text, builds)])),
        (
            "machines",
            "; ".join(f"{installed.name}, digest {installed.digest}" for installed in reproduction.plan.machines()),
        ),
        ("method", f"digest {reproduction.method}" if reproduction.method else ""),
        ("predicates", f"digest {predicates_digest()}"),
        ("draws", drawn if "prior" in kinds or "draw" in kinds else "none"),
        ("points", f"{points} in {format_duration(reproduction.seconds)}"),
        ("rows", f"{points - taken} points run; {taken} copied from points that differ in unused numbers alone"),
    ]


def _notes(reproduction: Reproduction) -> list[str]:
    missing = [f"Not run: {line}: {why}." for line, why in reproduction.plan.missing.items()]
    options = [f"{note[0].upper()}{note[1:]}." for note in reproduction.plan.notes]
    refused_points = [note for note in reproduction.result.notes if note.startswith("not run: ")]
    more = [f"{len(refused_points)} points were refused; the first: {note}" for note in refused_points[:1]]
    return [*missing, *options, *more, *(f"Error: {line}" for line in reproduction.result.errors)]


def _figure(
    reproduction: Reproduction, figure: Figure, pictures: Mapping[str, Picture], claims: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    picture = pictures.get(f"figure_{figure.number}")
    heat = [entry for entry in pictures.values() if entry.figure == figure.number and entry is not picture]
    return {
        "number": figure.number,
        "title": figure.title,
        "name": figure_name(figure).capitalize(),
        "added": is_added(figure),
        "says": figure.says,
        "left_out": figure.left_out,
        "picture": _data(picture) if picture else None,
        "claims": [claims[name] for name in figure.claims if name in claims],
        "table": values_of_figure(reproduction, figure),
        "lengths": lengths_of(reproduction, figure),
        "extras": reproduction.tables.get(figure.number, ()),
        "heat": [_data(entry) for entry in heat],
    }


def _check(row: Mapping[str, Any]) -> dict[str, Any]:
    unit = unit_text(str(row.get("unit", "")))
    before = {"at_least": "at least ", "at_most": "at most "}.get(str(row.get("kind", "")), "")
    published = " to ".join(str(row["published"]).split(".."))
    return {
        "machine": row["machine"],
        "hardware": row["hardware"],
        "parameter": row.get("parameter", ""),
        "source": row["source"],
        "confidence": row["confidence"],
        "published": f"{before}{published} {unit}".strip(),
        "modelled": f"{number(float(row['modelled']))} {unit}".strip(),
        "ratio": f"{float(row['ratio']):.3f}",
        "holds": bool(row["holds"]),
        "note": row.get("note", ""),
    }


def _findings(reproduction: Reproduction) -> list[str]:
    """Return the hardware facts of high confidence that no number and no check row of a machine uses."""
    return [
        f"{installed.name}: {finding.fact.id}, {finding.fact.parameter} {finding.fact.value} {finding.fact.unit}"
        f" ({finding.why or 'nobody says why'})"
        for installed in reproduction.plan.machines()
        for finding in findings(installed.name)
    ]


def _parameters(reproduction: Reproduction, machine: Machine) -> list[dict[str, str]]:
    by_figure = {figure.number: set(reproduction.used(figure, machine)) for figure in reproduction.plan.figures}
    rows = []
    for parameter in machine.numbers:
        used = [figure.number for figure in reproduction.plan.figures if parameter.key in by_figure[figure.number]]
        rows.append(
            {
                "key": parameter.key,
                "value": parameter.text,
                "range": f"{parameter.low} to {parameter.high}" if parameter.estimate else "",
                "used": ", ".join(used) or "none",
                "confidence": parameter.confidence,
                "source": parameter.source,
                "facts": ", ".join(parameter.hardware),
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
             "seconds": f"{part.seconds:.2f}", "share": f"{100 * part.seconds / whole:.1f} %"}
            for part in reproduction.took
        ],
    }  # fmt: skip


def _cite(reproduction: Reproduction) -> list[str]:
    all_facts = facts()
    machines = reproduction.plan.machines()
    used = {
        (installed.name, key)
        for installed in machines
        for figure in reproduction.plan.figures
        for key in reproduction.used(figure, installed)
    }
    sources = dict.fromkeys(
        all_facts[name].source
        for installed in machines
        for number in installed.numbers
        if (installed.name, number.key) in used
        for name in number.hardware
        if name in all_facts and not all_facts[name].source.startswith(("estimate", "seed:", "recalled"))
    )
    named = ", ".join(f"machine {installed.name} ({installed.digest})" for installed in machines)
    method = f", method {reproduction.method}" if reproduction.method else ""
    last = f"For the modelled numbers: gasmeter {package_version()}, {named}, predicates {predicates_digest()}{method}."
    return [*reproduction.plan.paper.cite, *(f"For the hardware: {source}." for source in sources), last]
