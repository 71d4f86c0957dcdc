"""Turn an outcome into rows and samples of results.csv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gasmeter import statistics
from gasmeter.catalogue import Conduit, Metric, catalogue
from gasmeter.measuring.overhead import overhead_interval
from gasmeter.measuring.resolved import resolved_of
from gasmeter.measuring.runner import GroupOutcome, Outcome
from gasmeter.rows.counters import counter_rows
from gasmeter.rows.links import pack
from gasmeter.rows.record import MIXED, Record, Row
from gasmeter.rows.state import state_of
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.names import options_text

__all__ = ["LEFT_OUT", "record"]

LEFT_OUT = "left out: "
"""Beginning of the note on a point without rows."""

Values = np.ndarray[tuple[int], np.dtype[np.float64]]
Truths = np.ndarray[tuple[int], np.dtype[np.bool_]]
# Options of kernels that access objects in turn, with their defaults.
_TURNS = {"objects": "1", "capacity": "100"}
# Columns of a metric of the modelled machine (bytes held), in a kernel that measures the simulation's speed.
_MODELLED: Row = {"kind": "modelled", "label": "predicted", "host_state_ns": math.nan}


def record(outcome: GroupOutcome, experiment: str) -> Record:
    """Return the rows and samples of a group: one row per point and metric, then one per comparison."""
    kept = outcome.kept()
    result = Record(
        group=outcome.group.id,
        dropped=(len(kept) - sum(kept)) * sum(not entry.modelled for entry in outcome.outcomes),
        blocks=sum(len(entry.blocks) for entry in outcome.outcomes),
        seconds=outcome.seconds,
        notes=[*(f"{LEFT_OUT}{message}" for message in outcome.skipped.values()), *outcome.notes],
    )
    for entry in outcome.outcomes:
        base = _base(entry, outcome.host_state_ns, experiment)
        if entry.verification.verified is Verified.FALSE:
            result.errors.append(
                f"{entry.point.describe()}: data did not verify ({entry.verification.errors} errors in"
                f" {entry.verification.checked} checked); no rate is reported"
            )
        elif entry.verification.silent:
            result.notes.append(
                f"{entry.point.describe()}: {entry.verification.silent} of {entry.point.ranks} ranks kept silent about"
                " their data; the rows say not_checked"
            )
        if entry.links:
            result.links.append(pack(entry.point, entry.links))
        if entry.counters and entry.blocks:
            operations = float(sum(block.operations for block in entry.blocks))
            result.counters.extend(counter_rows(base, entry.counters, operations))
            result.notes.extend(_misses_of_turns(entry))
        if resolved := resolved_of(entry.point, entry.chosen):
            result.resolved[entry.point.id] = resolved
        if entry.unused:
            result.unused[entry.point.id] = list(entry.unused)
        for metric in entry.point.declared_op.metrics:
            values = _values(entry, metric.name)
            if not _is_said(entry, metric.name):
                continue
            counted = values[_usable(entry, kept)]
            summary = statistics.summarise(counted)
            modelled = catalogue().metrics[metric.name].modelled
            state = _state(outcome, () if modelled else (entry,), summary.interval, summary.interval.median)
            meaning = metric.meaning(catalogue().networks[base["network"]])
            kind = _MODELLED if modelled else {}
            result.rows.append({**base, **kind, **_quantity(summary, metric), "semantics": meaning, "state": state})
            if entry.blocks:
                result.samples.append(_samples(entry, metric, values, outcome, kept))
    result.rows.extend(_comparisons(outcome, np.asarray(kept, dtype=bool), experiment))
    return result


def _misses_of_turns(outcome: Outcome) -> list[str]:
    """Return a note if objects are used in turn and a cache of addresses is too small to hit any."""
    objects, capacity = (str(outcome.point.options.get(name, default)) for name, default in _TURNS.items())
    misses, lookups = (outcome.counters.get(name, 0) for name in ("misses", "lookups"))
    is_on = outcome.point.options.get("cache", "on") == "on"
    if misses == 0 or not is_on or capacity == "unlimited" or int(objects) <= int(capacity):
        return []
    return [
        f"{outcome.point.describe()}: {misses} of {lookups} look-ups missed: {objects} objects have their turns and"
        f" the cache holds {capacity} addresses; capacity=unlimited times hits"
    ]


def _network(outcome: Outcome, conduit: Conduit) -> str:
    """Return the network of a row: ranks of a real job share memory if their neighbourhood is on."""
    shares = not outcome.modelled and str(outcome.point.options.get("neighbourhood", "false")) in ("true", "True", "on")
    return catalogue().shared_memory.name if shares else conduit.network


def _base(outcome: Outcome, host_state_ns: float, experiment: str) -> Row:
    point, conduit = outcome.point, outcome.point.declared_conduit
    return {
        "experiment": experiment,
        "kernel": point.kernel,
        "op": point.op,
        "variant": point.variant,
        "conduit": point.conduit,
        "network": _network(outcome, conduit),
        "kind": conduit.kind,
        "label": "predicted" if outcome.modelled else "measured",
        "machine": point.machine,
        "topology": point.topology,
        "placement": point.placement or ("cpus " + " ".join(map(str, outcome.cpus)) if outcome.cpus else ""),
        "nodes": point.nodes,
        "ranks": point.ranks,
        "oversubscribed": outcome.oversubscribed,
        "size_bytes": point.size_bytes,
        "options": options_text(point.options, modelled=outcome.modelled),
        "verified": outcome.verification.verified,
        "reference": "",
        "repetition": point.repetition,
        "seed": point.seed,
        "host_state_ns": math.nan if outcome.modelled else host_state_ns,
        "run_id": point.id,
    }


def _values(outcome: Outcome, metric: str) -> Values:
    """Return one metric's blocks; an error fraction that the kernel does not time comes from its verification."""
    check = outcome.verification
    stated = check.errors / check.checked if metric == "error_fraction" and check.checked else math.nan
    return np.asarray([block.metrics.get(metric, stated) for block in outcome.blocks], dtype=np.float64)


def _is_said(outcome: Outcome, metric: str) -> bool:
    """Tell whether a metric exists: a program may have more metrics in virtual time than here."""
    timed_metrics = {outcome.point.declared_op.metrics[0].name, "error_fraction"}
    return metric in timed_metrics or any(metric in block.metrics for block in outcome.blocks)


def _usable(outcome: Outcome, kept: Sequence[bool]) -> Truths:
    """Return which blocks count; all in virtual time, which moving cores do not affect."""
    count = len(outcome.blocks)
    every = outcome.modelled or not any(kept)
    return np.asarray([True] * count if every else kept[:count], dtype=bool)


def _state(group: GroupOutcome, of: Sequence[Outcome], interval: statistics.Interval, scale: float) -> str:
    """Return the state of a value made from the blocks of one outcome, or of two."""
    measured = [entry for entry in of if not entry.modelled]
    kept = group.kept()
    return state_of(
        interval,
        scale,
        modelled=not measured,
        left_out=1 - sum(kept) / len(kept) if kept else 0.0,
        loaded=any(group.loaded(entry.point) for entry in measured),
    )


def _quantity(summary: statistics.Summary, metric: Metric) -> Row:
    return {
        "semantics": metric.semantics,
        "metric": metric.name,
        "unit": metric.unit,
        "value": summary.interval.median,
        "ci_low": summary.interval.low,
        "ci_high": summary.interval.high,
        "min": summary.minimum,
        "p50": summary.p50,
        "p99": summary.p99,
        "n": summary.interval.n,
    }


def _samples(
    outcome: Outcome, metric: Metric, values: np.ndarray[Any, Any], group: GroupOutcome, kept: Sequence[bool]
) -> Row:
    """Return the sample columns of one point and metric; a value that all blocks share stands once."""
    point, blocks = outcome.point, outcome.blocks
    count, nowhere = len(blocks), (math.nan, math.nan)
    states = [nowhere] * count if outcome.modelled else group.states_ns[:count]
    return {
        "run_id": point.id,
        "kernel": point.kernel,
        "op": point.op,
        "variant": point.variant,
        "conduit": point.conduit,
        "size_bytes": point.size_bytes,
        "ranks": point.ranks,
        "options": options_text(point.options, modelled=outcome.modelled),
        "metric": metric.name,
        "unit": metric.unit,
        "block": list(range(len(blocks))),
        "value": values.tolist(),
        "iterations": [block.iterations for block in blocks],
        "elapsed_ns": [block.elapsed_ns for block in blocks],
        "host_before_ns": [before for before, _ in states],
        "host_after_ns": [after for _, after in states],
        "kept": [True] * count if outcome.modelled else list(kept[:count]),
    }


def _comparisons(outcome: GroupOutcome, kept: Truths, experiment: str) -> list[Row]:
    group = outcome.group
    if group.reference is None:
        return []
    wanted = group.points[group.reference]
    reference = next((entry for entry in outcome.outcomes if entry.point is wanted), None)
    if reference is None or not reference.blocks:
        return []
    rows: list[Row] = []
    below_metric = reference.point.declared_op.metrics[0]
    for entry in outcome.outcomes:
        metric = entry.point.declared_op.metrics[0]
        if entry is reference or not entry.blocks or metric.unit != below_metric.unit:
            continue
        above, below = _partners(entry, metric, reference, below_metric, kept)
        base = {**_base(entry, outcome.host_state_ns, experiment), "reference": group.reference_name}
        if entry.modelled != reference.modelled:
            base |= {"kind": MIXED, "label": MIXED, "host_state_ns": outcome.host_state_ns}
        both = (entry, reference)
        if group.compare in {"ratio", "both"}:
            interval = overhead_interval(above, below)
            spread = above / below - 1 if below.all() else np.asarray([])
            text = f"{metric.name} / reference - 1, paired blocks"
            ratio = catalogue().metrics["overhead"]
            quantity = _quantity(statistics.summarise(spread), Metric(ratio.name, ratio.unit, text))
            state = _state(outcome, both, interval, interval.median + 1)
            rows.append({**base, **quantity, **_interval(interval), "state": state})
        if group.compare in {"difference", "both"}:
            interval = statistics.paired_difference(above, below)
            text = f"{metric.name} - reference, paired blocks"
            quantity = _quantity(statistics.summarise(above - below), Metric(metric.name, metric.unit, text))
            state = _state(outcome, both, interval, float(np.median(below)) if below.size else math.nan)
            rows.append({**base, **quantity, **_interval(interval), "state": state})
    return rows


def _partners(
    entry: Outcome, metric: Metric, reference: Outcome, reference_metric: Metric, kept: Truths
) -> tuple[Values, Values]:
    """Return the blocks to compare: those that ran side by side, or every measured one with the modelled value."""
    above, below = _values(entry, metric.name), _values(reference, reference_metric.name)
    if entry.modelled == reference.modelled:
        return above[kept], below[kept]
    if entry.modelled:
        return np.full(int(kept.sum()), np.median(above)), below[kept]
    return above[kept], np.full(int(kept.sum()), np.median(below))


def _interval(interval: statistics.Interval) -> Row:
    return {"value": interval.median, "ci_low": interval.low, "ci_high": interval.high, "n": interval.n}
