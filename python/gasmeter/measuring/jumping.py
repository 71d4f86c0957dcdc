"""What a jump of a curve over sizes is, and where to look next for the bytes between which it lies."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gasmeter.measuring.probe import same_state
from gasmeter.sweeps.curves import FEWEST_SIZES

__all__ = ["Found", "Sample", "Search", "raised_grain", "search"]

_MOST_OF_IT = 0.75
_NEAREST = 2


@dataclass(frozen=True)
class Sample:
    """A size of a curve.

    Attributes
    ----------
    size : int
        Bytes.
    time : float
        What an operation takes there; only ratios of times are looked at, so that any unit will do.
    low, high : float
        Its 95 % interval; where there is none (virtual time repeats itself) the time.
    state_ns : float
        State of the host; NaN where that is not known.
    """

    size: int
    time: float
    low: float
    high: float
    state_ns: float = math.nan


@dataclass(frozen=True)
class Found:
    """Two sizes that hold a jump.

    Attributes
    ----------
    before, after : Sample
        On either side.
    left : str
        Why they are no neighbours; empty if they are.
    """

    before: Sample
    after: Sample
    left: str = ""


@dataclass
class Search:
    """How far the search for the jumps of a curve is.

    Attributes
    ----------
    found : list of Found
        What has come to an end.
    wanted : list of tuple
        Sizes to be measured next, each with the samples that it lies between.
    undecided : list of tuple
        Samples whose 95 % intervals are so wide that a jump between them is neither borne out nor ruled out.
    """

    found: list[Found] = field(default_factory=list)
    wanted: list[tuple[int, Sample, Sample]] = field(default_factory=list)
    undecided: list[tuple[Sample, Sample]] = field(default_factory=list)


@dataclass(frozen=True)
class _Slope:
    """What a curve rises by a byte, and how far its intervals leave that open."""

    value: float
    open: float


@dataclass(frozen=True)
class _Trend:
    """The slopes between which an interval has no jump."""

    least: float
    most: float
    open: float


def search(
    curve: Mapping[int, Sample], asked: Sequence[int], share: float, *, grain: int = 1, tried: Collection[int] = ()
) -> Search:
    """Return where a curve jumps, as far as its points say, and what to measure to know more.

    **What a jump is.** A curve is looked at as time over size, which grows by so much a byte; of bandwidths and rates
    that is the time of an operation. Between two neighbouring sizes it may rise by what the curve rises elsewhere: by
    the width of the interval times a slope between those of two other intervals, one on either side. Of the two nearest
    on each side those two count that agree best, so that a jump next door is no trend; at an end of the curve, which
    has one side, the slopes of the two nearest, and what these extrapolate to. What is left of the step beyond that
    range, up or down, is a jump if it is more than `share` of the time at the smaller size, and if it is also left with
    the 95 % intervals of both sizes (as near as they may be to each other) and of the surer slope, and the host was in
    the same state at both. A curve whose slope grows or falls steadily, and one that has a bend, has no jump; one that
    bends beyond its last point but one may take some points more and comes to none.

    **Where it is.** The interval is halved, with the same slopes, and a half is halved again if it holds a jump by the
    same rule or three quarters of what the whole held; that may be both. Where neither does, the curve rises there in
    many steps and has no jump. The end are two sizes with none between them; only there it is called a jump, if it is
    one by the same rule.

    **What stays undecided.** Where no jump is borne out, but the 95 % intervals, as far from each other as they may be,
    would leave room for one, it is neither found nor ruled out; no more points are spent on it.

    Parameters
    ----------
    curve : mapping of int to Sample
        Points that can be relied on, by size.
    asked : sequence of int
        Sizes that were asked for: what the slopes are taken from, and where the search begins.
    share : float
        What counts as a jump, 0.2 for 20 %.
    grain : int, default 1
        Sizes between those asked for are multiples of so many bytes.
    tried : collection of int, optional
        Sizes that have been measured; those that are no point of the curve cannot be relied on.

    Returns
    -------
    Search
        What was found and what is wanted, in the order of size.
    """
    points = [curve[size] for size in sorted(set(asked)) if size in curve]
    result = Search()
    if len(points) < FEWEST_SIZES:
        return result
    for place, (before, after) in enumerate(pairwise(points)):
        trend = _trend(points, place)
        beyond = _beyond(before, after, trend)
        if abs(beyond) > share * before.time:
            _Halving(curve, share, grain, tried, trend, result).enter(before, after, beyond)
        elif _perhaps(before, after, trend, share):
            result.undecided.append((before, after))
    return result


def raised_grain(grain: int, refused: Collection[int], taken: Collection[int]) -> int:
    """Return what sizes must be multiples of, after a kernel has refused some.

    Parameters
    ----------
    grain : int
        What was thought before, 1 or more: the last of `refused` is a multiple of it.
    refused : collection of int
        Sizes that the kernel did not take, the newest last.
    taken : collection of int
        Those that it did.

    Returns
    -------
    int
        The least step that all of `taken` have in common and none of `refused` has: never more than the kernel's own,
        so that no size it takes is passed over. Where there is none (a kernel of powers of two), a multiple of `grain`
        with a factor of two more than the newest of `refused`.
    """
    common = math.gcd(*taken)
    if step := next((step for step in _divisors(common) if all(size % step for size in refused)), 0):
        return step
    newest = list(refused)[-1]
    return math.lcm(grain, 2 * (newest & -newest))


def _divisors(number: int) -> list[int]:
    """Return what divides a number, ascending; nothing of 0."""
    low = [step for step in range(1, math.isqrt(number) + 1) if number % step == 0]
    return low + [number // step for step in reversed(low) if step * step != number]


@dataclass(frozen=True)
class _Halving:
    """The search in one interval."""

    curve: Mapping[int, Sample]
    share: float
    grain: int
    tried: Collection[int]
    trend: _Trend
    result: Search

    def enter(self, before: Sample, after: Sample, beyond: float) -> None:
        middle = _middle(before.size, after.size, self.grain)
        if not same_state(before.state_ns, after.state_ns):
            self.result.found.append(Found(before, after, "the host was in another state"))
        elif middle is None:
            if abs(beyond) > self.share * before.time:
                self.result.found.append(Found(before, after))
            elif _perhaps(before, after, self.trend, self.share):
                self.result.undecided.append((before, after))
        elif (between := self.curve.get(middle)) is None:
            if middle in self.tried:
                self.result.found.append(Found(before, after, f"what was measured at {middle} B cannot be relied on"))
            else:
                self.result.wanted.append((middle, before, after))
        else:
            self._halve(before, between, after, beyond)

    def _halve(self, before: Sample, between: Sample, after: Sample, beyond: float) -> None:
        halves = [(low, high, _beyond(low, high, self.trend)) for low, high in ((before, between), (between, after))]
        most = _MOST_OF_IT * beyond
        kept = [
            (low, high, held) for low, high, held in halves if abs(held) > self.share * low.time or held / most >= 1
        ]
        for low, high, held in kept:
            self.enter(low, high, held)
        if not kept:
            unsure = [(low, high) for low, high, _ in halves if _perhaps(low, high, self.trend, self.share)]
            self.result.undecided.extend(unsure)


def _middle(low: int, high: int, grain: int) -> int | None:
    """Return the multiple of `grain` nearest to the middle of two sizes; None if none lies between them."""
    below = (low + high) // 2 // grain * grain
    return next((size for size in (below, below + grain) if low < size < high), None)


def _slope(before: Sample, after: Sample) -> _Slope:
    width = after.size - before.size
    left_open = (after.high - after.low + before.high - before.low) / 2
    return _Slope((after.time - before.time) / width, left_open / width)


def _trend(points: Sequence[Sample], place: int) -> _Trend:
    """Return the slopes that an interval may have by its neighbours."""
    slopes = [_slope(before, after) for before, after in pairwise(points)]
    left, right = slopes[max(0, place - _NEAREST) : place][::-1], slopes[place + 1 : place + 1 + _NEAREST]
    if left and right:
        pairs = ((a, b) for a in left for b in right)
        return _between(min(pairs, key=lambda pair: abs(pair[0].value - pair[1].value)))
    nearest = left or right
    if len(nearest) < _NEAREST:
        return _between(nearest)
    first, second = nearest
    evenly = 2 * first.value - second.value
    # Or by the same ratio again, if that is no more than the ratio of the widths.
    widths = sorted(points[at + 1].size - points[at].size for at in (place, place + 1 if right else place - 1))
    ratio = min(max(first.value / second.value, 0.0), widths[1] / widths[0]) if second.value else 0.0
    on = [evenly, first.value * ratio] if ratio else [evenly]
    return _between([first, second, *(_Slope(value, first.open) for value in on)])


def _between(slopes: Sequence[_Slope]) -> _Trend:
    values = [slope.value for slope in slopes]
    return _Trend(min(values), max(values), min(slope.open for slope in slopes))


def _beyond(before: Sample, after: Sample, trend: _Trend) -> float:
    """Return what is left of a step beyond what a trend explains; 0 where intervals do not bear it out."""
    width = after.size - before.size
    step, least, most = after.time - before.time, trend.least * width, trend.most * width
    if step > most:
        return step - most if after.low - before.high > most + trend.open * width else 0.0
    if step < least:
        return step - least if after.high - before.low < least - trend.open * width else 0.0
    return 0.0


def _perhaps(before: Sample, after: Sample, trend: _Trend, share: float) -> bool:
    """Return whether intervals leave room for a jump; never where times repeat themselves."""
    width, least = after.size - before.size, share * before.time
    up = after.high - before.low - (trend.most - trend.open) * width
    down = (trend.least + trend.open) * width - (after.low - before.high)
    return max(up, down) > least
