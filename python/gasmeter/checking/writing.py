"""Write index.html, plots and curves.csv of a machine against hardware, in the folder of its store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gasmeter.checking.checked import Checked, met_sentence
from gasmeter.checking.curves import Curve, Group
from gasmeter.checking.held import Held
from gasmeter.checking.overlay import Laid
from gasmeter.library import this_build
from gasmeter.machines.check_row import accuracy_text
from gasmeter.machines.checks import checks_digest
from gasmeter.measuring import context
from gasmeter.plots.lean import data_uri, lean
from gasmeter.plots.published import Overlay, draw_overlay
from gasmeter.plots.style import styled
from gasmeter.rendering.pages import render
from gasmeter.rows.formats import to_csv
from gasmeter.rows.pictures import embedded, made_facts, picture_facts
from gasmeter.rows.record import Row
from gasmeter.stores.builds import build_text
from gasmeter.stores.files import refused, write_atomically
from gasmeter.units import format_bytes
from gasmeter.version import package_version

__all__ = ["CURVE_COLUMNS", "KINDS", "error_text", "page_html", "pictures_of", "sentences", "write_held"]

CURVE_COLUMNS = (
    "curve", "processor", "line", "kind", "size_bytes", "published", "modelled", "error_percent", "unit",
)  # fmt: skip
"""Columns of curves.csv."""

KINDS: Mapping[str, str] = {"equals": "same benchmark", "at_most": "lower bound", "at_least": "upper bound"}
"""Relation of a line to the published value, for people."""

_BEFORE = {"at_least": "at least ", "at_most": "at most "}
_UNITS = {"us": "µs"}


def write_held(held: Held, folder: Path) -> list[Path]:
    """Write the page, a picture of each group of curves and curves.csv; return the files, index.html last.

    Raises UsageError or ResourceError if the folder cannot be written.
    """
    pictures = pictures_of(held)
    contents: dict[str, bytes | str] = {f"plots/{name}.svg": content for name, content in pictures.items()}
    page = embedded(page_html(held, pictures).encode(), "html", _facts(held, held.result.rows, named=False))
    contents |= {"curves.csv": to_csv(held.rows(), CURVE_COLUMNS), "index.html": page}
    try:
        if pictures:
            (folder / "plots").mkdir(exist_ok=True)
        for name, content in contents.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise refused(folder, error) from error
    return [folder / name for name in contents]


def pictures_of(held: Held) -> dict[str, bytes]:
    """Return an SVG picture for each group of curves of a machine's cards, by group."""
    pictures = {}
    for group, shown in _groups(held):
        with styled():
            drawing = draw_overlay(_overlay(held, group, shown))
        pictures[group.name] = embedded(lean(drawing.rendered("svg")), "svg", _picture_facts(held, group, shown))
    return pictures


def _facts(held: Held, rows: Sequence[Row], *, named: bool = True) -> dict[str, Any]:
    return picture_facts(held.result.name, rows, records=held.result.records, runs=held.result.runs, named=named)


def _picture_facts(held: Held, group: Group, shown: Sequence[Curve]) -> dict[str, Any]:
    """Return the metadata of a group's picture about the rows of its lines."""
    drawn = {(point.run_id, laid.line.metric) for laid in _laid(held, shown) for point in laid.points}
    rows = [row for row in held.result.rows if (row["run_id"], row["metric"]) in drawn and not row["reference"]]
    if not rows:
        return made_facts(f"what others measured and published ({group.title}), nothing modelled beside it")
    return _facts(held, rows)


def error_text(error: float) -> str:
    """Return an error in per cent with its sign and at most three decimals."""
    return f"{error:+.0f} %" if abs(error) >= 100 else f"{error:+.1f} %"


def sentences(held: Held) -> list[str]:
    """Return the results in short sentences, check rows first, then curves."""
    all_sentences = [met_sentence(held.checked)]
    if not held.curves.about(held.machine):
        return [
            *all_sentences,
            f"No measured curve is about machine {held.machine.name}; only check rows exist.",
        ]
    same = [point for laid in held.laid if laid.line.kind == "equals" for point in laid.points]
    bounds = [laid for laid in held.laid if laid.line.kind != "equals"]
    if same:
        near = sum(abs(point.error) <= 25 for point in same)
        worst = max(same, key=lambda point: abs(point.error))
        all_sentences.append(
            f"Lines of the same benchmark: {near} of {len(same)} values are within 25 % of the published one;"
            f" the largest error is {error_text(worst.error)}."
        )
    if count := sum(len(laid.points) for laid in bounds):
        all_sentences.append(
            f"Lines of bounds hold at {count - sum(len(laid.beyond) for laid in bounds)} of {count} points."
        )
    return all_sentences


def page_html(held: Held, pictures: Mapping[str, bytes]) -> str:
    """Return the page: HTML with embedded pictures and without scripts."""
    about = {curve.id for curve in held.curves.about(held.machine)}
    others: dict[str, list[str]] = {}
    for curve in held.curves.curves:
        if curve.network == held.machine.network and curve.id not in about:
            for name in curve.machines:
                others.setdefault(name, []).append(f"{curve.processor}: {curve.label}")
    return render(
        "gasmeter.checking",
        "held.html.j2",
        machine=held.machine,
        sentences=sentences(held),
        summary=[_summary(held, laid) for laid in held.laid if laid.points],
        groups=[_section(held, group, shown, pictures) for group, shown in _groups(held)],
        others={name: list(dict.fromkeys(labels)) for name, labels in others.items()},
        checks=[_check(entry) for entry in held.checked],
        accuracy=accuracy_text(),
        findings=[
            f"{row.fact.id}, {row.fact.parameter} {row.fact.value} {row.fact.unit} ({row.why or 'nobody says why'})"
            for row in held.unused
        ],
        facts=[
            ("machine", f"{held.machine.label}, digest {held.machine.digest}"),
            ("what it is", held.machine.summary),
            ("check rows", f"digest {checks_digest()}"),
            ("gasmeter", f"{package_version()}, {build_text(this_build())}"),
            ("written", context.now()),
        ],
    )


def _groups(held: Held) -> Iterator[tuple[Group, list[Curve]]]:
    """Yield the groups with curves of the machine, then those of processors that no machine has.

    A group with both comes twice, the second time under another name, since it has two pictures.
    """
    about = held.curves.about(held.machine)
    names = {curve.group for curve in about}
    for chosen in (about, held.curves.beside(held.machine) if about else ()):
        for group in held.curves.groups:
            if shown := [curve for curve in chosen if curve.group == group.name]:
                twice = chosen is not about and group.name in names
                yield group.model_copy(update={"name": f"{group.name}-published"}) if twice else group, shown


def _overlay(held: Held, group: Group, shown: Sequence[Curve]) -> Overlay:
    drawn = [laid for laid in _laid(held, shown) if laid.points]
    modelled: dict[str, dict[int, float]] = {}
    for laid_line in drawn:
        modelled.setdefault(laid_line.line.label, {}).update({point.size: point.modelled for point in laid_line.points})
    foot = ["hollow: published, measured on hardware by others"]
    if drawn:
        foot.append(f"lines: modelled (exact virtual time, data verified) on machine {held.machine.label}")
    else:
        foot.append("no machine has this processor: nothing is modelled")
    return Overlay(
        title=group.title,
        foot=" \N{MIDDLE DOT} ".join(foot),
        quantity=group.quantity,
        unit=_unit(group),
        published={curve.label: dict(curve.points) for curve in shown},
        modelled={label: dict(sorted(points.items())) for label, points in modelled.items()},
        errors={
            (laid.line.label, laid.curve.label): {point.size: point.error for point in laid.points} for laid in drawn
        },
    )  # fmt: skip


def _laid(held: Held, shown: Sequence[Curve]) -> list[Laid]:
    ids = {curve.id for curve in shown}
    return [laid for laid in held.laid if laid.curve.id in ids]


def _unit(group: Group) -> str:
    return _UNITS.get(group.unit, group.unit)


def _number(value: float) -> str:
    """Return a value with four digits, or all of a large whole part."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _sizes(sizes: Sequence[int]) -> str:
    """Return sizes for people, without a line break between a number and its unit."""
    return ", ".join(format_bytes(size).replace(" ", "\N{NO-BREAK SPACE}") for size in sizes)


def _summary(held: Held, laid: Laid) -> dict[str, str]:
    inputs = laid.curve.inputs(held.machine)
    told_not = laid.curve.processor.startswith("not ")
    beyond = _sizes([point.size for point in laid.beyond])
    return {
        "group": laid.curve.group,
        "curve": f"{laid.curve.label}; {'processor ' if told_not else ''}{laid.curve.processor}",
        "line": laid.line.label,
        "kind": KINDS[laid.line.kind],
        "points": str(len(laid.points)),
        "median": error_text(laid.median),
        "largest": error_text(laid.largest.error),
        "at": _sizes([laid.largest.size]),
        "beyond": "" if laid.line.kind == "equals" else beyond or "nowhere",
        "inputs": ", ".join(inputs),
    }


def _section(held: Held, group: Group, shown: Sequence[Curve], pictures: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        "name": group.name,
        "title": group.title,
        "quantity": f"{group.quantity.lower()} in {_unit(group)}",
        "modelled": bool(_laid(held, shown)),
        "picture": data_uri(pictures[group.name]),
        "curves": [_curve(held, curve) for curve in shown],
    }


def _curve(held: Held, curve: Curve) -> dict[str, Any]:
    over = [laid for laid in held.laid if laid.curve.id == curve.id]
    values = [{point.size: point for point in laid.points} for laid in over]
    return {
        "id": curve.id,
        "label": curve.label,
        "processor": curve.processor,
        "source": curve.source,
        "read": curve.read,
        "note": curve.note,
        "inputs": [f"{key} ({', '.join(rows)})" for key, rows in curve.inputs(held.machine).items()],
        "lines": [
            {
                "label": laid.line.label,
                "kind": KINDS[laid.line.kind],
                "note": laid.line.note,
                "missing": _sizes(laid.missing),
            }
            for laid in over
        ],
        "rows": [
            {
                "size": _sizes([size]),
                "published": _number(published),
                "cells": [
                    (_number(points[size].modelled), error_text(points[size].error),
                     points[size] in laid.beyond) if size in points else ("", "", False)
                    for laid, points in zip(over, values, strict=True)
                ],
            }
            for size, published in curve.points
        ],
    }  # fmt: skip


def _check(entry: Checked) -> dict[str, Any]:
    row = entry.check.fact
    unit = _UNITS.get(row.unit, row.unit)
    return {
        "hardware": row.id,
        "parameter": row.parameter,
        "published": f"{_BEFORE.get(entry.check.kind, '')}{' to '.join(row.value.split('..'))} {unit}".strip(),
        "modelled": f"{_number(entry.shown)} {unit}".strip(),
        "ratio": f"{entry.ratio:.3f}",
        "holds": entry.holds,
        "confidence": row.confidence,
        "source": row.source,
        "note": entry.check.note,
    }
