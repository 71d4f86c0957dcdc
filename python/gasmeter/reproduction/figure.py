"""What a figure of a paper consists of, as data: lines, axes, how its band is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gasmeter.verdicts.predicates import SeriesKey

__all__ = ["Axis", "Effort", "Figure", "Line", "Paper"]

Axis = Literal["ranks", "size"]
"""What is on the x axis: ranks, or bytes of payload between two of them."""


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
        What is plotted.
    options : tuple of tuple of str
        What the conduit or kernel is asked for; without one of them the line is not run.
    overrides : tuple of tuple of str
        Numbers of the machine that are others than in its file.
    wanted : tuple of tuple of str
        What it is asked for where this build knows it; the report says which are missing.
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

    @property
    def key(self) -> SeriesKey:
        """What predicates know it by."""
        return SeriesKey(self.metric, self.kernel, self.conduit, self.variant, self.topology, self.options)


@dataclass(frozen=True)
class Effort:
    """How long a figure is run.

    Attributes
    ----------
    xs : tuple of int
        Of the figure: ranks or sizes, as its axis says.
    iterations : int
        Updates of each rank, or round trips.
    band_xs : tuple of int
        Of the machine's variants; empty for no band.
    band_iterations : int
        Updates of each rank there, or round trips.
    factor_xs : tuple of int
        Where every parameter is tried at half and at twice its value, too, on the last placement.
    longer : tuple of int
        Where four times as much is run, to show what that changes; empty for none.
    """

    xs: tuple[int, ...]
    iterations: int
    band_xs: tuple[int, ...] = ()
    band_iterations: int = 0
    factor_xs: tuple[int, ...] = ()
    longer: tuple[int, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

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
        Table of a rank.
    heat_ranks : tuple of int
        Ranks whose links are shown.
    heat_lines : tuple of Line
        Lines of which they are shown.
    beside : tuple of Line
        Lines that are shown and not judged; a quick run leaves them out.
    left_out : str
        What the paper shows and this does not, and why.
    placements : tuple of str
        Declared, since the paper says nothing of it: all of them are run.
    axis : {"ranks", "size"}
        What is on the x axis; with sizes two ranks run.
    overheads : tuple of tuple of Line
        Lines whose overhead over another is drawn below, each with the other.
    """

    number: str
    title: str
    lines: tuple[Line, ...] = ()
    claims: tuple[str, ...] = ()
    full: Effort = Effort((), 0)
    quick: Effort = Effort((), 0)
    seconds: float = 0.0
    quick_seconds: float = 0.0
    bytes_per_rank: int = 1 << 14
    heat_ranks: tuple[int, ...] = ()
    heat_lines: tuple[Line, ...] = ()
    beside: tuple[Line, ...] = ()
    left_out: str = ""
    placements: tuple[str, ...] = ()
    axis: Axis = "ranks"
    overheads: tuple[tuple[Line, Line], ...] = ()

    @property
    def machines(self) -> tuple[str, ...]:
        """Names of the machines that its lines run on."""
        return tuple(dict.fromkeys(line.machine for line in self.lines if line.machine))

    @property
    def state(self) -> Literal["ready", "not yet"]:
        """Whether it can be run."""
        return "ready" if self.lines else "not yet"


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
    """

    name: str
    about: str
    machine: str
    cite: tuple[str, ...]
    figures: tuple[Figure, ...] = field(default_factory=tuple)
