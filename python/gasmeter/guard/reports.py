"""A judgement as text: a table for people, Markdown for a merge request, JUnit for a CI server, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

from gasmeter.arguments.sizes import format_size
from gasmeter.guard.judging import Finding, Judgement
from gasmeter.measuring.summary import markdown_table
from gasmeter.rendering.terminal import GAP, folded, lines_of, painted, table_text, width
from gasmeter.rows.formats import json_value
from gasmeter.rows.table import WORDS, title_line
from gasmeter.units import format_quantity

__all__ = ["REPORTS", "render_judgement"]

_HEADS = ("figure", "baseline", "new", "ratio", "95 % interval", "starts", "could see", "verdict", "remark")
_KEY_HEADS = (
    "kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size", "options", "metric",
)  # fmt: skip
_KEPT = frozenset({"baseline", "new", "ratio", "verdict"})
_NUMBERS = frozenset({"ranks", "size", "baseline", "new", "ratio", "95 % interval", "starts", "could see"})
_QUIET = frozenset({"same", "not significant"})
_MOST_QUIET = 40


def render_judgement(judgement: Judgement, form: str, *, colour: bool = False) -> str:
    """Return a judgement in one of the formats, ending in a newline; `colour` colours a table's verdicts."""
    return _table(judgement, colour=colour) if form == "table" else REPORTS[form](judgement)


def _sorted(judgement: Judgement) -> list[Finding]:
    """Return failures first, then other changes, then the rest, each in the order of the stores."""
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
    word = verdict.upper() if finding.failed else verdict
    return [finding.name(), *figures, ratio, interval, starts, sees, word, finding.note]


def _shown(judgement: Judgement) -> tuple[list[Finding], list[str]]:
    """Return the findings to show, and the text below them."""
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
    return shown, below


def _table(judgement: Judgement, *, colour: bool = False) -> str:
    findings, below = _shown(judgement)
    lines = [[*_key_cells(finding), *_cells(finding)[1:]] for finding in findings]
    common, heads, lines = folded([*_KEY_HEADS, *_HEADS[1:]], lines, {**WORDS, "starts": "starts {}"}, _KEPT)
    title = title_line(f"{judgement.new} against {judgement.baseline}", common)
    lines, remarks = _footnotes(heads, lines)
    below = [*remarks, *below]
    text = table_text(heads, lines, title=title, whole=_NUMBERS, verdicts={"verdict"}, colour=colour)
    last = painted(below[-1], colour=colour)
    return text + "\n".join([*map(lines_of, below[:-1]), last]) + "\n"


def _footnotes(heads: Sequence[str], lines: list[list[str]]) -> tuple[list[list[str]], list[str]]:
    """Move remarks below a table without room for them, each once."""
    longest = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    if _HEADS[-1] not in heads or sum(longest) + GAP * (len(heads) - 1) <= width():
        return lines, []
    remarks = list(dict.fromkeys(line[-1] for line in lines if line[-1]))
    marks = {text: f"({number})" for number, text in enumerate(remarks, 1)}
    return [[*line[:-1], marks.get(line[-1], "")] for line in lines], [f"{marks[text]} {text}" for text in remarks]


def _key_cells(finding: Finding) -> list[str]:
    """Return the identity of a value as columns of the table; other forms name it in one text."""
    key = finding.key
    size = format_size(key.size_bytes) if key.size_bytes else "-"
    op = key.op if key.op != key.kernel else ""
    where = (key.conduit, key.machine, key.topology, key.placement, str(key.ranks))
    return [key.kernel, op, key.variant, *where, size, key.options.replace(";", ", "), key.metric]


def _markdown(judgement: Judgement) -> str:
    findings, below = _shown(judgement)
    lines = [_cells(finding) for finding in findings]
    mark = "❌" if judgement.failed else "❔" if judgement.unsettled else "✅"
    head = f"### {mark} gasmeter: {judgement.summary()}\n\n`{judgement.new}` against `{judgement.baseline}`\n\n"
    return head + markdown_table(_HEADS, lines) + "\n" + "\n".join(f"- {line}" for line in below[:-1]) + "\n"


def _junit(judgement: Judgement) -> str:
    failures = sum(finding.failed for finding in judgement.findings)
    undecided = sum(finding.verdict == "undecided" for finding in judgement.findings)
    suite = ET.Element(
        "testsuite", name="gasmeter check", tests=str(len(judgement.findings)), failures=str(failures),
        errors="0", skipped=str(undecided),
    )  # fmt: skip
    for finding in judgement.findings:
        case = ET.SubElement(suite, "testcase", classname=f"gasmeter.{finding.key.kernel}", name=finding.name())
        text = _sentence(finding)
        if finding.failed:
            ET.SubElement(case, "failure", message=text, type=finding.verdict).text = text
        elif finding.verdict == "undecided":
            ET.SubElement(case, "skipped", message=text)
        else:
            ET.SubElement(case, "system-out").text = text
    if judgement.notes:
        ET.SubElement(suite, "system-out").text = "\n".join(judgement.notes)
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
