"""Traces of real ranks: their time stamps, and the operation's way through them."""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gasmeter.catalogue import catalogue
from gasmeter.errors import CheckFailed, UsageError
from gasmeter.measuring.sessions import RealSession
from gasmeter.measuring.workers import WorkerPool
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.point import Point
from gasmeter.trace.steps import Operation, Step, Trace, merged

__all__ = ["Stamps", "operations_of", "read_stamps", "trace_real_point"]

_BEGIN, _END, _HANDLER_BEGIN, _HANDLER_END = range(0x80, 0x84)
_COPY, _NOTIFY, _IDLE, _SEND, _SENT, _RECEIVE, _RECEIVED = range(0x90, 0x97)
_NAMES = {
    _BEGIN: "inject",
    _END: "poll",
    _HANDLER_BEGIN: "handler",
    _HANDLER_END: "poll",
    _COPY: "copy",
    _NOTIFY: "poll",
    _IDLE: "poll",
    _SENT: "poll",
    _RECEIVED: "poll",
}
_COST = 2**64 - 1
_WARM_UP = 200


@dataclass(frozen=True)
class Stamps:
    """Time stamps of one rank."""

    ps: list[int]  # times on the clock that all ranks of the host share
    codes: list[int]  # step that begins at each: a price, a mark, a copy, … (cpp/gasmeter/base/stamps.hpp)
    cost_ps: int  # time that one stamp costs


def read_stamps(path: Path) -> Stamps:
    """Read a rank's ``stamps.RANK`` in order of time; raise CheckFailed if it is cut off or out of order."""
    words = np.fromfile(path, dtype=np.int64)
    if words.size < 2 or words.size % 2 or int(words[-1]) & _COST != _COST:
        raise CheckFailed(f"{path} is no whole file of time stamps")
    times, codes = words[:-2:2], words[1:-2:2]
    if np.any(np.diff(times) < 0):
        raise CheckFailed(f"{path}: the clock went backwards")
    return Stamps(times.tolist(), codes.tolist(), int(words[-2]))


def operations_of(
    ranks: Sequence[Stamps], steps: Mapping[int, str], call: str = "system call"
) -> tuple[Operation, ...]:
    """Return the operations that rank 0 marked, checked to be without gaps, with times from the first begin.

    `steps` names steps that begin with prices by stamp code. `call` is the step of calls that carry messages: that of
    sockets, or ``two-sided`` for those of an MPI.
    """
    first, names = ranks[0], {**steps, **_NAMES, _SEND: call, _RECEIVE: call}
    begins = [at for at, code in zip(first.ps, first.codes, strict=True) if code == _BEGIN]
    ends = [at for at, code in zip(first.ps, first.codes, strict=True) if code == _END]
    operations = []
    for begin, end in zip(begins, ends, strict=True):
        if end > begin:
            operations.append(_operation(ranks, begin, end, begins[0], names))
    return tuple(operations)


def _operation(ranks: Sequence[Stamps], begin: int, end: int, origin: int, names: Mapping[int, str]) -> Operation:
    """Walk back from the end: a rank worked, or it waited for a message of another one."""
    back: list[tuple[str, int, int, int]] = []  # name, rank or -1 for the wire, begin, end
    rank, at = 0, end
    while at > begin:
        stamps = ranks[rank]
        place = bisect_left(stamps.ps, at) - 1
        if place >= 0 and stamps.codes[place] == _IDLE:
            sent = _sent_before(ranks, rank, at, begin)
            if sent is not None:
                other, send, done = sent
                back.append(("wire", -1, min(done, at), at))
                if send < min(done, at):
                    back.append((names[_SEND], other, send, min(done, at)))
                rank, at = other, send
                continue
        since = max(begin, stamps.ps[place]) if place >= 0 else begin
        name = names.get(stamps.codes[place], "unknown") if place >= 0 else "poll"
        back.append((name, rank, since, at))
        at = since
    steps = [step for step in _with_phases(list(reversed(back)), origin) if step.ps > 0]
    operation = Operation(begin - origin, end - origin, merged(iter(steps)))
    operation.check()
    return operation


def _sent_before(ranks: Sequence[Stamps], waits: int, at: int, begin: int) -> tuple[int, int, int] | None:
    """Return the last sender before an instant, the begin of its send, and the end."""
    last: tuple[int, int, int] | None = None
    for other, stamps in enumerate(ranks):
        if other == waits:
            continue
        place = bisect_left(stamps.ps, at) - 1
        while place >= 0 and stamps.ps[place] > begin and stamps.codes[place] not in {_NOTIFY, _SEND}:
            place -= 1
        if place < 0 or stamps.ps[place] <= begin:
            continue
        send = stamps.ps[place]
        done = stamps.ps[place + 1] if stamps.codes[place] == _SEND and place + 1 < len(stamps.ps) else send
        if last is None or send > last[1]:
            last = (other, send, done)
    return last


def _with_phases(way: Sequence[tuple[str, int, int, int]], origin: int) -> list[Step]:
    away = [number for number, (_, rank, _, _) in enumerate(way) if rank != 0]
    targets = [number for number, (_, rank, _, _) in enumerate(way) if rank > 0]
    steps = []
    for number, (name, rank, since, until) in enumerate(way):
        if not away or (rank == 0 and number < away[0]):
            phase = "initiate"
        elif rank > 0:
            phase = "target"
        elif rank < 0:
            phase = "ack" if targets and number > targets[0] else "request"
        else:
            phase = "completion"
        where = "between ranks" if rank < 0 else f"rank {rank}"
        steps.append(Step(name, phase, where, since - origin, until - origin))
    return steps


def trace_real_point(point: Point, iterations: int) -> Trace:
    """Trace the operations of one point on real ranks; steps include the cost of stamps (`Trace.cost_ps` each).

    Raises UsageError if the kernel has no single operations or, like raw programs, is not traced on real ranks;
    CheckFailed for wrong data; ResourceError if a rank took more stamps than it keeps.
    """
    with WorkerPool(point.ranks) as pool, tempfile.TemporaryDirectory(prefix="gasmeter-trace-") as folder:
        session = RealSession(pool, point, stamps=True)
        session.block(_WARM_UP)
        session.take_stamps()
        session.block(iterations)
        steps = session.write_stamps(Path(folder))
        ranks = [read_stamps(Path(folder) / f"stamps.{rank}") for rank in range(point.ranks)]
        if session.verify().verified is Verified.FALSE:
            raise CheckFailed(f"{point.describe()}: the data are wrong; nothing is traced")
        session.close()
    operations = operations_of(ranks, steps, catalogue().networks[point.declared_conduit.network].calls)
    if not operations:
        raise UsageError(
            f"{point.describe()} does no operations one by one; allowed on real ranks: ping-pong, am,"
            " fetch-add latency, barrier",
            point.kernel,
        )
    cost = max(stamps.cost_ps for stamps in ranks)
    return Trace(point.describe(), point.conduit, "measured", point.size_bytes, operations, float(cost))
