"""`gasmeter export`: one run in virtual time, for other simulators; a store, for other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gasmeter.arguments.choices import MOST_ITERATIONS
from gasmeter.cli.common import PICOSECONDS, Count, note, option, out, point_options
from gasmeter.cli.completion import complete_kernels
from gasmeter.cli.export_store import A_FILE, STORE_EXPORTS

if TYPE_CHECKING:
    from gasmeter.export import Record

__all__ = ["export"]

_EXAMPLES = """\b
Examples:
  gasmeter export goal ping-pong --conduit ideal --sizes 512 --op am-medium --out ping-pong.goal
  gasmeter export simgrid simulator --conduit raw@fabric --ranks 8 --topology torus3d:2x2x2 --out replay
  gasmeter export google-benchmark out/today --out today.json
"""


@click.group(epilog=_EXAMPLES)
def export() -> None:
    """Write a run down for other simulators, or a store for other tools.

    goal and simgrid: a block runs once on a modelled conduit; what each rank did, when and with whom is written as
    operations that another simulator can run on its own network. Options are those of `gasmeter measure` and have to
    name one run.

    The others take a folder that `gasmeter run` or `gasmeter import` wrote. Names of benchmarks begin with measured or
    modelled.
    """


def _takes_a_run(what: str) -> Callable[[Any], Any]:
    """Return the arguments and options of an exporting command."""

    def decorate(function: Any) -> Any:
        function = option(
            "--out", "target", required=True, metavar=what,
            type=click.Path(path_type=Path), help=f"{what.capitalize()} to write.",
        )(function)  # fmt: skip
        function = option(
            "--iterations", old=("--iters",), type=Count(1, MOST_ITERATIONS), default=10, show_default=True,
            metavar="N", help="Operations of the block.",
        )(function)  # fmt: skip
        function = point_options(function)
        return click.argument("kernel", shell_complete=complete_kernels)(function)

    return decorate


def _record(kernel: str, iterations: int, options: tuple[str, ...], settings: dict[str, Any]) -> Record:
    from gasmeter.export import recording
    from gasmeter.sweeps.names import parse_assignments

    return recording(kernel, iterations=iterations, options=parse_assignments(options), **settings)


@contextmanager
def _writing(target: Path, allowed: str) -> Iterator[None]:
    """Turn refusals of the file system into one line."""
    from gasmeter.stores.files import refused

    try:
        yield
    except OSError as error:
        raise refused(target, error, allowed) from error


def _tell(record: Record, target: Path) -> None:
    count = sum(len(operations) for operations in record.ranks)
    out(str(target))
    note(f"{record.title}: {count} operations; the last rank ends at {max(record.end_ps) / 1000:.3f} ns")


@export.command()
@_takes_a_run("FILE")
@option(
    "--unit", "unit_ps", type=PICOSECONDS, default="1ns", show_default=True, metavar="TIME",
    help="What one unit of calc stands for, in ps if it has no unit: 1ps is exact.",
)  # fmt: skip
def goal(
    *, kernel: str, iterations: int, options: tuple[str, ...], target: Path, unit_ps: int, **settings: Any
) -> None:
    """Write KERNEL's run as a GOAL schedule, which LogGOPSim's txt2bin reads."""
    from gasmeter.export import write_goal

    record = _record(kernel, iterations, options, settings)
    with _writing(target, A_FILE):
        write_goal(record, target, unit_ps=unit_ps)
    _tell(record, target)


@export.command()
@_takes_a_run("DIR")
def simgrid(*, kernel: str, iterations: int, options: tuple[str, ...], target: Path, **settings: Any) -> None:
    """Write KERNEL's run as a SimGrid platform and an SMPI program that replays it.

    DIR/README.md says how to run it, and what differs between the two simulators.
    """
    from gasmeter.export import write_simgrid

    record = _record(kernel, iterations, options, settings)
    with _writing(target, "a folder, new or one that you may write (--out)"):
        write_simgrid(record, target)
    _tell(record, target)


for _one in STORE_EXPORTS:
    export.add_command(_one)
