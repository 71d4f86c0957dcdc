"""Jumps of curves over sizes as a bisection finds them, as values and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from gasmeter.arguments.sizes import format_size
from gasmeter.rows.state import GOOD
from gasmeter.sweeps.curves import FEWEST_SIZES
from gasmeter.units import format_quantity

__all__ = ["BisectedCurve", "Jump", "curves_from", "jump_lines"]

_FEW = 3


@dataclass(frozen=True)
class Jump:
    """A jump of a curve, or a rise between two sizes that could not be narrowed to one.

    Attributes
    ----------
    before_bytes, after_bytes : int
        The last size before it and the first one after it.
    before, after : float
        Values of the curve there, in the unit of its metric.
    left : str
        Why it was not narrowed further; empty if the sizes are neighbours.
    state : str
        The worse state of the two rows, one of `gasmeter.rows.state.STATES`.
    """

    before_bytes: int
    after_bytes: int
    before: float
    after: float
    left: str = ""
    state: str = GOOD

    @property
    def change(self) -> float:
        """Relative change at the jump: 0.61 for +61 %."""
        return self.after / self.before - 1


@dataclass(frozen=True)
class BisectedCurve:
    """A curve over sizes that was searched for jumps."""

    name: str  # the point without its size
    metric: str
    unit: str
    share: float  # relative step that counts as a jump
    points: int  # requested sizes with reliable values
    added: int  # sizes measured beside those
    jumps: tuple[Jump, ...]  # in ascending order of size
    # Pairs of sizes whose 95 % intervals neither confirm nor exclude a jump
    undecided: tuple[tuple[int, int], ...] = ()
    passed_over: int = 0  # requested sizes with unreliable values
    unchecked: int = 0  # sizes whose values count although their data were not checked

    def facts(self) -> dict[str, Any]:
        """Return the attributes as they stand in run.json; a jump also has its ``change``."""
        jumps = [{**asdict(jump), "change": jump.change} for jump in self.jumps]
        return {**asdict(self), "jumps": jumps, "undecided": [list(pair) for pair in self.undecided]}

    def lines(self) -> list[str]:
        """Return the lines below tables: one for each jump and open question, or one that denies jumps."""
        if self.points < FEWEST_SIZES:
            return [f"not looked at for jumps: {self.points} of its sizes can be relied on, {FEWEST_SIZES} are needed"]
        unsure = self._unsure()
        if self.jumps:
            return [*map(self._line, self.jumps), *([unsure] if unsure else [])]
        return ["; ".join(filter(None, (_no_jump([self]), unsure)))]

    def _unsure(self) -> str:
        """Return the limits of the search; empty if it covered everything."""
        parts = []
        if self.undecided:
            named = [f"{format_size(low)} to {format_size(high)}" for low, high in self.undecided[:_FEW]]
            steps = "1 step" if len(self.undecided) == 1 else f"{len(self.undecided)} steps"
            more = ", …" if len(self.undecided) > _FEW else ""
            parts.append(f"undecided, as wide as 95 % intervals are: {steps}, {', '.join(named)}{more}")
        if self.passed_over:
            parts.append(f"{_sizes(self.passed_over)} passed over, not to be relied on")
        if self.unchecked:
            parts.append(f"data not checked at {_sizes(self.unchecked)}")
        return "; ".join(parts)

    def _line(self, jump: Jump) -> str:
        sizes = [format_size(jump.before_bytes), format_size(jump.after_bytes)]
        values = [format_quantity(value, self.unit, self.metric) for value in (jump.before, jump.after)]
        text = f"{self.metric} {' to '.join(values)} ({jump.change * 100:+.3g} %)"
        text += f", {jump.state}" if jump.state != GOOD else ""
        if jump.left:
            return f"between {' and '.join(sizes)}: {text}; {jump.left}"
        return f"jump between {' and '.join(sizes)}: {text}"


def curves_from(entries: Iterable[Mapping[str, Any]]) -> list[BisectedCurve]:
    """Return curves from their entries in run.json, in the same order."""
    names = {field.name for field in fields(Jump)}
    return [
        BisectedCurve(**{
            **entry,
            "jumps": tuple(Jump(**{name: jump[name] for name in names & jump.keys()}) for jump in entry["jumps"]),
            "undecided": tuple((low, high) for low, high in entry.get("undecided", ())),
        })
        for entry in entries
    ]  # fmt: skip


def jump_lines(curves: Sequence[BisectedCurve]) -> list[str]:
    """Return the lines below a table: the jumps of each curve, or that it has none.

    A line begins with the curve's name if there are several; many curves without a jump share one line.
    """
    several = len(curves) > 1
    silent = [curve for curve in curves if not curve.jumps and curve.points >= FEWEST_SIZES]
    together = len(silent) > _FEW
    lines = [
        f"{curve.name}: {line}" if several else line
        for curve in curves
        if not (together and curve in silent)
        for line in curve.lines()
    ]
    if together:
        other = "other " if len(silent) < len(curves) else ""
        line = f"{_no_jump(silent)} in {len(silent)} {other}curves"
        steps, passed = sum(len(curve.undecided) for curve in silent), sum(curve.passed_over for curve in silent)
        line += f"; undecided, as wide as 95 % intervals are: {steps} steps" if steps else ""
        line += f"; sizes passed over, not to be relied on: {passed}" if passed else ""
        unchecked = sum(curve.unchecked for curve in silent)
        lines.append(line + (f"; sizes whose data were not checked: {unchecked}" if unchecked else ""))
    return lines


def _sizes(count: int) -> str:
    return "1 size" if count == 1 else f"{count} sizes"


def _no_jump(curves: Sequence[BisectedCurve]) -> str:
    return f"no jump of more than {' or '.join(dict.fromkeys(_percent(curve.share) for curve in curves))}"


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"
