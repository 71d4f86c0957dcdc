"""Judging statements of papers: claims, frozen predicates, bands, labels. Nothing here runs a benchmark."""

from gasmeter.verdicts.claims import Claim, claims
from gasmeter.verdicts.judging import Case, Judgement, Trial, judge_claim
from gasmeter.verdicts.predicates import Predicate, predicates

__all__ = ["Case", "Claim", "Judgement", "Predicate", "Trial", "claims", "judge_claim", "predicates"]
