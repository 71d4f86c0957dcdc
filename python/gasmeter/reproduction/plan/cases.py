"""Machines of a figure: as their files stand, as draws, as the null model, or without a mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gasmeter.errors import UsageError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.plan.choosing import PRIOR, Choice
from gasmeter.reproduction.plan.figure import Line, Without

__all__ = ["DRAWN", "GIVEN", "NULLS", "CaseKind", "RunCase", "conditioned_draws", "null_draws", "prior_draws"]

GIVEN = "as given"
"""Name of the case with machines as their files describe them."""

NULLS = 40
"""Draws of the null model: enough to distinguish a share of 0.9 from one of 0.7."""

CaseKind = Literal["given", "prior", "draw", "null", "ablation"]

DRAWN: tuple[CaseKind, ...] = ("prior", "draw", "null")
"""Kinds of cases that are draws."""


@dataclass(frozen=True)
class RunCase:
    """Machines that a whole figure is run on."""

    # Files as they stand, a draw (from ranges, by check rows or of the null model), or a mechanism removed
    kind: CaseKind = "given"
    number: int = 0  # number of the draw
    chosen: tuple[tuple[str, int], ...] = ()  # for a conditioned draw, the number of each machine's own draw
    without: Without | None = None  # the removed mechanism

    @property
    def name(self) -> str:
        """Name in files: ``as given``, ``prior 17``, ``draw 17``, ``null 3``, ``without NAME``."""
        if self.kind == "given":
            return GIVEN
        return f"without {self.without.name}" if self.without else f"{self.kind} {self.number}"

    def label(self, name: str) -> str:
        """Return the label of a machine in this case, for instance ``extoll+draw=3127``."""
        if self.kind == "draw":
            return f"{name}+draw={dict(self.chosen)[name]}"
        return f"{name}+{'draw' if self.kind == 'prior' else 'null'}={self.number}" if self.kind in DRAWN else name

    def machine(self, line: Line) -> Machine:
        """Return the machine of a modelled line, with the line's overrides and without the removed mechanism."""
        modelled = machine(self.label(line.machine)).with_(dict(line.overrides))
        if self.without is None:
            return modelled
        return modelled.with_({key: value for key, value in self.without.machine if key in modelled})

    def options(self, line: Line, available: set[str]) -> dict[str, str]:
        """Return the options that a removed mechanism replaces, by name.

        Raises UsageError if neither kernel nor conduit (`available`) has such an option.
        """
        replaced = dict(self.without.options) if self.without else {}
        for name in replaced:
            if name not in available:
                raise UsageError(
                    f"{self.name}: sets {name}, which {line.kernel} on {line.conduit} has not; allowed:"
                    f" {', '.join(sorted(available))}",
                    name,
                )
        return replaced


def prior_draws() -> tuple[RunCase, ...]:
    """Return the draws from the ranges alone: the first ones of each machine."""
    return tuple(RunCase("prior", number) for number in range(PRIOR))


def conditioned_draws(choice: Choice) -> tuple[RunCase, ...]:
    """Return the draws that the check rows make likely, in the order of the choice."""
    return tuple(RunCase("draw", number, _pairs(chosen.items())) for number, chosen in enumerate(choice.drawn))


def _pairs(items: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(items))


def null_draws() -> tuple[RunCase, ...]:
    """Return the `NULLS` draws of the null model."""
    return tuple(RunCase("null", number) for number in range(NULLS))
