"""`gasmeter new`: a first experiment to edit."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.cli.common import option, out
from gasmeter.cli.completion import complete_conduits, complete_kernels, complete_ops
from gasmeter.errors import ResourceError, UsageError
from gasmeter.units import format_duration

__all__ = ["new"]

_EXAMPLES = """\b
Examples:
  gasmeter new ours && gasmeter run ours.py
  gasmeter new torus --kernel flood --conduit extoll
"""


@click.command(epilog=_EXAMPLES)
@click.argument("name")
@option(
    "--kernel", default="ping-pong", show_default=True, shell_complete=complete_kernels, metavar="KERNEL",
    help="What it measures; see `gasmeter list kernels`.",
)  # fmt: skip
@option(
    "--conduit", default="smp", show_default=True, shell_complete=complete_conduits, metavar="C",
    help="Over what; see `gasmeter list conduits`.",
)  # fmt: skip
@option(
    "--op", default="", shell_complete=complete_ops, metavar="OP[,OP…]",
    help="Operations of the kernel.  [default: its first that has sizes]",
)  # fmt: skip
def new(*, name: str, kernel: str, conduit: str, op: str) -> int:
    """Write an experiment to begin with to the file NAME.py.

    `gasmeter run NAME.py` runs it as it stands: a few points over the conduit, beside the network without a conduit
    where the kernel has such a program. A file that is there already stays as it is.
    """
    from gasmeter.sweeps.beginning import beginning
    from gasmeter.sweeps.sweep import estimated_seconds

    text, experiment = beginning(name.removesuffix(".py"), kernel=kernel, conduit=conduit, op=op)
    path = Path(f"{experiment.name}.py")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; allowed: the name of a new file", str(path)) from error
    except OSError as error:
        raise ResourceError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from error
    groups = experiment.groups()
    points = sum(len(group.points) for group in groups)
    duration = format_duration(estimated_seconds(groups))
    out(f"{path}: {points} point{'s' * (points > 1)}, about {duration}; run it with `gasmeter run {path}`")
    return 0
