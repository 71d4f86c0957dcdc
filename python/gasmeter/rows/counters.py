"""Counts of conduits and modelled devices while the blocks of a point ran: messages, stalls, retransmits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gasmeter.catalogue import declared

__all__ = ["COUNTER_COLUMNS", "counter_rows"]

_POINT = (
    "run_id", "kernel", "op", "variant", "conduit", "network", "kind", "machine", "topology", "placement", "nodes",
    "ranks", "size_bytes", "options", "repetition", "seed",
)  # fmt: skip

COUNTER_COLUMNS = (*_POINT, "counter", "value", "unit", "operations", "per_operation")
"""Columns of counters.csv, in order: one row per point and counter."""


def counter_rows(base: Mapping[str, Any], counters: Mapping[str, int], operations: float) -> list[dict[str, Any]]:
    """Return the counters of one point as rows with `COUNTER_COLUMNS`, in the order of the catalogue.

    `base` are the columns of results.csv that name the run, `operations` the kernel's count in the same blocks.
    """
    return [
        {
            **{key: base[key] for key in _POINT},
            "counter": counter.name,
            "value": counters[counter.name],
            "unit": counter.unit,
            "operations": operations,
            "per_operation": counters[counter.name] / operations if operations > 0 else float("nan"),
        }
        for counter in declared().counters.values()
        if counter.name in counters
    ]
