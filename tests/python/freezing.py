"""What decides is frozen: a ledger of predicates and of each paper's method, data/predicates_ledger.csv.

The ledger has every predicate as it was frozen, and every change since, the oldest first. Column `claim` is a claim's
id, or ``method of PAPER`` for all that decides of a paper (`gasmeter.reproduction.judge.frozen`). From `date` on it had
this `digest`. `result` tells whether the line was written before or after somebody had seen a result that it decides.
`verdicts` are the claims whose verdict flipped with it, separated by blanks.
"""

import csv
import io
from pathlib import Path
from typing import NamedTuple

from gasmeter.verdicts.claims import RESULT, claims

FILE = Path(__file__).parent / "data" / "predicates_ledger.csv"
METHOD = "method of "


class Freeze(NamedTuple):
    """One line of the ledger."""

    claim: str
    date: str
    digest: str
    result: str
    reason: str
    verdicts: str


def frozen(text=None):
    """Return every line of the ledger; a broken line fails."""
    header, *lines = csv.reader(io.StringIO(FILE.read_text(encoding="utf-8") if text is None else text))
    assert tuple(header) == Freeze._fields
    ledger = [Freeze(*line) for line in lines]
    for number, line in enumerate(ledger, 1):
        assert line.result in {"before", "after"}, f"line {number}: result {line.result!r}; allowed: before, after"
        assert line.reason, f"line {number} has no reason"
    return ledger


def predicate_problems(ledger, installed):
    """Return where predicates, their ledger and the claims disagree; empty if every predicate is frozen as it is."""
    newest = {line.claim: line.digest for line in ledger if not line.claim.startswith(METHOD)}
    problems = [
        f"predicate {name} has digest {predicate.digest}, the last line of {FILE.name} {newest.get(name, 'none')};"
        f" allowed: a line for each change ({', '.join(Freeze._fields)})"
        for name, predicate in installed.items()
        if newest.get(name) != predicate.digest
    ]
    problems.extend(f"predicate {name} stands in the ledger but is gone" for name in newest if name not in installed)
    results = {claim.id for claim in claims(kind=RESULT)}
    problems.extend(f"claim {name} has no predicate" for name in sorted(results - set(installed)))
    problems.extend(f"predicate {name} has no claim" for name in installed if name not in results)
    return problems


def method_problems(ledger, digests):
    """Return the papers whose method, by name with its digest, is not frozen as it stands."""
    newest = {line.claim: line.digest for line in ledger}
    return [
        f"what decides paper {name} has digest {digest}, the last line of {FILE.name}"
        f" {newest.get(METHOD + name, 'none')}; allowed: a line for each change"
        for name, digest in digests.items()
        if newest.get(METHOD + name) != digest
    ]
