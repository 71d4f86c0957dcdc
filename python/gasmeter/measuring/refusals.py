"""Points of a sweep that cannot be measured and are left out, while the sweep goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gasmeter.errors import GasmeterError, ResourceError, UsageError
from gasmeter.measuring.recording import record
from gasmeter.measuring.runner import GroupOutcome
from gasmeter.rows.record import Record
from gasmeter.sweeps.point import Group

__all__ = ["Refusals"]


class Refusals:
    """Points that a sweep leaves out, and why.

    `allowed` tells whether the sweep goes on without a refused point.
    """

    def __init__(self, name: str, *, allowed: bool) -> None:
        self._name = name
        self._allowed = allowed
        self._errors: list[tuple[str, GasmeterError]] = []

    def record_of(self, group: Group, measured: Callable[[], GroupOutcome]) -> Record | None:
        """Return the record of a group, or None if it was refused and is left out.

        `measured` returns the outcome or raises. The refusal (UsageError, ResourceError) propagates if no point may be
        left out.
        """
        try:
            return self.made(measured())
        except (UsageError, ResourceError) as error:
            if not self._allowed:
                raise
            self._errors += [(point.describe(), error) for point in group.points]
            return None

    def made(self, outcome: GroupOutcome) -> Record:
        """Return the rows and samples of a measured group, without its refused points."""
        if outcome.refused and not self._allowed:
            raise outcome.refused[0][1]
        self._errors += [(point.describe(), error) for point, error in outcome.refused]
        return record(outcome, self._name)

    def settle(self, done: Mapping[str, Record]) -> list[GasmeterError]:
        """Return the refusals in order; raise the first one if no group left a row."""
        errors = [error for _, error in self._errors]
        if errors and not any(entry.rows for entry in done.values()):
            raise errors[0]
        return errors

    def lines(self, groups: Sequence[Group]) -> list[str]:
        """Return a line for each point that was left out, and how many there were."""
        lines = list(dict.fromkeys(_line(name, str(error)) for name, error in self._errors))
        points = len({point.id for group in groups for point in group.points})
        return [*lines, f"{len(lines)} of {points} points left out"] if lines else []


def _line(name: str, reason: str) -> str:
    """Return the line about a point; a reason that already names the point gets no second name."""
    return f"left out: {reason if reason.startswith(name) else f'{name}: {reason}'}"
