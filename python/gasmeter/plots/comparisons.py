"""Points that were measured several times, beside different things: lines of their own, never joined."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from gasmeter.plots.looks import BESIDE, KEYS
from gasmeter.rows.record import Row
from gasmeter.rows.tidy import Tidy

__all__ = ["told_apart"]

_SAME = ["run_id", "metric", "reference"]
_MOST_NAMED = 3


def told_apart(result: Tidy) -> pd.DataFrame:
    """Return the rows of a result with what they were measured beside.

    Parameters
    ----------
    result : Tidy
        What was measured.

    Returns
    -------
    pandas.DataFrame
        As `Tidy.frame`, with column ``group``, the number of the group that measured a row, and ``beside``: what else
        was measured in the same blocks, for lines of which some point was measured in several groups; empty for others.
        What virtual time gave twice stands once.
    """
    frame = result.frame()
    frame["group"] = [number for number, entry in enumerate(result.records) for _ in entry.rows]
    frame[BESIDE] = [_others(row, entry.rows) for entry in result.records for row in entry.rows]
    frame = frame.drop_duplicates([*_SAME, "value", "ci_low", "ci_high"])
    line = [*(key for key in KEYS if key != BESIDE), "metric", "reference"]
    # Of real ranks the placement says which processors they had, which does not make another line.
    several = (
        frame.assign(
            again=frame.duplicated(_SAME, keep=False),
            placement=frame["placement"].where(frame["kind"] == "modelled", ""),
        )
        .groupby(line)["again"]
        .transform("any")
    )
    times = frame.groupby([*_SAME, BESIDE]).cumcount()
    text = frame[BESIDE].where(times == 0, frame[BESIDE] + ", measured again")
    return frame.assign(**{BESIDE: text.where(several, "")})


def _others(row: Row, rows: Sequence[Row]) -> str:
    """Say what else a group measured, by what differs from a row; empty if nothing does."""
    own = set(row["options"].split(";"))
    others: dict[str, None] = {}
    for other in rows:
        if other["run_id"] != row["run_id"]:
            words = [other[name] for name in ("op", "variant") if other[name] != row[name]]
            options = [text for text in other["options"].split(";") if text not in own]
            others[" ".join(filter(None, [*words, other["conduit"], *options]))] = None
    named = list(others)[:_MOST_NAMED]
    return f"beside {', '.join(named)}{', …' if len(others) > len(named) else ''}" if named else ""
