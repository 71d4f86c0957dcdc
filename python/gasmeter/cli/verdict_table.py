"""Verdicts as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gasmeter.rendering.terminal import coloured, table_text

if TYPE_CHECKING:
    from gasmeter.reproduction.judge.judged import Judged

__all__ = ["verdict_table"]

_HEADS = ("claim", "published", "reproduced", "P (prior)", "verdict", "deciding")
_DRAWN = frozenset({"P (prior)", "deciding"})
_WHOLE = frozenset({"claim", "P (prior)"})


def verdict_table(judged: Iterable[Judged], title: str) -> str:
    """Return claims with their verdicts as a table, in colour if standard output has colours."""
    lines = [_cells(entry) for entry in judged]
    # Without draws there are no chances and no deciding estimates. Ids stay whole, as other commands take them.
    shown = [
        place for place, head in enumerate(_HEADS) if head not in _DRAWN or any(line[place] != "-" for line in lines)
    ]
    return table_text(
        [_HEADS[place] for place in shown], [[line[place] for place in shown] for line in lines], title=title,
        whole=_WHOLE, left=_WHOLE, verdicts={"verdict"}, colour=coloured(),
    ).rstrip("\n")  # fmt: skip


def _cells(entry: Judged) -> list[str]:
    from gasmeter.reproduction.judge.claims_table import deciding_text
    from gasmeter.reproduction.report.claim_texts import chance_text, reproduced_text, verdict_text
    from gasmeter.reproduction.report.marks import published_text

    reading = entry.judgement
    return [
        entry.claim.id, published_text(entry.claim), reproduced_text(entry, reading) or "-",
        chance_text(reading) or "-",
        verdict_text(reading), deciding_text(reading) or "-",
    ]  # fmt: skip
