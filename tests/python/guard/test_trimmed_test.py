"""The test of two samples of starts, held against SciPy's on random data."""

import numpy as np
import pytest
from scipy import stats

from gasmeter.guard.comparing import TRIM, compare_starts


@pytest.mark.parametrize("seed", range(40))
def test_figures_are_those_of_scipys_trimmed_welch_test(seed):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(10, 40, size=2)
    before, after = (
        draw.lognormal(5 + shift, spread, n) for shift, spread, n in zip((0, 0.02), (0.1, 0.3), sizes, strict=True)
    )
    ours = compare_starts(before, after)
    theirs = stats.ttest_ind(np.log(after), np.log(before), equal_var=False, trim=TRIM)
    interval = theirs.confidence_interval(0.95)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.freedom == pytest.approx(theirs.df, rel=1e-9)
    assert np.log([ours.low, ours.high]) == pytest.approx([interval.low, interval.high], rel=1e-9)
