"""Sessions end when their share of this process's CPU time is used up, and one thread looks at all limits."""

import threading
import time
from contextlib import ExitStack

import pytest

from gasmeter.errors import GasmeterError, UsageError
from gasmeter.measuring.stopping import Shares, stopped_after


@pytest.mark.parametrize("limit", [0.3, 1.0])
def test_limit_counts_cpu_time_and_holds_within_a_tenth_of_a_second(limit):
    stop = threading.Event()
    began = time.process_time()

    def body():
        while not stop.is_set():
            sum(range(10_000))

    with (
        pytest.raises(UsageError, match="the time limit"),
        stopped_after(limit, [stop.set], lambda: UsageError("the time limit", "a run")),
    ):
        body()
    assert 0 <= time.process_time() - began - limit < 0.1


def test_runs_side_by_side_share_the_time_of_the_process():
    now = 0.0
    shares = Shares(lambda: now)
    shares.begin("first")
    now = 2.0
    shares.begin("second")
    now = 4.0
    assert (shares.used("first"), shares.used("second")) == (3.0, 1.0)
    shares.end("first")
    now = 5.0
    assert shares.used("second") == 2.0


def limited(body, seconds, stop):
    # The body waits and takes no CPU time: the wall clock stands for it.
    with stopped_after(seconds, [stop], lambda: UsageError("the time limit", "a run"), Shares(time.monotonic)):
        body()


def test_blocks_that_end_just_when_their_time_is_used_up_are_refused():
    # The request comes when nothing is left for it to end: the session would end its next command instead.
    asked = threading.Event()
    with pytest.raises(UsageError, match="the time limit"):
        limited(lambda: asked.wait(10), 0.01, asked.set)


def test_an_error_after_the_time_is_used_up_is_told_as_the_limit():
    asked = threading.Event()

    def ended():
        asked.wait(10)
        raise GasmeterError("sim: stopped on request")

    with pytest.raises(UsageError, match="the time limit"):
        limited(ended, 0.01, asked.set)


def test_nothing_is_asked_to_stop_that_ended_within_its_time():
    asked = threading.Event()
    limited(lambda: None, 0.05, asked.set)
    assert not asked.wait(0.1)


def test_one_thread_looks_at_all_limits_and_ends_only_what_is_over():
    first, second = threading.Event(), threading.Event()
    for _ in range(50):
        limited(lambda: None, 0.5, first.set)
    with ExitStack() as limits:
        limits.enter_context(stopped_after(3600, [first.set], lambda: UsageError("never", "a run")))
        with pytest.raises(UsageError, match="the time limit"):
            limited(lambda: second.wait(10), 0.01, second.set)
    assert second.is_set()
    assert not first.is_set()
    assert [thread.name for thread in threading.enumerate()].count("time limits") == 1


def test_a_stop_that_fails_leaves_other_limits_in_force():
    def fail():
        raise GasmeterError("this session cannot be stopped")

    second = threading.Event()
    with pytest.raises(UsageError, match="the time limit"):
        limited(lambda: time.sleep(0.1), 0.01, fail)
    with ExitStack() as limits:
        limits.enter_context(pytest.raises(UsageError, match="the time limit"))
        limits.enter_context(
            stopped_after(0.05, [second.set], lambda: UsageError("the time limit", "a run"), Shares(time.monotonic))
        )
        with pytest.raises(UsageError, match="the time limit"):
            limited(lambda: time.sleep(0.1), 0.01, fail)
        assert second.wait(10)
