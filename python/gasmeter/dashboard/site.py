"""The pages: an index that opens at once, and a file for each series that is read on demand.

Data stand in scripts, not in JSON files: a page opened from disk may load scripts but may not fetch.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.dashboard.headline import headline, levels_of, median
from gasmeter.dashboard.history import History, Series, read_history
from gasmeter.dashboard.packing import pack_column, pack_integers, quantum
from gasmeter.dashboard.samples import Blocks, Counted, read_counters, read_samples
from gasmeter.dashboard.steps import FindSteps, confirmed_steps, exact_steps
from gasmeter.errors import UsageError
from gasmeter.measuring.context import now
from gasmeter.rendering.pages import CARDS, style_sheet
from gasmeter.rows.direction import better
from gasmeter.rows.formats import json_value
from gasmeter.rows.pictures import embedded, made_facts
from gasmeter.rows.verified import Verified
from gasmeter.stores.files import refused
from gasmeter.version import package_version

__all__ = ["ASSETS", "Site", "series_id", "write_dashboard"]

ASSETS = (
    "index.html", "dashboard.css", "numbers.js", "charts.js", "overview.js", "sizes.js", "detail.js", "run.js",
)  # fmt: skip
"""Files of the page itself, in `gasmeter.dashboard.page`."""

_SPARK = 80
# Host facts of one run
_OF_ONE_RUN = frozenset({"load", "steal_share", "most_ranks", "ranks_on_siblings", "self_overhead"})
_VERIFIED, _SHARED, _NO_VALUE, _NO_INTERVAL, _NO_SPREAD, _NO_STATE, _UNCHECKED = 1, 2, 4, 8, 16, 32, 64


@dataclass(frozen=True)
class Site:
    """A written site.

    Attributes
    ----------
    folder : Path
        Open its ``index.html``.
    runs, series, steps : int
        Numbers of shown items.
    bytes : int
        Size of all files together.
    notes : tuple of str
        Omissions, one line each.
    headline : str
        The result, in a sentence or two.
    """

    folder: Path
    runs: int
    series: int
    steps: int
    bytes: int
    notes: tuple[str, ...]
    headline: str = ""


def write_dashboard(
    stores: Sequence[str | Path],
    out: str | Path,
    *,
    title: str = "gasmeter",
    find_steps: FindSteps = confirmed_steps,
    sampled_runs: int = 10,
    commit_url: str = "",
) -> Site:
    """Write a site of static pages that opens from disk.

    `out` is new, empty, or an earlier site, which is replaced. `find_steps` takes values, oldest first, and returns the
    index of the first value behind each step; for modelled numbers each difference is a step. A series keeps every
    block of its `sampled_runs` newest runs and of runs beside its steps. `commit_url` contains ``{revision}`` and makes
    links. Raises UsageError for nothing to show, a damaged or newer store, other content in `out`, or a bad address;
    ResourceError if the disk is full.
    """
    place = Path(out)
    _check_target(place)
    _check_address(commit_url)
    history = read_history(stores)
    steps = [_steps(series, find_steps) for series in history.series]
    notes = list(history.notes)
    wanted = _sampled(history, steps, sampled_runs)
    samples, counters = read_samples(history, wanted, notes), read_counters(history, wanted, notes)
    sentence = headline(history, steps)
    about = {"title": title, "headline": sentence, "commit_url": commit_url, "notes": notes}
    try:
        _clear(place)
        _write(place, history, steps, samples, counters, about=about)
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    except OSError as error:
        raise refused(place, error) from error
    return Site(place, len(history.runs), len(history.series), sum(map(len, steps)), size, tuple(notes), sentence)


def series_id(series: Series) -> str:
    """Return twelve hexadecimal digits that name a series in every version of a site."""
    return hashlib.sha256(json.dumps(list(series.fields.items())).encode()).hexdigest()[:12]


def _check_target(place: Path) -> None:
    if place.exists() and not place.is_dir():
        raise UsageError(f"--out {place} is a file; allowed: a folder, new or with a dashboard", str(place))
    if place.is_dir() and any(place.iterdir()) and not (place / "data" / "index.js").exists():
        raise UsageError(
            f"{place} holds something that is no dashboard; allowed: a folder, new or with a dashboard (--out)",
            str(place),
        )


def _check_address(address: str) -> None:
    if address and not (address.startswith(("https://", "http://")) and "{revision}" in address):
        raise UsageError(
            f"--commit-url {address} is no address of a commit; allowed: http(s)://…/{{revision}}", address
        )


def _clear(place: Path) -> None:
    """Remove the files of an earlier site, and no others."""
    shutil.rmtree(place / "data", ignore_errors=True)
    for name in ("series", "run"):
        (place / "data" / name).mkdir(parents=True)


def _steps(series: Series, find_steps: FindSteps) -> list[int]:
    """Return positions in a series at which its level changes."""
    values = series.numbers["value"]
    finite = np.flatnonzero(np.isfinite(values))
    wanted = exact_steps if series.modelled else find_steps
    steps = wanted(values[finite].tolist()) if finite.size > 1 else []
    return [int(finite[index]) for index in steps if 0 < index < finite.size]


def _sampled(history: History, steps: Sequence[Sequence[int]], newest: int) -> list[list[int]]:
    """Return the positions in each series at which every block is kept."""
    wanted = []
    for series, changes in zip(history.series, steps, strict=True):
        count = len(series.at)
        positions = {*range(max(0, count - newest), count)}
        if newest:
            positions |= {position - before for position in changes for before in (0, 1)}
        wanted.append(sorted(positions))
    return wanted


def _write(
    place: Path,
    history: History,
    steps: Sequence[Sequence[int]],
    samples: Mapping[tuple[int, int], Blocks],
    counters: Mapping[tuple[int, int], Counted],
    *,
    about: Mapping[str, Any],
) -> None:
    kept: list[dict[int, Blocks]] = [{} for _ in history.series]
    for (owner, position), blocks in samples.items():
        kept[owner][position] = blocks
    counted: list[dict[int, Counted]] = [{} for _ in history.series]
    for (owner, position), names in counters.items():
        counted[owner][position] = names
    words: dict[str, int] = {}
    entries = []
    for number, (series, changes) in enumerate(zip(history.series, steps, strict=True)):
        unit = quantum(series.numbers["value"], exact=series.modelled)
        entries.append(_entry(series, changes, unit, words))
        content = _columns(series, unit, kept[number], counted[number])
        _script(place / "data" / "series" / f"{series_id(series)}.js", "series", [series_id(series), content])
    hosts = list(dict.fromkeys(run.host_name for run in history.runs))
    index = {
        **about,
        "written": now(),
        "version": package_version(),
        "runs": {
            "started": [run.started for run in history.runs],
            "revision": [run.revision for run in history.runs],
            "name": [run.name for run in history.runs],
            "state": [run.state for run in history.runs],
            "host": [hosts.index(run.host_name) for run in history.runs],
        },
        "hosts": hosts,
        "fields": list(history.series[0].fields),
        "words": list(words),
        "series": entries,
    }
    _script(place / "data" / "index.js", "index", [index])
    _script(place / "data" / "runs.js", "runs", [_runs(history)])
    for number, (owners, values) in enumerate(_by_run(history)):
        content = {"series": pack_integers(np.array(owners, dtype=np.int64)), "value": values}
        _script(place / "data" / "run" / f"{number}.js", "series", [f"run {number}", content])
    page = resources.files("gasmeter.dashboard") / "page"
    for name in ASSETS:
        says = made_facts(_description(history), [place / "data"]) if name.endswith(".html") else {}
        (place / name).write_bytes(embedded((page / name).read_bytes(), "html", says))
    (place / CARDS).write_text(style_sheet(CARDS), encoding="utf-8")


def _description(history: History) -> str:
    """Return the description of the pages, for their metadata."""
    days = sorted({run.started[:10] for run in history.runs if run.started})
    when = f" of {days[0]}{f' to {days[-1]}' * (len(days) > 1)}" if days else ""
    series, runs = len(history.series), len(history.runs)
    return f"a dashboard of {series} series in {runs} run{'s' * (runs != 1)}{when}"


def _by_run(history: History) -> list[tuple[list[int], list[float]]]:
    """Return the series and values of each run: exact ones in twelve digits, else five."""
    runs: list[tuple[list[int], list[float]]] = [([], []) for _ in history.runs]
    for number, series in enumerate(history.series):
        digits = 12 if series.modelled else 5
        for at, value in zip(series.at, series.numbers["value"].tolist(), strict=True):
            runs[at][0].append(number)
            runs[at][1].append(float(f"{value:.{digits}g}"))
    return runs


def _script(path: Path, function: str, arguments: Sequence[Any]) -> None:
    text = ",".join(
        json.dumps(json_value(argument), ensure_ascii=False, separators=(",", ":")) for argument in arguments
    )
    path.write_text(f"Gasmeter.{function}({text});\n", encoding="utf-8")


def _entry(series: Series, steps: Sequence[int], unit: float, words: dict[str, int]) -> dict[str, Any]:
    """Return the overview's entry of a series."""
    values = series.numbers["value"]
    finite = np.flatnonzero(np.isfinite(values))
    bins = [part for part in np.array_split(finite, min(_SPARK, max(1, finite.size))) if part.size]
    thin = np.array([median(values[part]) for part in bins], dtype=np.float64)
    where = np.array([series.at[int(part[part.size // 2])] for part in bins], dtype=np.int64)
    return {
        "id": series_id(series),
        "is": [words.setdefault(text, len(words)) for text in series.fields.values()],
        "label": series.label,
        "better": better(series.fields["metric"], series.fields["unit"]),
        "count": len(series.at),
        "first": series.at[0],
        "last": series.at[-1],
        "newest": float(values[finite[-1]]) if finite.size else None,
        "interval": [float(series.numbers[end][finite[-1]]) for end in ("ci_low", "ci_high")] if finite.size else None,
        "shared": series.oversubscribed[-1],
        "unverified": series.verified.count(Verified.FALSE),
        "unit": unit,
        "spark": [len(bins), pack_integers(where), pack_column(thin, unit)],
        "levels": levels_of(series, steps),
        "steps": [series.at[step] for step in steps],
    }


def _columns(
    series: Series, unit: float, samples: Mapping[int, Blocks], counters: Mapping[int, Counted]
) -> dict[str, Any]:
    """Return the page data of a series: a number for every run, blocks and counters of some."""
    numbers = series.numbers
    value, state = numbers["value"], numbers["host_state_ns"]
    interval = np.isfinite(numbers["ci_low"]) & np.isfinite(numbers["ci_high"])
    spread = np.isfinite(numbers["min"]) & np.isfinite(numbers["p99"])
    flags = (
        np.where([verdict is Verified.TRUE for verdict in series.verified], _VERIFIED, 0)
        | np.where([verdict is Verified.NOT_CHECKED for verdict in series.verified], _UNCHECKED, 0)
        | np.where(series.oversubscribed, _SHARED, 0)
        | np.where(np.isfinite(value), 0, _NO_VALUE)
        | np.where(interval, 0, _NO_INTERVAL)
        | np.where(spread, 0, _NO_SPREAD)
        | np.where(np.isfinite(state), 0, _NO_STATE)
    )
    return {
        "count": len(series.at),
        "unit": unit,
        "at": pack_integers(np.array(series.at, dtype=np.int64)),
        "value": pack_column(value, unit),
        "low": pack_column(value - numbers["ci_low"], unit),
        "high": pack_column(numbers["ci_high"] - value, unit),
        "min": pack_column(value - numbers["min"], unit),
        "p99": pack_column(numbers["p99"] - value, unit),
        "n": pack_column(numbers["n"], 1.0),
        "state": pack_column(state, 0.1),
        "flags": pack_column(flags.astype(np.float64), 1.0),
        "samples": {
            str(series.at[position]): {
                "count": int(blocks.values.size),
                "of": blocks.measured,
                "value": pack_column(blocks.values, unit),
                "kept": pack_column(blocks.kept.astype(np.float64), 1.0),
            }
            for position, blocks in samples.items()
        },
        "counters": {str(series.at[position]): names for position, names in counters.items()},
    }


def _runs(history: History) -> dict[str, Any]:
    """Return the facts of runs; versions and hosts that several share stand once."""
    tables: dict[str, int] = {}

    def once(facts: Mapping[str, Any]) -> int:
        return tables.setdefault(json.dumps(json_value(facts), default=str, ensure_ascii=False), len(tables))

    shown = [
        {
            "experiment": run.experiment,
            "command": run.command,
            "load": run.host.get("load"),
            "host": once({key: value for key, value in run.host.items() if key not in _OF_ONE_RUN}),
            "versions": once(run.versions),
            "errors": run.errors,
            "notes": run.notes,
        }
        for run in history.runs
    ]
    return {"runs": shown, "tables": [json.loads(text) for text in tables]}
