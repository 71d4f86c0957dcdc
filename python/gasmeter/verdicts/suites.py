"""Judge claims that a conduit passes its tests, by the conformance suite."""

from __future__ import annotations

from gasmeter.diagnosis.conformance import Counts, Suite
from gasmeter.verdicts.judging import Judgement

__all__ = ["judge_suite"]


def judge_suite(suite: Suite, conduit: str) -> Judgement:
    """Judge a claim about a conduit by a finished conformance suite.

    The verdict is ``within`` if no case failed, else ``outside``, and ``not_run`` if no case ran on the conduit. The
    value is the number of failed runs.
    """
    counts = sum((suite.counts(group, conduit) for group in suite.groups), Counts())
    if counts.passed + counts.failed == 0:
        return Judgement("not_run", notes=[f"the conformance suite has no case that ran on {conduit}"])
    build = suite.build
    summary = (
        f"conformance suite {build['version']} ({build['compiler']}, {build['build_type'] or 'no build type'}) on"
        f" {conduit}: {counts.passed} runs of cases passed, {counts.failed} failed, {counts.skipped} were skipped"
    )
    broken = [
        f"{entry.case or 'a case'} failed on {entry.job or 'its way'}: {'; '.join(entry.said[:2])}"
        for entry in suite.broken
    ]
    return Judgement("outside" if counts.failed else "within", value=float(counts.failed), notes=[summary, *broken])
