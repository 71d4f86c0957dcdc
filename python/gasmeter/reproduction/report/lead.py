"""First sentences of a report: how many statements hold, the best and worst figure, the deciding estimates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.plan.figure import Figure
from gasmeter.reproduction.report.claim_texts import VERDICT_WORDS, quick_text, score_sentences, shown_verdict

__all__ = ["figure_name", "is_added", "lead_sentences", "verdict_counts"]

_PHRASES: Mapping[str, tuple[str, str]] = {
    "within": ("holds", "hold"),
    "outside": ("does not", "do not"),
    "depends": ("depends on unpublished estimates", "depend on unpublished estimates"),
    "by_construction": (
        "holds also without the mechanism that it describes",
        "hold also without the mechanisms that they describe",
    ),
    "not_converged": ("has not converged", "have not converged"),
    "underdetermined": ("needs details that the paper does not give", "need details that the paper does not give"),
    "not_decidable": ("is not decidable by a model", "are not decidable by a model"),
    "premise_fails": ("rests on a premise that fails here", "rest on premises that fail here"),
    "not_run": ("was not run", "were not run"),
    "no_band": ("has no band", "have no band"),
}
_DECIDED = ("within", "outside", "depends")
_MOST_NAMED = 3


def verdict_counts(judged: Iterable[Judged]) -> dict[str, int]:
    """Return the number of statements by verdict, in the order of `VERDICT_WORDS`, without empty ones."""
    counts = Counter(shown_verdict(entry.judgement) for entry in judged)
    return {verdict: counts[verdict] for verdict in VERDICT_WORDS if counts[verdict]}


def lead_sentences(judged: Sequence[Judged], *, quick: bool = False) -> list[str]:
    """Return the results in sentences; empty without claims.

    They tell the statements by verdict, the score beside the null model's, the paper's best and worst figures, and the
    most frequent deciding estimates. A quick run tells how many hold as given.
    """
    if not judged:
        return []
    if quick:
        return [quick_text(judged)]
    sentences = [_by_verdict(judged), *score_sentences(judged), _best_and_worst(judged), _deciding(judged)]
    return [sentence for sentence in sentences if sentence]


def figure_name(figure: Figure) -> str:
    """Return the name of a figure within a sentence: ``figure 6-put``, ``table 1``.

    A figure of the paper that is shown as a table keeps its name.
    """
    is_table = figure.table and not figure.number[:1].isdigit()
    return f"table {figure.number.removeprefix('table-')}" if is_table else f"figure {figure.number}"


def is_added(figure: Figure) -> bool:
    """Return whether the paper has no figure or table of this number: a report splits figures, and tests reasons."""
    return not figure.table and re.fullmatch(r"\d+[a-z]?|table-\d+", figure.number) is None


def _by_verdict(judged: Sequence[Judged]) -> str:
    counts = {"within": 0} | verdict_counts(judged)
    phrases = [f"{count} {_PHRASES[verdict][count != 1]}" for verdict, count in counts.items()]
    several = len(judged) != 1
    return f"Verdicts on the {len(judged)} statement{'s' * several}: {_listed(phrases)}."


def _best_and_worst(judged: Sequence[Judged]) -> str:
    """Return the paper's figures and tables with the largest and the smallest share of decided statements within.

    Figures with a single decided statement count only if no figure has more. Figures with equal shares are all named.
    """
    counts: dict[str, Counter[str]] = {}
    for entry in judged:
        if entry.judgement.verdict in _DECIDED and re.match(r"Figs?\.|Table", entry.claim.figure):
            counts.setdefault(entry.claim.figure, Counter())[entry.judgement.verdict] += 1
    counts = {name: counter for name, counter in counts.items() if counter.total() > 1} or counts
    if len(counts) < 2:
        return ""
    shares = {name: Fraction(counter["within"], counter.total()) for name, counter in counts.items()}
    best, worst = max(shares.values()), min(shares.values())
    if best == worst:
        return f"All figures come out alike: {_share(best)} of the decided statements of each hold."
    first, last = (
        [f"{name} ({counts[name]['within']} of {counts[name].total()})" for name in shares if shares[name] == share]
        for share in (best, worst)
    )
    return (
        f"By the share of decided statements that hold, {_listed(first)} {_verb(first)} out best, {_listed(last)}"
        " worst. A decided statement has the verdict within, outside or depends."
    )


def _verb(names: Sequence[str]) -> str:
    return "comes" if len(names) == 1 else "come"


def _share(share: Fraction) -> str:
    return {0: "none", 1: "all"}.get(share, f"{share.numerator} of {share.denominator}")  # type: ignore[call-overload, no-any-return]


def _deciding(judged: Sequence[Judged]) -> str:
    """Return the estimates that decide most statements, among statements outside or depending on estimates."""
    open_ones = [entry for entry in judged if entry.judgement.verdict in {"outside", "depends"}]
    names = Counter(name for entry in open_ones for name, _ in entry.judgement.deciding)
    most = names.most_common(_MOST_NAMED)
    if not most:
        return ""
    several = len(open_ones) != 1
    (first, count), *others = most
    listed = _listed(
        [f"{first} ({count} statement{'s' * (count != 1)})", *(f"{name} ({number})" for name, number in others)]
    )
    counted = f"{len(open_ones)} statement{'s' * several}"
    return f"These unpublished numbers have most influence on the {counted} with verdict outside or depends: {listed}."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
