"""First sentences of a dashboard: how often a level changed, and whether it did in the last run."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from gasmeter.dashboard.history import Floats, History, Series
from gasmeter.rows.direction import better
from gasmeter.rows.verified import Verified

__all__ = ["headline", "levels_of"]


def levels_of(series: Series, steps: Sequence[int]) -> list[float]:
    """Return the medians between the steps of a series, one more than steps; NaN where nothing verified."""
    values, edges = series.numbers["value"], [0, *steps, len(series.at)]
    return [median(values[start:end]) for start, end in itertools.pairwise(edges)]


def median(values: Floats) -> float:
    """Return the median of the finite values; NaN without any."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else float("nan")


def headline(history: History, steps: Sequence[Sequence[int]]) -> str:
    """Return one or two sentences, for instance ``2 steps since 2024-01-01, 1 of them for the worse``.

    `steps` holds for each series the positions at which its level changes.
    """
    last = len(history.runs) - 1
    newest = [series.verified[: series.at.index(last) + 1] for series in history.series if last in series.at]
    failed = sum(verified[-1] is Verified.FALSE for verified in newest)
    lost = sum(verified[-1] is Verified.NOT_CHECKED and Verified.TRUE in verified for verified in newest)
    sentence = _steps_sentence(history, steps, last)
    if failed:
        sentence += f" {failed} series of the last run did not verify."
    if lost:
        sentence += f" {lost} series of the last run are no longer checked."
    return sentence


def _steps_sentence(history: History, steps: Sequence[Sequence[int]], last: int) -> str:
    compared = sum(len(series.at) > 1 for series in history.series)
    if not compared:
        several = len(history.runs) > 1
        return "No series was run twice: nothing to compare yet." if several else "One run: nothing to compare it with."
    since = next((run.started[:10] for run in history.runs if run.started), "") or "the first run"
    kinds, newest = Counter[str](), Counter[str]()
    for series, changes in zip(history.series, steps, strict=True):
        levels = levels_of(series, changes)
        for at, (before, after) in zip(changes, itertools.pairwise(levels), strict=True):
            kind = _kind(series, before, after)
            kinds[kind] += 1
            newest[kind] += series.at[at] == last
    if not kinds.total():
        return f"No step since {since} in {compared} series that were run more than once."
    steps_word = "step" if kinds.total() == 1 else "steps"
    return f"{kinds.total()} {steps_word} since {since}{_kinds_text(kinds)}; {_in_last(newest)} in the last run."


def _kind(series: Series, before: float, after: float) -> str:
    """Return whether a change is ``worse`` or ``better``; empty if unknown."""
    way = better(series.fields["metric"], series.fields["unit"])
    if way == "neither" or (not before < after and not before > after):
        return ""
    return "worse" if (after > before) == (way == "smaller") else "better"


def _kinds_text(kinds: Counter[str]) -> str:
    phrases = [f"{kinds[kind]} for the {kind}" for kind in ("worse", "better") if kinds[kind]]
    return f", {' and '.join(phrases)}" if phrases else ""


def _in_last(newest: Counter[str]) -> str:
    return f"{newest.total()}{_kinds_text(newest)}" if newest.total() else "none"
