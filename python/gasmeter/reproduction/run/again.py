"""A reproduction read from its folder: the report is written again without the figures' runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gasmeter.machines.machine import Machine
from gasmeter.reproduction.judge.judged import Judged, Used
from gasmeter.reproduction.judge.seen import Seen
from gasmeter.reproduction.plan.figure import Figure
from gasmeter.reproduction.plan.planning import Plan
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.reproduction.run.timing import Took
from gasmeter.rows.links import packed_tables
from gasmeter.rows.record import Record
from gasmeter.stores.builds import records_of
from gasmeter.stores.files import is_there
from gasmeter.stores.result import Result
from gasmeter.stores.tables import read_run

__all__ = ["kept_reproduction"]

_LINKS = "links.parquet"


@dataclass
class _Kept(Reproduction):
    """Facts from a folder in place of those from a run."""

    evidence: Seen | None = None
    used_keys: Used = field(default_factory=dict)

    @property
    def seen(self) -> Seen:
        """Evidence of the verdicts."""
        assert self.evidence is not None
        return self.evidence

    def used(self, figure: Figure, base: Machine) -> tuple[str, ...]:
        """Return the machine numbers that a figure depended on, from run.json."""
        return tuple(self.used_keys.get(figure.number, {}).get(base.name, ()))


def kept_reproduction(folder: Path, seen: Seen, facts: Mapping[str, Any], judged: Sequence[Judged]) -> Reproduction:
    """Return the reproduction that a folder written by `gasmeter reproduce` holds.

    `seen` and `facts` come from `gasmeter.reproduction.run.folder.seen_in`. The paper's own tables are made again from
    its rows; those that follow an operation step by step run it once in virtual time.
    """
    run = read_run(folder) or {}
    plan = Plan(seen.paper, seen.figures, bool(facts["quick"]), planned=list(seen.planned), cases=dict(seen.cases))
    records = records_of(seen.rows, run.get("builds", []))
    records.append(Record(group="", counters=list(seen.counters), links=_links(folder), errors=list(run["errors"]),
                          notes=list(run["notes"])))  # fmt: skip
    title = f"Figures {', '.join(figure.number for figure in seen.figures)} of the {seen.paper.name} paper"
    took = run.get("seconds", {})
    kept = _Kept(
        plan, Result(records, name=f"reproduce_{seen.paper.name}", title=title), seconds=took.get("wall", 0.0),
        processor_seconds=took.get("processor", 0.0), jobs=took.get("jobs", 1),
        took=[Took(**part) for part in took.get("parts", ())], suites=dict(seen.suites), choice=seen.choice,
        method=str(facts["method"]), evidence=seen, used_keys=facts["used"],
    )  # fmt: skip
    kept.tables = _tables(kept)
    kept.judged = list(judged)
    return kept


def _tables(kept: Reproduction) -> dict[str, Sequence[Any]]:
    return {figure.number: figure.extras(kept, figure) for figure in kept.plan.figures if figure.extras}


def _links(folder: Path) -> list[dict[str, Any]]:
    """Return the tables of links.parquet, one per point, packed as in the journal of a store."""
    return packed_tables((folder / _LINKS).read_bytes()) if is_there(folder, _LINKS) else []
