"""Input of the fit: round trip, gap and overheads by message size, block by block if there are blocks."""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gasmeter.errors import UsageError
from gasmeter.rows.pictures import picture_facts
from gasmeter.rows.record import COLUMNS, Row
from gasmeter.rows.tidy import Tidy
from gasmeter.rows.verified import Verified
from gasmeter.statistics import CONFIDENCE

__all__ = ["METRICS", "Curves", "Facts", "Values", "curves_of", "read_curves"]

METRICS = ("round_trip", "gap", "send_overhead", "receive_overhead")
_LINE = ("op", "conduit", "machine", "topology", "ranks", "options", "repetition", "seed")

Values = npt.NDArray[np.float64]
Facts = Callable[[Sequence[Row]], Mapping[str, Any]]


@functools.cache
def _z() -> float:
    """Return half of an interval of a normal distribution, in standard deviations."""
    from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

    return float(stats.norm.ppf((1 + CONFIDENCE) / 2))


@dataclass(frozen=True)
class Curves:
    """Times of one line of points by payload, in order of size."""

    title: str  # the experiment and its conduit
    kind: str  # ``measured`` or ``modelled``
    sizes: Values  # payload of a message, B
    # For each size: shape (4, blocks), one line for each of `METRICS`, ns, in the order measured; without samples the
    # median as one block
    blocks: tuple[Values, ...]
    spread: Values  # standard error from the rows if there are no samples, ns; else 0
    # Metadata of pictures about the rows (`gasmeter.rows.pictures`)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    unchecked: int = 0  # number of its rows that are `not_checked`

    def medians(self) -> Values:
        """Return the median of each metric at each size, ns, shape (4, n)."""
        return np.stack([np.median(block, axis=1) for block in self.blocks], axis=1)

    def inflation(self) -> float:
        """Return the factor, 1 or more, by which intervals exceed those of independent blocks.

        It is ``sqrt((1 + rho) / (1 - rho))`` for neighbours that resemble each other, times Student's factor for few
        blocks. rho comes from the ranks of all sizes and metrics together, as one alone tells little.
        """
        many = [block for block in self.blocks if block.shape[1] > 1]
        if not many:
            return 1.0
        from scipy import stats  # noqa: PLC0415 - who only names a wrong input waits for none of it

        fewest = min(block.shape[1] for block in many)
        alike = alone = 0.0
        for block in many:
            ranks = stats.rankdata(block, axis=1) - (block.shape[1] + 1) / 2
            alike += float((ranks[:, 1:] * ranks[:, :-1]).sum())
            alone += float((ranks * ranks).sum())
        rho = alike / alone if alone else 0.0
        rho = min(max(rho + (1 + 4 * rho) / fewest, 0.0), 0.95)  # small samples underestimate it
        return math.sqrt((1 + rho) / (1 - rho)) * float(stats.t.ppf((1 + CONFIDENCE) / 2, fewest - 1)) / _z()

    def errors(self, drawn: Values) -> Values:
        """Return the standard error of each median in ns, shape (4, n): one share of the time per metric.

        The scatter of a few blocks is too uncertain to weigh sizes against one another. A size whose blocks scatter
        more than twice as much as the others' has its own.
        """
        spread = np.maximum(drawn.std(axis=0), self.spread)
        times = np.maximum(np.abs(self.medians()), 1e-9)
        pooled = np.median(spread / times, axis=1, keepdims=True) * times
        widened: Values = np.where(spread > 2 * pooled, spread, pooled)
        return widened

    def resampled(self, draws: int, seed: int) -> Values:
        """Return medians in ns of blocks drawn again, a block's metrics together; the same seed repeats the draws."""
        rng = np.random.default_rng(seed)
        drawn = np.empty((draws, len(METRICS), self.sizes.size))
        for place, block in enumerate(self.blocks):
            n = block.shape[1]
            if n == 1:
                normal = rng.standard_normal((draws, len(METRICS)))
                drawn[:, :, place] = block[:, 0] + normal * self.spread[:, place]
                continue
            drawn[:, :, place] = np.median(block[:, rng.integers(0, n, size=(draws, n))], axis=2).T
        return drawn


def curves_of(result: Tidy) -> list[Curves]:
    """Return the lines of points of kernel `loggp` in a result; raise UsageError if there is none.

    Operation, conduit, machine, topology, number of ranks, options and repetition distinguish them.
    """
    samples: dict[tuple[str, str], list[float]] = {}
    for entry in result.records:
        for columns in entry.samples:
            if columns["metric"] in METRICS:
                samples[columns["run_id"], columns["metric"]] = [float(value) for value in columns["value"]]

    def facts(rows: Sequence[Row]) -> Mapping[str, Any]:
        return picture_facts(result.name, rows, records=result.records, runs=result.runs)

    return _curves(result.rows, samples, result.name, facts)


def read_curves(path: Path, facts: Facts = lambda _: {}) -> list[Curves]:
    """Return the lines of points in a results.csv, with the intervals of rows in place of blocks.

    `facts` makes the metadata of pictures from rows. Raises UsageError if the file is no results.csv or has no row of
    kernel `loggp`.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise UsageError(f"{path} is no results.csv of this version of gasmeter; allowed: one, or its folder")
            rows = [_typed(row, path) for row in reader]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{path} cannot be read: {reason}; allowed: a store folder or its results.csv") from error
    return _curves(rows, {}, str(path), facts)


def _typed(row: Mapping[str, Any], path: Path) -> dict[str, Any]:
    if None in row.values():
        raise UsageError(f"{path} has a line that is cut off; allowed: a whole results.csv", str(path))
    numbers = ("value", "ci_low", "ci_high")
    try:
        typed: dict[str, Any] = dict(row)
        for name in numbers:
            typed[name] = float(row[name]) if row[name] else math.nan
        typed["size_bytes"] = int(row["size_bytes"])
        typed["verified"] = Verified.of(row["verified"])
    except ValueError as error:
        raise UsageError(
            f"{path} has a line that is no row: {error}; allowed: a whole results.csv", str(path)
        ) from error
    return typed


def _curves(
    rows: Iterable[Row], samples: Mapping[tuple[str, str], Sequence[float]], name: str, facts: Facts
) -> list[Curves]:
    lines: dict[tuple[Any, ...], dict[int, dict[str, Row]]] = {}
    for row in rows:
        if row["kernel"] != "loggp" or row["metric"] not in METRICS or row["reference"]:
            continue
        if row["verified"] is Verified.FALSE or not math.isfinite(row["value"]):
            continue
        points = lines.setdefault(tuple(row[column] for column in _LINE), {})
        points.setdefault(int(row["size_bytes"]), {})[row["metric"]] = row
    curves = [curve for line, points in lines.items() if (curve := _curve(line, points, samples, facts)) is not None]
    if not curves:
        raise UsageError(f"{name} holds no verified rows of kernel loggp; allowed: what `gasmeter run` stored of it")
    return curves


def _curve(
    line: tuple[Any, ...], points: Mapping[int, Mapping[str, Row]],
    samples: Mapping[tuple[str, str], Sequence[float]], facts: Facts,
) -> Curves | None:  # fmt: skip
    whole = {size: metrics for size, metrics in sorted(points.items()) if set(metrics) == set(METRICS)}
    if not whole:
        return None
    named = dict(zip(_LINE, line, strict=True))
    blocks, spread = [], np.zeros((len(METRICS), len(whole)))
    for place, metrics in enumerate(whole.values()):
        of_size = [samples.get((metrics[metric]["run_id"], metric), []) for metric in METRICS]
        count = min(len(values) for values in of_size)
        if count > 1:
            blocks.append(np.array([values[:count] for values in of_size], dtype=np.float64))
            continue
        blocks.append(np.array([[metrics[metric]["value"]] for metric in METRICS], dtype=np.float64))
        for number, metric in enumerate(METRICS):
            width = metrics[metric]["ci_high"] - metrics[metric]["ci_low"]
            spread[number, place] = width / (2 * _z()) if math.isfinite(width) else 0.0
    words = [named["op"], "on", named["conduit"]]
    further = (named[name] for name in ("machine", "topology", "options"))
    words += [str(word) for word in further if word and word != named["conduit"]]
    first = next(iter(whole.values()))["round_trip"]
    used = [metrics[name] for metrics in whole.values() for name in METRICS]
    sizes = np.array(list(whole), dtype=np.float64)
    unchecked = sum(row["verified"] is Verified.NOT_CHECKED for row in used)
    return Curves(" ".join(words), str(first["kind"]), sizes, tuple(blocks), spread, facts(used), unchecked)
