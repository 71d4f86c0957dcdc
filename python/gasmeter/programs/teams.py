"""Teams: groups of ranks with barriers and collectives on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gasmeter._core import Team as Core
from gasmeter._core import TeamOperations

if TYPE_CHECKING:
    from gasmeter._core import Endpoint

__all__ = ["Team", "blocking_team", "team_of"]


class Team(TeamOperations):
    """A team from the view of one rank; `ep.team` contains all ranks, `split` makes others.

    All members make the same calls in the same order. In a program that is a generator or coroutine each returns an
    operation to yield (await); in a plain function each blocks and returns the yielded value.

    Parameters
    ----------
    core : gasmeter._core.Team
        The compiled team.
    call : callable
        Function ``call(name, team, *arguments, wrap=)`` that executes a call, or makes the operation.

    Notes
    -----
    Arrays hold int32, uint32, int64, uint64, float32 or float64 in this machine's byte order, have any shape, and the
    same shape and dtype at all members. Arrays that are only read may have any strides. ``op`` is ``sum``, ``prod``,
    ``min``, ``max``, and for integers ``bit_and``, ``bit_or``, ``bit_xor``; it combines the members' arrays element by
    element, and integers wrap around. The algorithm depends on the size and the shape of the machine.

    `gasmeter.UsageError`, in one line, is raised for another type, an unknown op, a root outside the team, and members
    that contradict each other (size, op, root, another call); `TypeError` for values that are no numbers.

    In the first call of a program on any team every rank also waits once for all others, since handlers for collectives
    are registered from then on. Programs without teams do not pay for them.
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

    def _wrapped(self, core: Core | None) -> Team | None:
        return None if core is None else Team(core, self._call)


def team_of(endpoint: Endpoint, call: Callable[..., Any]) -> Team:
    """Return the team of all ranks."""
    return Team(Core(endpoint), call)


def blocking_team(endpoint: Endpoint) -> Team:
    """Return the team of all ranks, whose calls block."""

    def call(name: str, core: Core, *arguments: Any, wrap: Callable[[Any], Any] | None = None) -> Any:
        result = core.call(name, *arguments)
        return result if wrap is None else wrap(result)

    return team_of(endpoint, call)
