"""Operations of each rank in a modelled block, checked to have both ends."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from gasmeter.arguments.choices import whole_number
from gasmeter.catalogue import catalogue, core
from gasmeter.errors import CheckFailed, UsageError
from gasmeter.machines.machine import Machine
from gasmeter.measuring.measurement import measurement
from gasmeter.measuring.sessions import job_settings
from gasmeter.measuring.verification import verification_of
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Point

__all__ = ["Kind", "Operation", "Record", "record_point", "recording"]


class Kind(IntEnum):
    """Kind of an operation; its rank begins the first four, and the others are their far ends."""

    SEND = 0
    PUT = 1
    GET = 2
    EXCHANGE = 3
    RECEIVE = 4
    ARRIVE = 5
    COMPLETE = 6

    @property
    def begins(self) -> bool:
        """Whether the rank itself hands the operation to the network."""
        return self <= Kind.EXCHANGE


@dataclass(frozen=True)
class Operation:
    """An operation of a rank."""

    kind: Kind
    peer: int  # the other rank
    size_bytes: int  # without headers
    begin_ps: int  # on the rank's clock since the block began; earliest time at which an arrival is visible
    end_ps: int  # on the same clock; an outgoing message is with the network, an arrival has been paid for
    idle_ps: int  # time that the rank slept between the operation before and `begin_ps`
    sequence: int  # number given by the rank that began it

    def message(self, rank: int) -> tuple[int, int]:
        """Return the beginning rank and its sequence, the same for both ends; `rank` has this operation."""
        mine = self.kind.begins or self.kind is Kind.COMPLETE
        return (rank if mine else self.peer, self.sequence)


@dataclass(frozen=True)
class Record:
    """Operations of every rank in a block, in program order, on each rank's own clock."""

    ranks: tuple[tuple[Operation, ...], ...]  # operations by rank
    end_ps: tuple[int, ...]  # end of the block on each rank's clock; all began at 0
    node: tuple[int, ...]  # node of each rank
    header_bytes: int = 0  # bytes that the network adds to each message on the wire
    machine: Machine | None = None  # None if unknown
    title: str = "a recorded block"  # a line for people

    @staticmethod
    def of(
        arrays: Mapping[str, npt.NDArray[Any]],
        *,
        header_bytes: int = 0,
        machine: Machine | None = None,
        title: str = "a recorded block",
    ) -> Record:
        """Return a checked record from the arrays of ``ModelJob.record()``.

        Raises CheckFailed if a message has not exactly two ends or arrives before it was sent.
        """
        count = len(arrays["rank_end_ps"])
        columns = [
            arrays[name].tolist() for name in ("kind", "peer", "bytes", "begin_ps", "end_ps", "idle_ps", "sequence")
        ]
        operations = [Operation(Kind(kind), *rest) for kind, *rest in zip(*columns, strict=True)]
        bounds = np.searchsorted(arrays["rank"], np.arange(count + 1))
        record = Record(
            tuple(tuple(operations[bounds[rank] : bounds[rank + 1]]) for rank in range(count)),
            tuple(arrays["rank_end_ps"].tolist()),
            tuple(arrays["node"].tolist()),
            header_bytes,
            machine,
            title,
        )
        record.check()
        return record

    def all(self) -> Iterator[tuple[int, Operation]]:
        """Yield every operation with its rank, rank by rank."""
        for rank, operations in enumerate(self.ranks):
            for operation in operations:
                yield rank, operation

    @functools.cached_property
    def begun(self) -> dict[tuple[int, int], Operation]:
        """Operations that a rank began, by rank and sequence."""
        return {operation.message(rank): operation for rank, operation in self.all() if operation.kind.begins}

    def ends(self, kind: Kind) -> dict[tuple[int, int], Operation]:
        """Return the far ends of kind RECEIVE, ARRIVE or COMPLETE, by beginning rank and its sequence."""
        return {operation.message(rank): operation for rank, operation in self.all() if operation.kind is kind}

    def check(self) -> None:
        """Raise CheckFailed, naming the message, if one has not exactly two ends or takes negative time."""
        begun = self.begun
        ends: dict[tuple[Kind, tuple[int, int]], Operation] = {}
        for rank, operation in self.all():
            if operation.kind.begins:
                continue
            name = operation.message(rank)
            start = begun.get(name)
            if start is None:
                raise CheckFailed(
                    f"record: rank {rank} sees a {operation.kind.name.lower()} of rank {operation.peer} that nobody"
                    " began in this block; the kernel leaves messages under way between blocks"
                )
            if (operation.kind, name) in ends:
                raise CheckFailed(f"record: message {name[1]} of rank {name[0]} ends twice")
            if operation.begin_ps < start.end_ps:
                raise CheckFailed(
                    f"record: message {name[1]} of rank {name[0]} is with rank {rank} at {operation.begin_ps} ps,"
                    f" before it was sent, {start.end_ps} ps"
                )
            ends[operation.kind, name] = operation
        for name, start in begun.items():
            if start.kind is Kind.SEND and (Kind.RECEIVE, name) not in ends:
                raise CheckFailed(
                    f"record: message {name[1]} of rank {name[0]} to rank {start.peer} is not received in this block"
                )


def record_point(point: Point, iterations: int) -> Record:
    """Run one block of a modelled point and return its checked record.

    Raises UsageError if the conduit is not modelled or keeps no record, CheckFailed if data or record are wrong.
    """
    conduit = point.declared_conduit
    if not conduit.virtual:
        raise UsageError(
            f"conduit {point.conduit!r} runs on this host; allowed: modelled ones (see `gasmeter list conduits`)",
            point.conduit,
        )
    job = core().ModelJob(**job_settings(point), record=True)
    try:
        job.block(iterations)
        arrays = job.record()
        if verification_of([job.verify()]).verified is Verified.FALSE:
            raise CheckFailed(f"{point.describe()}: the data are wrong; nothing is exported")
    finally:
        job.close()
    machine = machine_of(point)
    header = catalogue().networks[conduit.network].header_bytes
    if machine is not None and "link.header" in machine:
        header = int(machine["link.header"].value)
    title = f"{point.describe()}, {iterations} operations, seed {point.seed}"
    return Record.of(arrays, header_bytes=header, machine=machine, title=title)


def recording(kernel: str, *, iterations: int = 10, **settings: Any) -> Record:
    """Run one block of a kernel in virtual time and return its checked record.

    Settings as for `gasmeter.measure`; they name a single point. Raises UsageError for several points or a conduit
    without a record, CheckFailed if data or record are wrong.
    """
    points = [point for group in measurement(kernel, **settings).groups() for point in group.points]
    if len(points) != 1:
        raise UsageError(
            f"an export holds one run, but {len(points)} are described ({points[0].describe()}; …); allowed: one"
            " conduit, operation, size, variant and number of ranks",
        )
    return record_point(points[0], whole_number(iterations, "iterations"))
