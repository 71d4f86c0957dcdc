"""`gasmeter.measure`: one kernel, one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Required, TypedDict

from gasmeter.arguments.names import KernelName
from gasmeter.errors import UsageError
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.experiment import Experiment
from gasmeter.measuring.progress import Tell, told
from gasmeter.measuring.runner import Runner
from gasmeter.stores.result import Result
from gasmeter.sweeps.given import Conduits, Machines, Names, Ops
from gasmeter.sweeps.series import Series

__all__ = ["Settings", "measure", "measurement"]


_GIVEN_AS = {"time_s": "time", "max_time_s": "max_time"}
"""Parameter names of `measure` by the series fields that they become."""


class Settings(TypedDict, total=False):
    """Parameters of `measure` that name program and place, for functions that pass them on."""

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
    """Return the experiment with one series, ``measure``, that `measure` runs; the parameters are the same."""
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
    """Return a message in which fields of the series have their names in `measure`."""
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
        Name such as ``"ping-pong"``; see ``gasmeter list kernels``.
    conduit : str or sequence of str
        Name such as ``"smp"``; see ``gasmeter list conduits``.
    op : str or sequence of str, optional
        Operations; the kernel's first by default, ``"all"`` for every one.
    sizes : str, int or sequence, optional
        Sizes in bytes, also as ``"8:4M"``; 8 B to 4 MiB by default, as far as the operation carries it.
    ranks : int, str or sequence of int, default 2
        Number of ranks of the job.
    variant : str or sequence of str, optional
        Variants; the kernel's first by default.
    options : mapping, optional
        Options of kernel and conduit by name.
    against : str or mapping, optional
        Reference that is measured in alternating blocks: a conduit, or differing settings such as ``{"op": "medium"}``;
        adds its rows and ``overhead`` rows.
    bisect : str or float, optional
        Smallest jump of a curve over sizes to locate, as a share, for instance ``"20%"``: sizes are added until two
        neighbouring ones hold the jump (`Result.jumps`). `gasmeter.measuring.jumping.search` defines jumps.
    ci : str or float, optional
        Stop when half the 95 % interval is below this share of the median, for instance ``"2%"``.
    iterations : int, optional
        Operations per block; by default a block takes about 2 ms.
    max_time : str or float, default 30 s
        Seconds after which a point ends.
    time : str or float, default 0.4 s
        Seconds for a point without `ci`.
    seed : int, default 1
        Seed of every random stream.
    machine : str, Machine or sequence of these, optional
        Machines of modelled conduits, see `gasmeter.machine`; each network's own by default.
    topology : str or sequence of str, optional
        Topologies of modelled conduits, for instance ``"torus3d:4x4x4"``, with faults ``"torus2d:4x4/dead:0-1"``,
        ``/slow:0-1x10`` or ``/slow:5x4`` (docs/machines.md, "Faults"); the machine's own by default.
    placement : str or sequence of str, optional
        Node of the topology for each rank: ``"one-per-node"`` (the default; ``"round-robin"`` with more ranks than
        nodes), ``"fill"`` (consecutive ranks share a node) or a list of nodes, ``"list:0,0,3,1"``.
    runner : Runner, optional
        Runner that keeps worker processes alive between calls; by default they end with the call.
    out : str or Path, optional
        Folder for rows, samples, plots and summary, as from `gasmeter run`; nothing is written without one.
    progress : callable or False, optional
        Callback before and after every point; by default there is a bar in notebooks and on terminals, with False none.

    Returns
    -------
    Result
        Rows with `frame`, `samples` and `plot`.

    Raises
    ------
    UsageError
        If a name, option, size or number of ranks is not allowed here.
    ResourceError
        If the machine lacks something that the measurement needs.
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
        return execute(experiment, Run(runner=runner, out=out, progress=tell))
