"""Measure groups of points in small alternating blocks.

All points of a group are opened at once, warmed up and verified. Then one block of each point follows the other, A, B,
A, B, until the time is used up or the interval is narrow enough. A point whose data did not verify gets no value.

`gasmeter.guard.alternating` and `gasmeter.reproduction.run.running` derive their runners from `Runner`: a change of its
loop changes comparisons of builds and papers, too.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gasmeter import statistics
from gasmeter.environment.limits import cpus
from gasmeter.environment.mpi_launcher import launched
from gasmeter.errors import GasmeterError, ResourceError, Timeout, UsageError
from gasmeter.measuring.load import Load, disturbs
from gasmeter.measuring.lost_updates import at_risk, refuse_small_table
from gasmeter.measuring.probe import Probe, same_state
from gasmeter.measuring.sessions import Block, ModelSession, Pool, RealSession, Session, WorkerPools
from gasmeter.measuring.stopping import stopped_after
from gasmeter.measuring.time_limit import TimeLimit
from gasmeter.measuring.verification import Verification
from gasmeter.measuring.virtual_blocks import (
    UPDATES_PER_WORD,
    block_count,
    is_bounded,
    is_limited,
    least_iterations,
    limit_s,
    prescribed_operations,
    runs_whole,
    too_long,
)
from gasmeter.measuring.whole_runs import WholeRuns
from gasmeter.rows.links import Table
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.point import Budget, Group, Point

__all__ = ["TARGET_BLOCK_NS", "GroupOutcome", "Outcome", "Runner"]

TARGET_BLOCK_NS = 2e6
"""Blocks of about 2 ms: long against one exchange with the workers, short against the drift of the machine."""
_MOST_ITERATIONS = 1 << 30
_MOST_EXTENSIONS = 2
_LEAST_SIZE = 8  # bytes: the default sizes of a sweep begin here
_MOST_CALIBRATIONS = 16
_REPEATS = 2
_PACED = 5
_MOST_PIECES = 24
_PART_OF_RUN = 16
_CLEARLY = 4.0  # refuse a whole run only if its estimate is so many times too long: estimates from a part are high
_MARGIN = 1.25


@dataclass
class Outcome:
    """Measured values of one point."""

    point: Point
    modelled: bool  # whether its time is virtual
    # Check of the data after warm-up and after the last block; wrong data suppress every figure
    verification: Verification
    # In the order they ran; index i ran beside index i of every other point of the group
    blocks: list[Block] = field(default_factory=list)
    cpus: tuple[int, ...] = ()  # processor of each rank; empty for modelled points
    oversubscribed: bool = False  # whether ranks shared cores
    links: Table = field(default_factory=dict)  # load of each link during the last block; empty without links
    # Counts of conduits and devices while the blocks ran, by `gasmeter.catalogue.Catalogue.counters`
    counters: Mapping[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()  # numbers of a modelled machine that no picosecond depended on
    chosen: Mapping[str, str] = field(default_factory=dict)  # values of options that leave a choice to the job


@dataclass
class GroupOutcome:
    """Measured values of a group.

    Attributes
    ----------
    group : Group
        The measured group.
    outcomes : list of Outcome
        The points that could be opened, in the order of the group.
    states_ns : list of tuple of float
        Probe before and after each block, by block index.
    skipped : dict of str to str
        Reason why a point was left out, by point identity: its operation does not carry a default size, or real ranks
        reached their time limit.
    refused : list of (Point, GasmeterError)
        Points that could not be opened, with the reason, while others could.
    notes : list of str
        Notes for readers of the rows.
    seconds : float
        Duration of the group, everything included.
    others : float
        Processors that other programs kept busy while the blocks ran; NaN if unknown.
    """

    group: Group
    outcomes: list[Outcome]
    states_ns: list[tuple[float, float]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    refused: list[tuple[Point, GasmeterError]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    others: float = math.nan

    def kept(self) -> list[bool]:
        """Return which block indices may be compared.

        Returns
        -------
        list of bool
            False if the probe moved by more than 15 % around the block, or is more than 15 % from the state in which
            most blocks ran.
        """
        stable = [same_state(before, after) for before, after in self.states_ns]
        levels = [max(pair) for pair, good in zip(self.states_ns, stable, strict=True) if good]
        if all(map(math.isnan, levels)):
            return stable
        usual = float(np.median(levels))
        return [good and same_state(max(pair), usual) for pair, good in zip(self.states_ns, stable, strict=True)]

    def loaded(self, point: Point) -> bool:
        """Tell whether other programs took processors that a point's ranks needed.

        Parameters
        ----------
        point : Point
            A point of the group, on a real conduit.

        Returns
        -------
        bool
            False if unknown.
        """
        return disturbs(self.others, point.ranks, len(cpus()))

    @property
    def host_state_ns(self) -> float:
        """Largest value of the probe before or after a counted block; NaN without a probe."""
        kept = self.kept()
        pairs = [pair for pair, good in zip(self.states_ns, kept, strict=True) if good or not any(kept)]
        values = [value for pair in pairs for value in pair if not math.isnan(value)]
        return max(values, default=math.nan)


@dataclass
class _Member:
    outcome: Outcome
    session: Session
    iterations: int
    least_operations: int = 0
    operations: float = 0.0
    whole_ns: float = 0.0
    whole_s: float = 0.0  # estimated seconds of this computer for a whole run in virtual time
    counted: Mapping[str, int] = field(default_factory=dict)  # counts before the measured blocks

    def run(self) -> None:
        block = self.session.block(self.iterations)
        self.outcome.blocks.append(block)
        self.operations += block.operations

    def repeats_itself(self) -> bool:
        """Whether the member is modelled and more blocks would repeat the same virtual time."""
        wanted = block_count([self.outcome.point])
        whole = self.operations >= self.least_operations
        return self.outcome.modelled and whole and len(self.outcome.blocks) >= wanted


def mpi_of(point: Point) -> str:
    """Return the name of a point's MPI, if any: a job keeps the MPI that it began with."""
    text = "/".join(str(point.options[name]) for name in ("mpi", "transport") if name in point.options)
    if not text and launched() is not None:
        chooses = any(option.name == "mpi" for option in point.declared_conduit.options)
        return "mpi" if chooses else ""  # the launcher's MPI
    return text


class Runner:
    """Measures groups; keeps worker processes and the probe's value between them.

    Parameters
    ----------
    pools : WorkerPools, optional
        Jobs of real ranks; by default its own.
    clock : callable, optional
        Clock in seconds, monotonic.
    probe : Path, optional
        The probe program; by default that of this installation.

    Notes
    -----
    Use as a context manager: leaving it ends every job.

    Examples
    --------
    >>> with gm.Runner() as runner:  # one set of workers for several measurements
    ...     results = [gm.measure("barrier", conduit=name, runner=runner) for name in ("ideal", "extoll")]
    >>> [result.verified for result in results]
    [True, True]
    """

    def __init__(
        self, pools: WorkerPools | None = None, clock: Callable[[], float] | None = None, probe: Path | None = None
    ) -> None:
        self.pools = pools or WorkerPools()
        self._clock = clock or _clock
        self.probe = Probe(self._clock, cores=len(cpus()), program=probe)
        self._modelled: set[ModelSession] = set()

    def __enter__(self) -> Runner:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every job."""
        self.pools.close()

    def stop(self) -> None:
        """End modelled blocks that other threads run; their `measure` raises `GasmeterError`.

        A thread between two blocks is missed: call again until every thread is done.
        """
        for session in tuple(self._modelled):
            session.stop()

    def pool_for(self, point: Point, member: int) -> Pool:
        """Return the job that measures a real point.

        A subclass overrides it if a group's points belong to several builds. `member` is the place of the point among
        the opened points of its group, from 0.
        """
        return self.pools.get(point.ranks, mpi=mpi_of(point))

    def measure(self, group: Group) -> GroupOutcome:
        """Measure the points of a group in alternating blocks.

        Parameters
        ----------
        group : Group
            A point, or several that are compared.

        Returns
        -------
        GroupOutcome
            Blocks of every point, except points with wrong data.

        Raises
        ------
        UsageError
            If no point can be opened. A default size that the operation does not carry (`Group.clip`) is left out.
        ResourceError
            If the machine lacks something that every point needs.
        BrokenJob
            If a rank died; every job is ended, and the next group starts new ones.
        """
        started = self._clock()
        result = GroupOutcome(group, [], notes=[group.note] if group.note else [])
        members: list[_Member] = []
        limit = TimeLimit(self._clock, sum(point.budget.max_time_s for point in group.points))
        try:
            if is_limited(group.points):
                over = threading.Event()
                stops: list[Callable[[], None]] = [over.set]
                with stopped_after(limit_s(group.points), stops, lambda: too_long(group.points, _whole_s(members))):
                    for point in group.points:
                        self._open(point, group, result, members, limit, is_over=over.is_set)
                        stops[1:] = [each.session.stop for each in members if isinstance(each.session, ModelSession)]
                        if over.is_set():  # the limit came before this session was registered
                            raise GasmeterError(f"{point.describe()}: stopped")
                    running = self._begin_blocks(members, result, limit)
            else:
                for point in group.points:
                    self._open(point, group, result, members, limit)
                running = self._begin_blocks(members, result, limit)
            for member in running:
                self._check_again(member)
            for member in members:
                member.session.close()
        except Timeout as error:
            # Ranks that did not answer are killed; the next group starts new ones.
            self.pools.drop()
            result.outcomes.clear()
            result.states_ns.clear()
            result.skipped.update((point.id, limit.line(point, error)) for point in group.points)
        except (UsageError, GasmeterError) as error:
            self._abandon(members, error)
            raise
        except BaseException:
            # An interrupt between a command and its answer makes the jobs unusable.
            self.pools.drop()
            raise
        finally:
            self._modelled.difference_update(member.session for member in members)
        result.seconds = self._clock() - started
        return result

    def _begin_blocks(self, members: Sequence[_Member], result: GroupOutcome, limit: TimeLimit) -> list[_Member]:
        """Start the time limit and run the blocks; raise the first refusal if no point could be opened."""
        if result.refused and not members:
            raise result.refused[0][1]
        limit.begin()
        return self._run_blocks(members, result, limit)

    def _run_blocks(self, members: Sequence[_Member], result: GroupOutcome, limit: TimeLimit) -> list[_Member]:
        """Warm up, then measure the members whose data were right; return them."""
        began = self._clock()
        running = [member for member in members if self._warm_up(member)]
        if not running:
            return running
        whole = runs_whole(result.group.points)
        if not whole:
            self._divide(running)
            for member in running:
                self._foresee_lost_updates(member)
        elif self._clock() - began + sum(member.whole_s for member in running) > _CLEARLY * limit_s(_points(running)):
            raise too_long(_points(running), _whole_s(running))
        for member in running:
            member.counted = member.session.counters()
        load = None if all(member.outcome.modelled for member in running) else Load(self.pools.processes)
        compared = result.group.reference is not None and len(running) > 1
        self._measure(running, result, limit, compared=compared)
        if load is not None:
            result.others = load.others()
        result.notes.extend(self.probe.complaints())
        came_before = ""
        if not self._whole(running):
            came_before = f"{UPDATES_PER_WORD} updates per word"
        elif whole and len(running[0].outcome.blocks) < (wanted := block_count(result.group.points)):
            came_before = f"{wanted} whole runs, hence no interval"
        if came_before:
            result.notes.append(f"{running[0].outcome.point.describe()}: the time limit came before {came_before}")
        return running

    def _abandon(self, members: Sequence[_Member], error: GasmeterError) -> None:
        if error.exit_code == 4 or not self.pools.alive:
            self.pools.drop()
            return
        for member in members:
            member.session.close()

    def _open(
        self, point: Point, group: Group, result: GroupOutcome, members: list[_Member], limit: TimeLimit,
        *, is_over: Callable[[], bool] | None = None,
    ) -> None:  # fmt: skip
        outcome = Outcome(point, point.modelled, Verification(Verified.NOT_CHECKED, 0, 0))
        try:
            session: Session
            refuse_small_table(point)
            if point.declared_conduit.virtual:
                kind = WholeRuns if runs_whole(group.points) else ModelSession
                session = kind(point, is_over=is_over)
                self._modelled.add(session)
            else:
                pool = self.pool_for(point, len(members))
                outcome.cpus, outcome.oversubscribed = tuple(pool.cpus), pool.oversubscribed
                session = RealSession(pool, point, left=limit.left)
        except (UsageError, ResourceError) as error:
            # A default size that the operation does not carry is no refusal.
            is_clipped = group.clip and point.size_bytes and _is_size_refused(point, str(error))
            if is_clipped and isinstance(error, UsageError):
                result.skipped[point.id] = str(error)
            else:
                result.refused.append((point, error))
            return
        result.outcomes.append(outcome)
        iterations = point.budget.iterations or least_iterations(point)
        members.append(_Member(outcome, session, iterations, prescribed_operations(point)))

    def _warm_up(self, member: _Member) -> bool:
        """Run first blocks, verify, find the number of iterations; False if the data were wrong.

        Whole runs, and modelled points with a prescribed number of blocks, need no warm-up; their data are verified
        afterwards.
        """
        if member.outcome.modelled and member.outcome.point.budget.blocks is not None:
            return True
        if isinstance(member.session, WholeRuns):
            self._try_out(member, member.session)
            return True
        block = member.session.block(member.iterations)
        member.outcome.verification = member.session.verify(blocks_follow=True)
        if member.outcome.verification.verified is Verified.FALSE:
            return False
        if member.least_operations:
            # A single update per word, so that no measured block is the first to touch a page of the table.
            ranks = member.outcome.point.ranks
            block = member.session.block(max(1, member.least_operations // UPDATES_PER_WORD // ranks))
            member.whole_ns = block.elapsed_ns * UPDATES_PER_WORD
        elif member.outcome.point.budget.iterations is None:
            self._calibrate(member, block)
        return True

    def _try_out(self, member: _Member, session: WholeRuns) -> None:
        """Estimate the time of a whole run on this computer from small parts."""
        member.iterations = math.ceil(member.least_operations / member.outcome.point.ranks)
        part = max(1, member.iterations // _PART_OF_RUN)
        began = self._clock()
        session.try_out(1)
        first_s = self._clock() - began
        member.whole_s = first_s * _PART_OF_RUN  # in case the limit comes meanwhile
        began = self._clock()
        session.try_out(part)
        updates_s = max(0.0, self._clock() - began - first_s)
        member.whole_s = first_s + updates_s * member.iterations / part

    @staticmethod
    def _divide(members: Sequence[_Member]) -> None:
        """Divide prescribed work into the same number of blocks for every member: about 2 ms each, at most 24."""
        prescribed = [
            entry for entry in members if entry.least_operations and not entry.outcome.point.budget.iterations
        ]
        for member in prescribed:
            shortest_ns = min(entry.whole_ns for entry in prescribed)
            blocks = min(max(statistics.FEWEST_BLOCKS, int(shortest_ns / TARGET_BLOCK_NS)), _MOST_PIECES)
            member.iterations = max(1, math.ceil(member.least_operations / member.outcome.point.ranks / blocks))

    def _foresee_lost_updates(self, member: _Member) -> None:
        """Refuse a table in which blocks of that pace would lose more updates than the final check allows."""
        if member.outcome.modelled or not at_risk(member.outcome.point):
            return
        rate = most = 0.0
        for _ in range(_PACED):  # take the fastest: undisturbed blocks lose most updates, so they decide
            began = self._clock()
            block = member.session.block(member.iterations)
            rate = max(rate, block.operations / max(self._clock() - began, 1e-6))
            most = max(most, block.operations / max(block.elapsed_ns, 1.0) * 1e9)
        refuse_small_table(member.outcome.point, rate, most)

    @staticmethod
    def _calibrate(member: _Member, block: Block) -> None:
        """Find the number of iterations of a block of about 2 ms, or of the least allowed.

        A first block is cold (pages not mapped yet, caches empty) and its clock coarse: the target is approached step
        by step until two blocks of the same length agree. Disturbances make a block longer, never shorter, so a long
        block is repeated before the number is lowered.
        """
        settled = False
        least = least_iterations(member.outcome.point)
        elapsed_ns = block.elapsed_ns
        if member.outcome.modelled and not elapsed_ns:
            return  # in virtual time an operation may take no time, however long the block
        for _ in range(_MOST_CALIBRATIONS):
            if elapsed_ns > 2 * TARGET_BLOCK_NS:
                repeats = (member.session.block(member.iterations).elapsed_ns for _ in range(_REPEATS))
                elapsed_ns = min(elapsed_ns, *repeats)
            growth = TARGET_BLOCK_NS / elapsed_ns if elapsed_ns > 0 else 32.0
            near = 0.5 <= growth <= 2.0
            if (near and settled) or (member.iterations == least and growth < 1):
                return
            settled = near
            if not near:
                wanted = round(member.iterations * min(max(growth, 1 / 32), 32.0))
                member.iterations = min(max(least, wanted), _MOST_ITERATIONS)
            elapsed_ns = member.session.block(member.iterations).elapsed_ns

    def _check_again(self, member: _Member) -> None:
        """Verify the data after the measured blocks; drop the blocks if they are wrong."""
        links = member.session.links()  # before the check makes its own traffic
        counters = member.session.counters()
        member.outcome.chosen = member.session.resolved()
        first, last = member.outcome.verification, member.session.verify()
        member.outcome.verification = replace(last, errors=max(first.errors, last.errors))
        if last.verified is Verified.FALSE:
            member.outcome.blocks.clear()
        else:
            member.outcome.links = links
            member.outcome.counters = {name: times - member.counted.get(name, 0) for name, times in counters.items()}
            if isinstance(member.session, ModelSession):
                member.outcome.unused = member.session.unused()

    def _measure(self, members: Sequence[_Member], result: GroupOutcome, limit: TimeLimit, *, compared: bool) -> None:
        budget = members[0].outcome.point.budget
        real = not all(member.outcome.modelled for member in members)
        before = self.probe.try_value_ns() if real else math.nan
        pending, extensions, rounds = 0, 0, 0
        started = begin = now = self._clock()
        check_at = statistics.FEWEST_BLOCKS
        while True:
            last = now
            for member in members:
                if not (real and member.repeats_itself()):
                    member.run()
            pending, rounds = pending + 1, rounds + 1
            now = self._clock()
            if real:
                done = self._enough(members, budget, rounds, now - begin, check_at) and (
                    self._whole(members) or now - started >= limit_s(_points(members))
                )
                done = done or limit.ends_before(now - last)
            else:
                done = rounds >= block_count([member.outcome.point for member in members]) and self._whole(members)
                # Do not begin a round that would not end within the limit.
                done = done or (is_bounded(_points(members)) and limit.ends_before(_MARGIN * (now - last)))
            if rounds >= check_at:
                check_at = math.ceil(check_at * 1.2)
            if real and (done or self.probe.due):
                after = self.probe.try_value_ns()
                result.states_ns.extend([(before, after)] * pending)
                before, pending = after, 0
            if not done:
                continue
            if not real:
                result.states_ns.extend([(math.nan, math.nan)] * pending)
                return
            late = now - started >= limit_s(_points(members)) or limit.ends_before(now - last)
            if not compared or any(result.kept()) or extensions == _MOST_EXTENSIONS or late:
                return
            # The cores moved while the blocks ran, so that none may be compared: measure more rounds of all members.
            extensions, begin, check_at = extensions + 1, self._clock(), rounds + statistics.FEWEST_BLOCKS

    @staticmethod
    def _whole(members: Sequence[_Member]) -> bool:
        """Tell whether every benchmark with a prescribed number of operations has completed it."""
        return all(member.operations >= member.least_operations for member in members)

    def _enough(self, members: Sequence[_Member], budget: Budget, rounds: int, seconds: float, check_at: int) -> bool:
        if seconds >= limit_s(_points(members)):
            return True
        if rounds < statistics.FEWEST_BLOCKS:
            return False
        if budget.ci is None:
            return seconds >= budget.time_s * len(members)
        if rounds < check_at:
            return False
        return all(statistics.precise_enough(_main_interval(member.outcome), budget.ci) for member in members)


def _points(members: Sequence[_Member]) -> list[Point]:
    return [member.outcome.point for member in members]


def _whole_s(members: Sequence[_Member]) -> list[float]:
    return [member.whole_s for member in members]


def _main_interval(outcome: Outcome) -> statistics.Interval:
    metric = outcome.point.declared_op.metrics[0].name
    return statistics.median_interval([block.metrics.get(metric, math.nan) for block in outcome.blocks])


def _clock() -> float:
    return time.monotonic()


def _is_size_refused(point: Point, message: str) -> bool:
    """Tell whether a point is refused for its size: the message names it, or the same point opens at the least size."""
    if str(point.size_bytes) in message:
        return True
    if point.size_bytes <= _LEAST_SIZE or prescribed_operations(point) or not point.declared_conduit.virtual:
        return False
    try:
        ModelSession(point.model_copy(update={"size_bytes": _LEAST_SIZE})).close()
    except GasmeterError:
        return False
    return True
