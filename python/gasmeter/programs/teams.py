"""Teams: ranks that do barriers and collectives on NumPy arrays among themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from gasmeter._core import Endpoint
    from gasmeter._core import Team as Core

    Array = npt.NDArray[Any]

__all__ = ["Team", "blocking_team", "team_of"]


class Team:
    """One rank's view of a team; `ep.team` is that of all ranks, `split` makes others.

    All members make the same calls in the same order. In a program that is a generator or coroutine each returns an
    operation to yield (await); in a plain function each blocks and returns what is said to be yielded.

    Parameters
    ----------
    core : gasmeter._core.Team
        The compiled team.
    call : callable
        ``call(name, team, *arguments, wrap=)`` carries a call out, or makes the operation.

    Notes
    -----
    Arrays hold int32, uint32, int64, uint64, float32 or float64 in this machine's order of bytes, have any shape, and
    the same shape and dtype at all members. Those that are only read may have any strides. ``op`` is ``sum``,
    ``prod``, ``min``, ``max``, and for integers ``bit_and``, ``bit_or``, ``bit_xor``; it combines the members' arrays
    element by element, and integers wrap around. The algorithm is chosen by size and shape of the machine.

    `gasmeter.UsageError`, in one line, for another type, an unknown op, a root that the team does not have, and where
    members contradict each other (size, op, root, another call); `TypeError` for what is no number.

    The first call of a program on any team also has every rank wait for all others, once, since a rank's handlers for
    collectives are there from then on: programs without teams pay nothing for them.
    """

    def __init__(self, core: Core, call: Callable[..., Any]) -> None:
        self._core = core
        self._call = call

    @property
    def rank(self) -> int:
        """Number of this rank in the team, 0 to size - 1."""
        return self._core.rank

    @property
    def size(self) -> int:
        """Number of ranks of the team."""
        return self._core.size

    def __repr__(self) -> str:
        """Return rank and size."""
        return f"Team(rank {self.rank} of {self.size})"

    def barrier(self) -> Any:
        """Wait until every member has entered.

        Returns
        -------
        object
            None.
        """
        return self._call("team.barrier", self._core)

    def broadcast(self, array: Array, root: int = 0) -> Any:
        """Copy the root's array into everybody's.

        Parameters
        ----------
        array : numpy.ndarray
            At the root what is sent; elsewhere C-contiguous and writeable: where it goes.
        root : int, default 0
            Rank of the team.

        Returns
        -------
        object
            `array` itself.
        """
        return self._call("team.broadcast", self._core, array, root)

    def reduce(self, array: Array, op: str = "sum", root: int = 0) -> Any:
        """Combine all members' arrays at one.

        Parameters
        ----------
        array : numpy.ndarray
            This member's operand.
        op : str, default "sum"
            See `Team`.
        root : int, default 0
            Rank of the team.

        Returns
        -------
        object
            At the root a new array of the same shape and dtype, elsewhere None.
        """
        return self._call("team.reduce", self._core, array, op, root)

    def all_reduce(self, array: Array, op: str = "sum") -> Any:
        """Combine all members' arrays at every member.

        Parameters
        ----------
        array : numpy.ndarray
            This member's operand.
        op : str, default "sum"
            See `Team`.

        Returns
        -------
        object
            A new array of the same shape and dtype, with the same bits at all members.
        """
        return self._call("team.all_reduce", self._core, array, op)

    def scan(self, array: Array, op: str = "sum") -> Any:
        """Combine the arrays of the members up to this one, itself included.

        Parameters
        ----------
        array : numpy.ndarray
            This member's operand.
        op : str, default "sum"
            See `Team`.

        Returns
        -------
        object
            A new array of the same shape and dtype: member r has the combination of 0 to r.
        """
        return self._call("team.scan", self._core, array, op)

    def exchange(self, array: Array) -> Any:
        """Send a block to every member and get one from each (all-to-all).

        Parameters
        ----------
        array : numpy.ndarray
            Its first axis is a multiple of `size`: the blocks, by the rank that each goes to.

        Returns
        -------
        object
            A new array of the same shape and dtype: the blocks, by the rank that each came from.
        """
        return self._call("team.exchange", self._core, array)

    def gather(self, array: Array, root: int = 0) -> Any:
        """Collect all members' arrays at one.

        Parameters
        ----------
        array : numpy.ndarray
            This member's part.
        root : int, default 0
            Rank of the team.

        Returns
        -------
        object
            At the root a new array of shape ``(size, *array.shape)``, by rank, elsewhere None.
        """
        return self._call("team.gather", self._core, array, root)

    def all_gather(self, array: Array) -> Any:
        """Collect all members' arrays at every member.

        Parameters
        ----------
        array : numpy.ndarray
            This member's part.

        Returns
        -------
        object
            A new array of shape ``(size, *array.shape)``, by rank.
        """
        return self._call("team.all_gather", self._core, array)

    def split(self, color: int | None, key: int = 0) -> Any:
        """Divide the team: members with the same color make a new one.

        Parameters
        ----------
        color : int or None
            0 to 2^32-1; None: this member takes part and joins no team.
        key : int, default 0
            Members stand in the new team in the order of their keys (-2^63 to 2^63-1), then of their ranks in this one.

        Returns
        -------
        object
            The new `Team`, or None.
        """
        call = self._call
        return call("team.split", self._core, color, key, wrap=lambda core: None if core is None else Team(core, call))

    def destroy(self) -> Any:
        """Give the team back, with all members and nothing of it under way; the team of all ranks stays.

        Returns
        -------
        object
            None. A later call on the team is refused.
        """
        return self._call("team.destroy", self._core)


def team_of(endpoint: Endpoint, call: Callable[..., Any]) -> Team:
    """Return the team of all ranks.

    Parameters
    ----------
    endpoint : gasmeter._core.Endpoint
        The rank's.
    call : callable
        See `Team`.

    Returns
    -------
    Team
        For this rank.
    """
    from gasmeter._core import Team as Core  # noqa: PLC0415 - loads the extension

    return Team(Core(endpoint), call)


def blocking_team(endpoint: Endpoint) -> Team:
    """Return the team of all ranks, whose calls block.

    Parameters
    ----------
    endpoint : gasmeter._core.Endpoint
        Of a rank process.

    Returns
    -------
    Team
        For this rank.
    """

    def call(name: str, core: Core, *arguments: Any, wrap: Callable[[Any], Any] | None = None) -> Any:
        result = core.call(name, *arguments)
        return result if wrap is None else wrap(result)

    return team_of(endpoint, call)
