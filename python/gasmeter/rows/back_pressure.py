"""Links of a modelled network that hold others up, the begin of the queue, and who waits behind whom.

A link's `blocked` packets are those without a free buffer at its far end: the router there holds them up, not the link.
Its longest wait is that of a packet for the link itself, with a buffer in hand. A queue is therefore followed from the
link with the most blocked packets to the link that they then wait for, and so on, until nothing is blocked. Packets
that go on and packets for the node itself are not counted apart. Each step is therefore the likely one, and labelled
so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gasmeter.catalogue import topology as shape_of
from gasmeter.rows.links import whole_table
from gasmeter.units import format_quantity

__all__ = ["WORST", "WORST_HEADS", "BackPressure", "back_pressure"]

WORST = 10
"""Links in a table for people."""

WORST_HEADS = ("from", "to", "port", "packets", "busy", "blocked", "longest wait", "waits for, most likely")
"""Heads of that table."""

_ITSELF = -1


@dataclass(frozen=True)
class BackPressure:
    """Waiting packets of a network: one element per direction of a link, dead links last."""

    begin: npt.NDArray[np.int64]  # first vertex of the direction
    end: npt.NDArray[np.int64]  # last vertex of the direction
    packets: npt.NDArray[np.int64]  # packets carried
    blocked: npt.NDArray[np.int64]  # packets held up
    busy: npt.NDArray[np.float64]  # share of the time, 0 to 1
    wait_ns: npt.NDArray[np.float64]  # longest wait for the direction
    ports: Sequence[str]  # port at which the direction begins
    nodes: int  # vertices below this number are nodes, others switches
    axes: npt.NDArray[np.int64]  # axis of a grid that the direction follows; 0 on other topologies
    times: npt.NDArray[np.float64]  # factor on the time of bytes: above 1 for slow links, infinite for dead ones

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """For each link: whether it can carry packets."""
        return np.isfinite(self.times)

    @property
    def share(self) -> npt.NDArray[np.float64]:
        """For each link: share of its packets that had no free buffer at its far end; 0 without packets."""
        return np.minimum(1.0, self.blocked / np.maximum(1, self.packets))

    def worst(self, most: int = WORST) -> list[int]:
        """Return the table places of the links with the most blocked packets, then of those with the longest waits.

        Links without waiting packets are left out.
        """
        order = np.lexsort((-self.busy, -self.wait_ns, -self.blocked))
        waited = (self.blocked > 0) | (self.wait_ns > 0)
        return [int(link) for link in order if waited[link]][:most]

    def behind(self, link: int) -> int:
        """Return the link that packets blocked on `link` most likely wait for; -1 if none has waiting packets.

        Among the links that a packet may take next it is the one with the most blocked packets, else the one with the
        longest wait. -1 means that buffers at the far end come back late.
        """
        on = [
            int(next_) for next_ in np.flatnonzero(self.begin == self.end[link]) if self._may_follow(link, int(next_))
        ]
        best = max(on, key=lambda next_: (self.blocked[next_], self.wait_ns[next_]), default=_ITSELF)
        return best if best != _ITSELF and (self.blocked[best] or self.wait_ns[best]) else _ITSELF

    def _may_follow(self, link: int, following: int) -> bool:
        """Tell whether a packet may take a link after another.

        It never goes back, nor up again in a tree, and takes the axes of a grid in order.
        """
        back = self.end[following] == self.begin[link]
        up_again = self.ports[link].startswith("down") and not self.ports[following].startswith("down")
        return not back and not up_again and bool(self.axes[following] >= self.axes[link])

    def root(self) -> tuple[int, int]:
        """Follow the queue from the link with the most blocked packets to the first link without blocked packets.

        Return the last link with blocked packets and the link that they most likely waited for, or -1. In a queue that
        runs in a circle and has no beginning, return a link before it.
        """
        link, seen = int(self.blocked.argmax()), set[int]()
        while True:
            seen.add(link)
            following = self.behind(link)
            if following == _ITSELF or following in seen or not self.blocked[following]:
                return link, following
            link = following

    def name(self, vertex: int) -> str:
        """Return the name of a vertex: ``node 3``, ``switch 20``."""
        return f"{'node' if vertex < self.nodes else 'switch'} {vertex}"

    def way(self, link: int) -> str:
        """Return the name of a link: ``node 3 → node 2``."""
        return f"{self.name(int(self.begin[link]))} → {self.name(int(self.end[link]))}"

    def lines(self, most: int = WORST) -> list[list[str]]:
        """Return at most `most` lines of cells below `WORST_HEADS`, the worst link first."""
        return [self._line(link) for link in self.worst(most)]

    def _line(self, link: int) -> list[str]:
        following = self.behind(link) if self.blocked[link] else None
        itself = f"{self.name(int(self.end[link]))} itself"
        return [
            self.name(int(self.begin[link])),
            self.name(int(self.end[link])),
            self.ports[link],
            f"{self.packets[link]:,}",
            f"{self.busy[link]:.0%}",
            f"{self.share[link]:.0%}",
            format_quantity(float(self.wait_ns[link]), "ns"),
            "" if following is None else itself if following == _ITSELF else self.way(following),
        ]

    def sentence(self) -> str:
        """Return one sentence: whose links hold packets up, and where the queue begins."""
        if not self.packets.any():
            return "No link carried a packet."
        if not self.blocked.any():
            longest = int(self.wait_ns.argmax())
            if not self.wait_ns[longest]:
                return "No packet waited: each link was free when one came, and so was a buffer behind it."
            return f"No packet found a buffer full; the longest wait was for {self._waits_text(longest)}."
        held = np.bincount(self.end, weights=self.blocked)
        vertex, total = int(held.argmax()), int(self.blocked.sum())
        last, first = self.root()
        holds = (
            f"Links into {self.name(vertex)} hold up {held[vertex] / total:.0%} of all blocked packets"
            f" ({int(held[vertex]):,} of {total:,})"
        )
        if first != _ITSELF and self.blocked[first]:
            return f"{holds}; the queue most likely goes around, through {self._waits_text(first)}, and begins nowhere."
        likely = "" if last == int(self.blocked.argmax()) and first == _ITSELF else "most likely "
        begins = (
            f"{self.name(int(self.end[last]))} itself, where buffers come back later than packets come"
            if first == _ITSELF
            else self._waits_text(first)
        )
        return f"{holds}; the queue {likely}begins at {begins}."

    def _waits_text(self, link: int) -> str:
        waited = format_quantity(float(self.wait_ns[link]), "ns")
        return f"{self.way(link)} (busy {self.busy[link]:.0%}, waited for up to {waited})"


def back_pressure(packed: Mapping[str, Any]) -> BackPressure:
    """Return where packets waited during the last block of a point, dead links included."""
    table = whole_table(packed)
    installed = str(packed["topology"])
    shape = shape_of(installed)
    whole = {name: table[name].to_numpy(np.int64) for name in ("vertex", "to", "packets", "blocked", "port")}
    return BackPressure(
        whole["vertex"], whole["to"], whole["packets"], whole["blocked"], table["busy"].to_numpy(float),
        table["longest_wait_ns"].to_numpy(float), list(table["port_name"]), int(shape["terminals"]),
        # Ways around dead links keep no order of axes.
        whole["port"] // 2 if shape["extents"] and "/dead:" not in installed else np.zeros(len(table), np.int64),
        table["times"].to_numpy(float),
    )  # fmt: skip
