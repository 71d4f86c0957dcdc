"""How many independent quantities a model gets right, beside what a model that knows nothing of its software would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gasmeter.verdicts.judging import Verdict

__all__ = ["Score", "score"]

_JUDGED = frozenset({"within", "outside", "depends"})


@dataclass(frozen=True)
class Score:
    """Independent quantities by what became of them.

    Attributes
    ----------
    within, outside, depends : int
        Quantities of which every judged claim is within; one of which is outside; the others.
    unjudged : int
        Quantities of which no claim was judged, or only by construction.
    """

    within: int
    outside: int
    depends: int
    unjudged: int

    @property
    def judged(self) -> int:
        """Quantities that count."""
        return self.within + self.outside + self.depends

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.within} of {self.judged} within, {self.outside} outside, {self.depends} open"


def score(verdicts: Iterable[tuple[str, Verdict]]) -> Score:
    """Return the score of claims: by quantity, however many claims rest on it.

    Parameters
    ----------
    verdicts : iterable of tuple of str
        The quantity that a claim rests on, and its verdict.

    Returns
    -------
    Score
        What holds by construction counts for nothing, nor does what could not be judged.
    """
    by_quantity: dict[str, set[Verdict]] = {}
    for quantity, verdict in verdicts:
        by_quantity.setdefault(quantity, set()).add(verdict)
    counts = {"within": 0, "outside": 0, "depends": 0, "": 0}
    for own in by_quantity.values():
        judged = own & _JUDGED
        worst = next((name for name in ("outside", "depends", "within") if name in judged), "")
        counts[worst] += 1
    return Score(counts["within"], counts["outside"], counts["depends"], counts[""])
