"""Statistics of the guard: equal builds raise few alarms, planted differences are found, histories tell their steps."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gasmeter.guard.bootstrap import block_length, bootstrap_ratio
from gasmeter.guard.changes import find_changes
from gasmeter.guard.comparing import compare_paired, compare_starts, correct

NOISE = 0.015
"""Scatter of process starts beside which 4 % have to be found; as shares, on logarithms."""


def starts(rng, n=10, factor=1.0, noise=NOISE, stray=0.0):
    values = 200 * factor * np.exp(noise * rng.normal(size=n))
    return np.where(rng.random(n) < stray, 1.4 * values, values)


def heavy(rng, n=10):
    return 200 * np.exp(NOISE / 1.7 * rng.standard_t(3, size=n))


def alarms(checks, figures, draw, seed):
    """Checks of equal builds, each of several figures, that say of any figure that it changed."""
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(checks):
        together = correct([compare_starts(draw(rng), draw(rng)) for _ in range(figures)])
        count += any(entry.verdict in {"slower", "faster"} for entry in together)
    return count


def test_equal_builds_raise_alarms_in_fewer_than_five_percent_of_checks():
    assert alarms(60, 5, starts, seed=1) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("figures", [1, 22, 50])
@pytest.mark.parametrize("draw", [starts, heavy, lambda rng: starts(rng, stray=0.1)])
def test_a_thousand_checks_of_equal_builds_raise_fewer_than_fifty_alarms(figures, draw):
    # About one seed in a hundred raises more than ten alarms in 200 checks; five are usual.
    assert alarms(1000, figures, draw, seed=figures) < 50


@pytest.mark.parametrize("drift", [0.0, 0.1])
def test_a_planted_four_percent_is_found_in_alternating_starts_whatever_the_drift(drift):
    rng = np.random.default_rng(2)
    count = 0
    for _ in range(60):
        level = np.exp(drift * np.cumsum(rng.normal(size=10)) / 3)
        comparison = compare_paired(level * starts(rng), level * starts(rng, factor=1.04))
        count += comparison.verdict == "slower"
    assert count >= 57


@pytest.mark.slow
@pytest.mark.parametrize("figures", [1, 22])
def test_a_planted_four_percent_is_found_among_many_figures(figures):
    rng = np.random.default_rng(3)
    count = 0
    for _ in range(200):
        pairs = [(starts(rng, 12), starts(rng, 12, 1.04 if i == 0 else 1.0)) for i in range(figures)]
        together = correct([compare_starts(*pair) for pair in pairs])
        count += together[0].verdict == "slower"
    assert count >= 190


# ---- process starts that were recorded, drawn again


RECORDED = json.loads((Path(__file__).parents[1] / "data" / "process_starts.json").read_text())["figures"]
"""One build alternated with itself on a machine that was busy with other things: whatever differs is the machine's."""
ALARMS = {"slower", "faster"}


def drawn(rng, figure, n, factor=1.0):
    """Starts of two builds, the second slower by a factor: drawn from all that were recorded, none twice."""
    both = np.array(figure["a"] + figure["b"])
    slower = 1 / factor if figure["more_is_better"] else factor
    places = rng.permutation(both.size)[: 2 * n]
    return both[places[:n]], both[places[n:]] * slower


def drawn_partners(rng, figure, n, factor=1.0):
    """The same of builds that ran beside each other; which of two partners is the first is chance, too."""
    ratios = np.array(figure["partners"])[rng.permutation(len(figure["partners"]))[:n]]
    slower = 1 / factor if figure["more_is_better"] else factor
    return np.ones(n), ratios ** rng.choice([-1.0, 1.0], n) * slower


PLANTED = "ping-pong put 65536: latency"
"""A figure that scatters by 2 % even there; active messages did by ten times as much."""


def check_of_recorded(rng, draw, compare, factor=1.0):
    """A whole check; the factor holds for one figure alone."""
    comparisons = [
        compare(
            *draw(rng, figure, 12, factor if figure["figure"] == PLANTED else 1.0),
            more_is_better=figure["more_is_better"],
        )
        for figure in RECORDED
    ]
    return dict(zip((figure["figure"] for figure in RECORDED), correct(comparisons), strict=True))


WAYS = pytest.mark.parametrize(
    ("draw", "compare"), [(drawn, compare_starts), (drawn_partners, compare_paired)], ids=["one-by-one", "alternating"]
)


@WAYS
def test_two_hundred_checks_of_one_recorded_build_raise_fewer_than_ten_alarms(draw, compare):
    rng = np.random.default_rng(21)
    checks = [check_of_recorded(rng, draw, compare) for _ in range(200)]
    assert sum(any(entry.verdict in ALARMS for entry in check.values()) for check in checks) < 10


def test_four_percent_planted_into_recorded_starts_are_found_in_ninety_five_of_a_hundred_checks():
    rng = np.random.default_rng(22)
    checks = [check_of_recorded(rng, drawn_partners, compare_paired, factor=1.04) for _ in range(200)]
    assert sum(check[PLANTED].verdict == "slower" for check in checks) >= 190
    wrong = [
        figure for check in checks for figure, entry in check.items() if figure != PLANTED and entry.verdict in ALARMS
    ]
    assert len(wrong) < 10, wrong


def test_one_stray_start_on_either_side_changes_no_verdict():
    rng = np.random.default_rng(4)
    before, after = starts(rng), starts(rng, factor=1.05)
    before[3] *= 1.5
    assert compare_starts(before, after).verdict == "slower"
    after[5] *= 0.5
    assert compare_starts(before, after).verdict == "slower"


def test_what_is_sure_but_small_is_not_relevant():
    rng = np.random.default_rng(5)
    before, after = starts(rng, noise=0.0005), starts(rng, factor=1.01, noise=0.0005)
    comparison = compare_starts(before, after)
    assert comparison.p < 1e-6
    assert comparison.verdict == "not significant"
    assert compare_starts(before, after, relevant=0.005).verdict == "slower"


def test_more_of_a_rate_is_faster():
    rng = np.random.default_rng(6)
    slow, fast = starts(rng), starts(rng, factor=1.2)
    assert compare_starts(slow, fast, more_is_better=True).verdict == "faster"
    assert compare_starts(fast, slow, more_is_better=True).verdict == "slower"


def test_fewer_than_ten_starts_decide_nothing():
    rng = np.random.default_rng(7)
    for n in (0, 1, 3, 9):
        comparison = compare_starts(starts(rng, n), starts(rng, n, factor=2.0))
        assert comparison.verdict == "undecided"
    assert compare_starts(starts(rng, 9), starts(rng, 12, factor=2.0)).verdict == "undecided"


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_values_that_have_no_logarithm_are_refused(bad):
    values = [1.0] * 9 + [bad]
    with pytest.raises(ValueError, match="positive and finite"):
        compare_starts(values, [1.0] * 10)


def test_samples_of_different_length_are_not_paired():
    with pytest.raises(ValueError, match="10 and 11"):
        compare_paired([1.0] * 10, [1.0] * 11)


def test_starts_that_are_all_the_same_number_compare():
    same = compare_starts([2.0] * 10, [2.0] * 10)
    assert (same.verdict, same.ratio, same.p) == ("not significant", 1.0, 1.0)
    other = compare_starts([2.0] * 10, [2.2] * 10)
    assert (other.verdict, other.p) == ("slower", 0.0)


@settings(max_examples=25)
@given(arrays(float, 12, elements=st.floats(1.0, 2.0)), st.floats(0.5, 2.0))
def test_swapping_the_builds_inverts_the_ratio(values, factor):
    forwards, back = compare_starts(values, values * factor), compare_starts(values * factor, values)
    assert forwards.ratio == pytest.approx(1 / back.ratio)
    assert forwards.low == pytest.approx(1 / back.high)
    assert forwards.p == pytest.approx(back.p, abs=1e-12)
    assert forwards.low <= forwards.ratio <= forwards.high


def test_a_change_as_small_as_could_be_seen_is_found_nine_times_in_ten():
    rng = np.random.default_rng(17)
    trials = 300

    def compared(factor=1.0):
        return compare_starts(starts(rng, 22), starts(rng, 22, factor), relevant=1e-6)

    seen = float(np.median([compared().sees for _ in range(99)]))
    result = sum(compared(1 + seen).verdict == "slower" for _ in range(trials))
    assert 0.83 < result / trials < 0.97
    together = correct([compare_starts(starts(rng), starts(rng)) for _ in range(20)])
    single = compare_starts(starts(rng), starts(rng))
    assert float(np.median([entry.sees for entry in together])) > single.sees
    assert compare_starts(starts(rng), starts(rng), relevant=0.5).sees == 0.5
    assert math.isnan(compare_starts(starts(rng, 5), starts(rng, 5)).sees)


def test_correction_keeps_order_and_never_makes_surer():
    rng = np.random.default_rng(8)
    single = [compare_starts(starts(rng), starts(rng, factor=1 + 0.005 * i)) for i in range(8)]
    together = correct(single)
    assert all(entry.p <= many.p <= 1 for entry, many in zip(single, together, strict=True))
    order = np.argsort([entry.p for entry in single], kind="stable")
    assert list(np.diff([together[i].p for i in order]) >= 0) == [True] * 7


# ---- block bootstrap


def autoregression(rng, n, rho):
    values = np.empty(n)
    values[0] = rng.normal() / math.sqrt(1 - rho * rho)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + rng.normal()
    return values


def test_correlated_values_are_drawn_in_longer_blocks():
    rng = np.random.default_rng(9)
    assert block_length(rng.normal(size=400)) <= 3
    assert block_length(autoregression(rng, 400, 0.8)) >= 8
    assert block_length([1.0] * 50) == 1


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_the_bootstrap_covers_the_ratio_of_correlated_blocks(rho):
    rng = np.random.default_rng(10)
    runs = 50
    missed = 0
    for i in range(runs):
        above, below = (200 * np.exp(0.02 * autoregression(rng, 150, rho)) for _ in range(2))
        missed += bootstrap_ratio(1.1 * above, below, resamples=400, seed=i).excludes(1.1)
    # 5 % are meant; percentiles of correlated values cover somewhat less.
    assert missed <= 0.12 * runs + 2


def test_the_ratio_of_two_runs_has_an_interval_and_few_values_have_none():
    rng = np.random.default_rng(11)
    interval = bootstrap_ratio(starts(rng, 80, 1.1), starts(rng, 80))
    assert interval.low < 1.1 < interval.high
    assert interval.excludes(1.0)
    assert math.isnan(bootstrap_ratio([1.0] * 5, [1.0] * 80).low)
    assert bootstrap_ratio([], []).n == 0


# ---- histories


def history(rng, n=60, steps=(), drift=0.0, outliers=0, noise=0.01):
    values = np.full(n, 200.0)
    for place, factor in steps:
        values[place:] *= factor
    values *= np.exp(noise * rng.normal(size=n) + drift * np.arange(n) / n)
    values[rng.choice(n, outliers, replace=False)] *= 1.5
    return values


def test_histories_without_steps_have_none_even_with_outliers():
    rng = np.random.default_rng(12)
    results = [find_changes(history(rng, outliers=3)) for _ in range(25)]
    assert sum(bool(result.changes) for result in results) <= 1
    assert sum(not math.isnan(result.drift) for result in results) <= 1


@pytest.mark.parametrize("steps", [((30, 1.04),), ((20, 1.05), (40, 0.94))])
def test_steps_are_found_where_they_are(steps):
    rng = np.random.default_rng(13)
    right = 0
    for _ in range(20):
        changes = find_changes(history(rng, steps=steps, outliers=2)).changes
        right += len(changes) == len(steps) and all(
            abs(result.index - place) <= 2 and abs(result.ratio - factor) < 0.015
            for result, (place, factor) in zip(changes, steps, strict=True)
        )
    assert right >= 17


def test_a_drift_is_no_row_of_steps():
    rng = np.random.default_rng(14)
    results = [find_changes(history(rng, drift=0.15, outliers=2)) for _ in range(20)]
    assert sum(not result.changes and abs(result.drift - math.exp(0.15)) < 0.03 for result in results) >= 18


def test_missing_points_are_passed_over_and_indices_count_them():
    rng = np.random.default_rng(15)
    values = history(rng, steps=((30, 1.1),))
    missing = (5, 28, 30, 50)
    values[list(missing)] = np.nan
    result = find_changes(values)
    assert [change.index for change in result.changes] == [31]
    assert result.missing == missing


def test_a_step_too_small_to_matter_is_no_change():
    rng = np.random.default_rng(16)
    assert find_changes(history(rng, steps=((30, 1.01),), noise=0.001)).changes == ()
    assert len(find_changes(history(rng, steps=((30, 1.01),), noise=0.001), relevant=0.005).changes) == 1


def test_short_and_constant_histories():
    assert find_changes([]).changes == ()
    assert find_changes([1.0] * 7).changes == ()
    assert find_changes([5.0] * 30).changes == ()
    assert [change.index for change in find_changes([5.0] * 10 + [6.0] * 10).changes] == [10]
    with pytest.raises(ValueError, match="positive"):
        find_changes([1.0] * 10 + [0.0])
