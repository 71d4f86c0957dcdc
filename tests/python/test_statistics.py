import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gasmeter.measuring.overhead import overhead, overhead_interval
from gasmeter.statistics import (
    effective_size,
    lag1_autocorrelation,
    median_interval,
    paired_difference,
    paired_ratio,
    precise_enough,
    summarise,
)

finite = st.floats(1e-3, 1e6, allow_nan=False)


def autoregression(rng, n, rho):
    """A stationary first-order autoregression with unit innovations."""
    values = np.empty(n)
    values[0] = rng.normal() / math.sqrt(1 - rho * rho)
    for index in range(1, n):
        values[index] = rho * values[index - 1] + rng.normal()
    return values


def skewed(rng, n):
    return rng.exponential(size=n)


def heavy(rng, n):
    return rng.standard_cauchy(size=n)


@pytest.mark.parametrize("n", [6, 9, 20, 75])
@pytest.mark.parametrize(
    ("draw", "median"), [(skewed, math.log(2)), (heavy, 0.0), (lambda rng, n: rng.normal(size=n), 0.0)]
)
def test_the_interval_covers_the_median_whatever_the_distribution(draw, median, n):
    rng = np.random.default_rng(n)
    runs = 800
    missed = sum(median_interval(draw(rng, n)).excludes(median) for _ in range(runs))
    # 5 % of 800 with four standard deviations of the count.
    assert missed <= 0.05 * runs + 4 * math.sqrt(runs * 0.05 * 0.95)


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.8])
def test_the_interval_covers_the_median_of_correlated_blocks(rho):
    rng = np.random.default_rng(7)
    runs = 500
    missed = sum(median_interval(autoregression(rng, 100, rho)).excludes(0.0) for _ in range(runs))
    assert missed <= 0.05 * runs + 4 * math.sqrt(runs * 0.05 * 0.95)


@pytest.mark.parametrize("n", [6, 12, 40, 150])
def test_comparing_a_thing_with_itself_raises_fewer_than_five_percent_alarms(n):
    # The machine drifts under both; only the pairing makes them comparable.
    rng = np.random.default_rng(n)
    runs = 600
    alarms = 0
    for _ in range(runs):
        drift = np.exp(0.1 * autoregression(rng, n, 0.95))
        first, second = (drift * np.exp(0.02 * rng.normal(size=n)) for _ in range(2))
        alarms += overhead_interval(first, second).excludes(0.0)
    assert alarms < 0.05 * runs + 3 * math.sqrt(runs * 0.05 * 0.95)


def test_a_difference_of_four_percent_is_seen_under_drift_of_ten():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(50):
        drift = np.exp(0.1 * autoregression(rng, 60, 0.95))
        slow, fast = (factor * drift * np.exp(0.02 * rng.normal(size=60)) for factor in (1.04, 1.0))
        interval = overhead_interval(slow, fast)
        seen += interval.low > 0
    assert seen >= 48


@given(arrays(float, st.integers(6, 40), elements=finite))
def test_the_interval_holds_the_median_and_lies_within_the_values(values):
    interval = median_interval(values)
    assert values.min() <= interval.low <= interval.median <= interval.high <= values.max()
    assert interval.n == values.size


@given(arrays(float, st.integers(6, 40), elements=finite), st.floats(0.1, 10))
def test_the_interval_scales_with_its_values(values, factor):
    plain, scaled = median_interval(values), median_interval(values * factor)
    assert scaled.low == pytest.approx(plain.low * factor)
    assert scaled.high == pytest.approx(plain.high * factor)


@given(arrays(float, st.integers(0, 5), elements=finite))
def test_fewer_than_six_blocks_have_no_interval(values):
    interval = median_interval(values)
    assert math.isnan(interval.low)
    assert not interval.excludes(0.0)
    assert interval.half_width == math.inf
    assert not precise_enough(interval, 1.0)


@given(arrays(float, st.integers(4, 60), elements=finite))
def test_correlation_stays_in_its_bounds_and_never_adds_blocks(values):
    assert 0.0 <= lag1_autocorrelation(values) <= 0.95
    assert effective_size(values) <= values.size


@pytest.mark.parametrize("missing", [1, 40])
def test_blocks_without_a_value_give_a_summary_without_one(missing):
    summary = summarise([math.nan] * missing + [1.0] * (40 - missing))
    assert math.isnan(summary.interval.median)
    assert math.isnan(summary.interval.low)
    assert math.isnan(summary.p50)


def test_correlated_blocks_count_for_less():
    rng = np.random.default_rng(5)
    drifting = autoregression(rng, 200, 0.9)
    independent = rng.normal(size=200)
    assert effective_size(drifting) < 40
    assert effective_size(independent) > 120


@settings(max_examples=30)
@given(arrays(float, 12, elements=finite), st.floats(0.5, 2.0))
def test_a_constant_ratio_is_found_exactly(reference, ratio):
    ratio_found = paired_ratio(reference * ratio, reference)
    assert ratio_found.median == pytest.approx(ratio)
    assert ratio_found.low == pytest.approx(ratio)
    assert ratio_found.high == pytest.approx(ratio)


def test_differences_are_paired():
    reference = np.arange(10.0)
    assert paired_difference(reference + 0.25, reference).median == 0.25


def test_identical_blocks_are_precise():
    interval = median_interval([5.0] * 8)
    assert interval.half_width == 0.0
    assert precise_enough(interval, 0.001)


def test_overhead_is_the_excess_over_the_reference():
    assert overhead(112.0, 100.0) == pytest.approx(0.12)
    assert overhead(90.0, 100.0) == pytest.approx(-0.1)


def test_a_summary_holds_minimum_and_percentiles():
    summary = summarise(np.arange(1.0, 101.0))
    assert summary.minimum == 1.0
    assert summary.p50 == pytest.approx(50.5)
    assert summary.p99 == pytest.approx(99.01)
    assert math.isnan(summarise([]).p50)
