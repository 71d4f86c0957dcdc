"""Two builds measured in one run: each point's blocks alternate between worker processes of both.

Every round starts new processes of both builds; a round is one process start in the statistics.
"""

from __future__ import annotations

import dataclasses
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.arguments.choices import FEWEST_STARTS
from gasmeter.catalogue import catalogue
from gasmeter.errors import UsageError
from gasmeter.guard.stores import DEBUG
from gasmeter.library import this_build
from gasmeter.measuring import context
from gasmeter.measuring.execution import Progress
from gasmeter.measuring.host import Watch
from gasmeter.measuring.probe import probe_digest
from gasmeter.measuring.recording import record
from gasmeter.measuring.runner import Runner, mpi_of
from gasmeter.measuring.sessions import Pool, WorkerPools
from gasmeter.rows.record import Record
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.point import Group, Point

__all__ = ["Build", "alternate", "starts_needed"]

_USUAL_STARTS = 22  # 12 missed a planted change of 4 %, 30 detected it


@dataclass(frozen=True)
class Build:
    """A build in a comparison of builds."""

    name: str  # as the user named it
    binary: Path  # its worker program
    facts: Mapping[str, Any]  # its part of run.json: revision, version
    probe: Path | None = None  # its `gasmeter-probe`; None for builds older than the probe


class _TwoBuilds(Runner):
    """A runner whose groups hold a point twice: the first belongs to one build, the second to the other."""

    def __init__(self, builds: Sequence[Build], pools: WorkerPools | None = None) -> None:
        super().__init__(pools, probe=builds[0].probe)  # no build brings its own yardstick
        self._builds = builds
        self.order = (0, 1)

    def pool_for(self, point: Point, member: int) -> Pool:
        """Return the job of the point's build."""
        return self.pools.get(point.ranks, self._builds[self.order[member]].binary, mpi=mpi_of(point))


def starts_needed(points: int) -> int:
    """Return the process starts of each build that a comparison of so many points needs.

    At least 22: then active messages on a virtual machine are known to 2 %. Many points need more, as their correction
    leaves little to each, and a t distribution with few degrees of freedom has long tails.
    """
    return _USUAL_STARTS + math.ceil(math.log2(max(1.0, points / 10)))


def alternate(
    experiment: Experiment,
    builds: Sequence[Build],
    out: Path,
    *,
    starts: int = 0,
    quick: bool = True,
    planted: Mapping[str, object] | None = None,
    pools: WorkerPools | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Path, Path]:
    """Measure an experiment with two builds in alternating blocks; return the stores ``out/a`` and ``out/b``.

    Modelled points are left out, since they run inside one build's own process. `starts` counts process starts of each
    build, 0 takes `starts_needed`. `planted` sets debug options of the second build alone, to see the comparison detect
    them. Raises UsageError for nothing to measure, fewer than ten starts or a planted option without prefix ``debug_``,
    BrokenJob if a rank died.
    """
    points = _real_points(experiment, quick=quick)
    if not points:
        raise UsageError(
            f"{experiment.name} has no measured points; modelled ones: `gasmeter run` and `gasmeter check`"
        )
    starts = starts or starts_needed(len(points))
    if starts < FEWEST_STARTS:
        raise UsageError(
            f"{starts} process starts are not allowed; allowed: {FEWEST_STARTS} or more (--starts)", "starts"
        )
    changed = _planted(points, planted or {})
    run = uuid.uuid4().hex
    places = (out / "a", out / "b")
    stores = [
        _open(place, experiment, build, run=run, starts=starts, points=len(points), probe=builds[0].probe)
        for place, build in zip(places, builds, strict=True)
    ]
    watch, states = Watch(), "failed"
    try:
        runner = _TwoBuilds(builds, pools)
        with runner:
            for number in range(starts):
                for place, point in enumerate(points):
                    if progress is not None:
                        left = (starts * len(points) - number * len(points) - place) * 2.4 * point.budget.time_s
                        progress(Progress(number * len(points) + place, starts * len(points), left, point.describe()))
                    entries = _both(runner, (point, changed[place]), number, experiment.name)
                    for store, entry in zip(stores, entries, strict=True):
                        store.append(entry)
                runner.pools.drop()  # the next round has new processes
        states = "complete"
    except KeyboardInterrupt:
        states = "interrupted"
        raise
    finally:
        for store in stores:
            result = Result(list(store.done.values()), name=experiment.name, complete=states == "complete")
            store.finish(result, states, plots=False, host=watch.ended(result.rows))
    return places


def _real_points(experiment: Experiment, *, quick: bool) -> list[Point]:
    points = {point.id: point for group in experiment.groups(quick=quick) for point in group.points}
    return [point for point in points.values() if not point.declared_conduit.virtual]


def _planted(points: Sequence[Point], options: Mapping[str, object]) -> list[Point]:
    """Return the points with debug options, where their conduit has them."""
    changed = list(points)
    for name, value in options.items():
        conduits = [point.declared_conduit for point in points]
        at = {
            place: (option, conduit.name)
            for place, conduit in enumerate(conduits)
            for option in conduit.options
            if option.name == name
        }
        if not name.startswith(DEBUG) or not at:
            options_here = {option.name for conduit in catalogue().conduits.values() for option in conduit.options}
            raise UsageError(
                f"option {name!r} cannot be planted; allowed: a debug option of what is measured,"
                f" {', '.join(sorted(option for option in options_here if option.startswith(DEBUG))) or 'none here'}",
                name,
            )
        for place, (option, owner) in at.items():
            given = {**changed[place].options, name: option.parse(value, f"conduit {owner}")}
            changed[place] = Point(**{**changed[place].model_dump(), "options": given})
    return changed


def _both(runner: _TwoBuilds, points: tuple[Point, Point], number: int, name: str) -> list[Record]:
    """Measure one point with both builds; the first build changes from round to round."""
    # Made anew, since a copy would keep the identity of the original.
    mine = [Point(**{**point.model_dump(), "repetition": number}) for point in points]
    runner.order = (0, 1) if number % 2 == 0 else (1, 0)
    members = tuple(mine[build] for build in runner.order)
    outcome = runner.measure(Group(points=members, reference=0, reference_name="a"))
    if len(outcome.outcomes) != 2:
        reasons = [*outcome.skipped.values(), *(str(error) for _, error in outcome.refused)]
        raise UsageError(f"{mine[0].describe()}: one of the builds cannot measure it: {reasons[0]}")
    return [
        record(
            dataclasses.replace(outcome, group=Group(points=(mine[build],)), outcomes=[measured], skipped={}),
            name,
        )
        for build, measured in ((build, outcome.outcomes[runner.order.index(build)]) for build in (0, 1))
    ]


def _open(
    place: Path, experiment: Experiment, build: Build, *, run: str, starts: int, points: int, probe: Path | None
) -> Store:
    facts = {
        "started": context.now(),
        "command": context.command_line(),
        "git": str(build.facts.get("git", "")),
        "library": this_build(build.binary, str(build.facts.get("git", ""))),
        "build": {"name": build.name, **build.facts},
        "alternated": run,
        "starts": starts,
        "probe": probe_digest(probe),
        "groups": starts * points,
        "host": context.host_facts(),
        "versions": context.versions(),
    }
    return Store(place, experiment.name, resume=False, run=facts)
