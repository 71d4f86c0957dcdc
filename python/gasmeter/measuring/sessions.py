"""An open kernel, on real ranks or in virtual time: run blocks, verify, close.

Real ranks live in worker processes that stay alive between the points of a sweep, one pool per program and number of
ranks; opening a session on a living pool costs one exchange of messages. A modelled job lives in this process.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gasmeter import catalogue as _catalogue
from gasmeter.environment.mpi_launcher import launched
from gasmeter.errors import BrokenJob, GasmeterError, UsageError, error_named
from gasmeter.measuring.verification import Verification, verification_of
from gasmeter.measuring.workers import WorkerPool
from gasmeter.rows.links import Table
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Point

__all__ = [
    "Block",
    "ModelSession",
    "Pool",
    "RealSession",
    "Session",
    "WorkerPools",
    "machine_values",
]


_COUNTER = "counter."
_OPTION = "option."
_STEP = "step."


@dataclass(frozen=True)
class Block:
    """Measured values of one block of operations."""

    iterations: int  # requested iterations
    elapsed_ns: float  # wall clock of this machine, or virtual time
    operations: float  # operations that the kernel counted
    metrics: Mapping[str, float] = field(default_factory=dict)  # by metric name, in the unit of the catalogue


class Session(Protocol):
    """An open kernel."""

    def block(self, iterations: int) -> Block:
        """Run one block of `iterations` operations."""

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data after the blocks so far."""

    def links(self) -> Table:
        """Return the load of each link during the last block; empty without links."""

    def counters(self) -> Mapping[str, int]:
        """Return the counts since the session was opened, summed over the ranks."""

    def resolved(self) -> Mapping[str, str]:
        """Return the choices for options that leave one, in the blocks so far."""

    def close(self) -> None:
        """End the session; the job behind it stays usable."""


class Pool(Protocol):
    """Worker processes of one real job."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    @property
    def cpus(self) -> Sequence[int]:
        """Processor of each rank."""

    @property
    def oversubscribed(self) -> bool:
        """Whether ranks share cores."""

    def command(self, fields: Mapping[str, str], timeout: float | None = None) -> Sequence[Mapping[str, str]]:
        """Send fields to every rank and return the answers in rank order; raise `Timeout` if one is late."""

    def close(self) -> None:
        """End the job."""


def _ask(pool: Pool, verb: str, values: Mapping[str, object], timeout: float | None = None) -> list[Mapping[str, str]]:
    """Send a command; raise what any rank reports, the lowest rank's first."""
    fields = {"verb": verb, **{key: str(value) for key, value in values.items()}}
    replies = list(pool.command(fields, timeout=timeout))
    for rank, reply in enumerate(replies):
        status = reply.get("status")
        if status == "error":
            raise error_named(reply.get("error", ""), reply.get("message", f"rank {rank} failed without a message"))
        if status != "ok":
            raise BrokenJob(f"rank {rank} answered {verb!r} without a status; the worker does not fit this package")
    if not replies:
        raise BrokenJob(f"no rank answered {verb!r}; the worker does not fit this package")
    return replies


def _block(iterations: int, reply: Mapping[str, Any]) -> Block:
    prefix = "metric."
    metrics = {key[len(prefix) :]: float(value) for key, value in reply.items() if key.startswith(prefix)}
    return Block(iterations, float(reply["elapsed_ns"]), float(reply.get("operations", math.nan)), metrics)


def _variant(point: Point) -> str:
    """Return the variant that a job is told; empty for a raw network, whose variant ``raw`` only marks rows."""
    return "" if point.conduit.startswith("raw@") else point.variant


class RealSession:
    """A kernel open on worker processes.

    With `stamps` ranks can take time stamps, and operations take longer even while none are taken. `left` limits the
    next command in seconds. Raises GasmeterError as a rank reports it: a size beyond its segment, missing memory, …
    """

    _numbers = itertools.count(1)

    def __init__(
        self, pool: Pool, point: Point, *, stamps: bool = False, left: Callable[[], float] | None = None
    ) -> None:
        self._pool = pool
        self._left = left
        self._session = next(self._numbers)
        self._open = False
        values: dict[str, object] = {
            "session": self._session,
            "kernel": point.kernel,
            "op": point.op,
            "conduit": point.conduit,
            "variant": _variant(point),
            "size_bytes": point.size_bytes,
            "seed": point.seed,
            "ranks": point.ranks,
            **({"stamps": "true"} if stamps else {}),
        }
        self._ask("open", {**values, **{f"{_OPTION}{name}": value for name, value in point.options.items()}})
        self._open = True

    def _ask(self, verb: str, values: Mapping[str, object]) -> list[Mapping[str, str]]:
        return _ask(self._pool, verb, values, self._left() if self._left else None)

    def block(self, iterations: int) -> Block:
        """Run one block on every rank; return the values that rank 0 timed."""
        reply = self._ask("block", {"session": self._session, "iterations": iterations})[0]
        return _block(iterations, reply)

    def take_stamps(self) -> None:
        """Let every rank record time stamps from the next block on, in a session that was opened for stamps."""
        self._ask("take_stamps", {})

    def write_stamps(self, folder: Path) -> dict[int, str]:
        """Write each rank's time stamps to ``stamps.RANK`` in `folder`.

        Return, for each code in a stamp, the name of the trace step that the stamp times.
        Raises ResourceError if there were more stamps than a rank keeps, or a file cannot be written.
        """
        reply = self._ask("write_stamps", {"folder": folder})[0]
        return {int(key[len(_STEP) :]): name for key, name in reply.items() if key.startswith(_STEP)}

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data on every rank and join the results.

        Real ranks check alike for both values of `blocks_follow`.
        """
        return verification_of(self._ask("verify", {"session": self._session}))

    def links(self) -> Table:
        """Return an empty dict: the load of a real network's links is not visible here."""
        return {}

    def counters(self) -> Mapping[str, int]:
        """Return the counts of all ranks' conduits since the session was opened, by catalogue name.

        The dict is empty where nothing counts, as on smp, and with a worker older than this command.
        """
        try:
            replies = self._ask("counters", {"session": self._session})
        except UsageError:
            return {}
        counts: dict[str, int] = {}
        for reply in replies:
            for key, value in reply.items():
                if key.startswith(_COUNTER):
                    name = key[len(_COUNTER) :]
                    counts[name] = counts.get(name, 0) + int(value)
        return counts

    def resolved(self) -> Mapping[str, str]:
        """Return rank 0's choices for options that leave one; empty with a worker older than this command."""
        try:
            reply = self._ask("resolved", {"session": self._session})[0]
        except UsageError:
            return {}
        return {key[len(_OPTION) :]: value for key, value in reply.items() if key.startswith(_OPTION)}

    def close(self) -> None:
        """Close the session; a job that is already broken is left alone."""
        if not self._open:
            return
        self._open = False
        try:
            self._ask("close", {"session": self._session})
        except BrokenJob:
            return


def machine_values(point: Point) -> dict[str, float | str]:
    """Return a modelled point's machine numbers as the core takes them: SI base units by key.

    ``placement`` is among them if the point has one. A network without a machine file gives an empty dict.
    """
    machine = machine_of(point)
    placed: dict[str, float | str] = {"placement": point.placement} if point.placement else {}
    return {**(machine.values() if machine else {}), **placed}


class ModelSession:
    """A kernel open in virtual time, in this process.

    `is_over` is polled while many ranks are made; True ends the opening with an error. Raises GasmeterError as the core
    reports it.
    """

    def __init__(self, point: Point, *, is_over: Callable[[], bool] | None = None) -> None:
        self._job = _catalogue.core().ModelJob(**job_settings(point), is_over=is_over)

    @staticmethod
    def check(point: Point) -> None:
        """Raise GasmeterError if the machine of a point is impossible, without opening the point."""
        _catalogue.core().ModelJob.check(**job_settings(point))

    def unused(self) -> tuple[str, ...]:
        """Return the sorted keys of machine numbers that no event depended on so far.

        A machine that differs only in these numbers gives the same picoseconds.
        """
        return tuple(sorted(self._job.unused()))

    def block(self, iterations: int) -> Block:
        """Run one block in virtual time."""
        return _block(iterations, self._job.block(iterations))

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data of every rank.

        If `blocks_follow`, the check must not change later blocks by a picosecond: it repeats timed operations in the
        same memory. Otherwise it may use a separate piece of memory (slot) for each operation, which changes caches and
        registrations, and so later times.
        """
        return verification_of([self._job.verify(blocks_follow=blocks_follow)])

    def links(self) -> Table:
        """Return the load of each link during the last block: one element per direction; empty without links."""
        table = self._job.links()
        return dict(table) if len(table["vertex"]) else {}

    def counters(self) -> Mapping[str, int]:
        """Return the counts of conduits and devices since the job was made, summed over ranks, by catalogue name."""
        return dict(self._job.counters())

    def holdings(self, rank: int = 0, *, operations: int = 0, after_ns: float = 0.0) -> list[dict[str, str]]:
        """Return the network objects that a rank's conduit holds at one instant: ``kind``, ``name`` and further facts.

        With `operations` the instant lies `after_ns` after the begin of a block of that many operations; 0 is between
        blocks. Raises UsageError if the conduit does not report objects or the block ends earlier.
        """
        return list(self._job.holdings(rank, operations, after_ns))

    def resolved(self) -> Mapping[str, str]:
        """Return the choices for options that leave one, by option, in the blocks so far."""
        return dict(self._job.resolved())

    def stop(self) -> None:
        """End the block that another thread runs, which raises `GasmeterError` there."""
        self._job.stop()

    def close(self) -> None:
        """End the job."""
        self._job.close()


def job_settings(point: Point) -> dict[str, Any]:
    """Return the arguments of `gasmeter.catalogue.Core.ModelJob` that open a modelled point."""
    return {
        "kernel": point.kernel,
        "op": point.op,
        "conduit": point.conduit,
        "variant": _variant(point),
        "size_bytes": point.size_bytes,
        "seed": point.seed,
        "ranks": point.ranks,
        "options": dict(point.options),
        "machine": machine_values(point),
    }


def _start_pool(ranks: int, binary: Path | None) -> Pool:
    return WorkerPool(ranks, binary=binary)


class WorkerPools:
    """Jobs that stay alive between points, one per worker program, number of ranks and MPI.

    Use it as a context manager: leaving it ends every job. `start(ranks, binary)` returns a pool, by default workers of
    this machine.
    """

    def __init__(self, start: Callable[[int, Path | None], Pool] | None = None) -> None:
        self._start = start or _start_pool
        self._pools: dict[tuple[Path | None, int, str], Pool] = {}
        self._lent: tuple[Path | None, int, str] | None = None

    def __enter__(self) -> WorkerPools:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every job."""
        self.close()

    def get(self, ranks: int, binary: Path | None = None, mpi: str = "") -> Pool:
        """Return the living job of that size, started on first use; it lives until `close` or `drop`.

        `mpi` names the MPI and its transport. A process starts one MPI a single time, so each has a job of its own.
        Raises UsageError if an MPI launcher started this process, which can serve only one such job.
        """
        key = (binary, ranks, mpi)
        if key not in self._pools:
            if mpi and launched() is not None:
                if self._lent is not None:
                    raise UsageError(
                        f"mpi: what the launcher started has run a job with {self._lent[2]} already, and an MPI starts"
                        " once in a process; start gasmeter without the launcher, or once for each"
                    )
                self._lent = key
            self._pools[key] = self._start(ranks, binary)
        return self._pools[key]

    def processes(self) -> list[int]:
        """Return the process numbers of the ranks of every living job, without those on other hosts."""
        return [pid for pool in self._pools.values() for pid in getattr(pool, "pids", ()) if pid > 0]

    @property
    def alive(self) -> bool:
        """Whether every job still takes commands."""
        return all(getattr(pool, "alive", True) for pool in self._pools.values())

    def drop(self) -> None:
        """Forget and end every job after one of them broke, so that the next point starts afresh."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            try:
                pool.close()
            except (GasmeterError, OSError):
                continue

    def close(self) -> None:
        """End every job."""
        self.drop()
