"""A record as steps for any simulator: be busy, send, receive, and work of interfaces.

Sleep of a waiting rank is left out: another network decides its length. Messages of a rank to itself become part of its
work, as they cross no network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gasmeter.export.record import Kind, Operation, Record

__all__ = ["Notice", "Receive", "Send", "Served", "Step", "Work", "data_tag", "reply_tag", "served", "steps"]


@dataclass(frozen=True)
class Work:
    """The rank's core is busy."""

    ps: int


@dataclass(frozen=True)
class Send:
    """A message to a peer, or (`one_sided`) to its interface."""

    peer: int
    size_bytes: int
    tag: int
    one_sided: bool


@dataclass(frozen=True)
class Receive:
    """A message of a peer, or (`one_sided`) the answer of its interface."""

    peer: int
    size_bytes: int
    tag: int
    one_sided: bool


@dataclass(frozen=True)
class Notice:
    """The program needs a message that its own interface has taken in."""

    peer: int
    tag: int


Step = Work | Send | Receive | Notice


@dataclass(frozen=True)
class Served:
    """Work of an interface by itself: take a message in, and answer it."""

    source: int  # rank that sent it
    size_bytes: int  # bytes of the message
    tag: int  # tag of the message
    answer_bytes: int | None  # None without an answer
    answer_tag: int
    noticed: bool  # whether the rank's program waits for it


def data_tag(sequence: int) -> int:
    """Return the even tag of a rank's message number `sequence`, 0 or more."""
    return 2 * sequence


def reply_tag(sequence: int) -> int:
    """Return the odd tag of an interface's answer to message number `sequence`, 0 or more."""
    return 2 * sequence + 1


def _there_b(record: Record, operation: Operation) -> int:
    return record.header_bytes + (0 if operation.kind is Kind.GET else operation.size_bytes)


def _back_b(record: Record, operation: Operation) -> int:
    return record.header_bytes + (0 if operation.kind is Kind.PUT else operation.size_bytes)


def steps(record: Record, rank: int) -> Iterator[Step]:
    """Yield the steps of a rank's program in order; work between two of them is one step."""
    past_ps = busy_ps = 0
    for operation in record.ranks[rank]:
        gap_ps, taking_ps = operation.begin_ps - past_ps, operation.end_ps - operation.begin_ps
        past_ps = operation.end_ps
        if operation.peer == rank:
            busy_ps += gap_ps + taking_ps
            continue
        busy_ps += gap_ps + taking_ps if operation.kind.begins else gap_ps - operation.idle_ps
        if busy_ps:
            yield Work(busy_ps)
        busy_ps = 0 if operation.kind.begins else taking_ps
        yield _step(record, rank, operation)
    busy_ps += record.end_ps[rank] - past_ps
    if busy_ps:
        yield Work(busy_ps)


def _step(record: Record, rank: int, operation: Operation) -> Step:
    peer, tag = operation.peer, data_tag(operation.sequence)
    if operation.kind is Kind.RECEIVE:
        return Receive(peer, _there_b(record, operation), tag, one_sided=False)
    if operation.kind is Kind.ARRIVE:
        return Notice(peer, tag)
    if operation.kind is Kind.COMPLETE:
        size = _back_b(record, record.begun[rank, operation.sequence])
        return Receive(peer, size, reply_tag(operation.sequence), one_sided=True)
    return Send(peer, _there_b(record, operation), tag, one_sided=operation.kind is not Kind.SEND)


def served(record: Record) -> list[list[Served]]:
    """Return the work of each rank's interface by itself, in order for each source."""
    heard, noticed = record.ends(Kind.COMPLETE), record.ends(Kind.ARRIVE)
    by_rank: list[list[Served]] = [[] for _ in record.ranks]
    for name, operation in record.begun.items():
        rank, sequence = name
        if operation.kind is Kind.SEND or operation.peer == rank:
            continue
        by_rank[operation.peer].append(
            Served(
                source=rank,
                size_bytes=_there_b(record, operation),
                tag=data_tag(sequence),
                answer_bytes=_back_b(record, operation) if name in heard else None,
                answer_tag=reply_tag(sequence),
                noticed=name in noticed,
            )
        )
    return by_rank
