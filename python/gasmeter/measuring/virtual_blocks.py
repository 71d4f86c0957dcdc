"""Blocks of points in virtual time: their number, and the limit on this computer's time.

Virtual time repeats itself, so that one block is enough. With random streams blocks differ, and several give an
interval: datagrams that are lost, doubled or delayed by plan, and RandomAccess, in which every block is a whole run
with its own seed. Seed 1 is the stream of HPC Challenge from its start: there is one run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gasmeter import statistics
from gasmeter.errors import UsageError
from gasmeter.sweeps.point import Point
from gasmeter.units import format_duration

__all__ = [
    "UPDATES_PER_WORD",
    "block_count",
    "is_bounded",
    "is_limited",
    "least_iterations",
    "limit_s",
    "prescribed_operations",
    "refusal_of_a_long_run",
    "refusal_of_long_blocks",
    "runs_whole",
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
    """Return the total operations that a kernel prescribes: RandomAccess four per table word, others 0 (unlimited).

    The result is 0, too, if the budget prescribes the number of blocks.
    """
    if point.budget.blocks is not None:
        return 0
    metric = point.declared_op.metrics[0].name
    return UPDATES_PER_WORD * point.size_bytes // _WORD_BYTES if metric == "gups" else 0


def least_iterations(point: Point) -> int:
    """Return the least iterations of a block: 64 for a kernel that times the simulation itself, else 1.

    Barriers around a block are work that no rate counts: with 512 ranks 18 messages a rank. In a block of 64
    operations their share is small.
    """
    return _LEAST_SIMULATED if point.declared_kernel.measures_simulation else 1


def block_count(points: Sequence[Point]) -> int:
    """Return the number of blocks of modelled points: the requested one, else 1 or `statistics.FEWEST_BLOCKS`, 6.

    Six blocks give an interval, if one is requested or random streams make blocks differ. Of whole runs the seed alone
    decides: they differ with a seed above 1.
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
    """Tell whether each block is a whole run: prescribed work, virtual time alone, and no other blocks requested."""
    return all(
        point.budget.iterations is None and prescribed_operations(point) > 0 and point.modelled for point in points
    )


def limit_s(points: Sequence[Point]) -> float:
    """Return the seconds that a group may take: the time limit of a point, once for each point."""
    return points[0].budget.max_time_s * len(points)


def _is_modelled(points: Sequence[Point]) -> bool:
    """Tell whether a group is not empty and runs wholly in virtual time."""
    return len(points) > 0 and all(point.modelled for point in points)


def is_bounded(points: Sequence[Point]) -> bool:
    """Tell whether all points are modelled with prescribed work, so that a block may take minutes of this computer."""
    return all(prescribed_operations(point) > 0 for point in points) and _is_modelled(points)


def is_limited(points: Sequence[Point]) -> bool:
    """Tell whether all points are modelled with operations prescribed by the kernel or by ``iterations``."""
    asked = all(point.budget.iterations is not None for point in points)
    return is_bounded(points) or (asked and _is_modelled(points))


def too_long(points: Sequence[Point], whole_s: Sequence[float]) -> UsageError:
    """Return the UsageError for a group beyond its limit; `whole_s` estimates a whole run in s, 0 unknown."""
    if not is_bounded(points):
        return refusal_of_long_blocks(points[0])
    is_estimated = len(whole_s) > 0 and all(seconds > 0 for seconds in whole_s)
    needed_s = max(sum(whole_s), limit_s(points))
    return refusal_of_a_long_run(points[0], needed_s / len(points), at_least=not is_estimated)


def refusal_of_a_long_run(point: Point, needed_s: float, *, at_least: bool = False) -> UsageError:
    """Return the UsageError for a whole run that exceeds its limit, with both times and the option.

    `needed_s` is an estimate in seconds of this computer, or a lower bound if `at_least`.
    """
    limit_s = point.budget.max_time_s
    about, enough_s = ("more than", _FAR * needed_s) if at_least else ("about", _MARGIN * needed_s)
    return UsageError(
        f"{point.describe()}: a whole run ({UPDATES_PER_WORD} updates per word) takes {about}"
        f" {format_duration(needed_s)} of this computer, the time limit is {format_duration(limit_s)}; allowed:"
        f" --max-time {math.ceil(enough_s)}s or so, a smaller table, fewer ranks",
        point.describe(),
    )


def refusal_of_long_blocks(point: Point) -> UsageError:
    """Return the UsageError for requested blocks that exceed the limit: the number, the limit and both options."""
    return UsageError(
        f"{point.describe()}: blocks of {point.budget.iterations} operations take more than the time limit of"
        f" {format_duration(point.budget.max_time_s)} of this computer; allowed: fewer --iterations, a longer"
        " --max-time",
        point.describe(),
    )
