"""Parts of a trace: operations, and the steps from the begin of each to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gasmeter.errors import CheckFailed

__all__ = ["PHASES", "Operation", "Step", "Trace", "merged"]

PHASES = ("initiate", "request", "target", "ack", "completion")
"""Phases of the way: at the initiator, to the target, on its core, back, and at the initiator again."""


@dataclass(frozen=True)
class Step:
    """A stretch of an operation's way."""

    # ``inject``, ``copy``, ``header``, ``doorbell``, ``wire``, ``hop``, ``queue``, ``device``, ``poll``, ``dispatch``,
    # ``handler``, …
    name: str
    phase: str  # a member of `PHASES`
    where: str  # ``rank 0``, ``node 1`` (its interface or kernel) or ``node 0 to 1`` (a link)
    begin_ps: int  # since the block began
    end_ps: int  # since the block began

    @property
    def ps(self) -> int:
        """Duration in ps."""
        return self.end_ps - self.begin_ps


@dataclass(frozen=True)
class Operation:
    """An operation, from the call that begins it until the initiator knows that it is done.

    Attributes
    ----------
    begin_ps, end_ps : int
        Times since the block began.
    steps : tuple of Step
        Steps in order of time; each begins where the one before it ends.
    """

    begin_ps: int
    end_ps: int
    steps: tuple[Step, ...]

    @property
    def ps(self) -> int:
        """Duration in ps."""
        return self.end_ps - self.begin_ps

    def check(self) -> None:
        """Check that the steps fill the operation's time, to the picosecond.

        Raises
        ------
        CheckFailed
            If there is a gap, an overlap, or a step without a name.
        """
        at = self.begin_ps
        for step in self.steps:
            if step.begin_ps != at or step.end_ps <= step.begin_ps:
                raise CheckFailed(
                    f"trace: step {step.name} begins at {step.begin_ps} ps, the one before it ends at {at} ps"
                )
            if step.name == "unknown":
                raise CheckFailed(f"trace: from {step.begin_ps} to {step.end_ps} ps nobody tells what {step.where} did")
            at = step.end_ps
        if at != self.end_ps:
            raise CheckFailed(f"trace: the steps end at {at} ps, the operation at {self.end_ps} ps")


@dataclass(frozen=True, repr=False)
class Trace:
    """The operations of one point.

    Attributes
    ----------
    title : str
        The point and its conduit.
    conduit : str
        Name of the conduit.
    kind : str
        ``modelled`` or ``measured``.
    size_bytes : int
        Bytes of a transfer.
    operations : tuple of Operation
        Operations in order.
    cost_ps : float
        Cost of recording a step at its rank, in ps; 0 in virtual time.
    """

    title: str
    conduit: str
    kind: str
    size_bytes: int
    operations: tuple[Operation, ...]
    cost_ps: float = 0.0

    def __repr__(self) -> str:
        """Return the traced operation and its median duration in one line."""
        shown = self.shown
        took = f"{shown.ps / 1000:g} ns in {len(shown.steps)} steps"
        return f"<Trace {self.title} ({self.kind}): {took}, the median of {len(self.operations)}>"

    @property
    def shown(self) -> Operation:
        """The operation of median length, the later one of two, for tables and pictures."""
        order = sorted(range(len(self.operations)), key=lambda number: (self.operations[number].ps, number))
        return self.operations[order[len(order) // 2]]


def merged(steps: Iterator[Step]) -> tuple[Step, ...]:
    """Join neighbouring steps of the same name, phase and place; steps are in order of time."""
    joined: list[Step] = []
    for step in steps:
        if joined:
            last = joined[-1]
            if (last.name, last.phase, last.where, last.end_ps) == (step.name, step.phase, step.where, step.begin_ps):
                joined[-1] = Step(last.name, last.phase, last.where, last.begin_ps, step.end_ps)
                continue
        joined.append(step)
    return tuple(joined)
