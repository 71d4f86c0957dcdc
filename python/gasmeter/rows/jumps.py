"""Where curves over sizes jump: what a bisection has found, as values and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gasmeter.sizes import format_size
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
        What the curve is at there, in the unit of its metric.
    left : str
        Why it was not narrowed further; empty where nothing lies between the two sizes.
    """

    before_bytes: int
    after_bytes: int
    before: float
    after: float
    left: str = ""

    @property
    def change(self) -> float:
        """How much higher it is after it, as a share: 0.61 for +61 %."""
        return self.after / self.before - 1


@dataclass(frozen=True)
class BisectedCurve:
    """A curve over sizes that was looked at for jumps.

    Attributes
    ----------
    name : str
        What was run, without its size.
    metric, unit : str
        Of its figures.
    share : float
        What counts as a jump.
    points : int
        Sizes asked for whose figures can be relied on.
    added : int
        Sizes that were measured beside those.
    jumps : tuple of Jump
        In the order of size.
    """

    name: str
    metric: str
    unit: str
    share: float
    points: int
    added: int
    jumps: tuple[Jump, ...]

    def facts(self) -> dict[str, Any]:
        """Return it as it stands in run.json.

        Returns
        -------
        dict
            By the names of the attributes; a jump also says its ``change``.
        """
        jumps = [{**asdict(jump), "change": jump.change} for jump in self.jumps]
        return {**asdict(self), "jumps": jumps}

    def lines(self) -> list[str]:
        """Return what is said below tables, a line for each jump.

        Returns
        -------
        list of str
            One line if there is none.
        """
        if self.points < FEWEST_SIZES:
            return [f"not looked at for jumps: {self.points} of its sizes can be relied on, {FEWEST_SIZES} are needed"]
        return [self._line(jump) for jump in self.jumps] or [f"no jump of more than {_percent(self.share)}"]

    def _line(self, jump: Jump) -> str:
        sizes = [format_size(jump.before_bytes), format_size(jump.after_bytes)]
        values = [format_quantity(value, self.unit, self.metric) for value in (jump.before, jump.after)]
        text = f"{self.metric} {' to '.join(values)} ({jump.change * 100:+.3g} %)"
        if jump.left:
            return f"between {' and '.join(sizes)}: {text}; {jump.left}"
        return f"jump between {' and '.join(sizes)}: {text}"


def curves_from(entries: Iterable[Mapping[str, Any]]) -> list[BisectedCurve]:
    """Return curves as run.json has them.

    Parameters
    ----------
    entries : iterable of mapping
        As `BisectedCurve.facts` makes them.

    Returns
    -------
    list of BisectedCurve
        In the same order.
    """
    names = ("before_bytes", "after_bytes", "before", "after", "left")
    return [
        BisectedCurve(
            **{**entry, "jumps": tuple(Jump(**{name: jump[name] for name in names}) for jump in entry["jumps"])}
        )
        for entry in entries
    ]


def jump_lines(curves: Sequence[BisectedCurve]) -> list[str]:
    """Return the lines below a table: of each curve its jumps, or that it has none.

    Parameters
    ----------
    curves : sequence of BisectedCurve
        Of one result.

    Returns
    -------
    list of str
        A line begins with the curve's name where there are several; many curves without a jump share one line.
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
        shares = " or ".join(dict.fromkeys(_percent(curve.share) for curve in silent))
        other = "other " if len(silent) < len(curves) else ""
        lines.append(f"no jump of more than {shares} in {len(silent)} {other}curves")
    return lines


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"
