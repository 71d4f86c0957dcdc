"""`gasmeter doctor`: what runs here, what to install for what does not, and which rules each conduit keeps."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from gasmeter.cli.common import note, option, out

if TYPE_CHECKING:
    from gasmeter.diagnosis.conformance import Counts, Suite
    from gasmeter.diagnosis.doctor import Finding

__all__ = ["doctor"]

_MARK = {"ok": "ok", "warning": "note", "missing": "MISSING"}
_SUMMARY_AT = 28
_EXAMPLES = """\b
Examples:
  gasmeter doctor
  gasmeter doctor --conformance
  gasmeter doctor --conformance --conduit smp,mpi --json
"""


@click.command(epilog=_EXAMPLES)
@option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print an array of {name, summary, state, value, unit, remedy}; with --conformance an object.",
)
@option(
    "--conformance", is_flag=True,
    help="Run the rules of GASNet-EX on every conduit instead (minutes), and list each group: runs that passed, failed,"
    " were skipped. Exit status 1 if one failed, 3 if the program gasmeter-conformance is missing.",
)  # fmt: skip
@option(
    "--conduit", "conduits", default="own", show_default=True, metavar="C[,C…]",
    help="Conduits of --conformance; own: those of a network of their own; all: CONDUIT@NETWORK, too.",
)  # fmt: skip
def doctor(*, as_json: bool, conformance: bool, conduits: str) -> int:
    """Show what runs on this machine: conduits, workers, memory, cores, clock, core-to-core probe, limits, versions.

    For each missing thing the package to install is named. Exit status 3 if something is missing that measuring needs.
    """
    if conformance:
        return _conformance(conduits, as_json=as_json)
    from gasmeter.diagnosis.doctor import examine
    from gasmeter.rendering.terminal import coloured
    from gasmeter.rows.formats import json_value

    findings = examine()
    if as_json:
        out(json.dumps([json_value(finding.as_dict()) for finding in findings], indent=1))
    else:
        for finding in findings:
            out(_line(finding, colour=coloured()))
    return 3 if any(finding.state == "missing" and finding.needed for finding in findings) else 0


def _line(finding: Finding, *, colour: bool) -> str:
    from gasmeter.rendering.terminal import painted, wrapped

    mark = _MARK[finding.state]
    remedy = f"; {finding.remedy}" if finding.remedy else ""
    text = wrapped(f"{mark:<8} {finding.name:<18} {finding.summary}{remedy}", _SUMMARY_AT)
    return painted(mark, colour=colour) + text.removeprefix(mark)


def _conformance(conduits: str, *, as_json: bool) -> int:
    from gasmeter.diagnosis.conformance import conformance_program, run_suite

    wanted = {"own": None, "all": ()}.get(conduits, tuple(filter(None, map(str.strip, conduits.split(",")))))
    suite = run_suite(conformance_program(), wanted, progress=lambda name: note(f"{name} …"))
    shown = wanted or tuple(dict.fromkeys(family.conduit for family in suite.families))
    if as_json:
        out(json.dumps(_as_dict(suite, shown), indent=1))
    else:
        out(_table(suite, shown))
    for broken in suite.broken:
        note(f"FAILED {broken.family}, {broken.job or 'on its way'}: {broken.case or 'unknown case'}")
        for line in broken.said[:8]:
            note(f"    {line}")
    return 1 if suite.failed else 0


def _table(suite: Suite, conduits: tuple[str, ...]) -> str:
    from gasmeter.diagnosis.conformance import Counts
    from gasmeter.rendering.terminal import coloured, lines_of, painted, table_text

    build = suite.build
    title = f"{suite.program} {build['version']} ({build['compiler']}, {build['build_type'] or 'no build type'})"
    cells: list[list[str]] = []
    totals = dict.fromkeys(conduits, Counts())
    for group in suite.groups:
        row = {conduit: suite.counts(group, conduit) for conduit in conduits}
        totals = {conduit: totals[conduit] + counts for conduit, counts in row.items()}
        cells.append([group, *map(_cell, row.values())])
    cells.append(["all", *map(_cell, totals.values())])
    table = table_text(["rules", *conduits], cells, title=title, rule_before_last=True)
    lines = [
        f"{conduit}: "
        + "; ".join(
            f"{family.name} ({len(family.jobs)} kinds of job, {family.seconds:.1f} s)"
            for family in suite.families
            if family.conduit == conduit
        )
        for conduit in conduits
    ]
    checked = (
        "a checked build: misuse is diagnosed, and that was tested"
        if suite.checked
        else "not a checked build (NDEBUG): what diagnoses misuse is not compiled in, its rules are skipped"
    )
    outcome = "FAILED" if suite.failed else "passed"
    below = map(lines_of, [*lines, *suite.notes, checked])
    return table + "\n".join([*below, painted(outcome, colour=coloured())])


def _cell(counts: Counts) -> str:
    parts = [str(counts.passed)] if counts.passed else []
    parts += [f"{counts.failed} FAILED"] if counts.failed else []
    parts += [f"{counts.skipped} skipped"] if counts.skipped else []
    return ", ".join(parts) or "-"


def _as_dict(suite: Suite, conduits: tuple[str, ...]) -> dict[str, Any]:
    return {
        "program": str(suite.program),
        "build": suite.build,
        "failed": suite.failed,
        "groups": [
            {
                "group": group,
                "cases": sum(other == group for other in suite.cases.values()),
                "conduits": {conduit: dataclasses.asdict(suite.counts(group, conduit)) for conduit in conduits},
            }
            for group in suite.groups
        ],
        "families": [dataclasses.asdict(family) for family in suite.families],
        "failures": [dataclasses.asdict(broken) for broken in suite.broken],
        "notes": suite.notes,
    }
