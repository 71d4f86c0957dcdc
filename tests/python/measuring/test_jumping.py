"""Jumps and the sizes between which they lie, on curves that are formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gasmeter.measuring.jumping import Sample, raised_grain, search

POWERS = [8 << power for power in range(20)]


def exact(size, time):
    return Sample(size, time, time, time)


def bisect(time, sizes, share, grain=1):
    """Search to the end; return what was found and the sizes that it took."""
    curve = {size: exact(size, time(size)) for size in sizes}
    while wanted := (state := search(curve, sizes, share, grain=grain)).wanted:
        curve.update((size, exact(size, time(size))) for size, _, _ in wanted)
    return [(result.before.size, result.after.size, result.left) for result in state.found], sorted(
        set(curve) - set(sizes)
    )


SMOOTH = {
    "by the byte": lambda size: 1000 + size / 5,
    "steeper and steeper": lambda size: 1000 + size**1.2 / 5,
    "flatter and flatter": lambda size: 1000 + size**0.6,
    "by its logarithm": lambda size: 1000 + 100 * math.log(size),
    "n log n": lambda size: 1000 + size * math.log(size) / 9,
    "with a bend upwards": lambda size: 1000 + size / 5 + max(0, size - 32768) * 3,
    "with a bend downwards": lambda size: 1000 + min(size, 40000) / 3 + max(0, size - 40000) / 50,
    "flat": lambda size: 1000,
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("sizes", [POWERS, POWERS[::3], [*range(72, 400, 16)]], ids=["x2", "x8", "evenly"])
def test_a_smooth_curve_has_no_jump_and_takes_no_more_points(name, sizes):
    assert bisect(SMOOTH[name], sizes, 0.02) == ([], [])


@given(at=st.integers(9, 8 << 19), by=st.floats(0.3, 3.0), up=st.booleans())
@pytest.mark.parametrize("smooth", ["by the byte", "flat"])
def test_a_jump_on_a_smooth_curve_is_found_to_the_byte_wherever_it_is(smooth, at, by, up):
    height = by * SMOOTH[smooth](at) * (1 if up else -0.3)
    result, added = bisect(lambda size: SMOOTH[smooth](size) + height * (size >= at), POWERS, 0.07)
    assert result == [(at - 1, at, "")]
    assert len(added) <= 22


def test_jumps_next_to_each_other_and_in_one_interval_are_each_found():
    steps = {100: 400, 200: 500, 900: 600, 1000: 700}
    result, _ = bisect(lambda size: 1000 + sum(up for at, up in steps.items() if size >= at), POWERS[:12], 0.1)
    assert result == [(99, 100, ""), (199, 200, ""), (899, 900, ""), (999, 1000, "")]


def test_a_step_that_every_neighbour_has_is_the_trend():
    result, added = bisect(lambda size: 1000 + 50 * (size // 64), [64 * n - 1 for n in range(1, 20)], 0.02)
    assert (result, added) == ([], [])


def test_a_rise_in_many_small_steps_is_no_jump():
    def ramp(size):
        return 1000 + 10 * min(max(0, size - 520), 400)

    result, added = bisect(ramp, POWERS[:12], 0.9)
    assert result == []
    assert 0 < len(added) <= 5


def test_neighbours_are_what_the_kernel_takes():
    result, added = bisect(lambda size: 1000 + 900 * (size > 120), POWERS[:8], 0.2, grain=8)
    assert result == [(120, 128, "")]
    assert not any(size % 8 for size in added)


def stepwise(time, sizes, share, takes):
    """Search to the end, with a kernel that takes some sizes only; return what was found and the sizes it refused."""
    curve, refused, grain = {size: exact(size, time(size)) for size in sizes}, [], 1
    while wanted := (state := search(curve, sizes, share, grain=grain)).wanted:
        for size, _, _ in wanted:
            if takes(size):
                curve[size] = exact(size, time(size))
            else:
                refused.append(size)
                grain = raised_grain(grain, refused, list(curve))
    return [(result.before.size, result.after.size, result.left) for result in state.found], refused


@given(step=st.integers(1, 360), base=st.integers(1, 40), at=st.floats(0, 1))
def test_neighbours_are_what_a_kernel_of_any_step_takes(step, base, at):
    sizes = [step * base << power for power in range(7)]
    first, last = sizes[0] // step + 1, sizes[-1] // step
    at = step * int(first + at * (last - first))  # the first size behind the jump
    result, refused = stepwise(lambda size: 1000 + 900 * (size >= at), sizes, 0.2, lambda size: size % step == 0)
    assert result == [(at - step, at, "")]
    # Each refusal is of a smaller step that the sizes asked for have in common, and of another one.
    assert len(refused) <= sum(step * base % part == 0 for part in range(1, step + 1))


@pytest.mark.parametrize("factor", [1, 3])
def test_a_kernel_of_powers_of_two_alone_is_not_asked_for_ever(factor):
    sizes = [factor << power for power in range(3, 13)]
    result, refused = stepwise(lambda size: 1000 + 900 * (size > 120 * factor), sizes, 0.2, sizes.__contains__)
    assert result == [(64 * factor, 128 * factor, "")]
    assert len(refused) <= 12


def test_the_grain_is_the_least_step_that_explains_what_was_refused():
    assert raised_grain(1, [25], [24, 36, 48]) == 2
    assert raised_grain(2, [25, 26], [24, 36, 48]) == 3
    assert raised_grain(1, [45], [24, 36, 48]) == 2
    assert raised_grain(1, [28], [24, 36, 48]) == 3
    assert raised_grain(2, [45, 44], [24, 36, 48, 42]) == 6  # 42 is no multiple of 12
    assert raised_grain(1, [24], [8, 16, 32]) == 16  # no step that 32 has in common with 8
    assert raised_grain(16, [24, 48], [8, 16, 32, 64]) == 32
    assert raised_grain(3, [9], []) == 6


def test_less_than_the_share_is_no_jump():
    def step(size):
        return 1000 + 190 * (size > 120)

    assert bisect(step, POWERS[:8], 0.2) == ([], [])
    assert bisect(step, POWERS[:8], 0.18)[0] == [(120, 121, "")]


def test_intervals_that_leave_it_open_keep_a_step_from_being_a_jump():
    def curve(half):
        times = {size: 1000 + 400 * (size > 64) for size in POWERS[:8]}
        return {size: Sample(size, time, time - half, time + half) for size, time in times.items()}

    assert search(curve(100), POWERS[:8], 0.2).wanted
    wide = search(curve(140), POWERS[:8], 0.2)
    assert not wide.wanted
    assert (64, 128) in [(before.size, after.size) for before, after in wide.undecided]


def test_narrow_intervals_decide_every_step():
    def flat(half):
        curve = {size: Sample(size, 1000, 1000 - half, 1000 + half) for size in POWERS[:8]}
        return search(curve, POWERS[:8], 0.2)

    assert flat(20).undecided == []
    assert len(flat(120).undecided) == 7


def test_a_middle_whose_interval_is_too_wide_leaves_it_undecided():
    curve = {size: exact(size, 1000 + 400 * (size > 64)) for size in POWERS[:8]}
    curve[96] = Sample(96, 1200, 900, 1500)
    state = search(curve, POWERS[:8], 0.2)
    assert (state.found, state.wanted) == ([], [])
    assert [(before.size, after.size) for before, after in state.undecided] == [(64, 96), (96, 128)]


def test_sizes_that_met_the_host_in_another_state_are_not_compared():
    times = {size: 1000 + 400 * (size > 64) for size in POWERS[:8]}
    curve = {size: Sample(size, time, time, time, 110 + 110 * (size > 64)) for size, time in times.items()}
    state = search(curve, POWERS[:8], 0.2)
    assert [(result.before.size, result.after.size, result.left) for result in state.found] == [
        (64, 128, "the host was in another state")
    ]
    assert state.wanted == []


def test_a_middle_that_cannot_be_relied_on_ends_the_search_there():
    curve = {size: exact(size, 1000 + 400 * (size > 64)) for size in POWERS[:8]}
    (result,) = search(curve, POWERS[:8], 0.2, tried={*curve, 96}).found
    assert (result.before.size, result.after.size) == (64, 128)
    assert "96 B cannot be relied on" in result.left


def test_two_sizes_have_no_trend():
    assert search({8: exact(8, 1), 16: exact(16, 9)}, [8, 16], 0.1).wanted == []
