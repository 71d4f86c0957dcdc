"""Objects of a program on ranks beside its endpoint: prepared messages, tokens of messages, access regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gasmeter._core import Operation, PreparedOperations, TokenOperations
from gasmeter.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gasmeter._core import Endpoint, Event, Prepared, Token

__all__ = ["ProgramPrepared", "ProgramToken", "Region", "program_prepared"]


class ProgramPrepared(PreparedOperations):
    """A prepared message in a program that yields: `commit` and `cancel` are operations.

    As a context manager (``with (yield ep.prepare(...)) as prepared``) it is cancelled at the end unless it was
    committed; the network is told at the program's next operation.

    Parameters
    ----------
    core : gasmeter._core.Prepared
        Result of prepare.
    """

    def __init__(self, core: Prepared) -> None:
        self._core = core

    @property
    def size(self) -> int:
        """Bytes of the buffer, between least and most."""
        return self._core.size

    @property
    def buffer(self) -> npt.NDArray[np.uint8]:
        """The network's own memory, writable; empty once the message is committed or cancelled."""
        return self._core.buffer

    def __enter__(self) -> ProgramPrepared:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel the message unless it was committed."""
        self._core.drop()


def program_prepared(core: Prepared | None) -> ProgramPrepared | None:
    """Return the program's view of a prepared message; None, a refusal, stays None."""
    return None if core is None else ProgramPrepared(core)


class ProgramToken(TokenOperations):
    """Token for a handler that is a generator: a `gasmeter._core.Token` whose answers are operations to yield.

    Parameters
    ----------
    core : gasmeter._core.Token
        Compiled token, valid until the handler ends.
    """

    _wrapped = staticmethod(program_prepared)

    def __init__(self, core: Token) -> None:
        self._core = core

    @property
    def source(self) -> int:
        """Rank that sent the message."""
        return self._core.source

    @property
    def is_request(self) -> bool:
        """Whether the handler may reply."""
        return self._core.is_request

    @property
    def args(self) -> tuple[int, ...]:
        """The arguments, 0 to 16 whole numbers of 32 bits."""
        return self._core.args

    @property
    def payload(self) -> bytes:
        """A copy of the payload, empty for a Short."""
        return self._core.payload

    @property
    def view(self) -> memoryview:
        """The payload itself, read-only, until the handler ends."""
        return self._core.view


class Region:
    """An access region: implicit operations (``put_nbi``, ``get_nbi``) inside it are waited for together.

    ``with ep.region() as region: ...`` leaves `event` to wait for; ``async with ep.region(): ...`` waits at its end.

    Parameters
    ----------
    endpoint : gasmeter._core.Endpoint
        Endpoint of the rank.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._event: Event | None = None

    @property
    def event(self) -> Event:
        """Event that completes with every operation of the region, from the end of the region on."""
        if self._event is None:
            raise UsageError("region: its event exists from the end of the `with` block on")
        return self._event

    def __enter__(self) -> Region:
        """Open the region."""
        self._endpoint.begin_region()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the region."""
        self._event = self._endpoint.end_region()

    async def __aenter__(self) -> Region:
        """Open the region."""
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        """Close the region and wait for its operations."""
        self.__exit__()
        await Operation("wait", self.event)
