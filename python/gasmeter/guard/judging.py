"""A new store against a baseline: one finding per value, and whether the check failed."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gasmeter.arguments.choices import FEWEST_STARTS, Undecided
from gasmeter.arguments.sizes import format_size
from gasmeter.errors import UsageError
from gasmeter.guard.bootstrap import bootstrap_ratio
from gasmeter.guard.comparing import (
    RELEVANT,
    Comparison,
    compare_paired,
    compare_starts,
    correct,
)
from gasmeter.guard.exact import machine_changes, what_moved
from gasmeter.guard.stores import Key, Measured, Sample, check_machines, host_notes
from gasmeter.measuring.probe import PROGRAM, same_state
from gasmeter.rows.direction import better
from gasmeter.rows.record import Row
from gasmeter.rows.verified import Verified

__all__ = ["FAILURES", "FEW_STARTS", "MOST_UNDECIDED", "UNSETTLED", "Finding", "Judgement", "Rules", "judge"]

FEW_STARTS = 0.25
"""Threshold below ten process starts, since a single start may differ by that much."""
MOST_UNDECIDED = 0.2
"""A check with a larger share of undecided measured values has not passed."""
UNSETTLED = 5
"""Exit status of a check with too many undecided values."""
FAILURES = frozenset({"slower", "moved", "missing", "unverified", "unchecked"})
"""Verdicts that fail a check."""


@dataclass(frozen=True)
class Rules:
    """Rules of a check."""

    relevant: float = RELEVANT  # smallest difference that counts, as a share, with ten process starts or more
    few_starts: float = FEW_STARTS  # the same with fewer process starts
    any_machine: bool = False  # whether times of different machines are compared, too
    allow_missing: bool = False  # whether values of the baseline may be absent
    undecided: Undecided = "fail"  # whether a check with too many undecided measured values fails, with status 5


@dataclass(frozen=True)
class Finding:
    """Result for one value of a check."""

    key: Key
    # Measured: ``slower``, ``faster``, ``not significant``, ``undecided``; modelled: ``same``, ``moved``; either:
    # ``missing``, ``new``, ``unverified``, ``unchecked`` (no longer checked); the probe: ``shifted``, ``other probe``,
    # ``no probe``
    verdict: str
    unit: str
    before: float = math.nan  # median; NaN without one
    after: float = math.nan  # median; NaN without one
    comparison: Comparison | None = None  # comparison of measured values
    note: str = ""  # the difference, or why there is no verdict

    @property
    def failed(self) -> bool:
        """Whether the finding fails the check."""
        return self.verdict in FAILURES

    def name(self) -> str:
        """Return the value's name in one line: ``ping-pong put 8 B on smp, 2 ranks: latency``."""
        key = self.key
        words = list(dict.fromkeys(text for text in (key.kernel, key.op, key.variant) if text))
        words += [format_size(key.size_bytes)] if key.size_bytes else []
        extra = [text for text in (key.machine, key.topology, key.placement, key.options) if text]
        where = f"{key.conduit}, {key.ranks} rank{'s' if key.ranks != 1 else ''}"
        return f"{' '.join(words)} on {', '.join([where, *extra])}: {key.metric}"


@dataclass(frozen=True, repr=False)
class Judgement:
    """Result of a check.

    Attributes
    ----------
    findings : tuple of Finding
        Findings in the order of the baseline, then new ones.
    baseline, new : str
        Folders of the compared stores.
    notes : tuple of str
        Notes for readers.
    undecided : {"fail", "ok"}
        Whether a check with too many undecided values fails.
    """

    findings: tuple[Finding, ...]
    baseline: str
    new: str
    notes: tuple[str, ...] = ()
    undecided: Undecided = "fail"

    def __repr__(self) -> str:
        """Return the numbers of compared values and the outcome in one line."""
        return f"<Judgement {self.new} against {self.baseline}: {self.summary()}>"

    @property
    def failed(self) -> bool:
        """Whether the check fails."""
        return any(finding.failed for finding in self.findings)

    @property
    def unsettled(self) -> bool:
        """Whether more than a fifth of the measured values stayed undecided, so that the check did not pass."""
        verdicts = [finding.verdict for finding in self.findings if finding.comparison is not None]
        return verdicts.count("undecided") > MOST_UNDECIDED * len(verdicts)

    @property
    def status(self) -> int:
        """Exit status: 0 passed, 1 failed, 5 not failed and too much undecided, unless that is allowed."""
        return 1 if self.failed else UNSETTLED if self.unsettled and self.undecided == "fail" else 0

    def sees(self) -> str:
        """Return the least changes that the comparisons could detect, in a few words.

        Returns
        -------
        str
            For instance ``could have seen changes of 2.0 % (of one figure 6.3 %)``; empty without measured figures.
        """
        compared = [finding.comparison.sees for finding in self.findings if finding.comparison is not None]
        seen = sorted(change for change in compared if math.isfinite(change))
        if not seen:
            return "could have seen no change of a measured figure" if compared else ""
        least, most = (f"{end:.1%}".replace("%", " %") for end in (seen[0], seen[-1]))
        return f"could have seen changes of {least}" + (f" to {most}, by figure" if most != least else "")

    def summary(self) -> str:
        """Return the outcome in one line.

        Returns
        -------
        str
            ``passed``, ``FAILED`` or ``UNDECIDED``, the number of values by verdict, and the least changes that could
            be detected.
        """
        counts = Counter(finding.verdict for finding in self.findings)
        order = sorted(counts, key=lambda verdict: (verdict not in FAILURES, -counts[verdict], verdict))
        text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in order)
        outcome = "FAILED" if self.failed else "UNDECIDED" if self.unsettled else "passed"
        return "; ".join(filter(None, [f"{outcome}: {text}", self.sees()]))


def judge(baseline: Measured, new: Measured, rules: Rules | None = None) -> Judgement:
    """Judge a store against a baseline; both as `gasmeter.guard.read_measured` returns them.

    Measured values go through statistics over process starts, corrected for their number; modelled ones must be equal.
    Raises UsageError if the machines differ, nothing is in common, or a baseline value is missing.
    """
    rules = rules or Rules()
    common = [key for key in baseline.samples if key in new.samples]
    if not common:
        raise UsageError(
            f"{baseline.place} and {new.place} have no figure in common: other kernels, sizes, conduits or options",
            str(new.place),
        )
    if not rules.any_machine:
        check_machines(baseline, new)
    paired = baseline.pairing != "" and baseline.pairing == new.pairing
    findings = []
    for key, sample in baseline.samples.items():
        if key in new.samples:
            findings.append(_finding(key, sample, new.samples[key], (baseline, new), rules, paired=paired))
        elif not rules.allow_missing:
            note = f"stands in {baseline.place}, not in {new.place}"
            findings.append(Finding(key, "missing", sample.rows[0]["unit"], _median(sample.rows), note=note))
    findings = [*([] if paired else _probe(baseline, new)), *_together(findings)]
    findings += [
        Finding(key, "new", sample.rows[0]["unit"], after=_median(sample.rows))
        for key, sample in new.samples.items()
        if key not in baseline.samples
    ]
    notes = (*_notes(findings), *_unchecked_notes(baseline, new), *host_notes(baseline, new))
    return Judgement(tuple(findings), str(baseline.place), str(new.place), notes, rules.undecided)


def _probe(baseline: Measured, new: Measured) -> list[Finding]:
    """Report a fault of the yardstick: a shift, a missing probe, or another program."""
    before, after = baseline.probe_ns, new.probe_ns
    programs = baseline.probes | new.probes
    verdict, notes = "", []
    if math.isnan(before) and math.isnan(after):
        return []
    if len(programs) > 1:
        verdict = "other probe"
        notes.append(
            f"different programs ({' and '.join(sorted(programs))}): their values need not agree; keep the baseline's"
            f" {PROGRAM} beside it and name it by GASMETER_PROBE"
        )
    if math.isnan(before) or math.isnan(after):
        verdict = "no probe"
        notes.append(f"{baseline.place if math.isnan(before) else new.place} has no value of it")
    elif not same_state(before, after):
        verdict = "shifted"
        notes.append("the cores stand elsewhere, or something slows the whole machine; measure again when it is calm")
    key = Key("probe", "cache line", "", "two cores", "", "", "", 1, 2, 0, 0, "", "round_trip")
    return [Finding(key, verdict, "ns", before, after, note="; ".join(notes))] if verdict else []


def _finding(
    key: Key, before: Sample, after: Sample, stores: tuple[Measured, Measured], rules: Rules, *, paired: bool
) -> Finding:
    unit = before.rows[0]["unit"]
    if _any(before, Verified.FALSE):
        raise UsageError(
            f"{stores[0].place}: data of {Finding(key, '', unit).name()} did not verify, so that it is no baseline",
            str(stores[0].place),
        )
    if _any(after, Verified.FALSE):
        return Finding(key, "unverified", unit, _median(before.rows), note="the data did not verify")
    finding = Finding(key, "", unit, _median(before.rows), _median(after.rows))
    if _any(after, Verified.NOT_CHECKED) and not _any(before, Verified.NOT_CHECKED):
        return dataclasses.replace(
            finding, verdict="unchecked", note="the baseline's data verified, these were not checked"
        )
    if before.modelled and after.modelled:
        moved = what_moved(before, after)
        if not moved:
            return dataclasses.replace(finding, verdict="same")
        numbers = machine_changes(*(store.machines.get(key.machine, {}) for store in stores))
        because = f"; of machine {key.machine} {', '.join(numbers)}" if numbers else ""
        return dataclasses.replace(finding, verdict="moved", note=moved + because)
    starts = all(store.starts_are_processes for store in stores)
    compare = _compared if paired else _compared_calm
    comparison, note = compare(before, after, rules, starts=starts, paired=paired)
    return dataclasses.replace(finding, verdict=comparison.verdict, comparison=comparison, note=note)


def _any(sample: Sample, verified: Verified) -> bool:
    return any(row["verified"] is verified for row in sample.rows)


def _compared_calm(
    before: Sample, after: Sample, rules: Rules, *, starts: bool, paired: bool
) -> tuple[Comparison, str]:
    """Compare undisturbed process starts; decide nothing if too few are left.

    Builds in alternating blocks skip this: a disturbance of one is one of the other.
    """
    states = before.disturbed + after.disturbed
    if not states:
        return _compared(before, after, rules, starts=starts, paired=paired)
    count = sum(states.values())
    states_text = f"{count} process start{'s' * (count != 1)} in state {', '.join(sorted(states))}"
    calm = before.calm(), after.calm()
    fewest = min(FEWEST_STARTS, len(before.rows), len(after.rows))
    if min(len(sample.rows) for sample in calm) >= fewest:
        comparison, note = _compared(*calm, rules, starts=starts, paired=paired)
        return comparison, "; ".join(filter(None, [f"{states_text} left out", note]))
    comparison, note = _compared(before, after, rules, starts=starts, paired=paired)
    undecided = dataclasses.replace(comparison, verdict="undecided", p=math.nan)
    return undecided, "; ".join(filter(None, [f"{states_text}: the machine was not calm", note]))


def _compared(before: Sample, after: Sample, rules: Rules, *, starts: bool, paired: bool) -> tuple[Comparison, str]:
    """Compare the process starts during which the cores were equally far apart."""
    more = better(before.rows[0]["metric"], before.rows[0]["unit"]) == "bigger"
    first, second = _same_state(before.rows, after.rows, paired=paired)
    dropped = len(before.rows) + len(after.rows) - len(first) - len(second)
    note = f"{dropped} process start{'s' * (dropped != 1)} left out: the cores moved" if dropped else ""
    values = [[row["value"] for row in rows] for rows in (first, second)]
    if any(value <= 0 for row in values for value in row):
        return Comparison(math.nan, math.nan, math.nan, math.nan, (0, 0), "undecided"), "a figure is 0"
    enough = min(len(first), len(second)) >= FEWEST_STARTS
    if starts and enough:
        if paired and len(first) == len(second):
            return compare_paired(*_partners(before, after), more_is_better=more, relevant=rules.relevant), note
        return compare_starts(*values, more_is_better=more, relevant=rules.relevant), note
    if not first or not second:
        return Comparison(math.nan, math.nan, math.nan, math.nan, (len(first), len(second)), "undecided"), note
    rough = _rough(before, after, (first, second), rules, more=more)
    if rough.verdict == "not significant" and min(len(before.rows), len(after.rows)) >= FEWEST_STARTS:
        return dataclasses.replace(rough, verdict="undecided", sees=math.nan), note
    few = f"fewer than {FEWEST_STARTS} process starts each: only differences above {100 * rules.few_starts:.0f} % count"
    return rough, "; ".join(filter(None, [note, few]))


def _partners(before: Sample, after: Sample) -> tuple[list[float], list[float]]:
    """Return 1 and the ratio for each start of builds in alternating blocks.

    The ratio is the median over blocks that ran side by side, so that common disturbances cancel. If one build has
    other blocks, it is the ratio of the medians.
    """
    ratios = []
    for old, new, first, second in zip(before.rows, after.rows, before.blocks, after.blocks, strict=True):
        if first and len(first) == len(second) and min(*first, *second) > 0:
            ratios.append(float(np.median(np.asarray(second) / np.asarray(first))))
        else:
            ratios.append(new["value"] / old["value"])
    return [1.0] * len(ratios), ratios


def _same_state(before: Sequence[Row], after: Sequence[Row], *, paired: bool) -> tuple[list[Row], list[Row]]:
    """Return the rows whose probe is within 15 % of the usual state; pairs stay together."""
    if paired and len(before) == len(after):
        # Both ran in alternating blocks and share their state, whatever it was.
        return list(before), list(after)
    usual = _usual_state((*before, *after))
    if math.isnan(usual):
        return list(before), list(after)
    first, second = ([row for row in rows if _stands_at(row, usual)] for rows in (before, after))
    # Each may be near the middle of both and yet far from the other.
    return (first, second) if same_state(_usual_state(first), _usual_state(second)) else ([], [])


def _usual_state(rows: Sequence[Row]) -> float:
    states = [row["host_state_ns"] for row in rows if not math.isnan(row["host_state_ns"])]
    return float(np.median(states)) if states else math.nan


def _stands_at(row: Row, state_ns: float) -> bool:
    """Tell whether a row's probe is within 15 %; a row without a probe does not match rows that have one."""
    return not math.isnan(row["host_state_ns"]) and same_state(row["host_state_ns"], state_ns)


def _rough(before: Sample, after: Sample, rows: tuple[list[Row], list[Row]], rules: Rules, *, more: bool) -> Comparison:
    """Compare blocks of few processes: their interval, and a threshold above the effect of one process start."""
    blocks = [
        [value for row, part in zip(sample.rows, sample.blocks, strict=True) if row in kept for value in part]
        or [row["value"] for row in kept]
        for sample, kept in zip((before, after), rows, strict=True)
    ]
    above, below = (blocks[0], blocks[1]) if more else (blocks[1], blocks[0])
    ratio = bootstrap_ratio(above, below)
    count = (len(rows[0]), len(rows[1]))
    comparison = Comparison(
        ratio.median, ratio.low, ratio.high, math.nan, count, "not significant", rules.few_starts,
        sees=max(rules.few_starts, ratio.median / ratio.low - 1),
    )  # fmt: skip
    if not math.isfinite(ratio.low):
        return dataclasses.replace(comparison, verdict="undecided", sees=math.nan)
    far = abs(math.log(ratio.median)) >= math.log1p(rules.few_starts)
    if far and ratio.excludes(1.0):
        return dataclasses.replace(comparison, verdict="slower" if ratio.median > 1 else "faster")
    return comparison


def _together(findings: list[Finding]) -> list[Finding]:
    """Correct the verdicts for the number of values compared by process starts."""
    places = [
        i
        for i, finding in enumerate(findings)
        if finding.comparison is not None and math.isfinite(finding.comparison.p)
    ]
    corrected = correct([finding.comparison for i in places if (finding := findings[i]).comparison is not None])
    result = list(findings)
    for i, comparison in zip(places, corrected, strict=True):
        result[i] = dataclasses.replace(findings[i], comparison=comparison, verdict=comparison.verdict)
    return result


def _median(rows: Sequence[Row]) -> float:
    values = [row["value"] for row in rows if math.isfinite(row["value"])]
    return float(np.median(values)) if values else math.nan


def _unchecked_notes(baseline: Measured, new: Measured) -> tuple[str, ...]:
    common = [key for key in baseline.samples if key in new.samples]
    counts = [sum(_any(store.samples[key], Verified.NOT_CHECKED) for key in common) for store in (baseline, new)]
    if not any(counts):
        return ()
    return (f"data not checked: {counts[0]} of {len(common)} figures of the baseline, {counts[1]} of the new store",)


def _notes(findings: Sequence[Finding]) -> tuple[str, ...]:
    undecided = sum(finding.verdict == "undecided" for finding in findings)
    if not undecided:
        return ()
    return (
        f"{undecided} figure{'s' * (undecided != 1)} undecided: too few process starts that can be compared;"
        " more --starts leave room for those that are left out",
    )
