"""`gasmeter.measure`: one kernel, one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Required, TypedDict

from gasmeter.errors import UsageError
from gasmeter.measuring.execution import execute
from gasmeter.measuring.experiment import Experiment
from gasmeter.measuring.progress import Tell, told
from gasmeter.measuring.runner import Runner
from gasmeter.names import KernelName
from gasmeter.stores.result import Result
from gasmeter.sweeps.given import Conduits, Machines, Names, Ops
from gasmeter.sweeps.series import Series

__all__ = ["Settings", "measure", "measurement"]


_GIVEN_AS = {"time_s": "time", "max_time_s": "max_time"}
"""Parameters of `measure` by the fields of a series that they become."""


class Settings(TypedDict, total=False):
    """What `measure` takes to say what is run where, for functions that pass it on; see there."""

    conduit: Required[Conduits]
    op: Ops
    sizes: str | int | Sequence[str | int] | None
    ranks: str | int | Sequence[int]
    variant: Names
    options: Mapping[str, object] | None
    seed: int
    machine: Machines
    topology: Names
    placement: Names


def measurement(
    kernel: KernelName | str,
    *,
    conduit: Conduits,
    op: Ops = (),
    sizes: str | int | Sequence[str | int] | None = None,
    ranks: str | int | Sequence[int] = 2,
    variant: Names = (),
    options: Mapping[str, object] | None = None,
    against: str | Mapping[str, str] | None = None,
    bisect: str | float | None = None,
    ci: str | float | None = None,
    iterations: int | None = None,
    max_time: str | float = 30.0,
    time: str | float = 0.4,
    seed: int = 1,
    machine: Machines = (),
    topology: Names = (),
    placement: Names = (),
) -> Experiment:
    """Return the experiment that `measure` runs; the parameters are the same.

    Returns
    -------
    Experiment
        With one series, named ``measure``.
    """
    settings: dict[str, Any] = {
        "kernel": kernel,
        "conduit": conduit,
        "op": op,
        "sizes": sizes,
        "ranks": ranks,
        "variant": variant,
        "options": options or {},
        "against": dict(against) if isinstance(against, Mapping) else against,
        "ci": ci,
        "bisect": bisect,
        "iterations": iterations,
        "max_time_s": max_time,
        "time_s": time,
        "seed": seed,
        "machine": machine,
        "topology": topology,
        "placement": placement,
    }
    try:
        return Experiment(name="measure", title=kernel, series=(Series(**settings),))
    except UsageError as error:
        raise UsageError(_as_given(str(error)), error.value) from None


def _as_given(message: str) -> str:
    """Return what is wrong with a field of the series by the name that it has here."""
    field, colon, rest = message.removeprefix("Series.").partition(":")
    return f"{_GIVEN_AS.get(field, field)}{colon}{rest}" if message.startswith("Series.") else message


def measure(
    kernel: KernelName | str,
    *,
    conduit: Conduits,
    op: Ops = (),
    sizes: str | int | Sequence[str | int] | None = None,
    ranks: str | int | Sequence[int] = 2,
    variant: Names = (),
    options: Mapping[str, object] | None = None,
    against: str | Mapping[str, str] | None = None,
    bisect: str | float | None = None,
    ci: str | float | None = None,
    iterations: int | None = None,
    max_time: str | float = 30.0,
    time: str | float = 0.4,
    seed: int = 1,
    machine: Machines = (),
    topology: Names = (),
    placement: Names = (),
    runner: Runner | None = None,
    out: str | Path | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Result:
    """Measure one kernel and return its rows.

    Parameters
    ----------
    kernel : str
        For instance ``"ping-pong"``; see ``gasmeter list kernels``.
    conduit : str or sequence of str
        For instance ``"smp"``; see ``gasmeter list conduits``.
    op : str or sequence of str, optional
        Operations; the kernel's first by default, ``"all"`` for every one.
    sizes : str, int or sequence, optional
        Bytes, also as ``"8:4M"``; 8 B to 4 MiB by default, as far as the operation carries it.
    ranks : int, str or sequence of int, default 2
        Ranks of the job.
    variant : str or sequence of str, optional
        Variants; the kernel's first by default.
    options : mapping, optional
        Options of kernel and conduit by name.
    against : str or mapping, optional
        What to compare with in alternating blocks: a conduit, or what differs, for instance ``{"op": "medium"}``; adds
        its rows and ``overhead`` rows.
    bisect : str or float, optional
        Where a curve over sizes jumps by more than this share, for instance ``"20%"``, measure between them until the
        two neighbouring sizes are found that it lies between: `Result.jumps`. What counts as a jump:
        `gasmeter.measuring.jumping.search`.
    ci : str or float, optional
        Stop when half the 95 % interval is below this share of the median, for instance ``"2%"``.
    iterations : int, optional
        Operations per block; about 2 ms worth by default.
    max_time : str or float, default 30 s
        Seconds after which a point ends.
    time : str or float, default 0.4 s
        Seconds a point is measured when no `ci` is asked for.
    seed : int, default 1
        Seed of every random stream.
    machine : str, Machine or sequence of these, optional
        Machines of modelled conduits, see `gasmeter.machine`; each network's own by default.
    topology : str or sequence of str, optional
        Topologies of modelled conduits, for instance ``"torus3d:4x4x4"``, with faults ``"torus2d:4x4/dead:0-1"``,
        ``/slow:0-1x10`` or ``/slow:5x4`` (docs/machines.md, "Faults"); the machine's own by default.
    placement : str or sequence of str, optional
        Which node of the topology each rank runs on: ``"one-per-node"`` (the default; ``"round-robin"`` where there are
        more ranks than nodes), ``"fill"`` (consecutive ranks share a node) or the node of each rank,
        ``"list:0,0,3,1"``.
    runner : Runner, optional
        Keeps worker processes alive between calls; by default they end with the call.
    out : str or Path, optional
        Folder for rows, samples, plots and summary, as `gasmeter run` writes it; nothing is written without one.
    progress : callable or False, optional
        Told before and after every point; by default there is a bar in notebooks and on terminals, with False none.

    Returns
    -------
    Result
        With `frame`, `samples` and `plot`.

    Raises
    ------
    UsageError
        If a name, option, size or number of ranks is not allowed here.
    ResourceError
        If the machine lacks something the measurement needs.
    BrokenJob
        If a rank died.

    Examples
    --------
    >>> result = gm.measure("ping-pong", conduit="extoll", op="am-short", against="raw@extoll")
    >>> [(row["conduit"], row["metric"], round(row["value"], 3)) for row in result.rows]
    [('raw@extoll', 'round_trip', 1963.354), ('extoll', 'round_trip', 3025.478), ('extoll', 'overhead', 0.541)]
    """
    experiment = measurement(
        kernel, conduit=conduit, op=op, sizes=sizes, ranks=ranks, variant=variant, options=options, against=against,
        bisect=bisect, ci=ci, iterations=iterations, max_time=max_time, time=time, seed=seed, machine=machine,
        topology=topology, placement=placement,
    )  # fmt: skip
    with told(progress) as tell:
        return execute(experiment, runner=runner, out=out, progress=tell)
