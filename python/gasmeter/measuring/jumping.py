"""Definition of a jump in a curve over sizes, and the sizes to measure next to locate it."""

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
    """A size of a curve."""

    size: int  # bytes
    time: float  # time of an operation in any unit; only ratios count
    low: float  # 95 % interval of the time, down to `high`; the time itself in virtual time
    high: float
    state_ns: float = math.nan  # state of the host; NaN if unknown


@dataclass(frozen=True)
class Found:
    """Two sizes that hold a jump."""

    before: Sample
    after: Sample
    left: str = ""  # why the sizes are no neighbours; empty if they are


@dataclass
class Search:
    """Progress of the search for the jumps of a curve."""

    found: list[Found] = field(default_factory=list)  # finished jumps
    # Sizes to measure next, each with the samples on either side
    wanted: list[tuple[int, Sample, Sample]] = field(default_factory=list)
    # Samples whose 95 % intervals are too wide to confirm or exclude a jump between them
    undecided: list[tuple[Sample, Sample]] = field(default_factory=list)


@dataclass(frozen=True)
class _Slope:
    """Rise of a curve per byte, and its uncertainty from the 95 % intervals."""

    value: float
    open: float


@dataclass(frozen=True)
class _Trend:
    """Range of slopes within which two neighbouring sizes have no jump between them."""

    least: float
    most: float
    open: float


def search(
    curve: Mapping[int, Sample], asked: Sequence[int], share: float, *, grain: int = 1, tried: Collection[int] = ()
) -> Search:
    """Return the jumps of a curve as far as its points show them, and the sizes to measure next, in ascending order.

    **A jump.** The search looks at time over size; for bandwidths and rates that is the time of an operation. Between
    neighbouring sizes (a stretch) the time may rise as it does elsewhere: by the width of the stretch times a slope
    between those of two other stretches, one on either side. Among the two nearest stretches on each side, the two
    count that agree best, so that a jump next door is no trend. At an end of the curve the slopes of the two nearest
    stretches count, and their extrapolation. The rest of the step beyond that range, up or down, is a jump if it
    exceeds `share` of the time at the smaller size. It must also exceed the 95 % intervals of both sizes and of the
    surer slope, and the host's state must be the same at both sizes. A curve whose slope changes steadily, and a curve
    with a bend, has no jump. A bend between the last two points may cause some extra points, but is no jump either.

    **Its place.** The search halves the stretch with the same slopes. It goes on in a half (or both) that holds a jump
    by the same rule, or three quarters of the whole jump. If neither half does, the curve rises in many steps and has
    no jump. The search ends at two sizes with none between them, which must hold a jump by the same rule.

    **Undecided.** If no jump is confirmed but the 95 % intervals leave room for one, it counts as undecided and costs
    no more points.

    `asked` sizes give the slopes. Added sizes are multiples of `grain` bytes. Sizes in `tried` that are no point of the
    curve cannot be relied on.
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
    """Return the step that sizes must be multiples of, after a kernel refused some.

    The result is the smallest number that divides every `taken` size and no `refused` size. The kernel's own step is
    such a number, so that the result is at most that step. If there is none (a kernel of powers of two), return a
    multiple of `grain` with one factor of two more than the newest refused size.
    """
    common = math.gcd(*taken)
    if step := next((step for step in _divisors(common) if all(size % step for size in refused)), 0):
        return step
    newest = list(refused)[-1]
    return math.lcm(grain, 2 * (newest & -newest))


def _divisors(number: int) -> list[int]:
    """Return the divisors of a number, ascending; none for 0."""
    low = [step for step in range(1, math.isqrt(number) + 1) if number % step == 0]
    return low + [number // step for step in reversed(low) if step * step != number]


@dataclass(frozen=True)
class _Halving:
    """The search between two sizes."""

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
    """Return the slopes that a stretch between two sizes may have by its neighbours."""
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
    # A slope may also grow by the same ratio again, if that ratio is at most the ratio of the widths.
    widths = sorted(points[at + 1].size - points[at].size for at in (place, place + 1 if right else place - 1))
    ratio = min(max(first.value / second.value, 0.0), widths[1] / widths[0]) if second.value else 0.0
    on = [evenly, first.value * ratio] if ratio else [evenly]
    return _between([first, second, *(_Slope(value, first.open) for value in on)])


def _between(slopes: Sequence[_Slope]) -> _Trend:
    values = [slope.value for slope in slopes]
    return _Trend(min(values), max(values), min(slope.open for slope in slopes))


def _beyond(before: Sample, after: Sample, trend: _Trend) -> float:
    """Return the part of a step that no trend explains; 0 if the 95 % intervals do not confirm it."""
    width = after.size - before.size
    step, least, most = after.time - before.time, trend.least * width, trend.most * width
    if step > most:
        return step - most if after.low - before.high > most + trend.open * width else 0.0
    if step < least:
        return step - least if after.high - before.low < least - trend.open * width else 0.0
    return 0.0


def _perhaps(before: Sample, after: Sample, trend: _Trend, share: float) -> bool:
    """Tell whether the 95 % intervals leave room for a jump; never if times repeat exactly."""
    width, least = after.size - before.size, share * before.time
    up = after.high - before.low - (trend.most - trend.open) * width
    down = (trend.least + trend.open) * width - (after.low - before.high)
    return max(up, down) > least
