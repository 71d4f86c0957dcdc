"""`gasmeter hardware`: compare a modelled machine with every independent measurement of its hardware."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gasmeter.arguments.choices import CHECK_FORMATS
from gasmeter.cli.common import FOLDER, Choice, note, option, options_with_origin, out
from gasmeter.cli.completion import complete_machines

if TYPE_CHECKING:
    from gasmeter.checking import Checked, Finding, Held

__all__ = ["hardware"]

_EXAMPLES = """\b
Examples:
  gasmeter hardware extoll
  gasmeter hardware "extoll+link.latency=0.5 us" --format json
  gasmeter hardware extoll+draw=17       (draw 17 of 4096 of its estimates)
  gasmeter hardware aries-cori1 --out out/aries-cori1
"""

_HEADS = ("row", "confidence", "published", "modelled", "ratio", "")
_NUMBERS = frozenset({"published", "modelled", "ratio"})
_CURVE_HEADS = ("curve", "line", "which is", "points", "median error", "largest", "at", "no bound at")
_CURVE_NUMBERS = frozenset(_CURVE_HEADS[_CURVE_HEADS.index("points") :])
_SAYS = {"equals": "", "range": "", "at_least": "at least ", "at_most": "at most "}
_COLUMNS = (
    "machine", "hardware", "parameter", "confidence", "accuracy", "kind", "published", "modelled", "unit", "ratio",
    "likelihood", "holds", "how", "note", "source",
)  # fmt: skip


@click.command(epilog=_EXAMPLES)
@click.argument("name", metavar="NAME", shell_complete=complete_machines)
@option("--format", "form", type=Choice(CHECK_FORMATS), default="table", show_default=True, help="Form of the output.")
@option(
    "--out", "folder", type=FOLDER, default=None, metavar="DIR",
    help="Lay modelled lines over curves measured on such hardware, too; write index.html, plots, curves.csv (the error"
    " at every point), results.csv and run.json.",
)  # fmt: skip
@click.pass_context
def hardware(context: click.Context, *, name: str, form: str, folder: Path | None) -> int:
    """Compare the modelled machine NAME with every independent measurement of its hardware.

    NAME is a machine of `gasmeter list machines`, the path of a machine file, or a label with overrides. The check rows
    are published facts about its hardware, besides figures of papers (published/checks.toml); each is run on the
    machine or worked out. A row is in if the modelled value is as near as its confidence lets expect: 5 % of the
    published value, range or bound for high, 10 % for medium, 25 % for low.

    Then the command names the rows of high confidence about this hardware that nothing uses. With csv and json nothing
    else is written to standard output (with csv these rows go to standard error). Exit status 1 if a row is out.

    With --out a page shows whole curves that others have measured on such hardware (published/curves.toml), with the
    modelled values at their points. The errors of these lines decide no exit status.
    """
    from gasmeter.checking import check, findings
    from gasmeter.checking.checked import met_sentence
    from gasmeter.machines.named import machine

    held = _hold(context, name, folder) if folder is not None else None
    modelled_machine = machine(name)
    checked, unused = (
        (check(modelled_machine), findings(modelled_machine.name)) if held is None else (held.checked, held.unused)
    )
    if form == "table":
        _print_summary(modelled_machine.label, held, met_sentence(checked))
        _print(checked, unused)
    elif form == "csv":
        from gasmeter.rows.formats import to_csv

        out(to_csv([entry.facts() for entry in checked], _COLUMNS))
        for finding in unused:
            note(_unused(finding))
    else:
        content = _content(modelled_machine.label, modelled_machine.digest, checked, unused)
        out(json.dumps({**content, **({"curves": held.summary()} if held else {})}, indent=1, ensure_ascii=False))
    if held is not None and folder is not None:
        _print_curves(held, folder / "index.html", out if form == "table" else note)
    return 0 if all(entry.holds for entry in checked) else 1


def _hold(context: click.Context, name: str, folder: Path) -> Held:
    from gasmeter.checking import hold
    from gasmeter.checking.writing import write_held
    from gasmeter.cli.progress import showing_progress

    with showing_progress() as progress:
        held = hold(name, folder, progress=progress, origin=options_with_origin(context))
    write_held(held, folder)
    return held


def _print_curves(held: Held, page: Path, say: Callable[[str], None]) -> None:
    from gasmeter.checking.writing import KINDS, error_text, sentences
    from gasmeter.rendering.terminal import table_text
    from gasmeter.units import format_bytes

    shown = [laid for laid in held.laid if laid.points]
    if shown and say is out:
        lines = []
        for one in shown:
            cells = (
                one.curve.id, one.line.label, KINDS[one.line.kind], str(len(one.points)), error_text(one.median),
                error_text(one.largest.error), format_bytes(one.largest.size),
                "" if one.line.kind == "equals" else str(len(one.beyond)),
            )  # fmt: skip
            lines.append(cells)
        title = "Modelled lines over published curves"
        say("\n" + table_text(_CURVE_HEADS, lines, title=title, whole=_CURVE_NUMBERS))
    for line in sentences(held)[1:] if say is note else ():
        say(line)
    for curve in held.curves.beside(held.machine) if shown else ():
        say(f"published only: {curve.id}: no machine has its processor, {curve.processor}")
    for one in held.laid:
        if inputs := one.curve.inputs(held.machine):
            say(f"no test: {one.curve.id}: its text is where {', '.join(inputs)} of the machine comes from")
        if one.missing:
            say(f"not run: {one.line.label} at {', '.join(map(format_bytes, one.missing))}: the machine refuses it")
    say(str(page))


def _content(label: str, digest: str, checked: list[Checked], unused: list[Finding]) -> dict[str, Any]:
    from gasmeter.machines.checks import checks_digest

    return {
        "machine": label,
        "digest": digest,
        "checks_digest": checks_digest(),
        "checks": [entry.facts() for entry in checked],
        "unused": [
            {"hardware": entry.fact.id, "parameter": entry.fact.parameter, "value": entry.fact.value,
             "unit": entry.fact.unit, "source": entry.fact.source, "why": entry.why}
            for entry in unused
        ],
    }  # fmt: skip


def _print_summary(label: str, held: Held | None, met: str) -> None:
    """Print both results first: a machine may meet every check row and miss every curve."""
    from gasmeter.rendering.terminal import lines_of

    if held is None:
        parts = [met]
    else:
        from gasmeter.checking.writing import sentences

        parts = sentences(held)
    out(lines_of(f"machine {label}: {' '.join(parts)}") + "\n")


def _print(checked: list[Checked], unused: list[Finding]) -> None:
    from gasmeter.rendering.terminal import coloured, folded, lines_of, table_text
    from gasmeter.rows.table import title_line

    lines = []
    for entry in checked:
        row = entry.check.fact
        cells = [
            row.id, row.confidence, f"{_SAYS[entry.check.kind]}{row.value} {row.unit}", f"{entry.shown:.4g} {row.unit}",
            f"{entry.ratio:.3f}", "in" if entry.holds else "OUT",
        ]  # fmt: skip
        lines.append(cells)
    common, heads, lines = folded(_HEADS, lines, {"confidence": "{} confidence"}, {*_HEADS} - {"confidence"})
    title = title_line("Check rows", [f"published with {words}" for words in common])
    out(table_text(heads, lines, title=title, whole=_NUMBERS, verdicts={_HEADS[-1]}, colour=coloured()))
    out("ratio of a range: over its geometric middle\n")
    for entry in checked:
        out(lines_of(f"source: {entry.check.hardware}: {entry.check.fact.source}"))
    for finding in unused:
        out(lines_of(_unused(finding)))


def _unused(finding: Finding) -> str:
    fact = finding.fact
    value = f"{fact.value} {fact.unit}".strip()
    return f"unused: {fact.id}: {fact.parameter} {value} ({finding.why or 'nobody says why'})"
