"""Verdicts as a table that fits the terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gasmeter.reproduction.judged import Judged

__all__ = ["verdict_table"]

_HEADS = ("claim", "published", "reproduced", "P (prior)", "verdict", "what decides")
_WIDEST = {"published": 20, "verdict": 24}
_LEAST = {"verdict": 15, "P (prior)": 11}
_NARROWEST, _UNKNOWN_WIDTH = 60, 132


def verdict_table(judged: Iterable[Judged], title: str) -> str:
    """Return claims and what became of them.

    Parameters
    ----------
    judged : iterable of Judged
        Which.
    title : str
        Above the table.

    Returns
    -------
    str
        A line per claim, or several where a cell is wider than its column.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, collapse_padding=True)
    for head in _HEADS:
        table.add_column(head, overflow="fold", max_width=_WIDEST.get(head), min_width=_LEAST.get(head))
    for entry in judged:
        table.add_row(*(Text(cell) for cell in _cells(entry)))
    text = io.StringIO()
    width = max(_NARROWEST, shutil.get_terminal_size((_UNKNOWN_WIDTH, 0)).columns)
    Console(file=text, width=width, no_color=True, highlight=False, legacy_windows=False).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def _cells(entry: Judged) -> Sequence[str]:
    from gasmeter.reproduction.claim_texts import VERDICT_WORDS, as_given, chance_text, reproduced_text
    from gasmeter.reproduction.claims_table import deciding_text
    from gasmeter.reproduction.marks import published_text

    own = entry.judgement
    verdict = f"as given: {as_given(own)}" if own.verdict == "no_band" else VERDICT_WORDS[own.verdict]
    return (
        entry.claim.id, published_text(entry.claim), reproduced_text(entry, own) or "-", chance_text(own) or "-",
        verdict, deciding_text(own) or "-",
    )  # fmt: skip
