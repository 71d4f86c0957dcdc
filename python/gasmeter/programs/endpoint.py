"""The endpoint of a program that yields: each transfer, message and wait is an operation to be carried out.

The compiled core has these methods; this module adds those without an operation to yield.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter._core import EndpointOperations, Operation
from gasmeter.programs.atomics import AtomicDomain, domain_of
from gasmeter.programs.objects import ProgramToken, Region, program_prepared
from gasmeter.programs.teams import Team, team_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gasmeter._core import Endpoint

__all__ = ["ProgramEndpoint"]


class ProgramEndpoint(EndpointOperations):
    """The endpoint that a generator program sees: transfers and waits are operations to yield.

    Parameters
    ----------
    endpoint : gasmeter._core.Endpoint
        Compiled endpoint that executes the operations.
    """

    _wrapped = staticmethod(program_prepared)

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    @property
    def rank(self) -> int:
        """Number of this rank, 0 to size - 1."""
        return self._endpoint.rank

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self._endpoint.size

    @property
    def max_medium(self) -> int:
        """Largest payload of a message, in bytes."""
        return self._endpoint.max_medium

    @property
    def max_long(self) -> int:
        """Largest payload of a Long, in bytes."""
        return self._endpoint.max_long

    @property
    def segment(self) -> npt.NDArray[np.uint8]:
        """Own segment: a writable view of bytes that others put into at any time."""
        return self._endpoint.segment

    @property
    def team(self) -> Team:
        """The team of all ranks: barriers and collectives on NumPy arrays, and `Team.split` for smaller ones."""
        return team_of(self._endpoint, Operation)

    def segment_of(self, rank: int) -> npt.NDArray[np.uint8]:
        """Return a neighbour's segment as memory of this process.

        Parameters
        ----------
        rank : int
            A rank of this node.

        Returns
        -------
        numpy.ndarray of uint8
            A writable view; loads and stores go to the neighbour's memory directly.

        Raises
        ------
        UsageError
            If there is no such rank, or it is no neighbour.
        """
        return self._endpoint.segment_of(rank)

    def register(self, handler: Callable[[Any], object]) -> int:
        """Register a handler of active messages; takes effect at once, nothing to yield.

        Parameters
        ----------
        handler : callable
            Function ``handler(token)`` with ``token.source``, ``token.args``, ``token.payload`` (a copy),
            ``token.view`` (no copy, valid until the handler returns) and ``token.reply(handler, payload, *args)``. It
            may not communicate otherwise. A generator function gets a `ProgramToken` and yields its answer.

        Returns
        -------
        int
            Index for messages: the same on every rank if all register the same handlers in the same order, before the
            first operation.
        """
        if not inspect.isgeneratorfunction(handler):
            return self._endpoint.register(handler)
        return self._endpoint.register(lambda token: handler(ProgramToken(token)))

    def region(self) -> Region:
        """Return an access region: a context, see `Region`; nothing to yield.

        Returns
        -------
        Region
            Region to enter by ``with`` or ``async with``.
        """
        return Region(self._endpoint)

    def atomic_domain(self, dtype: npt.DTypeLike, ops: Sequence[str] = ()) -> AtomicDomain:
        """Return a new atomic domain; nothing to yield. Every rank makes the same ones in the same order.

        Parameters
        ----------
        dtype : str or numpy.dtype
            int32, uint32, int64, uint64, float32 or float64.
        ops : sequence of str, default ()
            Names of its operations; by default all of the type.

        Returns
        -------
        gasmeter.programs.atomics.AtomicDomain
            Domain whose operations are to be yielded.

        Raises
        ------
        UsageError
            For a type or operation that does not exist.
        """
        return domain_of(self._endpoint, dtype, ops, Operation)

    def now_ns(self) -> float:
        """Return the time: virtual, or this machine's monotonic clock; nothing to yield.

        Returns
        -------
        float
            Nanoseconds since some instant.
        """
        return self._endpoint.now_ns()
