"""Names of lines: the properties that decide what was run, as far as a predicate asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gasmeter.errors import UsageError

__all__ = ["COUNTER", "Curve", "SeriesKey", "Table", "X", "pick", "said"]

X = int | float
"""A value on the x axis: ranks, bytes, or the value of an option."""

Curve = Mapping[X, float]
"""Values by x."""

COUNTER = "counter:"
"""Prefix of a metric that is a counter, per operation of the kernel."""


@dataclass(frozen=True)
class SeriesKey:
    """A line of a figure, or the properties of a line that a predicate asks for."""

    metric: str  # name in the catalogue, or ``counter:NAME``: that counter per operation
    kernel: str
    conduit: str
    op: str = ""  # this and the next texts: empty matches all
    variant: str = ""
    machine: str = ""
    topology: str = ""
    placement: str = ""
    size: int = 0  # bytes; 0 matches all, and is the size on an axis of sizes
    ranks: int = 0  # 0 matches all, and is the number on an axis of ranks
    overrides: tuple[tuple[str, str], ...] = ()  # numbers of the machine that differ from its file: exactly these
    options: tuple[tuple[str, str], ...] = ()  # options of the line, sorted by name; a line may have more

    def matches(self, line: SeriesKey) -> bool:
        """Return whether a line of a figure has all properties that this key names.

        The line has all its fields but the placement, which the run adds.
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
    """Return the line that a predicate means, or None: the match with the fewest options.

    Raises UsageError if several lines match equally well.
    """
    matching = sorted({line for line in lines if key.matches(line)}, key=lambda line: len(line.options))
    if len(matching) > 1 and len(matching[0].options) == len(matching[1].options):
        raise UsageError(
            f"series {said(key)} means {said(matching[0])} as well as {said(matching[1])}; name more of it"
        )
    return matching[0] if matching else None


def said(key: SeriesKey) -> str:
    """Return a series in words, for instance ``gups of random-access put-get on extoll mesh3d:4x4x4 am=1``."""
    options = [f"{name}={value}" for name, value in (*key.overrides, *key.options)]
    size, ranks = f"{key.size} B" if key.size else "", f"{key.ranks} ranks" if key.ranks else ""
    words = [key.metric, "of", key.kernel, key.op, key.variant, f"on {key.conduit}", key.topology, key.placement]
    return " ".join(word for word in [*words, size, ranks, *options] if word)
