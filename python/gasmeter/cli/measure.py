"""`gasmeter measure`: one kernel, one table."""

from __future__ import annotations

import click

from gasmeter.cli.common import DURATION, RANKS, SEED, SHARE, SIZES, option, show
from gasmeter.cli.progress import showing_progress
from gasmeter.execution import execute
from gasmeter.formats import FORMATS
from gasmeter.measurement import measurement
from gasmeter.names import parse_assignments
from gasmeter.point import MOST_ITERATIONS

__all__ = ["measure"]


_EXAMPLES = """\b
Examples:
  gasmeter measure ping-pong --conduit smp --op put --sizes 8:4M --against raw@shm
  gasmeter measure random-access --conduit smp --variant all --ranks 1,2 --sizes 32M
"""


@click.command(epilog=_EXAMPLES)
@click.argument("kernel")
@option(
    "--conduit", required=True, metavar="C[,C…]", help="Conduits, e.g. smp or raw@shm; see `gasmeter list conduits`."
)
@option("--op", default="", metavar="OP[,OP…]", help="Operations of the kernel, or all.  [default: the kernel's first]")
@option(
    "--sizes", type=SIZES, default=None, metavar="SIZES",
    help="Bytes: 8, or 8,64,4K, or 8:4M (powers of two; K = 1024); for random-access the whole table."
    "  [default: 8:4M as far as the operation carries it; 32M for random-access]",
)  # fmt: skip
@option("--ranks", type=RANKS, default="2", show_default=True, metavar="N[,N…]", help="Ranks of the job.")
@option(
    "--variant", default="", metavar="V[,V…]", help="Variants of the kernel, or all.  [default: the kernel's first]"
)
@option(
    "--option",
    "options",
    envvar="GASMETER_MEASURE_OPTION",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the kernel or conduit; repeatable.",
)
@option(
    "--machine", default="", metavar="M[,M…]",
    help="Machine of modelled conduits, e.g. extoll or \"extoll+link.bandwidth=1.25 GB/s\"; see"
    " `gasmeter list machines`.  [default: the network's own]",
)  # fmt: skip
@option(
    "--topology", default="", metavar="T[,T…]",
    help="Topology of modelled conduits, e.g. mesh3d:4x4x4; see `gasmeter list topologies`."
    "  [default: the machine's own]",
)  # fmt: skip
@option(
    "--placement", default="", metavar="P[,P…]",
    help="Node of each rank on a modelled topology: fill (consecutive ranks share a node), round-robin, one-per-node,"
    " or list:0,0,3,1.  [default: fill]",
)  # fmt: skip
@option(
    "--against", default=None, metavar="C2", help="Compare with this conduit in alternating blocks; adds overhead rows."
)
@option(
    "--iters",
    type=click.IntRange(1, MOST_ITERATIONS),
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
    help="Longest time per point (us, ms, s, m).",
)
@option("--seed", type=SEED, default="1", show_default=True, metavar="N", help="Seed of every random stream.")
@option(
    "--format",
    "form",
    envvar="GASMETER_MEASURE_FORMAT",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Form of the output.",
)
def measure(
    *, kernel: str, conduit: str, op: str, sizes: tuple[int, ...] | None, ranks: tuple[int, ...], variant: str,
    options: tuple[str, ...], machine: str, topology: str, placement: str, against: str | None, iters: int | None,
    ci: float | None, time: float, max_time: float, seed: int, form: str,
) -> int:  # fmt: skip
    """Measure KERNEL on a conduit and print one table.

    The table gives the median of the blocks and its 95 % interval. With csv and json nothing else is written to
    standard output. Kernels are listed by `gasmeter list kernels`.
    """
    experiment = measurement(
        kernel, conduit=conduit, op=op, sizes=sizes, ranks=ranks, variant=variant, options=parse_assignments(options),
        against=against, ci=ci, iterations=iters, max_time=max_time, time=time, seed=seed, machine=machine,
        topology=topology, placement=placement,
    )  # fmt: skip
    with showing_progress() as progress:
        result = execute(experiment, progress=progress)
    return show(result, form, title=experiment.title)
