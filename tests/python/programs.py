"""Shared parts of tests of programs: the conduits, a program, and jobs that do not start processes each time."""

from __future__ import annotations

import sys
from types import TracebackType
from unittest import mock

import pytest

import gasmeter as gm
from gasmeter.environment.installed import worker_binary
from gasmeter.errors import GasmeterError
from gasmeter.measuring.workers import WorkerPool
from gasmeter.programs.launch import launch


def has_mpi():
    try:
        return any(worker_binary().parent.glob("gasmeter-mpi-*.so"))
    except GasmeterError:
        return False


MPI = pytest.param("mpi", marks=pytest.mark.skipif(not has_mpi(), reason="needs a worker that was built with an MPI"))
FEW = ["smp", "ideal", "extoll"]
ALL = [*FEW, "udp", MPI, "ibv", "gm", "mpi@extoll", "udp@ethernet"]
everywhere = pytest.mark.parametrize("conduit", ALL)
few = pytest.mark.parametrize("conduit", FEW)


def ring(ep, rounds=1):
    """Put into the right neighbour, round by round: what the left one put last, and when that was."""
    for i in range(rounds):
        yield ep.put_value((ep.rank + 1) % ep.size, 8 * i, ep.rank + i)
        yield ep.barrier()
    return (yield ep.get_value(ep.rank, 8 * (rounds - 1))), ep.now_ns()


class KeptPool:
    """Rank processes that outlive a job which ended well: starting Python is what most jobs of tests would take.

    Each job has an endpoint of its own all the same. test_launch tests jobs with processes of their own.
    """

    kept: dict[object, WorkerPool] = {}  # noqa: RUF012 - one for all

    def __init__(self, ranks, **options):
        self.key = (ranks, repr(options))
        if self.key not in self.kept:
            self.kept[self.key] = WorkerPool(ranks, **options)

    def __enter__(self):
        return self.kept[self.key]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        if kind is not None:
            self.kept.pop(self.key).kill()

    @classmethod
    def close_all(cls):
        """End them in order, so that nothing of a network stays behind."""
        while cls.kept:
            cls.kept.popitem()[1].close()


def launched(program, **options):
    """A job that must not hang the tests."""
    with mock.patch.object(sys.modules[launch.__module__], "WorkerPool", KeptPool):
        return launch(program, **{"timeout": 100.0, "segment": "64K", **options})


def refused(program, **options):
    """The one line with which a rank's call is refused."""
    with pytest.raises(gm.UsageError) as caught:
        launched(program, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
