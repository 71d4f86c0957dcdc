"""Rank programs in Python: what a program yields, and the driver that carries it out.

A program is a generator function (or coroutine function) of an endpoint. It yields operations and is handed their
results, so that whoever drives it decides where and in which time it runs. A plain function gets the compiled endpoint
itself, whose calls block.
"""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gasmeter.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from gasmeter._core import Endpoint, Event, Token

__all__ = ["Operation", "ProgramEndpoint", "run_program"]

T = TypeVar("T")
Steps = Generator[Any, Any, Any] | Coroutine[Any, Any, Any]


class Operation(Generic[T]):
    """One call of an endpoint, carried out when it is yielded (or awaited).

    Parameters
    ----------
    name : str
        Method of `gasmeter._core.Endpoint`.
    *arguments : object
        Its arguments.
    """

    __slots__ = ("arguments", "carried_out", "name")

    def __init__(self, name: str, *arguments: object) -> None:
        self.name = name
        self.arguments = arguments
        self.carried_out = False

    def __await__(self) -> Generator[Operation[T], T, T]:
        """Yield itself and return the result, for programs that are coroutines."""
        return (yield self)

    def __del__(self) -> None:
        """Warn about an operation that was made and forgotten: nothing happened."""
        if not self.carried_out:
            warnings.warn(f"{self.name} was never carried out: write `yield ep.{self.name}(...)`", RuntimeWarning, 2)

    def __repr__(self) -> str:
        """Return the call."""
        return f"{self.name}({', '.join(repr(argument) for argument in self.arguments)})"


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
    def segment(self) -> npt.NDArray[np.uint8]:
        """Own segment: a writable view of bytes that others put into at any time."""
        return self._endpoint.segment

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

    def register(self, handler: Callable[[Token], object]) -> int:
        """Register a handler of active messages; takes effect at once, nothing to yield.

        Parameters
        ----------
        handler : callable
            ``handler(token)`` with ``token.source``, ``token.args``, ``token.payload`` and ``token.reply(handler,
            payload, *args)``. It may not communicate otherwise.

        Returns
        -------
        int
            Index to send messages to: the same on every rank if all register the same handlers in the same order.
            Register before the first operation.
        """
        return self._endpoint.register(handler)

    def put(self, rank: int, offset: int, data: Buffer) -> Operation[None]:
        """Copy bytes into a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte, from the start of its segment.
        data : buffer
            Contiguous memory of any type; all its bytes are copied.

        Returns
        -------
        Operation
            Yields None, when the bytes have arrived.
        """
        return Operation("put", rank, offset, data)

    def get(self, rank: int, offset: int, into: int | Buffer) -> Operation[Any]:
        """Copy bytes out of a rank's segment.

        Parameters
        ----------
        rank : int
            Owner of the segment.
        offset : int
            First byte, from the start of its segment.
        into : int or buffer
            How many bytes to return, or contiguous writable memory to fill.

        Returns
        -------
        Operation
            Yields new bytes, or `into` itself.
        """
        return Operation("get", rank, offset, into)

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

    def put_nb(self, rank: int, offset: int, data: Buffer) -> Operation[Event]:
        """Begin a `put`.

        Parameters
        ----------
        rank, offset, data
            As `put`; do not change the data before the event is complete.

        Returns
        -------
        Operation
            Yields the event; ``event.test()`` polls once.
        """
        return Operation("put_nb", rank, offset, data)

    def get_nb(self, rank: int, offset: int, into: Buffer) -> Operation[Event]:
        """Begin a `get` into memory.

        Parameters
        ----------
        rank, offset, into
            As `get`; do not touch the memory before the event is complete.

        Returns
        -------
        Operation
            Yields the event; ``event.test()`` polls once.
        """
        return Operation("get_nb", rank, offset, into)

    def wait(self, event: Event) -> Operation[None]:
        """Wait until an event is complete.

        Parameters
        ----------
        event : gasmeter._core.Event
            What `put_nb` or `get_nb` yielded.

        Returns
        -------
        Operation
            Yields None.
        """
        return Operation("wait", event)

    def request(self, rank: int, handler: int, payload: Buffer = b"", *args: int) -> Operation[None]:
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

        Returns
        -------
        Operation
            Yields None, when the payload may change.
        """
        return Operation("request", rank, handler, payload, *args)

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


def run_program(program: Callable[..., Any], endpoint: Endpoint, args: Sequence[object] = ()) -> Any:
    """Run one rank's program to its end.

    Parameters
    ----------
    program : callable
        Generator function or coroutine function of a `ProgramEndpoint`, or a plain function of the endpoint itself.
    endpoint : gasmeter._core.Endpoint
        The rank's.
    args : sequence
        Further arguments of the program.

    Returns
    -------
    object
        What the program returns.

    Raises
    ------
    UsageError
        If the program yields what is no operation, or is a plain function that returns a generator.
    """
    if _yields(program):
        return _drive(program(ProgramEndpoint(endpoint), *args), endpoint)
    result = program(endpoint, *args)
    if isinstance(result, types.GeneratorType | types.CoroutineType):
        result.close()
        raise UsageError(
            f"program {_name(program)} returned a {type(result).__name__}; pass the generator function itself"
            " (functools.partial or args= for its arguments)"
        )
    return result


def _yields(program: Callable[..., Any]) -> bool:
    candidates = (program, getattr(program, "__call__", None))  # noqa: B004 - an object whose __call__ is a generator
    return any(inspect.isgeneratorfunction(each) or inspect.iscoroutinefunction(each) for each in candidates)


def _name(program: Callable[..., Any]) -> str:
    return getattr(program, "__qualname__", None) or repr(program)


def _drive(steps: Steps, endpoint: Endpoint) -> Any:
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            yielded = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as stop:
            return stop.value
        value = error = None
        try:
            value = _carry_out(yielded, endpoint)
        except BaseException as failure:  # the program may want to handle it, and has to clean up
            error = failure


def _carry_out(yielded: object, endpoint: Endpoint) -> Any:
    if not isinstance(yielded, Operation):
        raise UsageError(
            f"program yielded {yielded!r}; it may yield operations of its endpoint, for instance `yield ep.barrier()`"
        )
    yielded.carried_out = True
    return getattr(endpoint, yielded.name)(*yielded.arguments)
