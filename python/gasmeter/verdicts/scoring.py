"""Score: the number of independent quantities that are within, of a model and of the null model beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gasmeter.verdicts.judging import Verdict

__all__ = ["Score", "score"]

_JUDGED = frozenset({"within", "outside", "depends"})


@dataclass(frozen=True)
class Score:
    """Numbers of independent quantities by verdict."""

    within: int  # quantities of which every judged claim is within
    outside: int  # quantities with a claim that is outside
    depends: int  # the other judged quantities
    unjudged: int  # quantities of which no claim was judged, or only by construction

    @property
    def judged(self) -> int:
        """Number of quantities that count."""
        return self.within + self.outside + self.depends

    def __str__(self) -> str:
        """Return the score in words."""
        return f"{self.within} of {self.judged} within, {self.outside} outside, {self.depends} open"


def score(verdicts: Iterable[tuple[str, Verdict]]) -> Score:
    """Return the score of claims, given as pairs of quantity and verdict; each quantity counts once.

    Claims that hold by construction and claims without a verdict do not count.
    """
    by_quantity: dict[str, set[Verdict]] = {}
    for quantity, verdict in verdicts:
        by_quantity.setdefault(quantity, set()).add(verdict)
    counts = {"within": 0, "outside": 0, "depends": 0, "": 0}
    for verdicts_of in by_quantity.values():
        judged = verdicts_of & _JUDGED
        worst = next((name for name in ("outside", "depends", "within") if name in judged), "")
        counts[worst] += 1
    return Score(counts["within"], counts["outside"], counts["depends"], counts[""])
