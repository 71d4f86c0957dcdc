"""Blocks of points in virtual time: how many there are, and the limit on this computer's time.

Virtual time repeats itself: one block is every block. Where a random stream decides what happens, blocks differ, and
several give an interval: datagrams that are lost, doubled or delayed by plan, and RandomAccess, whose every block is a
whole run of its program with a seed of its own. Seed 1 is the stream of HPC Challenge from its start: there is one run.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gasmeter import statistics
from gasmeter.catalogue import catalogue
from gasmeter.errors import GasmeterError, UsageError
from gasmeter.sweeps.point import Point
from gasmeter.units import format_duration

__all__ = [
    "UPDATES_PER_WORD",
    "Shares",
    "block_count",
    "is_bounded",
    "is_limited",
    "least_iterations",
    "limit_s",
    "prescribed_operations",
    "refusal_of_a_long_run",
    "refusal_of_long_blocks",
    "runs_whole",
    "stopped_after",
    "too_long",
]

UPDATES_PER_WORD = 4
"""Updates of one whole run of RandomAccess for each word of its table (HPCC's rule)."""
_WORD_BYTES = 8
_FIRST_SEED = 1
_IMPAIRMENTS = frozenset({"loss", "dup", "reorder", "corrupt", "delay_us"})
_MARGIN = 1.5
_LEAST_SIMULATED = 64
_FAR = 10.0


def prescribed_operations(point: Point) -> int:
    """Return how many operations a point's kernel has to do in all.

    Parameters
    ----------
    point : Point
        What is measured.

    Returns
    -------
    int
        Of RandomAccess four updates per word of its table; 0 of others, which run as long as they may, and where the
        blocks were counted by who asked.
    """
    if point.budget.blocks is not None:
        return 0
    metric = catalogue().kernel(point.kernel).op(point.op).metrics[0].name
    return UPDATES_PER_WORD * point.size_bytes // _WORD_BYTES if metric == "gups" else 0


def least_iterations(point: Point) -> int:
    """Return of how many iterations a block is at least.

    Parameters
    ----------
    point : Point
        What is measured.

    Returns
    -------
    int
        64 of a kernel that times the simulation itself, for which the barriers around a block are work, too, that no
        rate counts: of 512 ranks they are 18 messages a rank. 1 of others.
    """
    return _LEAST_SIMULATED if catalogue().kernel(point.kernel).measures_simulation else 1


def block_count(points: Sequence[Point]) -> int:
    """Return how many blocks modelled points run.

    Parameters
    ----------
    points : sequence of Point
        Of a group, all in virtual time.

    Returns
    -------
    int
        What was asked for; else one, or as many as an interval takes where one was asked for or random streams make
        blocks differ.
    """
    budget = points[0].budget
    if budget.blocks is not None:
        return budget.blocks
    if runs_whole(points):
        several = points[0].seed > _FIRST_SEED
    else:
        random = any(_IMPAIRMENTS & point.options.keys() or prescribed_operations(point) for point in points)
        several = random or budget.ci is not None
    return statistics.FEWEST_BLOCKS if several else 1


def runs_whole(points: Sequence[Point]) -> bool:
    """Return whether every block of modelled points is a whole run of their program.

    Parameters
    ----------
    points : sequence of Point
        Of a group.

    Returns
    -------
    bool
        True where the kernel prescribes its work, all of it is in virtual time, and nobody asked for other blocks.
    """
    entry = catalogue()
    return all(
        point.budget.iterations is None
        and prescribed_operations(point) > 0
        and entry.conduit(point.conduit, entry.kernel(point.kernel)).kind == "modelled"
        for point in points
    )


def limit_s(points: Sequence[Point]) -> float:
    """Return the seconds that a group of points may take together.

    Parameters
    ----------
    points : sequence of Point
        The group: one point, or several that are compared.

    Returns
    -------
    float
        The time limit of a point, once for each.
    """
    return points[0].budget.max_time_s * len(points)


def _is_modelled(points: Sequence[Point]) -> bool:
    """Tell whether a group is there and all of it runs in virtual time."""
    entry = catalogue()
    kinds = [entry.conduit(point.conduit, entry.kernel(point.kernel)).kind for point in points]
    return bool(kinds) and all(kind == "modelled" for kind in kinds)


def is_bounded(points: Sequence[Point]) -> bool:
    """Tell whether prescribed work is all in virtual time, where one block may take minutes of this computer.

    Parameters
    ----------
    points : sequence of Point
        A group.

    Returns
    -------
    bool
        True if every point is modelled and has a prescribed number of operations.
    """
    return all(prescribed_operations(point) > 0 for point in points) and _is_modelled(points)


def is_limited(points: Sequence[Point]) -> bool:
    """Tell whether one block in virtual time may be long, since somebody prescribes its operations.

    Parameters
    ----------
    points : sequence of Point
        A group.

    Returns
    -------
    bool
        True if every point is modelled and its operations are prescribed by the kernel or by ``iterations``.
    """
    asked = all(point.budget.iterations is not None for point in points)
    return is_bounded(points) or (asked and _is_modelled(points))


def too_long(points: Sequence[Point], whole_s: Sequence[float]) -> UsageError:
    """Return the refusal of a group that does not end within its limit, with the time that it is known to take.

    Parameters
    ----------
    points : sequence of Point
        The group.
    whole_s : sequence of float
        Seconds that a whole run of each opened point takes, estimated; 0: unknown.

    Returns
    -------
    UsageError
        One line.
    """
    if not is_bounded(points):
        return refusal_of_long_blocks(points[0])
    known = len(whole_s) > 0 and all(seconds > 0 for seconds in whole_s)
    needed_s = max(sum(whole_s), limit_s(points))
    return refusal_of_a_long_run(points[0], needed_s / len(points), at_least=not known)


def refusal_of_a_long_run(point: Point, needed_s: float, *, at_least: bool = False) -> UsageError:
    """Return the error that refuses a whole run which does not end within its limit.

    Parameters
    ----------
    point : Point
        What would be measured.
    needed_s : float
        Seconds of this computer that one whole run takes, estimated.
    at_least : bool, default False
        Whether that is a lower bound.

    Returns
    -------
    UsageError
        One line with both times and the option.
    """
    limit_s = point.budget.max_time_s
    about, enough_s = ("more than", _FAR * needed_s) if at_least else ("about", _MARGIN * needed_s)
    return UsageError(
        f"{point.describe()}: a whole run ({UPDATES_PER_WORD} updates per word) takes {about}"
        f" {format_duration(needed_s)} of this computer, the time limit is {format_duration(limit_s)}; allowed:"
        f" --max-time {math.ceil(enough_s)}s or so, a smaller table, fewer ranks",
        point.describe(),
    )


class Shares:
    """CPU time of this process, shared evenly by the runs that are under way side by side.

    Parameters
    ----------
    clock : callable
        CPU seconds of all threads so far.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen = clock()
        self._used: dict[object, float] = {}

    def begin(self, run: object) -> None:
        """Count a run from now on.

        Parameters
        ----------
        run : object
            Stands for the run.
        """
        with self._lock:
            self._share()
            self._used[run] = 0.0

    def used(self, run: object) -> float:
        """Return what a run has used.

        Parameters
        ----------
        run : object
            Stands for the run.

        Returns
        -------
        float
            Seconds.
        """
        with self._lock:
            self._share()
            return self._used[run]

    def end(self, run: object) -> None:
        """Count a run no longer.

        Parameters
        ----------
        run : object
            Stands for the run.
        """
        with self._lock:
            self._share()
            del self._used[run]

    def _share(self) -> None:
        before, self._seen = self._seen, self._clock()
        for run in self._used:
            self._used[run] += (self._seen - before) / len(self._used)


_ALL = Shares(time.process_time)
_LOOK_S = 0.01


def refusal_of_long_blocks(point: Point) -> UsageError:
    """Return the error that refuses blocks of as many operations as were asked for which do not end within the limit.

    Parameters
    ----------
    point : Point
        What would be measured.

    Returns
    -------
    UsageError
        One line with the number, the limit and both options.
    """
    return UsageError(
        f"{point.describe()}: blocks of {point.budget.iterations} operations take more than the time limit of"
        f" {format_duration(point.budget.max_time_s)} of this computer; allowed: fewer --iterations, a longer"
        " --max-time",
        point.describe(),
    )


@contextmanager
def stopped_after(
    seconds: float, stops: Sequence[Callable[[], None]], refusal: Callable[[], UsageError],
    shares: Shares = _ALL,
) -> Iterator[None]:  # fmt: skip
    """End what sessions in virtual time have under way when their time is used up.

    Parameters
    ----------
    seconds : float
        CPU time of this computer: what other programs take does not count. Runs side by side share it evenly.
    stops : sequence of callable
        Called by another thread then; the sessions are of no further use. May grow meanwhile.
    refusal : callable
        Returns the error that is raised in the place of theirs, and where they ended by themselves just then: a request
        that came too late for a block would end the session's next command.
    shares : Shares
        What counts the time.
    """
    deciding, leaving = threading.Lock(), threading.Event()
    over, left = False, False
    cores = len(os.sched_getaffinity(0))
    run = object()
    shares.begin(run)

    def end() -> None:
        nonlocal over
        with deciding:
            if left:
                return
            over = True
            for stop in stops:
                stop()

    def watch() -> None:
        while (rest := seconds - shares.used(run)) > 0:
            # Sooner than that it cannot be used up.
            if leaving.wait(max(rest / cores, _LOOK_S)):
                return
        end()

    def leave() -> bool:
        nonlocal left
        with deciding:
            left = True
            return over

    watcher = threading.Thread(target=watch, name="time limit", daemon=True)
    watcher.start()
    try:
        yield
    except GasmeterError:
        if leave():
            raise refusal() from None
        raise
    else:
        if leave():
            raise refusal()
    finally:
        leave()
        leaving.set()
        watcher.join()
        shares.end(run)
