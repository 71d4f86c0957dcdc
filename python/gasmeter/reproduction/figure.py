"""What a figure or table of a paper consists of, as data: lines, axes, how long its points are run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gasmeter.units import format_bytes
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.series import SeriesKey, X

__all__ = ["RANKS", "SIZE", "Derived", "Effort", "Extra", "Figure", "Line", "Paper", "Without", "describe"]

RANKS, SIZE = "ranks", "size"
"""Axes that every kernel has; any other name is an option."""


@dataclass(frozen=True)
class Line:
    """One line of a figure.

    Attributes
    ----------
    label : str
        In legends.
    kernel, conduit : str
        Names of the catalogue.
    machine : str
        The modelled machine it runs on; empty for one that is measured here.
    topology : str
        The machine's, or another; empty where the machine's own does.
    variant : str
        Of the kernel; empty for its first or raw one.
    op : str
        Of the kernel; empty for its first.
    metric : str
        What is plotted: a metric of the catalogue, or ``counter:NAME``, that counter per operation.
    options : tuple of tuple of str
        What the conduit or kernel is asked for; without one of them the line is not run.
    overrides : tuple of tuple of str
        Numbers of the machine that are others than in its file.
    wanted : tuple of tuple of str
        What it is asked for where this build knows it; the report says which are missing.
    ranks, size : int
        Of every point, where the axis does not say; 0 B takes what the operation takes.
    drawn_to : int or float
        The largest x at which it is run on draws, of those at which its figure is: more would take too long.
    counted : bool
        Whether its metric counts what its program does, whatever that takes: a few draws show that none moves it.
    times : int
        How many times as long as its figure says it is run: of what is cheap, or differs from operation to operation.
    """

    label: str
    kernel: str
    conduit: str
    machine: str = ""
    topology: str = ""
    variant: str = ""
    op: str = ""
    metric: str = "gups"
    overrides: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    wanted: tuple[tuple[str, str], ...] = ()
    ranks: int = 2
    size: int = 0
    drawn_to: int | float = math.inf
    counted: bool = False
    times: int = 1

    @property
    def key(self) -> SeriesKey:
        """What predicates know it by."""
        return SeriesKey(
            self.metric, self.kernel, self.conduit, self.op, self.variant, self.machine, self.topology, size=self.size,
            ranks=self.ranks, overrides=self.overrides, options=tuple(sorted({*self.options, *self.wanted})),
        )  # fmt: skip


def describe(line: Line) -> str:
    """Return a line in words, which name it in files.

    Parameters
    ----------
    line : Line
        Which.

    Returns
    -------
    str
        For instance ``random-access put-get on extoll, mesh3d:4x4x4 (am=1)``.
    """
    options = ";".join(f"{name}={value}" for name, value in (*line.overrides, *line.options, *line.wanted))
    size = f"{line.ranks} ranks" if line.ranks != 2 else ""
    words = " ".join(word for word in (line.kernel, line.op, line.variant, "on", line.conduit) if word)
    where = ", ".join(word for word in (line.machine or "measured", line.topology, size) if word)
    return f"{words}, {where}{f' ({options})' if options else ''}"


@dataclass(frozen=True)
class Derived:
    """A line that is made of others, drawn and tabulated beside them.

    Attributes
    ----------
    label : str
        In legends.
    formula : Expression
        Of the lines by name, for instance ``100 * (conduit / raw - 1)``, and of ``x``, where they stand.
    lines : tuple of tuple of str and Line
        What the names mean.
    label_y, unit : str
        Of what comes out.
    behind : bool
        Whether it is what the figure's own lines are held against, in their metric: drawn behind them, thin and grey.
    """

    label: str
    formula: Expression
    lines: tuple[tuple[str, Line], ...]
    label_y: str = "Overhead"
    unit: str = "%"
    behind: bool = False


@dataclass(frozen=True)
class Effort:
    """How long a figure is run.

    Attributes
    ----------
    xs : tuple of X or str
        On the axis: ranks, bytes, or what the option is set to.
    length : int
        Operations of each rank, at first.
    longest : int
        And at most: a run is twice as long, and again, until four times the work moves the value by less than 2 %.
    drawn : tuple of X or str
        Those that are run on draws of the machines' estimates; empty for all.
    together : int
        Where the axis is ranks: a run of few may be longer than `longest`, until all have done so many operations.
    """

    xs: tuple[X | str, ...]
    length: int
    longest: int = 0
    drawn: tuple[X | str, ...] = ()
    together: int = 0

    def lengths_at(self, x: X, times: int = 1) -> tuple[int, int]:
        """Return how long a line is run.

        Parameters
        ----------
        x : X
            On the axis.
        times : int, default 1
            `Line.times`.

        Returns
        -------
        tuple of int
            Operations of each rank at first, and at most.
        """
        most = max(self.longest, int(self.together // x)) if self.together else self.longest
        return times * self.length, times * most


@dataclass(frozen=True)
class Extra:
    """A table of a paper's own below a figure.

    Attributes
    ----------
    title : str
        Above it.
    heads : tuple of str
        Of its columns.
    rows : list of tuple of str
        As they are shown.
    """

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper.

    Attributes
    ----------
    number : str
        In the paper.
    title : str
        In our own words.
    lines : tuple of Line
        Those that are run here.
    claims : tuple of str
        Ids of the claims it carries.
    full, quick : Effort
        How long it is run.
    seconds, quick_seconds : float
        About how long that takes on two cores.
    bytes_per_rank : int
        Of kernels whose size is a table of all ranks: a rank's share.
    heat_ranks : tuple of int
        Ranks whose links are shown.
    heat_lines : tuple of Line
        Lines of which they are shown.
    beside : tuple of Line
        Lines that are shown and not judged; a quick run leaves them out.
    left_out : str
        What the paper shows and this does not, and why.
    placements : tuple of str
        Those that the paper leaves open: all are run as given, and each draw has one of them.
    axis : str
        What is on the x axis: ``ranks``, ``size`` or an option.
    derived : tuple of Derived
        Lines made of others, below the figure.
    table : bool
        Whether the paper has a table: a row for each x, a column for each line.
    extras : callable, optional
        Further tables of the paper's own, made of the `gasmeter.reproduction.running.Reproduction` and the figure.
    says : str
        What to see in it, in a sentence or two.
    beyond : tuple of str
        Numbers of the figures whose lines its claims read, too: they are run with it.
    scale_of : str
        Number of a figure that stands on the same scale, as in the paper; empty for a scale of its own.
    only_derived : bool
        Whether its lines are drawn in what is made of them alone; its table has them.
    """

    number: str
    title: str
    lines: tuple[Line, ...] = ()
    claims: tuple[str, ...] = ()
    full: Effort = Effort((), 0)
    quick: Effort = Effort((), 0)
    seconds: float = 0.0
    quick_seconds: float = 0.0
    bytes_per_rank: int = 0
    heat_ranks: tuple[int, ...] = ()
    heat_lines: tuple[Line, ...] = ()
    beside: tuple[Line, ...] = ()
    left_out: str = ""
    placements: tuple[str, ...] = ("one-per-node",)
    axis: str = RANKS
    derived: tuple[Derived, ...] = ()
    table: bool = False
    extras: Callable[[Any, Figure], Sequence[Extra]] | None = None
    says: str = ""
    beyond: tuple[str, ...] = ()
    scale_of: str = ""
    only_derived: bool = False

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of the machines that its lines run on."""
        return tuple(dict.fromkeys(line.machine for line in self.lines if line.machine))

    @property
    def state(self) -> Literal["ready", "not yet"]:
        """Whether it can be run."""
        return "ready" if self.lines else "not yet"

    def x_of(self, given: X | str, effort: Effort) -> X:
        """Return the number by which predicates know a value on the axis.

        Parameters
        ----------
        given : X or str
            One of the effort's values.
        effort : Effort
            Whose.

        Returns
        -------
        X
            The number itself; of words their place, the first being 1.
        """
        if isinstance(given, int | float):
            return given
        try:
            return float(given) if "." in given else int(given)
        except ValueError:
            return effort.xs.index(given) + 1

    def x_text(self, x: X, effort: Effort) -> str:
        """Return how a value on the axis is written.

        Parameters
        ----------
        x : X
            As `x_of` returns it.
        effort : Effort
            Whose values there are.

        Returns
        -------
        str
            With its unit.
        """
        if self.axis == RANKS:
            return f"{x} ranks"
        if self.axis == SIZE:
            return format_bytes(int(x))
        given = next((given for given in effort.xs if self.x_of(given, effort) == x), x)
        return f"{self.axis}={given}"


@dataclass(frozen=True)
class Without:
    """A mechanism that is taken away, to see which statements hold without it: by construction.

    Attributes
    ----------
    name : str
        As predicates name it.
    takes_away : str
        What, in words, behind "without".
    lines : tuple of Line
        The lines that are run without it; the others stay as they are.
    machine, options : tuple of tuple of str
        Numbers of their machines, and options, that are others then.
    """

    name: str
    takes_away: str
    lines: tuple[Line, ...]
    machine: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper and its figures.

    Attributes
    ----------
    name : str
        As the command line takes it.
    about : str
        What it is about.
    machine : str
        Its own machine; other figures may run on others, too.
    cite : tuple of str
        What to cite for its statements.
    figures : tuple of Figure
        In the order of the paper.
    without : tuple of Without
        Mechanisms that are taken away.
    native : tuple of tuple of str
        How lines whose conduit has no such option go, by conduit, option and value: what a card does by itself.
    version : int
        Part of the seal on the method (`gasmeter.reproduction.frozen`). A person raises it for a change that decides
        and that no other part of the seal can see.
    """

    name: str
    about: str
    machine: str
    cite: tuple[str, ...]
    figures: tuple[Figure, ...] = field(default_factory=tuple)
    without: tuple[Without, ...] = ()
    native: tuple[tuple[str, str, str], ...] = ()
    version: int = 1
