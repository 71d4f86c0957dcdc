"""`gasmeter trace`: one operation, step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gasmeter.cli.common import FOLDER, Choice, Count, note, option, out, point_options
from gasmeter.cli.completion import complete_kernels_or_ops

if TYPE_CHECKING:
    from gasmeter.trace import Trace

__all__ = ["trace_command"]

_FORMATS = ("table", "csv", "chrome")
_MOST = 10_000
_EXAMPLES = """\b
Examples:
  gasmeter trace put --conduit extoll --sizes 8,4K
  gasmeter trace am-medium --conduit ideal,extoll,ibv,udp@ethernet --sizes 8,512 --out out/steps
  gasmeter trace am-medium --conduit smp,udp --sizes 64 --iterations 200
  gasmeter trace put --conduit ibv --sizes 64K --format chrome > trace.json   # open in ui.perfetto.dev
"""


@click.command("trace", epilog=_EXAMPLES)
@click.argument("what", metavar="KERNEL|OP", shell_complete=complete_kernels_or_ops)
@point_options
@option(
    "--placement", default="", metavar="P",
    help="Node of each rank on a modelled topology: one-per-node, round-robin, fill or list:0,0."
    "  [default: one-per-node, round-robin where ranks outnumber nodes]",
)  # fmt: skip
@option(
    "--iterations", old=("--iters",), type=Count(1, _MOST), default=5, show_default=True, metavar="N",
    help="Operations of each point; tables show the one of median length.",
)  # fmt: skip
@option(
    "--out", "folder", type=FOLDER, default=None, metavar="DIR",
    help="Write steps.csv, trace.json (Chrome's format, for Perfetto), table.txt and bars by size, too.",
)  # fmt: skip
@option(
    "--format", "form", type=Choice(_FORMATS), default="table",
    show_default=True, help="Form of the output; chrome: trace events for Perfetto.",
)  # fmt: skip
@option("--long", is_flag=True, help="Show every step below the sums, in order (table).")
def trace_command(
    *, what: str, iterations: int, options: tuple[str, ...], folder: Path | None, form: str, long: bool, **settings: Any
) -> None:  # fmt: skip
    """Show how long each step takes in one operation of KERNEL, or of ping-pong's OP, from initiation to completion.

    In virtual time the steps sum to the operation's time to the picosecond. Steps are what ranks, interfaces and links
    did on the way that decided when the operation was done; the table sums them by phase and step. Real ranks take time
    stamps meanwhile, whose cost is in the steps and stated below. Kernels: ping-pong, am, barrier, fetch-add
    (latency).
    """
    from gasmeter.sweeps.names import parse_assignments
    from gasmeter.trace import TRACE_FILES, trace

    traces = trace(what, iterations=iterations, options=parse_assignments(options), out=folder, **settings)
    if folder is not None:
        for name in TRACE_FILES:
            note(str(folder / name))
    out(_render(traces, form, every=long))


def _render(traces: list[Trace], form: str, *, every: bool) -> str:
    from gasmeter.trace import chrome_events, steps_frame, sums_table, trace_table

    if form == "chrome":
        return json.dumps(chrome_events(traces))
    if form == "csv":
        return str(steps_frame(traces).to_csv(index=False, lineterminator="\n"))
    tables = ((sums_table(traced), *([trace_table(traced)] if every else [])) for traced in traces)
    return "\n\n".join(text for each in tables for text in each)
