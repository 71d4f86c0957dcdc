"""Run a sweep group after group, and keep every finished one at once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gasmeter import library
from gasmeter.catalogue import catalogue
from gasmeter.errors import GasmeterError, ResourceError, Timeout, UsageError
from gasmeter.measuring.about import AboutRun
from gasmeter.measuring.bisecting import Bisection
from gasmeter.measuring.pace import Beside, Clock, Progress
from gasmeter.measuring.recording import LEFT_OUT
from gasmeter.measuring.refusals import Refusals
from gasmeter.measuring.runner import GroupOutcome, Runner
from gasmeter.measuring.taking_over import taken_over
from gasmeter.measuring.unused import unused_overrides
from gasmeter.rows.links import MOST_LINK_ROWS, fitting
from gasmeter.rows.record import Record
from gasmeter.stores.builds import build_text
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.point import Group
from gasmeter.sweeps.sweep import estimated_seconds

__all__ = ["Beside", "Progress", "execute"]

_STOP_AGAIN_S = 0.05


def execute(
    experiment: Experiment,
    *,
    out: str | Path | None = None,
    quick: bool = False,
    replace: Mapping[str, str] | None = None,
    jobs: int = 1,
    resume: bool = False,
    runner: Runner | None = None,
    progress: Callable[[Progress], None] | None = None,
    origin: Mapping[str, Any] | None = None,
    bare: bool = False,
    starts: int = 0,
    revision: str = "",
    donors: Mapping[str, str] | None = None,
    beside: Sequence[Beside] = (),
    planned: Sequence[Group] | None = None,
    unstored: bool = False,
) -> Result:
    """Measure an experiment; return its rows in the order of the plan. See `gasmeter.Experiment.run`.

    `starts` measures real points that often, each time with new workers, as repetitions 0 to starts - 1; 0 leaves the
    experiment as it is. `bare` writes no summary.md, report.html and plots, and returns no refusals. `donors` maps
    modelled points to the same point on another variant of the machine; their rows are copied where
    `gasmeter.measuring.taking_over` allows it. `beside` yields other work for the workers of modelled groups once no
    real group is measured. `unstored` continues without the store if its disk is full (`Result.unstored` says why).
    Raises Timeout if every point reached its time limit; after any other error or Ctrl-C the store keeps the finished
    groups.
    """
    _check_given(jobs, out, resume=resume)
    groups = list(planned or _groups(experiment, quick=quick, replace=replace or {}, starts=starts))
    about = AboutRun(experiment, groups, quick, replace or {}, resume, origin or {}, starts, revision)
    lost = _Lost(allowed=unstored)
    store = _opened(out, experiment.name, about, lost, resume=resume)
    done: dict[str, Record] = dict(store.done) if store else {}
    stale = _of_other_builds(groups, done)
    bisection = Bisection(groups)
    refusals = Refusals(experiment.name, allowed=not bare)
    refused: list[GasmeterError] = []
    state = "failed"
    try:
        session_runner = runner or Runner()
        try:
            lent = _lent(groups, donors or {})
            rounds = _rounds(
                session_runner, groups, refusals, jobs, progress, fresh=starts > 0, lent=lent, done=done, stale=stale,
                beside=beside, bisection=bisection,
            )  # fmt: skip
            with closing(rounds) as records:
                ran = _kept(records, done, store, lost, lazily=bare)
            _tell_stage(progress, groups, done, "ending the jobs")
            _raise_where_none_finished(ran, done)
            about.measure_own(session_runner.pools, ran if store and not bare else ())
            refused = refusals.settle(done)
        finally:
            if runner is None:
                session_runner.pools.close()
        state = "complete"
    except KeyboardInterrupt:
        state = "interrupted"
        raise
    finally:
        _tell_stage(progress, groups, done, "checking the rows")
        result = _result(experiment, groups, done, complete=state == "complete")
        result.about = about
        result.remarks.extend(refusals.lines(groups))
        result.bisected = bisection.curves(done)
        result.added = frozenset(point.id for group in groups if group.added for point in group.points)
        if not bare:  # a caller without summaries varies numbers on purpose
            result.remarks.extend(unused_overrides(groups, done))
        against = about.end(result)
        if store:
            result.remarks.extend([against] if against and not bare else [])
            result.remarks.extend(_earlier(store, stale, done))
            tell = partial(_tell_stage, progress, groups, done)
            with lost.noted():
                _write(store, about, result, state, tell, bare=bare)
    result.refusals, result.unstored = refused, lost.error
    return result


def _check_given(jobs: int, out: str | Path | None, *, resume: bool) -> None:
    """Refuse arguments with which no plan can be executed."""
    if jobs < 1:
        raise UsageError(f"jobs {jobs} is not allowed; allowed: 1 or more", str(jobs))
    if resume and out is None:
        raise UsageError("resume needs the folder to continue; allowed: out=FOLDER (--out)", "resume")


def _raise_where_none_finished(ran: Sequence[Record], done: Mapping[str, Record]) -> None:
    """Raise the first time limit if every point reached its own."""
    if ran and all(entry.unfinished for entry in done.values()):
        raise Timeout(ran[0].notes[0].removeprefix(LEFT_OUT))


class _Lost:
    """Reason why a store could not be written, in a sweep that may go on without it."""

    def __init__(self, *, allowed: bool) -> None:
        self._allowed = allowed
        self.error: GasmeterError | None = None

    @contextmanager
    def noted(self, kind: type[GasmeterError] = GasmeterError) -> Generator[None]:
        """Note the first failure. Raise every failure if the sweep needs its store, or if its kind is another."""
        try:
            yield
        except kind as error:
            if not self._allowed:
                raise
            self.error = self.error or error


def _opened(out: str | Path | None, name: str, about: AboutRun, lost: _Lost, *, resume: bool) -> Store | None:
    """Open the store of a run, if it has one."""
    if out is not None:
        with lost.noted(ResourceError):  # refuse a bad folder before anything is measured
            return Store(Path(out), name, resume=resume, run=about.runs[0])
    return None


def _write(
    store: Store, about: AboutRun, result: Result, state: str, tell: Callable[[str], None], *, bare: bool
) -> None:
    """Write all files that are made from the rows, and close the store."""
    summary = "" if bare else about.summary(result)
    draws = not bare and state != "failed" and bool(result.records)
    tell("drawing plots and writing the store" if draws else "writing the store")
    drawn = store.finish(result, state, summary, plots=draws, host=about.at_end, plan=about.plan)
    if not bare:
        store.write_page(about.page(result, drawn, store.folder))


def _tell_stage(
    progress: Callable[[Progress], None] | None, groups: Sequence[Group], done: Mapping[str, Record], text: str
) -> None:
    """Report the work that follows the last point: drawing, writing."""
    if progress is not None:
        measured = sum(len(group.points) for group in groups if group.id in done)
        progress(Progress(measured, sum(len(group.points) for group in groups), math.nan, text))


def _earlier(store: Store, stale: Mapping[str, str], done: Mapping[str, Record]) -> list[str]:
    """Return notes about the earlier content of the folder."""
    kept = [f"the earlier run is kept in {store.moved_to}"] if store.moved_to else []
    return [*kept, *_measured_again(stale, done)]


def _of_other_builds(groups: Sequence[Group], done: Mapping[str, Record]) -> dict[str, str]:
    """Return the plan's groups that another build measured, and that build: rows of two builds never mix."""
    this_digest = library.this_build()["digest"] if done else ""
    return {
        group.id: build_text({"revision": done[group.id].revision, "digest": done[group.id].build})
        for group in groups
        if group.id in done and done[group.id].build != this_digest
    }


def _measured_again(stale: Mapping[str, str], done: Mapping[str, Record]) -> list[str]:
    """Return a line if groups of this plan had been measured by another build."""
    if not stale:
        return []
    this_build = library.this_build()
    again = sum(done[name].build == this_build["digest"] for name in stale)
    left = f"; {len(stale) - again} are still to be measured again" if again < len(stale) else ""
    return [
        f"{again} groups that {', '.join(dict.fromkeys(stale.values()))} had measured were measured again by this one,"
        f" {build_text(this_build)}{left}"
    ]


def _groups(experiment: Experiment, *, quick: bool, replace: Mapping[str, str], starts: int) -> list[Group]:
    """Return the groups to measure in order; with `starts` round after round, but virtual time once, as it repeats."""
    if starts < 0:
        raise UsageError(f"starts {starts} is not allowed; allowed: 0 or more", str(starts))
    if starts == 0:
        return experiment.groups(quick=quick, replace=replace)
    if any(entry.bisect is not None for entry in experiment.series) or any("bisect" in key for key in replace):
        # Each start would add other sizes, so that nothing could be compared.
        raise UsageError(f"starts {starts} with bisect is not allowed; allowed: one of them", str(starts))
    series = tuple(entry.replaced({"repetitions": starts}) for entry in experiment.series)
    groups = experiment.model_copy(update={"series": series}).groups(quick=quick, replace=replace)
    wanted = [group for group in groups if group.points[0].repetition == 0 or not _modelled(group)]
    return sorted(wanted, key=lambda group: group.points[0].repetition)


def _lent(groups: Sequence[Group], donors: Mapping[str, str]) -> dict[str, Group]:
    """Return the donors among groups of one point, by the group that may copy their rows."""
    single = {group.points[0].id: group for group in groups if len(group.points) == 1}
    return {
        single[point].id: single[donor] for point, donor in donors.items() if point in single and donor in single
    }  # fmt: skip


def _bound_links(entry: Record, others: Iterable[Record]) -> None:
    """Drop tables of links that would make the store too large."""
    if not entry.links:
        return
    rows = sum(table["rows"] for other in others for table in other.links)
    kept = [dict(table) for table in fitting(entry.links, rows)]
    if len(kept) < len(entry.links):
        entry.notes.append(f"links of {len(entry.links) - len(kept)} points left out: more than {MOST_LINK_ROWS} rows")
        entry.links = kept


def _result(experiment: Experiment, groups: Sequence[Group], done: Mapping[str, Record], *, complete: bool) -> Result:
    planned = [done[group.id] for group in groups if group.id in done]
    names = {entry.group for entry in planned}
    # Groups of an earlier run with other axes stay in the store.
    others = [entry for name, entry in done.items() if name not in names]
    return Result(
        [*planned, *others], name=experiment.name, title=experiment.title, plots=experiment.plots, complete=complete
    )


def _rounds(
    runner: Runner, groups: Sequence[Group], refusals: Refusals, jobs: int,
    progress: Callable[[Progress], None] | None,
    *, fresh: bool, lent: Mapping[str, Group], done: Mapping[str, Record], stale: dict[str, str],
    beside: Sequence[Beside], bisection: Bisection,
) -> Generator[Record]:  # fmt: skip
    """Measure the missing groups of a plan, then those added to look for jumps; yield each when it is done.

    `done` holds every record that was yielded; `stale` learns which added groups another build had measured.
    """
    missing = [group for group in groups if group.id not in done or group.id in stale]
    clock = Clock(missing, beside, progress)
    while True:
        by_id = {group.id: group for group in missing}
        with closing(
            _records(runner, missing, refusals, jobs, clock, fresh=fresh, lent=lent, done=done, beside=beside)
        ) as records:
            yield from (entry for entry in records if not bisection.refuses(by_id[entry.group], entry, done))
        if not (added := bisection.more(done)):
            return
        stale.update(_of_other_builds(added, done))
        missing, beside = [group for group in added if group.id not in done or group.id in stale], ()
        clock.add(missing)


def _records(
    runner: Runner, groups: Sequence[Group], refusals: Refusals, jobs: int, clock: Clock,
    *, fresh: bool = False, lent: Mapping[str, Group], done: Mapping[str, Record], beside: Sequence[Beside],
) -> Generator[Record]:  # fmt: skip
    """Measure real groups one after the other, then modelled ones side by side; yield each when it is done.

    `done` holds every record that was yielded. Donors are measured before the groups that copy their rows.
    """
    real = [group for group in groups if not _modelled(group)]
    rounds = 0
    for group in real:
        if fresh and group.points[0].repetition != rounds:
            runner.pools.drop()
            rounds = group.points[0].repetition
        clock.begin(group)
        if (entry := refusals.record_of(group, partial(runner.measure, group))) is not None:
            yield entry
        clock.end(group)
    virtual = [group for group in groups if _modelled(group)]
    modelled = _modelled_records(runner, virtual, refusals, jobs, clock, lent=lent, done=done, beside=beside)
    with closing(modelled) as records:
        yield from records


def _modelled_records(
    runner: Runner, groups: Sequence[Group], refusals: Refusals, jobs: int, clock: Clock,
    *, lent: Mapping[str, Group], done: Mapping[str, Record], beside: Sequence[Beside],
) -> Generator[Record]:  # fmt: skip
    """Measure modelled groups in threads, donors first.

    Groups are yielded in the order in which they began, so that the journal does not depend on which is done first.
    Work that is no point stands between donors and copies: it fills the time of copying, and no long piece comes
    last. Ctrl-C or an error ends the running groups; groups done out of order are yielded before it is raised again.
    """
    with ThreadPoolExecutor(max_workers=jobs) as workers:
        waiting: deque[_Begun] = deque()

        def begin(those: Sequence[Group]) -> None:
            # The longest groups begin first, so that workers end at about the same time.
            order = sorted(those, key=_length, reverse=True) if jobs > 1 else those
            waiting.extend(_Begun(group, workers.submit(runner.measure, group)) for group in order)

        try:
            begin([group for group in groups if group.id not in lent])
            lenders = len(waiting)
            waiting.extend(_Begun(task, workers.submit(task.run)) for task in beside)
            yield from _finished(waiting, refusals, clock, lenders)
            begin((yield from _taken_over(groups, lent, done, clock)))
            yield from _finished(waiting, refusals, clock, len(waiting))
        except GeneratorExit:
            _stop(runner, waiting)
            raise
        except BaseException:
            _stop(runner, waiting)
            yield from (refusals.made(outcome) for outcome in map(_outcome, waiting) if outcome is not None)
            raise


@dataclass(frozen=True)
class _Begun:
    """Work of a worker."""

    what: Group | Beside
    future: Future[Any]  # a GroupOutcome for a group


def _kept(
    records: Iterable[Record], done: dict[str, Record], store: Store | None, lost: _Lost, *, lazily: bool
) -> list[Record]:
    """Store records one by one as they come; return the records so far.

    A group that reached its time limit stays out of the store, so that `resume` measures it again.
    """
    come: list[Record] = []
    for entry in records:
        _bound_links(entry, done.values())
        done[entry.group] = entry
        come.append(entry)
        if store and lost.error is None and not entry.unfinished:
            with lost.noted():
                store.append(entry, lazily=lazily)
    return come


def _finished(waiting: deque[_Begun], refusals: Refusals, clock: Clock, count: int) -> Generator[Record]:
    """Wait for the next `count` pieces of work; yield the records of groups."""
    for _ in range(count):
        first = waiting[0]
        clock.begin(first.what)
        if isinstance(first.what, Group):
            entry = refusals.record_of(first.what, first.future.result)
        else:
            entry = first.future.result()
        waiting.popleft()
        if entry is not None:
            yield entry
        clock.end(first.what)


def _taken_over(
    groups: Sequence[Group], lent: Mapping[str, Group], done: Mapping[str, Record], clock: Clock
) -> Generator[Record, None, list[Group]]:
    """Yield the records of groups that copy others' rows; return the groups that have to run."""
    rest: list[Group] = []
    for group in (group for group in groups if group.id in lent):
        donor = lent[group.id]
        taken = taken_over(group, donor, done[donor.id]) if donor.id in done else None
        if taken is None:
            rest.append(group)
            continue
        yield taken
        clock.end(group)
    return rest


def _length(group: Group) -> tuple[float, int]:
    return estimated_seconds([group]), sum(point.ranks for point in group.points)


def _outcome(begun: _Begun) -> GroupOutcome | None:
    """Return the outcome of a group that was measured before everything stopped."""
    future: Future[GroupOutcome | None] = begun.future
    return None if future.cancelled() or future.exception() else future.result()


def _stop(runner: Runner, begun: Iterable[_Begun]) -> None:
    """Begin nothing more, and end all running work."""
    running = [each for each in begun if not each.future.cancel()]
    futures = [each.future for each in running]
    while wait(futures, timeout=0).not_done:
        runner.stop()
        for each in running:
            if not isinstance(each.what, Group):
                each.what.stop()
        wait(futures, timeout=_STOP_AGAIN_S)


def _modelled(group: Group) -> bool:
    entry = catalogue()
    return all(entry.conduit(point.conduit, entry.kernel(point.kernel)).kind == "modelled" for point in group.points)
