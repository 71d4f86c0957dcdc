"""`gasmeter import`: another tool's output as a store."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from gasmeter.arguments.choices import IMPORT_FORMATS
from gasmeter.cli.common import DATE, FOLDER, SIZE, Choice, Count, note, option, out

__all__ = ["import_command"]

_MOST_LINES = 20

_EXAMPLES = """\b
Examples:
  gasmeter import osu osu_latency.txt --out history/2026-11-21-osu --host node17
  gasmeter import perftest write_lat.txt --out out/verbs --conduit raw@mlx5_0
"""


@click.command("import", epilog=_EXAMPLES)
@click.argument("form", metavar="FORMAT", type=Choice(IMPORT_FORMATS))
@click.argument("file", type=click.Path(path_type=Path))
@option(
    "--out",
    "folder",
    required=True,
    type=FOLDER,
    metavar="STORE",
    help="Folder to write.",
)
@option("--conduit", default="", metavar="C", help="What it ran on.  [default: as the format says, e.g. raw@mpi]")
@option("--ranks", type=Count(1), default=None, show_default="2", metavar="N", help="Ranks, where FILE does not say.")
@option("--op", default="", metavar="NAME", help="Benchmark, where FILE does not name it.")
@option("--size", type=SIZE, default=None, metavar="BYTES", help="Payload, e.g. 64 or 4K, where FILE does not say.")
@option("--host", default="", metavar="NAME", help="Machine on which it ran.")
@option("--date", type=DATE, default="", metavar="DATE", help="When, ISO 8601, by default in UTC.  [default: now]")
@option("--revision", default="", metavar="REV", help="What was measured, e.g. a commit.")
def import_command(*, form: str, file: Path, folder: Path, **stated: Any) -> None:
    """Turn the output of another benchmark into a store.

    FORMAT is osu (also `gasmeter measure --format osu`), imb, perftest, ucx_perftest, gasnet (testsmall, testlarge),
    nccl-tests (also rccl-tests), netpipe (its np.out), fabtests (also fi_pingpong) or sockperf. Rows are of kind
    measured; their kernel and label are the tool, their semantics its own words. Their data are verified if the tool
    says so, not checked if it says nothing. The command names all content of FILE that the store lacks.
    """
    from gasmeter.exchange import import_results

    result = import_results(form, file, folder, **stated)
    notes = [*result.notes[1:], *result.errors]
    for line in notes[:_MOST_LINES]:
        note(line)
    if len(notes) > _MOST_LINES:
        note(f"{len(notes) - _MOST_LINES} more such lines stand in {folder / 'run.json'}")
    rows = result.rows
    counted = {
        "without a value": sum(math.isnan(row["value"]) for row in rows),
        "not verified": sum(str(row["verified"]).lower() == "false" for row in rows),
    }
    besides = "".join(f", {number} {what}" for what, number in counted.items() if number)
    note(f"{len(rows)} rows, measured by {form}{besides}")
    out(str(folder))
