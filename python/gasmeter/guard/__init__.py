"""Guards against regressions: comparison of two builds, check against a baseline, steps in a history.

``README.md`` beside this file explains the rules and their sources.
"""

from gasmeter.guard.changes import Change, History, find_changes
from gasmeter.guard.comparing import Comparison, Verdict, compare_paired, compare_starts, correct
from gasmeter.guard.judging import Finding, Judgement, Rules, judge
from gasmeter.guard.stores import Measured, read_measured

__all__ = [
    "Change",
    "Comparison",
    "Finding",
    "History",
    "Judgement",
    "Measured",
    "Rules",
    "Verdict",
    "compare_paired",
    "compare_starts",
    "correct",
    "find_changes",
    "judge",
    "read_measured",
]
