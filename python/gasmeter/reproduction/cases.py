"""The machines that a figure runs on: as their files stand, as draws, as the null model, or without a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gasmeter.errors import UsageError
from gasmeter.machines.draws import DRAWS
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.figure import Line, Without

__all__ = ["GIVEN", "NULLS", "CaseKind", "RunCase", "drawn", "every_draw", "every_null"]

GIVEN = "as given"
"""The case of machines as their files describe them."""

NULLS = 40
"""Draws of the null model: enough to tell a share of 0.9 from one of 0.7."""

CaseKind = Literal["given", "draw", "null", "ablation"]


@dataclass(frozen=True)
class RunCase:
    """What a whole figure is run on.

    Attributes
    ----------
    kind : {"given", "draw", "null", "ablation"}
        The files as they stand, a draw of all estimates, one of the null model, or a mechanism taken away.
    number : int
        Of the draw.
    without : Without or None
        The mechanism that is taken away.
    """

    kind: CaseKind = "given"
    number: int = 0
    without: Without | None = None

    @property
    def name(self) -> str:
        """As files name it: ``as given``, ``draw 17``, ``null 3``, ``without NAME``."""
        if self.kind == "given":
            return GIVEN
        return f"without {self.without.name}" if self.without else f"{self.kind} {self.number}"

    def machine(self, line: Line) -> Machine:
        """Return the machine that a line runs on.

        Parameters
        ----------
        line : Line
            A modelled one.

        Returns
        -------
        Machine
            With the line's overrides, and without the mechanism where one is taken away.
        """
        label = line.machine
        if self.kind in {"draw", "null"}:
            label = f"{label}+{self.kind}={self.number}"
        own = machine(label).with_(dict(line.overrides))
        if self.without is None:
            return own
        return own.with_({key: value for key, value in self.without.machine if key in own})

    def options(self, line: Line, known: set[str]) -> dict[str, str]:
        """Return the options that a mechanism taken away replaces.

        Parameters
        ----------
        line : Line
            Which.
        known : set of str
            Options of its kernel and conduit.

        Returns
        -------
        dict of str to str
            By name.

        Raises
        ------
        UsageError
            If neither has such an option.
        """
        replaced = dict(self.without.options) if self.without else {}
        for name in replaced:
            if name not in known:
                raise UsageError(
                    f"{self.name}: sets {name}, which {line.kernel} on {line.conduit} has not; allowed:"
                    f" {', '.join(sorted(known))}",
                    name,
                )
        return replaced


def drawn(kind: Literal["draw", "null"], count: int) -> tuple[RunCase, ...]:
    """Return so many draws of one kind.

    Parameters
    ----------
    kind : {"draw", "null"}
        Of the machine, or of the null model.
    count : int
        How many.

    Returns
    -------
    tuple of RunCase
        By number, from 0.
    """
    return tuple(RunCase(kind, number) for number in range(count))


def every_draw() -> tuple[RunCase, ...]:
    """Return every draw of the estimates.

    Returns
    -------
    tuple of RunCase
        `gasmeter.machines.draws.DRAWS` of them.
    """
    return drawn("draw", DRAWS)


def every_null() -> tuple[RunCase, ...]:
    """Return every draw of the null model.

    Returns
    -------
    tuple of RunCase
        `NULLS` of them.
    """
    return drawn("null", NULLS)
