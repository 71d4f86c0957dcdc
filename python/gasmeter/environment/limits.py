"""Limits of this machine: cores, ranks, shared memory."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from gasmeter.environment.mpi_launcher import check_launched_ranks
from gasmeter.errors import UsageError
from gasmeter.units import format_bytes

__all__ = [
    "RANKS_PER_CORE",
    "VIRTUAL_RANKS",
    "SharedMemory",
    "check_ranks",
    "check_size",
    "check_virtual_ranks",
    "cpus",
    "most_ranks",
    "shared_memory",
]

RANKS_PER_CORE = 64
"""Most ranks per core: each keeps a process, a socket and its private pages."""

VIRTUAL_RANKS = 65536
"""Most ranks of a job in virtual time, as in the core."""

_SHM = Path("/dev/shm")


@dataclass(frozen=True)
class SharedMemory:
    """Size and free space of the shared-memory file system, in bytes."""

    total: int
    free: int


def cpus() -> tuple[int, ...]:
    """Return the processors this process may use, ascending, at least one."""
    return tuple(sorted(os.sched_getaffinity(0)))


def most_ranks() -> int:
    """Return the most ranks of a real job here: `RANKS_PER_CORE` per usable core, at least 128.

    The limit on processes bounds the number.
    """
    bound = max(128, RANKS_PER_CORE * len(cpus()))
    processes = psutil.Process().rlimit(psutil.RLIMIT_NPROC)[0]
    return bound if processes < 0 else max(1, min(bound, int(processes) - 1))


def shared_memory() -> SharedMemory | None:
    """Return the state of the shared-memory file system; None without ``/dev/shm``."""
    try:
        usage = shutil.disk_usage(_SHM)
    except OSError:
        return None
    return SharedMemory(usage.total, usage.free)


def check_ranks(ranks: int) -> None:
    """Raise UsageError for a rank count that no real job here can have.

    It must be 1 to `most_ranks`, and that of an MPI's launcher, if one started this process.
    """
    check_launched_ranks(ranks)
    most = most_ranks()
    if not 1 <= ranks <= most:
        raise UsageError(
            f"ranks {ranks} is not what this machine carries; allowed: 1 to {most} ({RANKS_PER_CORE} per core,"
            f" {len(cpus())} usable cores; see `gasmeter doctor`)",
            str(ranks),
        )


def check_virtual_ranks(ranks: int) -> None:
    """Raise UsageError for a rank count outside 1 to `VIRTUAL_RANKS`, the limits of jobs in virtual time."""
    if not 1 <= ranks <= VIRTUAL_RANKS:
        raise UsageError(
            f"ranks {ranks} is not what virtual time carries; allowed: 1 to {VIRTUAL_RANKS} (see `gasmeter list"
            " conduits`)",
            str(ranks),
        )


def check_size(size_bytes: int) -> None:
    """Raise UsageError for a size in bytes that exceeds the machine's shared memory."""
    memory = shared_memory()
    if memory is not None and size_bytes > memory.total:
        raise UsageError(
            f"size {format_bytes(size_bytes)} ({size_bytes} B) is beyond any segment: /dev/shm holds"
            f" {format_bytes(memory.total)}; allowed: up to that, see `gasmeter doctor`",
            str(size_bytes),
        )
