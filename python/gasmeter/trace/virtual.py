"""Traces in virtual time, exact and without overhead; those of real ranks are in `gasmeter.trace.real`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from gasmeter.arguments.choices import whole_number
from gasmeter.arguments.names import KernelName, OpName
from gasmeter.catalogue import catalogue, core
from gasmeter.errors import CheckFailed, UsageError, unknown
from gasmeter.measuring.measurement import Settings, measurement
from gasmeter.measuring.sessions import job_settings
from gasmeter.measuring.verification import verification_of
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.point import Point
from gasmeter.trace.real import trace_real_point
from gasmeter.trace.steps import Operation, Step, Trace, merged

__all__ = ["points_of", "trace", "trace_point"]

_TARGET = 1  # for kernels with a target
_WARM_UP = 2  # operations: the first one may find unsettled protocols


def trace(
    what: KernelName | OpName | str, *, iterations: int = 5, out: str | Path | None = None,
    **settings: Unpack[Settings],
) -> list[Trace]:  # fmt: skip
    """Trace operations of a kernel: in virtual time, or on real ranks, which take time stamps.

    Parameters
    ----------
    what : str
        A kernel, or an operation of `ping-pong`, for instance ``"put"``.
    iterations : int, default 5
        Operations of each point.
    out : str or Path, optional
        Folder for steps.csv, trace.json (Chrome's format, for Perfetto), table.txt and bars by size.
    **settings
        Settings of `gasmeter.measure`.

    Returns
    -------
    list of Trace
        A trace per point; `gasmeter.trace.trace_table` shows one as text. The steps of each operation sum to its time.
        In virtual time the operations also sum to the kernel's measured time, to the picosecond.

    Raises
    ------
    UsageError
        If a point has no single operations (as a flood), or runs a raw program on real ranks.
    ResourceError
        If a real rank took more time stamps than it keeps.
    CheckFailed
        If the steps do not sum up, or the data are wrong.

    Examples
    --------
    >>> traces = gm.trace("put", conduit="ideal", sizes="8")
    >>> traces[0].shown.ps
    2970800
    >>> sum(step.ps for step in traces[0].shown.steps) == traces[0].shown.ps
    True
    """
    whole_number(iterations, "iterations")
    traces = [trace_point(point, iterations) for point in points_of(what, **settings)]
    if out is not None:
        from gasmeter.trace.writing import write_traces  # noqa: PLC0415 - loads pandas

        write_traces(traces, Path(out))
    return traces


def points_of(what: str, **settings: Unpack[Settings]) -> list[Point]:
    """Return the points of a kernel or of an operation of `ping-pong`, with the settings of `gasmeter.measure`.

    Raises UsageError for an unknown name.
    """
    declarations = catalogue()
    kernel = what
    ops = [op.name for op in declarations.kernel("ping-pong").ops]
    if what not in declarations.kernels and what not in ops:
        raise unknown("kernel or op of ping-pong", what, [*ops, *declarations.kernels], "gasmeter list kernels")
    if what not in declarations.kernels:
        if settings.get("op"):
            raise UsageError(f"{what!r} is an operation already; allowed: a kernel with --op, or an operation", what)
        kernel, settings["op"] = "ping-pong", what
    if settings.get("sizes") is None and kernel in {"ping-pong", "am"}:
        settings["sizes"] = "8,512,4K"
    return [point for group in measurement(kernel, **settings).groups() for point in group.points]


def trace_point(point: Point, iterations: int = 5) -> Trace:
    """Trace the operations of one modelled or real point, and check the trace.

    Raises UsageError if the kernel has no single operations or is not traced on real ranks, ResourceError if a real
    rank took more stamps than it keeps, CheckFailed if steps do not sum up or data are wrong.
    """
    if not point.declared_conduit.virtual:
        return trace_real_point(point, iterations)
    job = core().ModelJob(**job_settings(point), trace=True)
    try:
        job.block(_WARM_UP)
        measured = job.block(iterations)
        arrays = job.trace()
        if verification_of([job.verify()]).verified is Verified.FALSE:
            raise CheckFailed(f"{point.describe()}: the data are wrong; nothing is traced")
    finally:
        job.close()
    operations = _operations(arrays)
    if not operations:
        raise UsageError(
            f"{point.describe()} does no operations one by one; allowed: ping-pong, am, fetch-add latency, barrier",
            point.kernel,
        )
    for operation in operations:
        operation.check()
    total = sum(operation.ps for operation in operations)
    if total != round(measured["elapsed_ns"] * 1000):
        raise CheckFailed(
            f"{point.describe()}: the operations take {total} ps, the kernel measured {measured['elapsed_ns']} ns"
        )
    return Trace(point.describe(), point.conduit, "modelled", point.size_bytes, operations)


def _operations(arrays: Mapping[str, Any]) -> tuple[Operation, ...]:
    names = arrays["names"]
    node = arrays["node"].tolist()
    begins, ends = arrays["operation_begin_ps"].tolist(), arrays["operation_end_ps"].tolist()
    bounds = np.searchsorted(arrays["operation"], np.arange(len(begins) + 1))
    columns = {name: arrays[name].tolist() for name in ("step", "begin_ps", "end_ps", "on_rank", "from", "to")}
    operations = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        rows = range(int(bounds[number]), int(bounds[number + 1]))
        phases = _phases(columns, rows, node)
        steps = (
            Step(
                names[columns["step"][row]],
                phase,
                _where(columns, row),
                columns["begin_ps"][row],
                columns["end_ps"][row],
            )
            for row, phase in zip(rows, phases, strict=True)
        )
        operations.append(Operation(begin, end, merged(steps)))
    return tuple(operations)


def _where(columns: Mapping[str, list[int]], row: int) -> str:
    start, end = columns["from"][row], columns["to"][row]
    if columns["on_rank"][row]:
        return f"rank {start}"
    return f"node {start}" if start == end else f"node {start} to {end}"


def _phases(columns: Mapping[str, list[int]], rows: range, node: list[int]) -> list[str]:
    """Name the phase of each step by its place, before or after the way's last visit to the target.

    A protocol with several exchanges goes to and fro; the way back begins after the last visit.
    """
    target = node[_TARGET] if len(node) > _TARGET else node[0]
    others = [row for row in rows if columns["on_rank"][row] and columns["from"][row] != 0]
    # If no rank answers, the target's interface does.
    visits = others or [row for row in rows if not columns["on_rank"][row] and columns["to"][row] == target]
    last_visit = visits[-1] if visits else rows.stop
    last_away = max((row for row in rows if not _at_initiator(columns, row)), default=-1)
    phases = []
    for row in rows:
        if _at_initiator(columns, row):
            phases.append("initiate" if row < last_away else "completion")
        elif columns["on_rank"][row]:
            phases.append("target")
        else:
            phases.append("ack" if row > last_visit else "request")
    return phases


def _at_initiator(columns: Mapping[str, list[int]], row: int) -> bool:
    return bool(columns["on_rank"][row]) and columns["from"][row] == 0
