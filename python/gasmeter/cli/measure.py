"""`gasmeter measure`: one kernel, one table."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.arguments.choices import FORMATS, MOST_ITERATIONS
from gasmeter.cli.common import (
    DURATION,
    FOLDER,
    SHARE,
    Choice,
    Count,
    note,
    option,
    options_with_origin,
    out,
    point_options,
    show,
)  # fmt: skip
from gasmeter.cli.completion import complete_conduits, complete_kernels
from gasmeter.cli.links import links_text

__all__ = ["measure"]


_EXAMPLES = """\b
Examples:
  gasmeter measure ping-pong --conduit smp --op put --sizes 8:4M --against raw@shm
  gasmeter measure random-access --conduit smp --variant all --ranks 1,2 --sizes 32M
"""


@click.command(epilog=_EXAMPLES)
@click.argument("kernel", shell_complete=complete_kernels)
@point_options
@option(
    "--placement", default="", metavar="P[,P…]",
    help="Node of each rank on a modelled topology: one-per-node, round-robin, fill (consecutive ranks share a node),"
    " or list:0,0,3,1.  [default: one-per-node, round-robin where ranks outnumber nodes]",
)  # fmt: skip
@option(
    "--against",
    default=None,
    metavar="C2",
    shell_complete=complete_conduits,
    help="Compare with this conduit in alternating blocks; adds overhead rows.",
)
@option(
    "--bisect", type=SHARE, default=None, metavar="SHARE",
    help="Where a curve over sizes jumps by more than this share (20%), measure between them until the byte is found.",
)  # fmt: skip
@option(
    "--iterations",
    old=("--iters",),
    type=Count(1, MOST_ITERATIONS),
    default=None,
    metavar="N",
    help="Operations per block.  [default: about 2 ms worth]",
)
@option(
    "--ci", type=SHARE, default=None, metavar="SHARE",
    help="Measure until half the 95 % interval is below this share of the median, e.g. 2%.",
)  # fmt: skip
@option(
    "--time",
    type=DURATION,
    default="0.4s",
    show_default=True,
    metavar="T",
    help="Time per point without --ci (us, ms, s, m).",
)
@option(
    "--max-time",
    type=DURATION,
    default="30s",
    show_default=True,
    metavar="T",
    help="Longest time per point (us, ms, s, m); what does not end in it is refused in virtual time, else ended.",
)
@option(
    "--format",
    "form",
    type=Choice(FORMATS),
    default="table",
    show_default=True,
    help="Form of the output.",
)
@option("--long", is_flag=True, help="Show the 99th percentile and what an operation's end means, too (table).")
@option(
    "--out", "folder", type=FOLDER, default=None, metavar="DIR",
    help="Write rows, samples, plots and summary to a folder, too, as `gasmeter run` does.",
)  # fmt: skip
@option(
    "--counters",
    is_flag=True,
    help="Show what conduits and modelled devices counted, too: messages, datagrams, stalls, …, and which links of a"
    " modelled network held packets up.",
)
@click.pass_context
def measure(
    context: click.Context, *, kernel: str, conduit: str, op: str, sizes: tuple[int, ...] | None,
    ranks: tuple[int, ...], variant: str, options: tuple[str, ...],
    machine: str, topology: str, placement: str, against: str | None, bisect: float | None,
    iterations: int | None, ci: float | None, time: float, max_time: float, seed: int, form: str, long: bool,
    folder: Path | None, counters: bool,
) -> int:  # fmt: skip
    """Measure KERNEL on a conduit and print one table.

    The table gives the median of the blocks and its 95 % interval; facts that all rows share stand above it. With csv
    and json nothing else is written to standard output (counters go to standard error). Kernels are listed by `gasmeter
    list kernels`.

    A point that cannot be measured is left out and named; the exit status then is 2, or 3 where this computer lacks
    something. Status 1: data were wrong.
    """
    from gasmeter.cli.progress import showing_progress
    from gasmeter.measuring.execution import Run, execute
    from gasmeter.measuring.measurement import measurement
    from gasmeter.sweeps.names import parse_assignments

    experiment = measurement(
        kernel, conduit=conduit, op=op, sizes=sizes, ranks=ranks, variant=variant, options=parse_assignments(options),
        against=against, bisect=bisect, ci=ci, iterations=iterations, max_time=max_time, time=time, seed=seed,
        machine=machine, topology=topology, placement=placement,
    )  # fmt: skip
    with showing_progress() as progress:
        origin = options_with_origin(context)
        result = execute(experiment, Run(progress=progress, out=folder, origin=origin, unstored=True))
    status = show(result, form, title=experiment.title, every=long)
    if folder is not None and result.unstored is None:
        note(f"{folder}: results.csv, samples.parquet, summary.md, run.json, plots")
    if counters:
        from gasmeter.rows.table import counters_table

        show_text = out if form == "table" else note
        show_text(counters_table(result.counter_rows()))
        if result.link_tables():
            show_text(links_text(result))
    if result.unstored is not None:
        raise result.unstored
    return status
