"""Stores for the guard: complete, of this schema, of one machine, or refused in one line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.arguments.choices import IMPORT_FORMATS
from gasmeter.errors import UsageError
from gasmeter.measuring.host import MOST_STOLEN, TRAITS
from gasmeter.rows.record import Row
from gasmeter.rows.verified import Verified
from gasmeter.stores.builds import build_text
from gasmeter.stores.files import JOURNAL, STORE_SCHEMA, check_files
from gasmeter.stores.result import records_from
from gasmeter.stores.tables import Blocks, blocks_of, read_blocks, read_entries, read_run, read_table, typed_row
from gasmeter.sweeps.point import NOT_CHECKED

__all__ = [
    "DEBUG",
    "MACHINE_FACTS",
    "SETTINGS",
    "Key",
    "Measured",
    "Sample",
    "check_machines",
    "differing_facts",
    "host_notes",
    "read_measured",
]

MACHINE_FACTS = ("name", "system", "processor", "microarchitecture", "vendor", "cores", "logical_cores", "usable_cpus")
"""Facts in which two machines must agree for a comparison of times."""

SETTINGS = {
    "governor": "governor", "boost": "boost", "smt": "SMT", "aslr": "ASLR", "huge_pages": "huge pages",
    "usable_cpus": "usable processors",
}  # fmt: skip
"""Settings of hosts that are reported if they differ, with their words."""

_SAME = ("kernel", "op", "variant", "conduit", "machine", "topology", "nodes", "ranks", "size_bytes", "seed")
DEBUG = "debug_"
"""Prefix of options that exist to test the guard."""


@dataclass(frozen=True, order=True)
class Key:
    """Identity of a compared value."""

    kernel: str
    op: str
    variant: str
    conduit: str
    machine: str
    topology: str
    placement: str
    nodes: int
    ranks: int
    size_bytes: int
    seed: int
    options: str
    metric: str

    @classmethod
    def of(cls, row: Row) -> Key:
        """Return the key of a row, without debug options of the guard's tests and without processors of a real job."""
        shown = [text for text in row["options"].split(";") if text and not text.startswith(DEBUG)]
        place = row["placement"] if row["machine"] else ""
        return cls(
            **{name: row[name] for name in _SAME}, placement=place, options=";".join(shown), metric=row["metric"]
        )


_DISTURBED = frozenset({"moved", "load", "noisy"})
"""States of rows whose difference may come from the machine: some of `gasmeter.rows.state.STATES`."""


@dataclass
class Sample:
    """A value of a store: its rows, one per process start, and their blocks."""

    rows: list[Row] = field(default_factory=list)  # in order of repetition
    # Every block of each row, in the order measured; empty if the store has none
    blocks: list[list[float]] = field(default_factory=list)

    @property
    def modelled(self) -> bool:
        """Whether its time is virtual and therefore repeats exactly."""
        return bool(self.rows[0]["kind"] == "modelled")

    @property
    def values(self) -> list[float]:
        """A value per process start."""
        return [row["value"] for row in self.rows]

    @property
    def disturbed(self) -> Counter[str]:
        """Process starts that the machine disturbed, by the state of their row."""
        return Counter(row["state"] for row in self.rows if row["state"] in _DISTURBED)

    def calm(self) -> Sample:
        """Return the undisturbed process starts."""
        kept = [i for i, row in enumerate(self.rows) if row["state"] not in _DISTURBED]
        return Sample([self.rows[i] for i in kept], [self.blocks[i] for i in kept])


@dataclass
class Measured:
    """A complete store."""

    place: Path  # its folder
    samples: dict[Key, Sample]  # by `Key`, in the order of the store
    run: dict[str, Any]  # content of run.json

    @property
    def notes(self) -> list[str]:
        """Notes for readers of a comparison with this store."""
        notes = []
        if self.run["schema"] < STORE_SCHEMA:
            notes.append(
                f"{self.place} has schema {self.run['schema']}, without digests: it cannot be told whether its files"
                " are as its run wrote them; measure it anew"
            )
        if len(builds := self.run.get("builds", [])) > 1:
            notes.append(f"{self.place} holds rows of {len(builds)} builds: {', '.join(map(build_text, builds))}")
        return notes

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """Facts of each run's machine."""
        return [dict(entry["host"]) for entry in self._runs() if isinstance(entry.get("host"), Mapping)]

    @property
    def starts_are_processes(self) -> bool:
        """Whether each repetition had processes of its own."""
        return all(bool(entry.get("starts")) for entry in self._runs())

    @property
    def pairing(self) -> str:
        """Name of the run that alternated another build with this one; empty without one."""
        names = {str(entry.get("alternated", "")) for entry in self._runs()}
        return names.pop() if len(names) == 1 else ""

    @property
    def probes(self) -> set[str]:
        """Digests of the probe programs; none in stores older than these digests."""
        return {str(entry["probe"]) for entry in self._runs() if entry.get("probe")}

    @property
    def probe_ns(self) -> float:
        """Median of the probe over all measured rows, in ns; NaN without a probe."""
        rows = (row for sample in self.samples.values() for row in sample.rows)
        values = [row["host_state_ns"] for row in rows if math.isfinite(row["host_state_ns"])]
        return float(np.median(values)) if values else math.nan

    @property
    def machines(self) -> dict[str, Mapping[str, Any]]:
        """Effective numbers of modelled machines, by label."""
        entries = (entry for run in self._runs() for entry in run.get("machines", []))
        return {str(entry.get("machine", entry.get("label", ""))): entry for entry in entries}

    def _runs(self) -> list[dict[str, Any]]:
        return [entry for entry in self.run.get("runs", []) if isinstance(entry, dict)]


def read_measured(folder: str | Path, *, what: str = "store") -> Measured:
    """Return a store's content, without comparisons; `what` names the folder in messages.

    The journal is read, or results.csv and samples.parquet without one. Raises UsageError for a store that is missing,
    empty, of a newer schema, interrupted or damaged.
    """
    place = Path(folder)
    run = read_run(place)
    if run is None:
        raise UsageError(f"{what} {place} holds no run.json; allowed: a folder written by `gasmeter run`", str(place))
    _check_state(place, run, what)
    try:
        check_files(place, run)
        rows, blocks = _from_journal(place, run) if (place / JOURNAL).exists() else _from_tables(place)
    except (KeyError, TypeError, ValueError, OSError) as error:
        if isinstance(error, UsageError):
            raise UsageError(f"{what} {place}: {error}", str(place)) from error
        raise UsageError(
            f"{what} {place} cannot be read ({type(error).__name__}: {error}); allowed: a store as"
            " `gasmeter run` left it",
            str(place),
        ) from error
    samples: dict[Key, Sample] = {}
    taken = set()
    for row in rows:
        if row["reference"] or row["metric"] == "error_fraction" or (row["run_id"], row["metric"]) in taken:
            continue  # measured again for another comparison: no process start of its own
        taken.add((row["run_id"], row["metric"]))
        if row["label"] in IMPORT_FORMATS and row["verified"] == NOT_CHECKED and not math.isfinite(row["value"]):
            continue  # another tool printed words in place of the value
        sample = samples.setdefault(Key.of(row), Sample())
        sample.rows.append(row)
        sample.blocks.append(blocks.get((row["run_id"], row["metric"]), []))
        if row["verified"] is not Verified.FALSE and not math.isfinite(row["value"]):
            raise UsageError(
                f"{what} {place}: {row['metric']} of {row['kernel']} {row['op']} on {row['conduit']},"
                f" {row['size_bytes']} B, is {row['value']} though its data verified; measure it anew",
                str(place),
            )
    if not samples:
        raise UsageError(f"{what} {place} is empty: it holds no figures; measure something into it", str(place))
    return Measured(place, samples, run)


def _check_state(place: Path, run: Mapping[str, Any], what: str) -> None:
    if not isinstance(run.get("runs"), list) or not run["runs"]:
        raise UsageError(
            f"{what} {place}: run.json names no run; allowed: a store as `gasmeter run` left it", str(place)
        )
    state = run.get("state")
    if state != "complete":
        raise UsageError(
            f"{what} {place} is not complete (its run is {state!r}); what it holds is kept, finish it with"
            " `gasmeter run … --resume`",
            str(place),
        )
    if run["schema"] >= STORE_SCHEMA and not run.get("files"):
        raise UsageError(
            f"{what} {place}: run.json names no digests of its files; allowed: a store as `gasmeter run` left it",
            str(place),
        )


def _from_journal(place: Path, run: Mapping[str, Any]) -> tuple[list[Row], dict[tuple[str, str], list[float]]]:
    entries = read_entries(place, run)
    expected = run.get("groups", run["runs"][-1].get("groups"))
    if isinstance(expected, int) and len(entries) < expected:
        raise UsageError(
            f"{JOURNAL} is cut off: {len(entries)} of {expected} groups can be read; they are kept, measure the"
            " others with `gasmeter run … --resume`"
        )
    records = records_from(entries)
    rows = [typed_row(row, JOURNAL) for entry in records for row in entry.rows]
    return rows, _usable(block for entry in records for block in blocks_of(entry.samples))


def _from_tables(place: Path) -> tuple[list[Row], dict[tuple[str, str], list[float]]]:
    table = read_table(place)
    if table.lost:
        raise UsageError("results.csv is cut off within a line")
    return table.rows(), _usable(read_blocks(place))


def _usable(blocks: Iterable[Blocks]) -> dict[tuple[str, str], list[float]]:
    """Return the blocks of each point and metric; the first for a point measured again for another comparison."""
    usable: dict[tuple[str, str], list[float]] = {}
    for candidate in blocks:
        usable.setdefault((candidate.run_id, candidate.metric), candidate.usable())
    return usable


def differing_facts(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the differing facts of two machines as ``fact: one, other``; empty for the same machine."""
    lines = []
    for name in MACHINE_FACTS:
        values = [sorted({str(facts.get(name, "unknown")) for facts in hosts}) for hosts in (first, second)]
        if len(values[0]) > 1 or values[0] != values[1]:
            lines.append(f"{name}: {' and '.join(values[0]) or 'unknown'}, {' and '.join(values[1]) or 'unknown'}")
    return lines


def check_machines(baseline: Measured, new: Measured) -> None:
    """Raise UsageError, naming the differences, if the times of two stores come from different machines.

    Virtual time is the same everywhere, so that stores with nothing else are never refused.
    """
    both = set(baseline.samples) & set(new.samples)
    if all(baseline.samples[key].modelled and new.samples[key].modelled for key in both):
        return
    differing = differing_facts(baseline.hosts, new.hosts)
    if differing:
        raise UsageError(
            f"{baseline.place} and {new.place} are of different machines ({'; '.join(differing)}): their times say"
            " nothing about the builds; measure the baseline anew on this one, or insist with --any-machine"
        )


def host_notes(baseline: Measured, new: Measured) -> list[str]:
    """Return notes on the hosts of a comparison: differing settings, and runs with more than 1 % stolen time.

    There are none if all that both stores have in common is modelled. Unknown settings give no note.
    """
    both = set(baseline.samples) & set(new.samples)
    if all(baseline.samples[key].modelled and new.samples[key].modelled for key in both):
        return []
    differing = []
    for name, words in SETTINGS.items():
        before, after = (_values_text(store.hosts, name) for store in (baseline, new))
        if before and after and before != after:
            differing.append(f"{words}: {' and '.join(before)}, {' and '.join(after)}")
    lines = [f"hosts are set differently ({'; '.join(differing)}): times may differ by that"] if differing else []
    for store in (baseline, new):
        share = max((facts.get("steal_share") or 0.0 for facts in store.hosts), default=0.0)
        if share > MOST_STOLEN:
            lines.append(f"a hypervisor took {100 * share:.1f} % of the processors' time from a run of {store.place}")
    return lines


def _values_text(hosts: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the values of a fact in runs, in words."""
    trait = next((each for each in TRAITS if each.key == name), None)
    values = [facts[name] for facts in hosts if facts.get(name) is not None]
    return sorted({trait.shown(value) if trait else str(value) for value in values})
