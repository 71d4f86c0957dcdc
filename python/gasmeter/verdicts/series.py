"""Which line of a figure a quantity reads: everything that decides what was run, as far as it matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gasmeter.errors import UsageError

__all__ = ["COUNTER", "Curve", "SeriesKey", "Table", "X", "pick", "said"]

X = int | float
"""A value on the x axis: ranks, bytes, or what an option is set to."""

Curve = Mapping[X, float]
"""Values by x."""

COUNTER = "counter:"
"""Prefix of a metric that is a counter, per operation of the kernel."""


@dataclass(frozen=True)
class SeriesKey:
    """What a line is, or what a predicate asks of one.

    Attributes
    ----------
    metric, kernel, conduit : str
        Names of the catalogue; a metric ``counter:NAME`` is that counter per operation.
    op, variant, machine, topology, placement : str
        Empty where it does not matter.
    size, ranks : int
        0 where it does not matter, or is what the x axis shows.
    overrides : tuple of tuple of str
        Numbers of the machine that are others than in its file: exactly these.
    options : tuple of tuple of str
        Options that the line was asked for, sorted by name; others do not matter.
    """

    metric: str
    kernel: str
    conduit: str
    op: str = ""
    variant: str = ""
    machine: str = ""
    topology: str = ""
    placement: str = ""
    size: int = 0
    ranks: int = 0
    overrides: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def matches(self, line: SeriesKey) -> bool:
        """Return whether a line of a figure is meant.

        Parameters
        ----------
        line : SeriesKey
            All fields filled in, but the placement, which a run has.

        Returns
        -------
        bool
            Whether nothing that this names differs.
        """
        same = (self.metric, self.kernel, self.conduit, self.overrides)
        if same != (line.metric, line.kernel, line.conduit, line.overrides):
            return False
        loose = ("op", "variant", "machine", "topology", "size", "ranks")
        return set(self.options) <= set(line.options) and all(
            getattr(self, name) in {"", 0, getattr(line, name)} for name in loose
        )


Table = Mapping[SeriesKey, Curve]
"""Values of each line, on one case of its machines and one placement of ranks."""


def pick(key: SeriesKey, lines: Iterable[SeriesKey]) -> SeriesKey | None:
    """Return the line that a predicate means: of those that match the one with the fewest options.

    Parameters
    ----------
    key : SeriesKey
        What is asked.
    lines : iterable of SeriesKey
        Those of a figure.

    Returns
    -------
    SeriesKey or None
        None if none matches.

    Raises
    ------
    UsageError
        If several match alike.
    """
    matching = sorted({line for line in lines if key.matches(line)}, key=lambda line: len(line.options))
    if len(matching) > 1 and len(matching[0].options) == len(matching[1].options):
        raise UsageError(
            f"series {said(key)} means {said(matching[0])} as well as {said(matching[1])}; name more of it"
        )
    return matching[0] if matching else None


def said(key: SeriesKey) -> str:
    """Return a series in words.

    Parameters
    ----------
    key : SeriesKey
        Which.

    Returns
    -------
    str
        For instance ``gups of random-access put-get on extoll mesh3d:4x4x4 am=1``.
    """
    options = [f"{name}={value}" for name, value in (*key.overrides, *key.options)]
    size, ranks = f"{key.size} B" if key.size else "", f"{key.ranks} ranks" if key.ranks else ""
    words = [key.metric, "of", key.kernel, key.op, key.variant, f"on {key.conduit}", key.topology, key.placement]
    return " ".join(word for word in [*words, size, ranks, *options] if word)
