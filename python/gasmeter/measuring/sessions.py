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
from gasmeter.errors import BrokenJob, GasmeterError, UsageError, error_named
from gasmeter.measuring.verification import Verification, verification_of
from gasmeter.measuring.workers import WorkerPool
from gasmeter.mpi_launcher import launched
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
    """What one block of operations took.

    Attributes
    ----------
    iterations : int
        What was asked for.
    elapsed_ns : float
        Wall clock of this machine, or virtual time.
    operations : float
        Operations the kernel counted.
    metrics : dict of str to float
        By metric name, in the unit of the catalogue.
    """

    iterations: int
    elapsed_ns: float
    operations: float
    metrics: Mapping[str, float] = field(default_factory=dict)


class Session(Protocol):
    """An open kernel."""

    def block(self, iterations: int) -> Block:
        """Run one block of `iterations` operations."""

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data that the blocks so far have left behind."""

    def links(self) -> Table:
        """Return what each link carried during the last block; empty where there are none."""

    def counters(self) -> Mapping[str, int]:
        """Return what has been counted since the session was opened, summed over the ranks."""

    def resolved(self) -> Mapping[str, str]:
        """Return what options that leave a choice became in the blocks so far."""

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
    """Variants are ways to use a conduit; ``raw`` only names a row."""
    return "" if point.conduit.startswith("raw@") else point.variant


class RealSession:
    """A kernel open on worker processes.

    Parameters
    ----------
    pool : Pool
        Living job with as many ranks as the point has.
    point : Point
        What to open.
    stamps : bool, default False
        Whether ranks can be told to take time stamps; operations take longer then, also while none are taken.
    left : callable, optional
        Seconds that the next command may take; by default as long as it needs.

    Raises
    ------
    GasmeterError
        What a rank reports: a size beyond its segment, memory that is not there, …
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
        """Run one block on every rank.

        Parameters
        ----------
        iterations : int
            Operations, 1 or more.

        Returns
        -------
        Block
            What rank 0 timed.
        """
        reply = self._ask("block", {"session": self._session, "iterations": iterations})[0]
        return _block(iterations, reply)

    def take_stamps(self) -> None:
        """Let every rank write down what it does, from the next block on, in a session that was opened for it."""
        self._ask("take_stamps", {})

    def write_stamps(self, folder: Path) -> dict[int, str]:
        """Let every rank write the time stamps that it has taken to a file of its own, ``stamps.RANK``.

        Parameters
        ----------
        folder : Path
            On this host.

        Returns
        -------
        dict of int to str
            The step of a trace that begins with a stamp, by its code: of prices.

        Raises
        ------
        ResourceError
            If there were more than a rank keeps, or the file cannot be written.
        """
        reply = self._ask("write_stamps", {"folder": folder})[0]
        return {int(key[len(_STEP) :]): name for key, name in reply.items() if key.startswith(_STEP)}

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data on every rank.

        Parameters
        ----------
        blocks_follow : bool
            As `ModelSession.verify` has it; real ranks check alike in both cases.

        Returns
        -------
        Verification
            Of all ranks together, as `verification_of` returns it.
        """
        return verification_of(self._ask("verify", {"session": self._session}))

    def links(self) -> Table:
        """Return nothing: what a real network's links carry is not seen from here.

        Returns
        -------
        dict
            Empty.
        """
        return {}

    def counters(self) -> Mapping[str, int]:
        """Return what the conduits of all ranks have counted since the session was opened.

        Returns
        -------
        dict of str to int
            By the names of `gasmeter.catalogue.Catalogue.counters`; empty where nothing counts, as on smp, and with a
            worker that is older than this command.
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
        """Return what options that leave a choice became on rank 0.

        Returns
        -------
        dict of str to str
            By option; empty with a worker that is older than this command.
        """
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
    """Return the numbers of a point's machine as the core takes them.

    Parameters
    ----------
    point : Point
        A point on a modelled conduit.

    Returns
    -------
    dict of str to float or str
        In SI base units by key, with ``placement`` if one is asked for; empty for a network without a machine file.
    """
    machine = machine_of(point)
    placed: dict[str, float | str] = {"placement": point.placement} if point.placement else {}
    return {**(machine.values() if machine else {}), **placed}


class ModelSession:
    """A kernel open in virtual time, in this process.

    Parameters
    ----------
    point : Point
        What to open.
    is_over : callable, optional
        Is asked while many ranks are made; True ends that with an error.

    Raises
    ------
    GasmeterError
        What the core reports.
    """

    def __init__(self, point: Point, *, is_over: Callable[[], bool] | None = None) -> None:
        self._job = _catalogue.core().ModelJob(**job_settings(point), is_over=is_over)

    @staticmethod
    def check(point: Point) -> None:
        """Refuse what the machine of a point cannot be, without opening it.

        Parameters
        ----------
        point : Point
            On a modelled conduit.

        Raises
        ------
        GasmeterError
            What the core reports.
        """
        _catalogue.core().ModelJob.check(**job_settings(point))

    def unused(self) -> tuple[str, ...]:
        """Return the numbers of the machine that nothing has depended on so far.

        Returns
        -------
        tuple of str
            Keys, sorted. On a machine that differs in these alone the job would have come to the same picoseconds.
        """
        return tuple(sorted(self._job.unused()))

    def block(self, iterations: int) -> Block:
        """Run one block in virtual time.

        Parameters
        ----------
        iterations : int
            Operations, 1 or more.

        Returns
        -------
        Block
            Virtual time.
        """
        return _block(iterations, self._job.block(iterations))

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Check the data of every rank.

        Parameters
        ----------
        blocks_follow : bool
            Whether blocks are timed later, which the check must not change by a picosecond: its operations then have no
            slots of their own.

        Returns
        -------
        Verification
            As the core reports it.
        """
        return verification_of([self._job.verify(blocks_follow=blocks_follow)])

    def links(self) -> Table:
        """Return what each link carried during the last block.

        Returns
        -------
        mapping of str to numpy.ndarray
            Columns, one element per direction of a link; empty for a network without links.
        """
        table = self._job.links()
        return dict(table) if len(table["vertex"]) else {}

    def counters(self) -> Mapping[str, int]:
        """Return what conduits and devices have counted since the job was made.

        Returns
        -------
        dict of str to int
            By the names of `gasmeter.catalogue.Catalogue.counters`, summed over the ranks.
        """
        return dict(self._job.counters())

    def holdings(self, rank: int = 0, *, operations: int = 0, after_ns: float = 0.0) -> list[dict[str, str]]:
        """Return the objects that a rank's conduit holds of its network, at one instant.

        Parameters
        ----------
        rank : int, default 0
            Whose.
        operations : int, default 0
            As they are between blocks; else in the midst of a block of so many operations, which is run.
        after_ns : float, default 0
            So long after that block's begin.

        Returns
        -------
        list of dict of str to str
            Of each its ``kind``, its ``name`` and what else it says.

        Raises
        ------
        UsageError
            If the conduit does not tell, or the block does not last so long.
        """
        return list(self._job.holdings(rank, operations, after_ns))

    def resolved(self) -> Mapping[str, str]:
        """Return what options that leave a choice became in the blocks so far.

        Returns
        -------
        dict of str to str
            By option.
        """
        return dict(self._job.resolved())

    def stop(self) -> None:
        """End the block that another thread runs; it raises `GasmeterError` there."""
        self._job.stop()

    def close(self) -> None:
        """End the job."""
        self._job.close()


def job_settings(point: Point) -> dict[str, Any]:
    """Return what the core is told to open a point.

    Parameters
    ----------
    point : Point
        On a modelled conduit.

    Returns
    -------
    dict of str to object
        Arguments of `gasmeter.catalogue.Core.ModelJob`.
    """
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
    """Jobs that stay alive between points, one per worker program, number of ranks and MPI that they hold.

    Parameters
    ----------
    start : callable, optional
        ``start(ranks, binary) -> Pool``; by default worker processes of this machine.

    Notes
    -----
    Use as a context manager: leaving it ends every job.
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
        """Return the living job of that size, started on first use.

        Parameters
        ----------
        ranks : int
            Number of ranks.
        binary : Path, optional
            Worker program; the installed one if left out.
        mpi : str, optional
            Which MPI, and by what transport: a process starts one MPI once, so each has a job of its own.

        Returns
        -------
        Pool
            Stays alive until `close` or `drop`.

        Raises
        ------
        UsageError
            If an MPI's launcher has started this process, which it can do for one such job alone.
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
        """Return the process numbers of the ranks of every living job.

        Returns
        -------
        list of int
            Without those on other hosts, and of pools that do not tell.
        """
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
