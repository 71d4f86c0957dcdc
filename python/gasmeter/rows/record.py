"""Rows and samples: the columns of the tidy table, and what a group of points leaves in a store."""

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
"""Words of the note on a point that was ended from outside."""

MIXED = "mixed"
"""Kind and label of what compares a measured figure with a modelled one."""

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
    """What a group leaves in a store.

    Attributes
    ----------
    group : str
        Content identity of the group.
    rows : list of dict
        By the names of `COLUMNS`.
    samples : list of dict
        One per point and metric, by the names of `SAMPLE_COLUMNS`; what differs between blocks is a list.
    links : list of dict
        One per point on a network with links: its table, packed by `gasmeter.rows.links.pack`.
    counters : list of dict
        One per point and counter, by the names of `gasmeter.rows.counters.COUNTER_COLUMNS`.
    errors : list of str
        One line per point that did not verify.
    notes : list of str
        What was left out and why.
    dropped : int
        Blocks that were left out of comparisons because the cores moved.
    blocks : int
        Blocks measured.
    seconds : float
        What the group took.
    unused : dict of str to list of str
        By run_id of modelled points: numbers of the machine that nothing depended on.
    taken_from : str
        The group whose rows these are, because it differs only in such numbers; empty for what was run.
    resolved : dict of str to dict
        By run_id: what its options became and where each value comes from (`gasmeter.measuring.resolved.resolved_of`).
    revision, build : str
        Of the gasmeter that measured it (`gasmeter.library.this_build`); empty outside a store.
    """

    group: str
    rows: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    counters: list[Row] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dropped: int = 0
    blocks: int = 0
    seconds: float = 0.0
    unused: dict[str, list[str]] = field(default_factory=dict)
    taken_from: str = ""
    resolved: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    revision: str = ""
    build: str = ""

    @property
    def unfinished(self) -> bool:
        """Whether the time limit came first: there are no rows, and a store measures the group again."""
        return not self.rows and any(NOT_FINISHED in note for note in self.notes)


def taken_points(records: Sequence[Record]) -> dict[str, str]:
    """Return which points were not run because another's rows are theirs.

    Parameters
    ----------
    records : sequence of Record
        Of a store.

    Returns
    -------
    dict of str to str
        By run_id, the run_id of the point that was run; see `gasmeter.measuring.taking_over`.
    """
    ran = {entry.group: entry.rows[0]["run_id"] for entry in records if entry.rows}
    return {
        entry.rows[0]["run_id"]: ran[entry.taken_from] for entry in records if entry.taken_from and entry.rows
    }  # fmt: skip


def installation(row: Row) -> str:
    """Return what a row ran on, for people.

    Parameters
    ----------
    row : dict
        By the names of `COLUMNS`.

    Returns
    -------
    str
        The conduit, then the machine unless it is the network's own, the topology, the placement unless each rank has a
        node of its own, and how far apart the ranks are.
    """
    words = [row["conduit"]]
    if row["machine"] not in {"", row["network"]}:
        words.append(f"on {row['machine']}")
    if row["topology"]:
        placement = row["placement"] if row["placement"] != ONE_PER_NODE else ""
        told = ", ".join(filter(None, [placement, distance(row)]))
        words.append(f"on {row['topology']}" + (f" ({told})" if told else ""))
    return " ".join(words)


def places(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return what rows ran on and where their ranks stood, as columns of a table for people.

    Parameters
    ----------
    rows : sequence of dict
        By the names of `COLUMNS`.

    Returns
    -------
    list of dict of str to str
        One per row. Nothing of machines where each is the network's own, of placement where there is no topology.
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
