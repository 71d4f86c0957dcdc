"""Judging statements of papers: claims, frozen predicates, draws, verdicts. Nothing here runs a benchmark."""

from gasmeter.verdicts.claims import Claim, claims
from gasmeter.verdicts.evidence import Case, Evidence
from gasmeter.verdicts.judging import Judgement, judge_predicate, judge_reading
from gasmeter.verdicts.predicates import Predicate, Reading, predicates

__all__ = [
    "Case", "Claim", "Evidence", "Judgement", "Predicate", "Reading", "claims", "judge_predicate", "judge_reading",
    "predicates",
]  # fmt: skip
