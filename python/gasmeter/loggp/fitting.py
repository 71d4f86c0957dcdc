"""L, o_s, o_r, g and G of each protocol segment, with 95 % intervals, and notes on unidentified ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gasmeter.errors import UsageError
from gasmeter.loggp.curves import METRICS, Curves, Values
from gasmeter.loggp.segments import FEWEST, find_segments
from gasmeter.statistics import CONFIDENCE

__all__ = ["PARAMETERS", "LogGP", "Parameter", "Segment", "fit_curves"]

PARAMETERS = {"L": "ns", "o_s": "ns", "o_r": "ns", "g": "ns", "G": "ns/B"}
"""Names in the order of reports, with their units."""
_HIDDEN = 1.05
"""A gap within 5 % of an overhead cannot be distinguished from it."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of the model.

    Attributes
    ----------
    value : float
        Value in the unit of `PARAMETERS`; NaN if it cannot be identified.
    low, high : float
        Ends of the 95 % interval; NaN without one. Without a value, `high` may be a bound.
    note : str
        Why it cannot be identified, or another remark; may be empty.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    note: str = ""

    @property
    def identified(self) -> bool:
        """Whether there is a value."""
        return math.isfinite(self.value)


@dataclass(frozen=True)
class Segment:
    """Sizes that one protocol carries."""

    first: int  # smallest measured payload, B
    last: int  # largest measured payload, B
    parameters: dict[str, Parameter]  # by the names of `PARAMETERS`
    # Offset in ns and slope in ns/B of ``half_trip``, ``gap``, ``send_overhead``, ``receive_overhead``
    curves: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class LogGP:
    """The model of one line of points.

    Attributes
    ----------
    curves : Curves
        Input of the fit.
    segments : tuple of Segment
        Segments by size; the model's parameters are those of the first one.
    """

    curves: Curves
    segments: tuple[Segment, ...]

    def __repr__(self) -> str:
        """Return the conduit of the model and its parameters in one line."""
        values = [
            f"{name} {parameter.value:.4g} {PARAMETERS[name]}"
            for name, parameter in self.parameters.items()
            if parameter.identified
        ]
        missing = [f"{name} not identified" for name, parameter in self.parameters.items() if not parameter.identified]
        return f"<LogGP {self.curves.title} ({self.curves.kind}): {', '.join([*values, *missing])}>"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """L, o_s, o_r, g and G of the smallest messages' protocol."""
        return self.segments[0].parameters

    @property
    def notes(self) -> list[str]:
        """Number of unchecked rows, then unidentified parameters with reasons, segment by segment."""
        unchecked, rows = self.curves.unchecked, len(METRICS) * self.curves.sizes.size
        lines = [f"{unchecked} of {rows} rows were not checked: their data may be wrong"] if unchecked else []
        for segment in self.segments:
            where = f"{segment.first} to {segment.last} B: " if len(self.segments) > 1 else ""
            lines += [
                f"{where}{name}: {parameter.note}" for name, parameter in segment.parameters.items() if parameter.note
            ]
        return lines


def fit_curves(curves: Curves, *, draws: int = 1000, seed: int = 1) -> LogGP:
    """Fit the LogGP model to a line of points; parameters that cannot be identified are NaN, with a note.

    A message of s bytes takes ``o_s + L + G s + o_r`` from call to handler, and ``g + G s`` after the one before it
    (Alexandrov et al., 1995). Bytes are payload and counted from 0: headers count to L and g. Each segment gets
    straight lines by weighted least squares to half the round trip, the gap and either overhead. o_s and o_r are the
    offsets of the overheads, L is the rest of the offset of half a round trip. g and G are offset and slope of the gap
    at sizes where it is longer than both overheads. Intervals are percentiles of the same fit to resampled blocks;
    `seed` repeats them. Raises UsageError for fewer than 100 draws.
    """
    if draws < 100:
        raise UsageError(f"draws={draws}; allowed: 100 or more", str(draws))
    medians = curves.medians()
    drawn = curves.resampled(draws, seed)
    errors = curves.errors(drawn)
    # Resampled medians scatter around the medians, as widely as correlated blocks require.
    drawn = medians + (drawn - medians) * curves.inflation()
    half = medians[0] / 2
    segments = []
    for begin, end in find_segments(curves.sizes, half, errors[0] / 2):
        place = slice(begin, end)
        segments.append(_segment(curves.sizes[place], medians[:, place], drawn[:, :, place], errors[:, place]))
    return LogGP(curves, tuple(segments))


def _line(sizes: Values, times: Values, errors: Values) -> tuple[Values, Values]:
    """Return offsets and slopes of weighted straight lines; `times` may have any shape (…, n)."""
    weight = 1.0 / np.maximum(errors, 1e-4 * np.abs(np.median(times)) + 1e-9) ** 2
    total = weight.sum()
    middle = (weight * sizes).sum() / total
    apart = sizes - middle
    slope = (times * (weight * apart)).sum(axis=-1) / (weight * apart * apart).sum()
    return (times * weight).sum(axis=-1) / total - slope * middle, slope


def _interval(value: float, draws: Values, note: str = "") -> Parameter:
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Parameter(value, float(min(low, value)), float(max(high, value)), note)


def _segment(sizes: Values, medians: Values, drawn: Values, errors: Values) -> Segment:
    first, last = int(sizes[0]), int(sizes[-1])
    if sizes.size < 2:
        return _single(first, medians, drawn)
    half = _line(sizes, medians[0] / 2, errors[0] / 2)
    send, receive = (_line(sizes, medians[row], errors[row]) for row in (2, 3))
    half_draws = _line(sizes, drawn[:, 0] / 2, errors[0] / 2)
    send_draws, receive_draws = (_line(sizes, drawn[:, row], errors[row]) for row in (2, 3))
    few = f"from {sizes.size} sizes: a straight line cannot be told from another curve" if sizes.size < FEWEST else ""
    parameters = {
        "L": _interval(float(half[0] - send[0] - receive[0]), half_draws[0] - send_draws[0] - receive_draws[0], few),
        "o_s": _positive("o_s", float(send[0]), send_draws[0]),
        "o_r": _positive("o_r", float(receive[0]), receive_draws[0]),
    }
    latency = parameters["L"]
    if latency.value <= 0:
        parameters["L"] = Parameter(
            math.nan, note="the overheads take the whole of half a round trip; L is hidden in them"
        )
    elif latency.low <= 0:
        parameters["L"] = Parameter(latency.value, latency.low, latency.high, "not told from 0")
    parameters["g"], parameters["G"], gap = _gap(sizes, medians, drawn, errors)
    if not parameters["G"].identified:
        slope = half[1] - send[1] - receive[1]
        slopes = half_draws[1] - send_draws[1] - receive_draws[1]
        # Rounding of equal times is no slope.
        if slope * sizes[-1] > 1e-6 * medians[0, 0]:
            note = "slope of half a round trip less the overheads': gaps do not show it"
            parameters["G"] = _interval(float(slope), slopes, note)
    lines = {"half_trip": half, "send_overhead": send, "receive_overhead": receive}
    curves = {name: (float(offset), float(rise)) for name, (offset, rise) in lines.items()}
    if gap is not None:
        curves["gap"] = gap
    return Segment(first, last, {name: parameters[name] for name in PARAMETERS}, curves)


def _positive(name: str, value: float, draws: Values) -> Parameter:
    if value <= 0:
        return Parameter(math.nan, high=float(max(0.0, np.quantile(draws, (1 + CONFIDENCE) / 2))),
                         note=f"{name} is below what the clock tells")  # fmt: skip
    return _interval(float(value), draws)


def _gap(
    sizes: Values, medians: Values, drawn: Values, errors: Values
) -> tuple[Parameter, Parameter, tuple[float, float] | None]:
    """Return g and G from the gaps that exceed both overheads, and the line through them."""
    shown = medians[1] > _HIDDEN * np.maximum(medians[2], medians[3])
    bound = float(np.quantile(drawn[:, 1, 0], (1 + CONFIDENCE) / 2))
    if shown.sum() < FEWEST:
        note = "messages follow one another as fast as the ranks send or receive them: g is at most their overhead"
        return Parameter(math.nan, high=bound, note=note), Parameter(math.nan, note="not shown by the gaps"), None
    line = _line(sizes[shown], medians[1, shown], errors[1, shown])
    offsets, slopes = _line(sizes[shown], drawn[:, 1][:, shown], errors[1, shown])
    g = _interval(float(line[0]), offsets)
    if g.value <= 0:
        g = Parameter(math.nan, high=bound, note="the gap's offset is not above 0: bytes alone set the pace")
    elif not shown[0]:
        g = Parameter(g.value, g.low, g.high, f"from {int(sizes[shown][0])} B on; below, the overheads set the pace")
    big = _interval(float(line[1]), slopes)
    if big.value <= 0:
        big = Parameter(math.nan, high=max(0.0, big.high), note="gaps do not grow with the size")
    return g, big, (float(line[0]), float(line[1]))


def _single(size: int, medians: Values, drawn: Values) -> Segment:
    """Return the overheads of a single size, without parameters that need a slope."""
    note = "one size only: bytes cannot be told from messages; measure several (--sizes 8:4K)"
    parameters = {name: Parameter(math.nan, note=note) for name in PARAMETERS}
    parameters["o_s"] = _positive("o_s", float(medians[2, 0]), drawn[:, 2, 0])
    parameters["o_r"] = _positive("o_r", float(medians[3, 0]), drawn[:, 3, 0])
    parameters["g"] = Parameter(math.nan, high=float(np.quantile(drawn[:, 1, 0], (1 + CONFIDENCE) / 2)), note=note)
    return Segment(size, size, parameters)
