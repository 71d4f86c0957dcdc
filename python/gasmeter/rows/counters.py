"""What conduits and modelled devices counted while the blocks of a point ran: messages, stalls, retransmits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["COUNTERS", "COUNTER_COLUMNS", "counter_rows"]

COUNTERS = {
    "messages": "active messages that a conduit was handed, requests and replies",
    "transfers": "puts and gets that a conduit was handed",
    "payload_bytes": "of both, without headers",
    "stalls": "attempts for which a conduit had no room: no slot, no credit, a full window or queue",
    "ring_messages": "active messages that came through the rings between neighbours, requests and replies",
    "ring_bytes": "of their records, headers and padding among them",
    "ring_stalls": "attempts for which a ring had no room",
    "datagrams": "handed to sockets, those sent again among them",
    "two_sided_messages": "handed to an MPI or its model",
    "retransmits": "datagrams or sends that went again",
    "acknowledgements": "datagrams that acknowledge and carry nothing else",
    "credits": "messages that return credits and carry nothing else",
    "direct": "puts and gets through memory that an MPI shares",
    "duplicates": "datagrams that had come before",
    "discarded": "datagrams that were damaged, a stranger's, of another run, or too early",
    "packets": "that ranks handed to a modelled device, or that a card has received (Ethernet)",
    "packet_bytes": "of them",
    "commands": "puts and gets of a modelled card, work requests",
    "refusals": "packets and commands that a modelled card had no place for",
    "not_ready": "sends that found no receive",
    "held": "packets that waited in a card for a full mailbox, notifications for a full queue",
    "drops": "packets or datagrams that were lost to a full mailbox, ring or buffer",
    "interrupts": "of modelled cards",
}
"""Every counter and what it counts; summed over the ranks of a point and the blocks that its rows are made of."""

_POINT = (
    "run_id", "kernel", "op", "variant", "conduit", "network", "kind", "machine", "topology", "placement", "nodes",
    "ranks", "size_bytes", "options", "repetition", "seed",
)  # fmt: skip

COUNTER_COLUMNS = (*_POINT, "counter", "value", "unit", "operations", "per_operation")
"""Columns of counters.csv, in order: one row per point and counter."""


def counter_rows(base: Mapping[str, Any], counters: Mapping[str, int], operations: float) -> list[dict[str, Any]]:
    """Return the counters of one point as rows.

    Parameters
    ----------
    base : mapping
        Columns of results.csv that say what was run.
    counters : mapping of str to int
        By name.
    operations : float
        What the kernel counted in the same blocks.

    Returns
    -------
    list of dict
        By the names of `COUNTER_COLUMNS`, in the order of `COUNTERS`.
    """
    known = [name for name in COUNTERS if name in counters]
    return [
        {
            **{key: base[key] for key in _POINT},
            "counter": name,
            "value": counters[name],
            "unit": "B" if name.endswith("_bytes") else "1",
            "operations": operations,
            "per_operation": counters[name] / operations if operations > 0 else float("nan"),
        }
        for name in known
    ]
