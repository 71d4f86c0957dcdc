"""Time of this computer that a reproduction took, by line: measured seconds, beside its modelled results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gasmeter.diagnosis.conformance import Suite
from gasmeter.reproduction.plan.figure import describe
from gasmeter.reproduction.plan.planning import Plan
from gasmeter.stores.result import Result

__all__ = ["Stage", "Took", "seconds_facts", "took"]

Stage = Literal["line", "suite", "planning", "tables", "draws", "judging"]
"""Part of a reproduction that takes time: points of a line, the suite on a conduit, or work done once."""


@dataclass(frozen=True)
class Took:
    """Duration of one part of a reproduction."""

    stage: Stage  # kind of part
    what: str  # a line as `gasmeter.reproduction.plan.figure.describe` names it, a conduit, or empty
    seconds: float  # wall clock of this computer, summed over points or runs; parallel workers overlap
    count: int = 0  # points, or runs of conformance cases; 0 for other parts
    taken: int = 0  # points whose rows were copied, which took no time here


def took(plan: Plan, result: Result, suites: Mapping[str, Suite | str], once: Mapping[Stage, float]) -> list[Took]:
    """Return the duration of each part of a reproduction, the slowest first.

    A point that serves several lines counts for the first; records of an earlier run of the store count, too. `once`
    has the seconds of work that is done once: planning, tables, draws, judging.
    """
    lines: dict[str, str] = {}
    for planned in plan.planned:
        lines.setdefault(planned.run_id, describe(planned.line))
    seconds = dict.fromkeys(lines.values(), 0.0)
    ran, taken = Counter[str](), Counter[str]()
    for record in result.records:
        line = lines.get(record.rows[0]["run_id"]) if record.rows else None
        if line is None:  # refused, or from an earlier run with other figures
            continue
        seconds[line] += record.seconds
        (taken if record.taken_from else ran)[line] += 1
    parts = [Took("line", line, seconds[line], ran[line], taken[line]) for line in seconds]
    for conduit, suite in suites.items():
        if isinstance(suite, Suite):
            runs = sum(count.passed + count.failed for family in suite.families for count in family.groups.values())
            parts.append(Took("suite", conduit, sum(family.seconds for family in suite.families), runs))
    parts += [Took(stage, "", value) for stage, value in once.items()]
    return sorted(parts, key=lambda part: -part.seconds)


def seconds_facts(parts: list[Took], *, wall: float, processor: float, jobs: int) -> dict[str, Any]:
    """Return the durations for run.json: ``kind``, ``unit``, ``wall``, ``processor``, ``jobs``, ``parts``."""
    return {
        "kind": "measured", "unit": "s", "wall": round(wall, 3), "processor": round(processor, 3), "jobs": jobs,
        "parts": [{**asdict(part), "seconds": round(part.seconds, 3)} for part in parts],
    }  # fmt: skip
