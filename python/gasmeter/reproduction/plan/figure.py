"""Content of a paper's figure or table as data: lines, axes, lengths of runs."""

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
"""Axes of every kernel; any other name is an option."""


@dataclass(frozen=True)
class Line:
    """A line of a figure."""

    label: str  # in legends
    kernel: str  # name in the catalogue
    conduit: str  # name in the catalogue
    machine: str = ""  # modelled machine; empty for a line measured here
    topology: str = ""  # replaces the machine's; empty for the machine's own
    variant: str = ""  # variant of the kernel; empty for the kernel's first one, and for raw programs
    op: str = ""  # operation of the kernel; empty for its first
    metric: str = "gups"  # metric of the catalogue, or ``counter:NAME``, that counter per operation
    overrides: tuple[tuple[str, str], ...] = ()  # machine numbers that differ from its file
    # Required options of conduit or kernel; the line is not run without one of them
    options: tuple[tuple[str, str], ...] = ()
    wanted: tuple[tuple[str, str], ...] = ()  # options used where this build knows them; the report names missing ones
    ranks: int = 2  # ranks of every point, unless the axis says
    size: int = 0  # bytes, unless the axis says; 0 is the operation's default
    drawn_to: int | float = math.inf  # largest x that is run on draws; beyond it draws would take too long
    # True: the metric counts events of the program, which no price moves; `planning.plan_witnesses` plans the test
    counted: bool = False
    times: int = 1  # factor on the length of the figure's runs, for cheap or variable operations

    @property
    def key(self) -> SeriesKey:
        """Name in predicates."""
        return SeriesKey(
            self.metric, self.kernel, self.conduit, self.op, self.variant, self.machine, self.topology, size=self.size,
            ranks=self.ranks, overrides=self.overrides, options=tuple(sorted({*self.options, *self.wanted})),
        )  # fmt: skip


def describe(line: Line) -> str:
    """Return a line in words that name it in files: ``random-access put-get on extoll, mesh3d:4x4x4 (am=1)``."""
    options = ";".join(f"{name}={value}" for name, value in (*line.overrides, *line.options, *line.wanted))
    ranks = f"{line.ranks} ranks" if line.ranks != 2 else ""
    words = " ".join(word for word in (line.kernel, line.op, line.variant, "on", line.conduit) if word)
    where = ", ".join(word for word in (line.machine or "measured", line.topology, ranks) if word)
    return f"{words}, {where}{f' ({options})' if options else ''}"


@dataclass(frozen=True)
class Derived:
    """A line computed from others, drawn and tabulated beside them."""

    label: str  # in legends
    formula: Expression  # expression of line names and ``x``, for instance ``100 * (conduit / raw - 1)``
    lines: tuple[tuple[str, Line], ...]  # lines by the names in the formula
    label_y: str = "Overhead"  # label of the vertical axis
    unit: str = "%"  # unit of the result
    # The line is a yardstick of the figure's lines in their metric and is drawn behind them, thin and grey
    behind: bool = False


@dataclass(frozen=True)
class Effort:
    """Length of a figure's runs."""

    xs: tuple[X | str, ...]  # on the axis: ranks, bytes, or values of the option
    length: int  # operations of each rank in the first run
    longest: int = 0  # upper limit; runs double until four times the work moves the value by less than 2 %
    drawn: tuple[X | str, ...] = ()  # x values that are run on draws of the machines' estimates; empty for all
    # On an axis of ranks: operations of all ranks together, up to which each rank may have more than `longest`
    together: int = 0

    def lengths_at(self, x: X, times: int = 1) -> tuple[int, int]:
        """Return the operations of each rank at one x: in the first run, and at most."""
        most = max(self.longest, int(self.together // x)) if self.together else self.longest
        return times * self.length, times * most


@dataclass(frozen=True)
class Extra:
    """A table of a paper's own below a figure."""

    title: str
    heads: tuple[str, ...]  # column heads
    rows: list[tuple[str, ...]]  # cells as text


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    number: str  # in the paper
    title: str  # in our own words
    lines: tuple[Line, ...] = ()  # lines that are run here
    claims: tuple[str, ...] = ()  # ids of its claims
    full: Effort = Effort((), 0)  # length of its runs
    quick: Effort = Effort((), 0)  # length of its runs in a quick reproduction
    seconds: float = 0.0  # estimate for two cores
    quick_seconds: float = 0.0  # estimate for two cores
    bytes_per_rank: int = 0  # a rank's share of the size, for kernels whose size is a table of all ranks
    heat_ranks: tuple[int, ...] = ()  # sizes of jobs, in ranks, whose links are shown
    heat_lines: tuple[Line, ...] = ()  # lines whose links are shown
    beside: tuple[Line, ...] = ()  # lines shown but not judged; a quick run leaves them out
    left_out: str = ""  # parts of the paper's figure that are missing here, with the reason
    # Placements that the paper leaves open: all are run as given, and each draw has one of them
    placements: tuple[str, ...] = ("one-per-node",)
    axis: str = RANKS  # the x axis: ``ranks``, ``size`` or an option
    derived: tuple[Derived, ...] = ()  # lines computed from others, below the figure
    table: bool = False  # whether the paper has a table: a row for each x, a column for each line
    # Further tables of the paper, made from the reproduction and the figure
    extras: Callable[[Any, Figure], Sequence[Extra]] | None = None
    says: str = ""  # description in one or two sentences
    beyond: tuple[str, ...] = ()  # numbers of other figures whose lines its claims read; they are run with it
    scale_of: str = ""  # number of the figure whose scale it shares, as in the paper; empty for a scale of its own
    only_derived: bool = False  # whether pictures show only the derived lines; the table still has the lines

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of its lines' machines."""
        return tuple(dict.fromkeys(line.machine for line in self.lines if line.machine))

    @property
    def state(self) -> Literal["ready", "not yet"]:
        """Whether the figure can be run."""
        return "ready" if self.lines else "not yet"

    def x_of(self, given: X | str, effort: Effort) -> X:
        """Return the number by which predicates know an axis value: itself, or the place of a word, from 1."""
        if isinstance(given, int | float):
            return given
        try:
            return float(given) if "." in given else int(given)
        except ValueError:
            return effort.xs.index(given) + 1

    def x_text(self, x: X, effort: Effort) -> str:
        """Return an axis value as text with its unit; `x` as `x_of` returns it."""
        if self.axis == RANKS:
            return f"{x} ranks"
        if self.axis == SIZE:
            return format_bytes(int(x))
        given = next((given for given in effort.xs if self.x_of(given, effort) == x), x)
        return f"{self.axis}={given}"


@dataclass(frozen=True)
class Without:
    """A mechanism that is removed to see which statements hold by construction."""

    name: str  # in predicates
    takes_away: str  # words behind "without"
    lines: tuple[Line, ...]  # lines run without it; the others stay as they are
    machine: tuple[tuple[str, str], ...] = ()  # numbers of the lines' machines that change
    options: tuple[tuple[str, str], ...] = ()  # options that change


@dataclass(frozen=True)
class Paper:
    """A paper and its figures."""

    name: str  # on the command line
    about: str  # its subject
    machine: str  # its own machine; figures may run on others, too
    cite: tuple[str, ...]  # citation for its statements
    figures: tuple[Figure, ...] = field(default_factory=tuple)  # in the order of the paper
    without: tuple[Without, ...] = ()  # mechanisms that are removed
    # Values of kernel or conduit options that a conduit has by itself, without such an option: conduit, option, value
    native: tuple[tuple[str, str, str], ...] = ()
    # Part of the seal on the method. A person raises it for a change that decides and that no other part can see
    version: int = 1
