"""The endpoint of a program that yields: each transfer, message and wait is an operation to be carried out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter._core import Operation
from gasmeter.programs.atomics import AtomicDomain, domain_of
from gasmeter.programs.objects import ProgramToken, Region, program_prepared
from gasmeter.programs.teams import Team, team_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from gasmeter._core import Endpoint, Event, RemoteArray

__all__ = ["ProgramEndpoint"]


class ProgramEndpoint:
    """The endpoint that a generator program sees: transfers and waits are operations to yield.

    Parameters
    ----------
    endpoint : gasmeter._core.Endpoint
        What carries the operations out.
    """

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
            ``handler(token)`` with ``token.source``, ``token.args``, ``token.payload`` (a copy), ``token.view``
            (without one, until the handler returns) and ``token.reply(handler, payload, *args)``. It may not
            communicate otherwise. A generator function is given a `ProgramToken` and yields its answer.

        Returns
        -------
        int
            Index to send messages to: the same on every rank if all register the same handlers in the same order.
            Register before the first operation.
        """
        if not inspect.isgeneratorfunction(handler):
            return self._endpoint.register(handler)
        return self._endpoint.register(lambda token: handler(ProgramToken(token)))

    def put(self, rank: int, offset: int, data: Buffer, *, flags: int = 0) -> Operation[bool | None]:
        """Copy bytes into a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte, from the start of its segment.
        data : buffer
            Contiguous memory of any type; all its bytes are copied.
        flags : int, default 0
            `gasmeter.IMMEDIATE`: be refused instead of waiting.

        Returns
        -------
        Operation
            Yields None, when the bytes have arrived; with `gasmeter.IMMEDIATE` whether it was done.
        """
        return Operation("put", rank, offset, data, flags=flags)

    def get(self, rank: int, offset: int, into: int | Buffer, *, flags: int = 0) -> Operation[Any]:
        """Copy bytes out of a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte, from the start of its segment.
        into : int or buffer
            How many bytes to return, or contiguous writable memory to fill.
        flags : int, default 0
            `gasmeter.IMMEDIATE`: be refused instead of waiting.

        Returns
        -------
        Operation
            Yields new bytes, or `into` itself; None: refused.
        """
        return Operation("get", rank, offset, into, flags=flags)

    def put_value(self, rank: int, offset: int, value: int) -> Operation[None]:
        """Store one 8-byte integer in a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte; a multiple of 8 makes it one store, which no rank ever sees half done.
        value : int
            -2^63 to 2^63-1.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("put_value", rank, offset, value)

    def get_value(self, rank: int, offset: int) -> Operation[int]:
        """Load one 8-byte integer from a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte; see `put_value`.

        Returns
        -------
        Operation
            Yields the integer.
        """
        return Operation("get_value", rank, offset)

    def put_strided(
        self, rank: int, target: RemoteArray | npt.NDArray[Any], source: npt.NDArray[Any]
    ) -> Operation[None]:
        """Copy an array into a rank's segment, element by element.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        target : gasmeter.RemoteArray or numpy.ndarray
            Where elements go: described, or a view of `segment` (of which the rank's has the layout) or `segment_of`.
        source : numpy.ndarray
            What is copied; of the same shape and dtype, with any strides.

        Returns
        -------
        Operation
            Yields None, when the elements have arrived.
        """
        return Operation("put_strided", rank, target, source)

    def get_strided(
        self, rank: int, target: npt.NDArray[Any], source: RemoteArray | npt.NDArray[Any]
    ) -> Operation[npt.NDArray[Any]]:
        """Copy an array out of a rank's segment, element by element.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        target : numpy.ndarray
            Where elements go; writeable, with any strides.
        source : gasmeter.RemoteArray or numpy.ndarray
            What is copied: see `put_strided`; of the same shape and dtype.

        Returns
        -------
        Operation
            Yields `target`.
        """
        return Operation("get_strided", rank, target, source)

    def put_nb(self, rank: int, offset: int, data: Buffer, *, flags: int = 0) -> Operation[Event]:
        """Begin a `put`.

        Parameters
        ----------
        rank, offset, data, flags
            As `put`; do not change the data before the event is complete.

        Returns
        -------
        Operation
            Yields the event, to be waited for (``yield event``, ``await event``, `wait`) or tested (`test`); with
            `gasmeter.IMMEDIATE` None if it was refused.
        """
        return Operation("put_nb", rank, offset, data, flags=flags)

    def get_nb(self, rank: int, offset: int, into: Buffer, *, flags: int = 0) -> Operation[Event]:
        """Begin a `get` into memory.

        Parameters
        ----------
        rank, offset, into, flags
            As `get`; do not touch the memory before the event is complete.

        Returns
        -------
        Operation
            Yields the event, to be waited for (``yield event``, ``await event``, `wait`) or tested (`test`); with
            `gasmeter.IMMEDIATE` None if it was refused.
        """
        return Operation("get_nb", rank, offset, into, flags=flags)

    def put_nbi(self, rank: int, offset: int, data: Buffer, *, flags: int = 0) -> Operation[bool | None]:
        """Begin a `put` that `wait_nbi`, or the `region` it is in, waits for.

        Parameters
        ----------
        rank, offset, data, flags
            As `put_nb`.

        Returns
        -------
        Operation
            Yields None, or with `gasmeter.IMMEDIATE` whether it was begun.
        """
        return Operation("put_nbi", rank, offset, data, flags=flags)

    def get_nbi(self, rank: int, offset: int, into: Buffer, *, flags: int = 0) -> Operation[bool | None]:
        """Begin a `get` into memory that `wait_nbi`, or the `region` it is in, waits for.

        Parameters
        ----------
        rank, offset, into, flags
            As `get_nb`.

        Returns
        -------
        Operation
            Yields None, or with `gasmeter.IMMEDIATE` whether it was begun.
        """
        return Operation("get_nbi", rank, offset, into, flags=flags)

    def wait_nbi(self) -> Operation[None]:
        """Wait for every implicit operation outside of regions.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("wait_nbi")

    def region(self) -> Region:
        """Return an access region: a context, see `Region`; nothing to yield.

        Returns
        -------
        Region
            To be entered by ``with`` or ``async with``.
        """
        return Region(self._endpoint)

    def test(self, event: Event) -> Operation[bool]:
        """Poll once and tell whether an event is complete.

        Parameters
        ----------
        event : gasmeter._core.Event
            What an operation with ``_nb`` yielded.

        Returns
        -------
        Operation
            Yields True from completion on.
        """
        return Operation("test", event)

    def fetch_add(self, rank: int, offset: int, value: int, *, flags: int = 0) -> Operation[int]:
        """Add to an 8-byte integer, atomically with every other `fetch_add`.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            A multiple of 8, from the start of its segment.
        value : int
            -2^63 to 2^63-1; sums wrap around.
        flags : int, default 0
            `gasmeter.IMMEDIATE`: be refused instead of waiting.

        Returns
        -------
        Operation
            Yields what was there before; None: refused.
        """
        return Operation("fetch_add", rank, offset, value, flags=flags)

    def atomic_domain(self, dtype: npt.DTypeLike, ops: Sequence[str] = ()) -> AtomicDomain:
        """Return a new atomic domain; nothing to yield. Every rank makes the same ones in the same order.

        Parameters
        ----------
        dtype : str or numpy.dtype
            int32, uint32, int64, uint64, float32 or float64.
        ops : sequence of str, default ()
            Names of its operations; none: all that the type has.

        Returns
        -------
        gasmeter.programs.atomics.AtomicDomain
            Its operations are to be yielded.

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

    def sleep(self, ns: float) -> Operation[None]:
        """Let time pass without polling: messages wait meanwhile.

        Parameters
        ----------
        ns : float
            Nanoseconds, 0 to 1e15; of virtual time on a modelled conduit.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("sleep", ns)

    def wait(self, event: Event) -> Operation[None]:
        """Wait until an event is complete.

        Parameters
        ----------
        event : gasmeter._core.Event
            What an operation with ``_nb`` yielded, or of a `region`.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("wait", event)

    def request(
        self, rank: int, handler: int, payload: Buffer = b"", *args: int, flags: int = 0
    ) -> Operation[bool | None]:
        """Send an active message; its handler runs when the target polls.

        Parameters
        ----------
        rank : int
            Target.
        handler : int
            Index that `register` returned.
        payload : buffer
            Contiguous bytes, at most `max_medium`; none makes it a Short, else it is a Medium.
        *args : int
            At most 16 whole numbers of 32 bits.
        flags : int, default 0
            `gasmeter.IMMEDIATE`: be refused instead of waiting.

        Returns
        -------
        Operation
            Yields None, when the payload may change; with `gasmeter.IMMEDIATE` whether it was sent.
        """
        return Operation("request", rank, handler, payload, *args, flags=flags)

    def request_long(
        self, rank: int, handler: int, payload: Buffer, offset: int, *args: int, flags: int = 0
    ) -> Operation[bool | None]:
        """Send a Long: its payload is in the target's segment when its handler runs.

        Parameters
        ----------
        rank, handler, *args, flags
            As `request`.
        payload : buffer
            Contiguous bytes, at most `max_long`.
        offset : int
            Where they go, in bytes from the start of the target's segment.

        Returns
        -------
        Operation
            As `request`.
        """
        return Operation("request_long", rank, handler, payload, offset, *args, flags=flags)

    def prepare(
        self, rank: int, least: int, most: int, args: int = 0, offset: int | None = None, *, flags: int = 0
    ) -> Operation[Any]:
        """Prepare a message whose payload is written where the network sends from.

        Parameters
        ----------
        rank : int
            Target.
        least, most : int
            Bytes: the buffer holds between `least` and `most`.
        args : int, default 0
            How many arguments the commit will have, 0 to 16.
        offset : int, optional
            Makes it a Long: where the payload goes, in bytes from the start of the target's segment.
        flags : int, default 0
            `gasmeter.IMMEDIATE`: be refused instead of waiting.

        Returns
        -------
        Operation
            Yields a `ProgramPrepared`, to be committed or cancelled before any other operation; None: refused.
        """
        return Operation("prepare", rank, least, most, args, offset, flags=flags, wrap=program_prepared)

    def poll(self) -> Operation[int]:
        """Run the handlers of messages that have arrived.

        Returns
        -------
        Operation
            Yields how many messages and completions were handled.
        """
        return Operation("poll")

    def barrier(self) -> Operation[None]:
        """Wait until every rank has entered.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("barrier")

    def wait_until(self, predicate: Callable[[], object]) -> Operation[None]:
        """Poll until a condition holds.

        Parameters
        ----------
        predicate : callable
            Without parameters; asked between polls.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("wait_until", predicate)
