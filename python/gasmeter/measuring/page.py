"""report.html of a run: results in sentences, facts that all rows share, pictures and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gasmeter.arguments.sizes import format_size
from gasmeter.measuring import context
from gasmeter.measuring.host import TRAITS
from gasmeter.measuring.self_overhead import self_overhead_line
from gasmeter.measuring.summary import SPEED_HEADS, digest, links_section, speed_lines
from gasmeter.plots.lean import data_uri, lean
from gasmeter.rendering.pages import render
from gasmeter.rendering.terminal import folded
from gasmeter.rows.back_pressure import WORST_HEADS
from gasmeter.rows.jumps import jump_lines
from gasmeter.rows.record import Row
from gasmeter.rows.state import GOOD, states_line
from gasmeter.rows.table import WORDS, title_line
from gasmeter.rows.verified import Verified
from gasmeter.stores.builds import build_text, builds_of
from gasmeter.stores.moved import MOVED_HEADS, moved_lines
from gasmeter.stores.portable import portable
from gasmeter.stores.result import Result
from gasmeter.sweeps.experiment import Experiment
from gasmeter.units import format_bytes

__all__ = ["run_html"]

_CONSTANT = (
    "kind", "kernel", "op", "variant", "conduit", "network", "machine", "topology", "placement", "nodes", "ranks",
    "size_bytes", "options", "semantics",
)  # fmt: skip
_NUMBERS = frozenset(
    {
        "ranks",
        "size",
        "median",
        "overhead",
        "95 % interval",
        "limit",
        "packets",
        "busy",
        "blocked",
        "longest wait",
        "as it is",
        "ratio",
    }
)
_KEPT = frozenset({"metric", "median", "state"})


@dataclass(frozen=True)
class _Section:
    """A heading of the page and the content below it."""

    id: str
    title: str
    says: str = ""
    heads: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()
    texts: Sequence[str] = ()
    pictures: Sequence[Mapping[str, str]] = ()
    facts: Sequence[tuple[str, Any]] = ()
    numbers: frozenset[str] = field(default=_NUMBERS)


def run_html(experiment: Experiment, result: Result, pictures: Sequence[Path], folder: Path) -> str:
    """Return the page of a run: HTML with embedded vector pictures, no scripts and no path above `folder`."""
    moves = portable([list(line) for line in moved_lines(result)], folder)
    return render(
        "gasmeter.measuring", "run.html.j2", title=experiment.title or experiment.name, question=experiment.question,
        complete=result.complete, sentences=_sentences(experiment, result, moves),
        constants=portable(_constants(result.rows), folder),
        sections=_sections(experiment, result, moves, pictures, folder),
    )  # fmt: skip


def _sentences(experiment: Experiment, result: Result, moves: Sequence[Sequence[str]]) -> list[str]:
    kinds = Counter({row["run_id"]: row["kind"] for row in result.rows}.values())
    if not kinds:
        return ["Nothing was measured."]
    several = kinds.total() != 1
    sentences = [f"{kinds.total()} point{'s' * several}: {' and '.join(f'{n} {kind}' for kind, n in kinds.items())}."]
    if reached := Counter(line[-1] for line in speed_lines(experiment, result)):
        sentences.append(
            f"{reached.total()} figures have a limit: {reached['yes']} reach it, {reached['no']} do not"
            + (f", {left} are undecided." if (left := reached.total() - reached["yes"] - reached["no"]) else ".")
        )
    sentences.append(_data(result))
    if not {row["state"] for row in result.rows} <= {"", GOOD}:
        sentences.append(f"{states_line(row['state'] for row in result.rows)}.")
    return [*sentences, *_most_moved(moves)]


def _most_moved(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the largest effect of all what-ifs in a sentence; empty if none moved anything."""
    for what, kernel, conduit, _, size, metric, before, after, ratio, effect, _ in lines[:1]:
        if effect != "unmoved":
            where = conduit if size == "-" else f"{conduit}, {size}"
            return [f"The largest effect is that of {what}: {metric} of {kernel} ({where}) is {after} in place of"
                    f" {before}, a ratio of {ratio} ({effect})."]  # fmt: skip
    return []


def _data(result: Result) -> str:
    """Return whether the data of the points verified, in a sentence."""
    stated = {row["run_id"]: row["verified"] for row in result.rows}
    if result.errors:
        return f"Wrong data: {len(result.errors)} of the points did not verify."
    unchecked = sum(verdict is Verified.NOT_CHECKED for verdict in stated.values())
    if unchecked:
        return f"Data verified for {len(stated) - unchecked} points; not checked for {unchecked}."
    return "The data of all points verified."


def _constants(rows: Sequence[Row]) -> list[list[str]]:
    """Return the facts that all rows share."""
    facts = []
    for name in _CONSTANT:
        values = {row[name] for row in rows}
        value = next(iter(values)) if len(values) == 1 else ""
        if value in ("", 0):
            continue
        text = format_size(int(value)) if name == "size_bytes" else str(value).replace(";", " ")
        facts.append([name.removesuffix("_bytes"), text])
    return facts


def _sections(
    experiment: Experiment, result: Result, moves: Sequence[Sequence[str]], pictures: Sequence[Path], folder: Path
) -> list[_Section]:
    facts = context.host_facts()
    shown = [
        {"title": path.stem.replace("_", " "), "data": data_uri(lean(path.read_bytes()))}
        for path in pictures
        if path.suffix == ".svg"
    ]
    common, heads, lines = folded(*digest(result), WORDS, _KEPT) if result.rows else ([], [], [])
    short = [*filter(None, [title_line("", common)]), result.disturbance()] if result.rows else []
    provenance = [("written", context.now()), *(("gasmeter", build_text(build)) for build in builds_of(result.records))]
    notes = [
        (name.replace("_", " "), _text(name, facts[name]))
        for name in facts
        if name != "load" and facts[name] is not None
    ]
    title, waited, sentence = links_section(result) or ("", [], "")
    overhead_line = self_overhead_line(result.records, result.runs)
    sections = [
        _Section("limits", "Results against limits", "Ratio of paired blocks, or their difference in rows with a unit.",
                 SPEED_HEADS, speed_lines(experiment, result)),
        _Section("pictures", "Pictures", pictures=shown),
        _Section("moved", "Effects of what-ifs",
                 "Each what-if against the unchanged machine, the largest effect first.", MOVED_HEADS, moves),
        _Section("jumps", "Jumps", texts=portable(jump_lines(result.bisected), folder)),
        _Section("short", "In short", f"{' · '.join(portable(short, folder))}. Every row: results.csv.", heads,
                 portable(lines, folder), texts=[overhead_line] if overhead_line else []),
        _Section("links", "Links", title, WORST_HEADS, portable(waited, folder), texts=[sentence] if sentence else []),
        _Section("errors", "Not verified", texts=portable(result.errors, folder)),
        _Section("notes", "Notes", texts=portable(result.notes, folder)),
        _Section("made-of", "Sources of this page", facts=[*provenance, *notes]),
    ]  # fmt: skip
    return [section for section in sections if section.lines or section.texts or section.pictures or section.facts]


def _text(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return format_bytes(int(value))
    if trait := next((each for each in TRAITS if each.key == name), None):
        return trait.shown(value)
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
