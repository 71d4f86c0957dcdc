"""A record as GOAL, the schedules that LogGOPSim and ATLAHS read.

Each rank is a chain of ``calc``, ``send`` and ``recv`` in program order. Work of its network interface depends on the
receive of its cause alone, on ``cpu 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gasmeter.errors import UsageError
from gasmeter.export.record import Record
from gasmeter.export.schedule import Notice, Receive, Send, Served, Step, Work, reply_tag, served, steps

__all__ = ["goal_lines", "write_goal"]

_PS_PER_NS = 1000
_MOST_TAG = 2**32 - 2  # the next value means any tag


class _Chain:
    """The lines of one rank: labels, and their order."""

    def __init__(self, unit_ps: int) -> None:
        self.lines: list[str] = []
        self._unit_ps = unit_ps
        self._labels = 0
        self._last = ""
        self._busy_ps = self._written = 0
        self._taken: dict[tuple[int, int], str] = {}

    def _alone(self, text: str, *needs: str) -> str:
        self._labels += 1
        label = f"l{self._labels}"
        self.lines.append(f"{label}: {text}")
        self.lines.extend(f"{label} requires {other}" for other in needs if other)
        return label

    def serve(self, served: Served) -> None:
        """Add the interface's work."""
        taken = self._alone(f"recv {_size(served.size_bytes)} from {served.source} tag {served.tag} cpu 1")
        self._taken[served.source, served.tag] = taken
        if served.answer_bytes is not None:
            answer = f"send {_size(served.answer_bytes)} to {served.source} tag {served.answer_tag} cpu 1"
            self._alone(answer, taken)

    def add(self, step: Step) -> None:
        """Add the program's next step; work is rounded so that errors do not add up."""
        also = ""
        match step:
            case Work():
                self._busy_ps += step.ps
                units = round(self._busy_ps / self._unit_ps) - self._written
                self._written += units
                text = f"calc {units}"
                if units == 0:
                    return
            case Send():
                text = f"send {_size(step.size_bytes)} to {step.peer} tag {step.tag}"
            case Receive():
                text = f"recv {_size(step.size_bytes)} from {step.peer} tag {step.tag}"
            case Notice():
                text, also = "calc 0", self._taken[step.peer, step.tag]
        self._last = self._alone(text, self._last, also)


def _size(size_bytes: int) -> str:
    """Return LogGP's count of the bytes after the first: LogGOPSim takes an empty message for an enormous one."""
    return f"{max(size_bytes, 1)}b"


def goal_lines(record: Record, *, unit_ps: int = _PS_PER_NS) -> Iterator[str]:
    """Yield the lines of a GOAL schedule without newlines; `unit_ps` is one unit of ``calc`` in ps."""
    yield f"// {record.title}"
    yield f"// calc counts {unit_ps} ps; a message holds {record.header_bytes} bytes of headers"
    yield f"num_ranks {len(record.ranks)}"
    for rank, interface in enumerate(served(record)):
        chain = _Chain(unit_ps)
        for each in interface:
            chain.serve(each)
        for step in steps(record, rank):
            chain.add(step)
        yield ""
        yield f"rank {rank} {{"
        yield from chain.lines
        yield "}"


def write_goal(record: Record, path: str | Path, *, unit_ps: int = _PS_PER_NS) -> Path:
    """Write a record as a GOAL schedule; `unit_ps` is one unit of ``calc`` in ps: 1000 counts ns, 1 is exact.

    Raises UsageError if the unit is not positive or the record is too long for the format's tags.
    """
    if unit_ps < 1:
        raise UsageError(f"unit of {unit_ps} ps is not allowed; allowed: 1 or more", str(unit_ps))
    most = max((operation.sequence for _, operation in record.all()), default=0)
    if reply_tag(most) > _MOST_TAG:
        raise UsageError(f"a record with message {most} of a rank is too long for GOAL, whose tags have 32 bits")
    target = Path(path)
    target.write_text("\n".join(goal_lines(record, unit_ps=unit_ps)) + "\n", encoding="utf-8")
    return target
