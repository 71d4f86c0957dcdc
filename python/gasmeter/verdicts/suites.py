"""Judges claims that say that a conduit passes its tests: by the conformance suite."""

from __future__ import annotations

from gasmeter.conformance import Counts, Suite
from gasmeter.verdicts.judging import Judgement

__all__ = ["judge_suite"]


def judge_suite(suite: Suite, conduit: str) -> Judgement:
    """Judge a claim by what the conformance suite found on a conduit.

    Parameters
    ----------
    suite : Suite
        Of a run that has ended.
    conduit : str
        Which of its conduits.

    Returns
    -------
    Judgement
        ``within`` if nothing failed, else ``outside``: the value is the number of runs that failed; ``not_run`` if
        no case was run on it.
    """
    counts = sum((suite.counts(group, conduit) for group in suite.groups), Counts())
    if counts.passed + counts.failed == 0:
        return Judgement("not_run", notes=[f"the conformance suite has no case that ran on {conduit}"])
    build = suite.build
    said = (
        f"conformance suite {build['version']} ({build['compiler']}, {build['build_type'] or 'no build type'}) on"
        f" {conduit}: {counts.passed} runs of cases passed, {counts.failed} failed, {counts.skipped} were skipped"
    )
    broken = [
        f"{entry.case or 'a case'} failed on {entry.job or 'its way'}: {'; '.join(entry.said[:2])}"
        for entry in suite.broken
    ]
    return Judgement("outside" if counts.failed else "within", value=float(counts.failed), notes=[said, *broken])
