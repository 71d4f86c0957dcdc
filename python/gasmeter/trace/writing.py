"""Traces as tables, as rows, and as Chrome's trace events, which Perfetto reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gasmeter.rendering.terminal import lines_of, table_text
from gasmeter.rows.pictures import made_facts
from gasmeter.stores.files import refused
from gasmeter.trace.steps import Step, Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TRACE_FILES", "chrome_events", "steps_frame", "sums_table", "trace_table", "write_traces"]

TRACE_FILES = ("steps.csv", "trace.json", "table.txt", "steps.svg", "steps.png")
"""Files of `write_traces`."""


def steps_frame(traces: Sequence[Trace]) -> pd.DataFrame:
    """Return every step of every operation, with times in ps since the block began; operations count from 0."""
    import pandas as pd  # noqa: PLC0415 - who only names a wrong input waits for none of it

    rows = [
        (trace.title, trace.conduit, trace.kind, trace.size_bytes, number, step.phase, step.name, step.where,
         step.begin_ps, step.end_ps, step.ps)
        for trace in traces
        for number, operation in enumerate(trace.operations)
        for step in operation.steps
    ]  # fmt: skip
    names = [
        "point",
        "conduit",
        "kind",
        "size_bytes",
        "operation",
        "phase",
        "step",
        "where",
        "begin_ps",
        "end_ps",
        "ps",
    ]
    return pd.DataFrame(rows, columns=pd.Index(names))


def _ns(ps: float) -> str:
    return f"{ps / 1000:.3f}".rstrip("0").rstrip(".")


def sums_table(trace: Trace) -> str:
    """Return a table of the median operation's phases, in the order they begin, and of the steps in each."""
    shown = trace.shown
    phases: dict[str, dict[str, list[Step]]] = {}
    for step in shown.steps:
        phases.setdefault(step.phase, {}).setdefault(step.name, []).append(step)
    lines = []
    for phase, names in phases.items():
        lines.append([phase, "", *_summed([step for steps in names.values() for step in steps], shown.ps)])
        lines += [["", name, *_summed(steps, shown.ps)] for name, steps in names.items()]
    heads = ("phase", "step", "where", "times", "takes ns", "%")
    title = f"{trace.title} ({trace.kind})"
    return table_text(heads, lines, title=title, whole=heads[3:]) + lines_of(_sum_line(trace))


def _summed(steps: Sequence[Step], whole: int) -> list[str]:
    places = list(dict.fromkeys(step.where for step in steps))
    where = places[0] if len(places) == 1 else f"{len(places)} places"
    taken = sum(step.ps for step in steps)
    return [where, str(len(steps)), _ns(taken), f"{100 * taken / whole:.1f}"]


def trace_table(trace: Trace) -> str:
    """Return the steps of the operation of median length as text, a line each, and their sum."""
    shown = trace.shown
    rows = [
        (
            step.phase,
            step.name,
            step.where,
            _ns(step.begin_ps - shown.begin_ps),
            _ns(step.ps),
            f"{100 * step.ps / shown.ps:.1f}",
        )
        for step in shown.steps
    ]
    header = ("phase", "step", "where", "at ns", "takes ns", "%")
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]

    def line(row: tuple[str, ...]) -> str:
        cells = [
            text.ljust(width) if place < 3 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  " + "  ".join(cells).rstrip()

    lines = [f"{trace.title} ({trace.kind})", line(header), *(line(row) for row in rows)]
    return "\n".join([*lines, _sum_line(trace)])


def _sum_line(trace: Trace) -> str:
    shown = trace.shown
    total = sum(step.ps for step in shown.steps)
    spans = sorted(operation.ps for operation in trace.operations)
    text = f"  sum of the steps {_ns(total)} ns = the operation's {_ns(shown.ps)} ns"
    if len(spans) > 1:
        text += f"; median of {len(spans)}, {_ns(spans[0])} to {_ns(spans[-1])} ns"
    if trace.cost_ps:
        text += f"; writing a step down costs {_ns(trace.cost_ps)} ns, which stands in the steps"
    return text


def chrome_events(traces: Sequence[Trace]) -> dict[str, Any]:
    """Return traces in Chrome's Trace Event Format, for ui.perfetto.dev or chrome://tracing.

    Each point is a process whose threads are ranks, nodes and links. ``ts`` and ``dur`` are in microseconds, as the
    format requires; ``args`` hold the exact picoseconds.
    """
    events: list[dict[str, Any]] = []
    for process, trace in enumerate(traces, start=1):
        places = dict.fromkeys(step.where for operation in trace.operations for step in operation.steps)
        threads = {"operations": 1, **{where: number for number, where in enumerate(sorted(places), start=2)}}
        events.append(_metadata("process_name", process, 0, f"{trace.title} ({trace.kind})"))
        events += [_metadata("thread_name", process, thread, where) for where, thread in threads.items()]
        for number, operation in enumerate(trace.operations):
            args: dict[str, Any] = {"operation": number, "begin_ps": operation.begin_ps, "end_ps": operation.end_ps}
            events.append(_event(f"operation {number}", "operation", (process, 1), args))
            for step in operation.steps:
                args = {"operation": number, "phase": step.phase, "begin_ps": step.begin_ps, "end_ps": step.end_ps}
                events.append(_event(step.name, step.phase, (process, threads[step.where]), args))
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _metadata(name: str, process: int, thread: int, text: str) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": process, "tid": thread, "ts": 0, "args": {"name": text}}


def _event(name: str, category: str, place: tuple[int, int], args: dict[str, Any]) -> dict[str, Any]:
    begin, end = args["begin_ps"], args["end_ps"]
    return {
        "name": name, "cat": category, "ph": "X", "pid": place[0], "tid": place[1], "ts": begin / 1e6,
        "dur": (end - begin) / 1e6, "args": args,
    }  # fmt: skip


def write_traces(traces: Sequence[Trace], folder: Path) -> list[Path]:
    """Write steps.csv, trace.json (Chrome's format), table.txt, steps.svg and steps.png; return the files.

    Raises UsageError if the folder cannot be written.
    """
    from gasmeter.plots.style import styled  # noqa: PLC0415 - loads matplotlib
    from gasmeter.trace.drawing import draw_steps  # noqa: PLC0415 - loads matplotlib

    paths = [folder / name for name in TRACE_FILES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        steps_frame(traces).to_csv(paths[0], index=False, lineterminator="\n")
        paths[1].write_text(json.dumps(chrome_events(traces)) + "\n", encoding="utf-8")
        paths[2].write_text("\n\n".join(trace_table(trace) for trace in traces) + "\n", encoding="utf-8")
        with styled():
            figure = draw_steps(traces)
        figure.facts = made_facts(_description(traces), paths[:1])
        for path in paths[3:]:
            path.write_bytes(figure.rendered(path.suffix.removeprefix(".")))
    except OSError as error:
        raise refused(folder, error) from error
    return paths


def _description(traces: Sequence[Trace]) -> str:
    """Return the description of a picture of traces, for its metadata."""
    kinds = " and ".join(sorted({trace.kind for trace in traces}))
    more = f" and {len(traces) - 1} more point{'s' * (len(traces) > 2)}" if len(traces) > 1 else ""
    return f"what one operation's time is made of, {kinds}: {traces[0].title}{more}"
