"""A judgement as text: a table for people, Markdown for a merge request, JUnit for a CI server, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable

from rich import box
from rich.table import Table
from rich.text import Text

from gasmeter.guard.judging import Finding, Judgement
from gasmeter.measuring.summary import markdown_table
from gasmeter.rows.formats import json_value, render_table
from gasmeter.units import format_quantity

__all__ = ["REPORTS", "render_judgement"]

_HEADS = ("figure", "baseline", "new", "ratio", "95 % interval", "starts", "could see", "verdict", "remark")
_QUIET = frozenset({"same", "not significant"})
_MOST_QUIET = 40


def render_judgement(judgement: Judgement, form: str) -> str:
    """Return a judgement in one of the formats.

    Parameters
    ----------
    judgement : Judgement
        What a check found.
    form : {"table", "markdown", "junit", "json"}
        The format.

    Returns
    -------
    str
        Ends in a newline.
    """
    return REPORTS[form](judgement)


def _sorted(judgement: Judgement) -> list[Finding]:
    """Failures first, then what changed, then the rest, each in the order of the stores."""
    return sorted(judgement.findings, key=lambda finding: (not finding.failed, finding.verdict in _QUIET))


def _cells(finding: Finding) -> list[str]:
    comparison = finding.comparison
    ratio = interval = starts = sees = "-"
    if comparison is not None and math.isfinite(comparison.ratio):
        ratio = f"{comparison.ratio:.4f}"
        starts = " + ".join(map(str, comparison.starts))
        if math.isfinite(comparison.low):
            interval = f"{comparison.low:.4f} … {comparison.high:.4f}"
        if math.isfinite(comparison.sees):
            sees = f"{comparison.sees * 100:.1f} %"
    verdict = comparison.words() if comparison is not None else finding.verdict
    figures = [format_quantity(value, finding.unit, finding.key.metric) for value in (finding.before, finding.after)]
    told = verdict.upper() if finding.failed else verdict
    return [finding.name(), *figures, ratio, interval, starts, sees, told, finding.note]


def _lines(judgement: Judgement) -> tuple[list[list[str]], list[str]]:
    """Cells of the findings that are shown, and what is said below them."""
    findings = _sorted(judgement)
    quiet = [finding for finding in findings if finding.verdict in _QUIET]
    hidden = len(quiet) - _MOST_QUIET
    shown = [finding for finding in findings if finding.verdict not in _QUIET] + quiet[:_MOST_QUIET]
    below = [f"{hidden} more figures, all unchanged"] if hidden > 0 else []
    below += [
        "ratio: above 1 is worse; starts: process starts of either build; could see: the least change for the worse"
        " that would have been found nine times in ten",
        *judgement.notes,
        judgement.summary(),
    ]
    return [_cells(finding) for finding in shown], below


def _table(judgement: Judgement) -> str:
    lines, below = _lines(judgement)
    table = Table(
        box=box.SIMPLE_HEAD, title=f"{judgement.new} against {judgement.baseline}", title_justify="left", pad_edge=False
    )
    for head in _HEADS:
        table.add_column(head, justify="right" if head in {"baseline", "new", "ratio"} else "left")
    for line in lines:
        table.add_row(*map(Text, line))
    return render_table(table) + "\n".join(below) + "\n"


def _markdown(judgement: Judgement) -> str:
    lines, below = _lines(judgement)
    mark = {0: "✅", 1: "❌"}.get(judgement.status, "❔")
    head = f"### {mark} gasmeter: {judgement.summary()}\n\n`{judgement.new}` against `{judgement.baseline}`\n\n"
    return head + markdown_table(_HEADS, lines) + "\n" + "\n".join(f"- {line}" for line in below[:-1]) + "\n"


def _junit(judgement: Judgement) -> str:
    failures = sum(finding.failed for finding in judgement.findings)
    undecided = sum(finding.verdict == "undecided" for finding in judgement.findings)
    errors, skipped = (undecided, 0) if judgement.unsettled else (0, undecided)
    suite = ET.Element(
        "testsuite", name="gasmeter check", tests=str(len(judgement.findings)), failures=str(failures),
        errors=str(errors), skipped=str(skipped),
    )  # fmt: skip
    for finding in judgement.findings:
        case = ET.SubElement(suite, "testcase", classname=f"gasmeter.{finding.key.kernel}", name=finding.name())
        text = _sentence(finding)
        if finding.failed:
            ET.SubElement(case, "failure", message=text, type=finding.verdict).text = text
        elif finding.verdict == "undecided":
            ET.SubElement(case, "error" if judgement.unsettled else "skipped", message=text)
        else:
            ET.SubElement(case, "system-out").text = text
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _sentence(finding: Finding) -> str:
    _, before, after, _, interval, starts, sees, verdict, note = _cells(finding)
    text = f"{verdict.lower()}: {before}, now {after}"
    text += f"; ratio {interval} (95 %), {starts} process starts" if interval != "-" else ""
    text += f"; could have seen {sees}" if sees != "-" else ""
    return f"{text}; {note}" if note else text


def _json(judgement: Judgement) -> str:
    findings = [
        {
            **dataclasses.asdict(finding.key),
            "name": finding.name(),
            "verdict": finding.verdict,
            "failed": finding.failed,
            "unit": finding.unit,
            "before": finding.before,
            "after": finding.after,
            "comparison": dataclasses.asdict(finding.comparison) if finding.comparison is not None else None,
            "note": finding.note,
        }
        for finding in judgement.findings
    ]
    whole = {
        "baseline": judgement.baseline,
        "new": judgement.new,
        "failed": judgement.failed,
        "unsettled": judgement.unsettled,
        "status": judgement.status,
        "summary": judgement.summary(),
        "notes": list(judgement.notes),
        "findings": findings,
    }
    return json.dumps(json_value(whole), indent=1) + "\n"


REPORTS: dict[str, Callable[[Judgement], str]] = {
    "table": _table,
    "markdown": _markdown,
    "junit": _junit,
    "json": _json,
}
"""By the name of the format."""
