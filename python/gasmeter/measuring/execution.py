"""Run a sweep group after group, and keep every finished one at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from gasmeter import library
from gasmeter.errors import GasmeterError, ResourceError, Timeout
from gasmeter.measuring.about import AboutRun
from gasmeter.measuring.bisecting import Bisection
from gasmeter.measuring.pace import Beside, Clock, Progress
from gasmeter.measuring.recording import LEFT_OUT
from gasmeter.measuring.refusals import Refusals
from gasmeter.measuring.run import Run
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

__all__ = ["Beside", "Progress", "Run", "execute"]

_STOP_AGAIN_S = 0.05


def execute(experiment: Experiment, run: Run | None = None) -> Result:
    """Measure an experiment; return its rows in the order of the plan. See `gasmeter.Experiment.run`.

    Raises Timeout if every point reached its time limit; after any other error or Ctrl-C the store keeps the finished
    groups.
    """
    run = run or Run()
    groups = run.groups(experiment)
    # A result must not keep workers alive.
    about = AboutRun(experiment, groups, replace(run, runner=None, progress=None))
    lost = _Lost(allowed=run.unstored)
    store = _opened(run, experiment.name, about, lost)
    done: dict[str, Record] = dict(store.done) if store else {}
    runner = run.runner or Runner()
    sweep = _Sweep(run, runner, groups, done, Refusals(experiment.name, allowed=not run.bare))
    refused: list[GasmeterError] = []
    state = "failed"
    try:
        try:
            with closing(sweep.rounds()) as records:
                ran = _kept(records, done, store, lost, lazily=run.bare)
            run.tell(groups, done, "ending the jobs")
            _raise_where_none_finished(ran, done)
            about.measure_own(runner.pools, ran if store and not run.bare else ())
            refused = sweep.refusals.settle(done)
        finally:
            if run.runner is None:
                runner.pools.close()
        state = "complete"
    except KeyboardInterrupt:
        state = "interrupted"
        raise
    finally:
        run.tell(groups, done, "checking the rows")
        result = _result(experiment, groups, done, complete=state == "complete")
        result.about = about
        result.remarks.extend(sweep.refusals.lines(groups))
        result.bisected = sweep.bisection.curves(done)
        result.added = frozenset(point.id for group in groups if group.added for point in group.points)
        # No remark in bare runs (`gasmeter reproduce`, checks of machines): their draws change unused numbers, too.
        if not run.bare:
            result.remarks.extend(unused_overrides(groups, done))
        against = about.end(result)
        if store:
            result.remarks.extend([against] if against and not run.bare else [])
            result.remarks.extend(_earlier(store, sweep.stale, done))
            with lost.noted():
                _write(store, about, result, state, partial(run.tell, groups, done), bare=run.bare)
    result.refusals, result.unstored = refused, lost.error
    return result


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


def _opened(run: Run, name: str, about: AboutRun, lost: _Lost) -> Store | None:
    """Open the store of a run, if it has one."""
    if run.out is not None:
        with lost.noted(ResourceError):  # refuse a bad folder before anything is measured
            return Store(Path(run.out), name, resume=run.resume, run=about.runs[0])
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


@dataclass(frozen=True)
class _Begun:
    """Work that a thread of the sweep has begun."""

    what: Group | Beside
    future: Future[Any]  # a GroupOutcome for a group


class _Sweep:
    """The measurement of a plan; `done` holds every record so far, `groups` grows if it looks for jumps."""

    def __init__(
        self, run: Run, runner: Runner, groups: list[Group], done: Mapping[str, Record], refusals: Refusals
    ) -> None:
        self._run, self._runner, self._groups, self._done, self.refusals = run, runner, groups, done, refusals
        self.stale = _of_other_builds(groups, done)  # groups that another build measured, and that build
        self.bisection = Bisection(groups)
        self._lent = run.lent(groups)
        self._clock = Clock(self._missing(groups), run.beside, run.progress)

    def _missing(self, groups: Iterable[Group]) -> list[Group]:
        """Return the groups to measure: those without a record, and those that another build measured."""
        return [group for group in groups if group.id not in self._done or group.id in self.stale]

    def rounds(self) -> Generator[Record]:
        """Measure the missing groups, then those added to look for jumps; yield each when it is done."""
        missing, beside = self._missing(self._groups), self._run.beside
        while True:
            by_id = {group.id: group for group in missing}
            with closing(self._records(missing, beside)) as records:
                yield from (
                    entry for entry in records if not self.bisection.refuses(by_id[entry.group], entry, self._done)
                )
            if not (added := self.bisection.more(self._done)):
                return
            self.stale.update(_of_other_builds(added, self._done))
            missing, beside = self._missing(added), ()
            self._clock.add(missing)

    def _records(self, groups: Sequence[Group], beside: Sequence[Beside]) -> Generator[Record]:
        """Measure real groups one after the other, then modelled ones side by side; yield each when it is done.

        Groups that others copy rows from (donors, see `taking_over`) are measured before the groups that copy.
        """
        rounds = 0
        for group in (group for group in groups if not group.modelled):
            if self._run.starts > 0 and group.points[0].repetition != rounds:
                self._runner.pools.drop()
                rounds = group.points[0].repetition
            self._clock.begin(group)
            if (entry := self.refusals.record_of(group, partial(self._runner.measure, group))) is not None:
                yield entry
            self._clock.end(group)
        with closing(self._modelled_records([group for group in groups if group.modelled], beside)) as records:
            yield from records

    def _modelled_records(self, groups: Sequence[Group], beside: Sequence[Beside]) -> Generator[Record]:
        """Measure modelled groups in threads.

        Groups are yielded in the order in which they began, so that the lines of the store's journal do not depend on
        which group is done first. The order of work is: groups that cannot copy rows, other work (`Run.beside`, for
        instance conformance cases), groups whose donor's rows could not be copied. Other work keeps the workers busy
        while rows are copied, and none of it is left for the end. Ctrl-C or an error ends the running groups; groups
        done out of order are yielded before it is raised again.
        """
        jobs = self._run.jobs
        with ThreadPoolExecutor(max_workers=jobs) as workers:
            waiting: deque[_Begun] = deque()

            def begin(those: Sequence[Group]) -> None:
                # The longest groups begin first, so that workers end at about the same time.
                order = sorted(those, key=_length, reverse=True) if jobs > 1 else those
                waiting.extend(_Begun(group, workers.submit(self._runner.measure, group)) for group in order)

            try:
                begin([group for group in groups if group.id not in self._lent])
                lenders = len(waiting)
                waiting.extend(_Begun(task, workers.submit(task.run)) for task in beside)
                yield from self._finished(waiting, lenders)
                begin((yield from self._taken_over(groups)))
                yield from self._finished(waiting, len(waiting))
            except GeneratorExit:
                _stop(self._runner, waiting)
                raise
            except BaseException:
                _stop(self._runner, waiting)
                yield from (self.refusals.made(outcome) for outcome in map(_outcome, waiting) if outcome is not None)
                raise

    def _finished(self, waiting: deque[_Begun], count: int) -> Generator[Record]:
        """Wait for the next `count` pieces of work; yield the records of groups."""
        for _ in range(count):
            first = waiting[0]
            self._clock.begin(first.what)
            if isinstance(first.what, Group):
                entry = self.refusals.record_of(first.what, first.future.result)
            else:
                entry = first.future.result()
            waiting.popleft()
            if entry is not None:
                yield entry
            self._clock.end(first.what)

    def _taken_over(self, groups: Sequence[Group]) -> Generator[Record, None, list[Group]]:
        """Yield the records of groups that copy others' rows; return the groups that have to run."""
        rest: list[Group] = []
        for group in (group for group in groups if group.id in self._lent):
            donor = self._lent[group.id]
            taken = taken_over(group, donor, self._done[donor.id]) if donor.id in self._done else None
            if taken is None:
                rest.append(group)
                continue
            yield taken
            self._clock.end(group)
        return rest


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
