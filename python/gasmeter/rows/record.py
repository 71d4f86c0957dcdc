"""Rows and samples: the columns of the tidy table, and a group's part of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gasmeter.sweeps.distance import distance
from gasmeter.sweeps.placement import ONE_PER_NODE

__all__ = [
    "COLUMNS",
    "MIXED",
    "NOT_FINISHED",
    "SAMPLE_COLUMNS",
    "Record",
    "Row",
    "installation",
    "places",
    "taken_points",
]

Row = dict[str, Any]

NOT_FINISHED = "not finished within its time limit"
"""Words of the note on a point that reached its time limit."""

MIXED = "mixed"
"""Kind and label of comparisons between measured and modelled values."""

COLUMNS = (
    "experiment", "kernel", "op", "variant", "conduit", "network", "kind", "label", "machine", "topology", "placement",
    "nodes", "ranks", "oversubscribed", "size_bytes", "options", "semantics", "verified", "metric", "value", "unit",
    "reference", "ci_low", "ci_high", "min", "p50", "p99", "n", "repetition", "seed", "host_state_ns", "run_id",
    "state",
)  # fmt: skip
"""Columns of results.csv, in order."""

SAMPLE_COLUMNS = (
    "run_id", "kernel", "op", "variant", "conduit", "size_bytes", "ranks", "options", "metric", "block", "value",
    "unit", "iterations", "elapsed_ns", "host_before_ns", "host_after_ns", "kept",
)  # fmt: skip
"""Columns of samples.parquet, in order: one row per block and metric."""


@dataclass
class Record:
    """Rows and samples that a group adds to a store."""

    group: str  # content identity of the group
    rows: list[Row] = field(default_factory=list)  # columns `COLUMNS`
    # A dict per point and metric, with `SAMPLE_COLUMNS`; values that differ between blocks are lists
    samples: list[Row] = field(default_factory=list)
    # A packed table per point on a network with links (`gasmeter.rows.links.pack`)
    links: list[Row] = field(default_factory=list)
    # A dict per point and counter, with `gasmeter.rows.counters.COUNTER_COLUMNS`
    counters: list[Row] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # a line per point that did not verify
    notes: list[str] = field(default_factory=list)  # omitted points, with the reason
    dropped: int = 0  # blocks left out of comparisons because the cores moved
    blocks: int = 0  # blocks measured
    seconds: float = 0.0  # duration of the group
    # By run_id of modelled points: machine numbers that nothing depended on
    unused: dict[str, list[str]] = field(default_factory=dict)
    taken_from: str = ""  # group that these rows were copied from, as it differs only in unused numbers; else empty
    # By run_id: values and origins of options (`gasmeter.measuring.resolved.resolved_of`)
    resolved: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    revision: str = ""  # revision of the measuring gasmeter (`gasmeter.library.this_build`); empty outside a store
    build: str = ""  # as `revision`

    @property
    def unfinished(self) -> bool:
        """Whether the time limit came first: the group has no rows, and is measured again on resume."""
        return not self.rows and any(NOT_FINISHED in note for note in self.notes)


def taken_points(records: Sequence[Record]) -> dict[str, str]:
    """Return the points whose rows were copied: their run_id, and that of the point that ran.

    See `gasmeter.measuring.taking_over`.
    """
    ran = {entry.group: entry.rows[0]["run_id"] for entry in records if entry.rows}
    return {
        entry.rows[0]["run_id"]: ran[entry.taken_from] for entry in records if entry.taken_from and entry.rows
    }  # fmt: skip


def installation(row: Row) -> str:
    """Return the installation of a row in words: conduit, machine, topology, placement and distance of ranks.

    A machine that is the network's own and a placement of one rank per node are left out.
    """
    words = [row["conduit"]]
    if row["machine"] not in {"", row["network"]}:
        words.append(f"on {row['machine']}")
    if row["topology"]:
        placement = row["placement"] if row["placement"] != ONE_PER_NODE else ""
        details = ", ".join(filter(None, [placement, distance(row)]))
        words.append(f"on {row['topology']}" + (f" ({details})" if details else ""))
    return " ".join(words)


def places(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the installation and placement of each row as columns of a table for people.

    Columns are left out where each machine is the network's own, or no row has a topology.
    """
    named = any(row["machine"] not in {"", row["network"]} for row in rows)
    return [
        {
            "conduit": row["conduit"],
            "machine": row["machine"] if named else "",
            "topology": row["topology"],
            "placement": row["placement"] if row["topology"] else "",
            "apart": distance(row) if row["topology"] else "",
        }
        for row in rows
    ]
