"""How many blocks points in virtual time run, and that they end within their limit of this computer's time."""

import itertools
import math
import re
import time

import pytest

from gasmeter.cli import progress
from gasmeter.errors import UsageError
from gasmeter.guard.exact import what_moved
from gasmeter.guard.stores import Sample
from gasmeter.measuring.execution import Progress
from gasmeter.measuring.recording import record
from gasmeter.measuring.runner import Runner
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series

WORDS = 512
RANKS = 4
UPDATES = {"kernel": "random-access", "conduit": "ideal", "ranks": RANKS, "sizes": 8 * WORDS}


def measured(runner=None, **settings):
    [group] = plan_series(Series(**{"kernel": "ping-pong", "conduit": "ideal", "op": "put", "sizes": 8, **settings}))
    with runner or Runner() as measuring:
        return record(measuring.measure(group), "test")


def ticking(step):
    """A clock of which every look takes so many seconds."""
    counter = itertools.count()
    return lambda: step * next(counter)


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "ibv", "gm", "udp@ethernet"])
def test_virtual_time_repeats_itself_in_one_block(conduit):
    [row] = measured(conduit=conduit).rows
    [six] = measured(conduit=conduit, ci="1%").rows
    assert row["n"] == 1
    assert math.isnan(row["ci_low"])
    assert math.isnan(row["ci_high"])
    assert row["value"] == row["min"] == row["p99"] == pytest.approx(six["value"], rel=1e-3)
    assert six["n"] == 6


def test_more_blocks_are_run_where_an_interval_is_asked_for():
    assert measured(ci="1%").rows[0]["n"] == 6
    assert measured(blocks=3).rows[0]["n"] == 3
    assert measured(iterations=10).rows[0]["n"] == 1


def test_a_block_that_times_the_simulation_is_more_than_its_barriers():
    def fewest(**settings):
        simulator = {"kernel": "simulator", "conduit": "ideal", "op": "am", "ranks": 64}
        group = plan_series(Series(**simulator, **settings))[0]  # a group with several repetitions
        with Runner() as runner:
            [outcome] = runner.measure(group).outcomes
        return min(block.iterations for block in outcome.blocks)

    assert fewest() >= 64
    assert fewest(iterations=3) == 3


def test_what_the_network_loses_by_plan_differs_from_block_to_block():
    entry = measured(conduit="udp@ethernet", options={"loss": 0.2})
    assert entry.rows[0]["n"] == 6
    assert len(set(entry.samples[0]["value"])) > 1


def test_every_block_of_random_access_is_a_whole_run_with_a_seed_of_its_own():
    entry = measured(**UPDATES, op="update", seed=2)
    [values] = [sample for sample in entry.samples if sample["metric"] == "gups"]
    assert values["iterations"] == [4 * WORDS // RANKS] * 6
    assert len(set(values["value"])) == 6
    assert entry.rows[0]["ci_low"] <= entry.rows[0]["value"] <= entry.rows[0]["ci_high"]
    again = measured(**UPDATES, op="update", seed=2)
    assert again.samples == entry.samples
    assert measured(**UPDATES, op="update", seed=2, ci="1%").samples[0]["value"] == values["value"]


def test_random_access_of_the_first_seed_is_the_one_run_of_hpc_challenge():
    settings = {"kernel": "random-access", "op": "update", "conduit": "extoll", "ranks": 64, "sizes": "256K"}
    entry = measured(**settings, placement="one-per-node")
    assert entry.rows[0]["n"] == 1
    assert entry.rows[0]["verified"] is Verified.TRUE
    # Cut into blocks of a ninth it would be all ramp: 0.21 instead of 0.26 GUP/s.
    long = measured(**settings, placement="one-per-node", iterations=2000)
    assert entry.rows[0]["value"] == pytest.approx(long.rows[0]["value"], rel=0.02)
    assert (
        entry.rows[0]["value"]
        == measured(**settings, placement="one-per-node", iterations=2048, blocks=1).rows[0]["value"]
    )


def test_random_access_keeps_the_whole_runs_that_its_limit_allows():
    entry = measured(Runner(clock=ticking(1.0)), **UPDATES, op="update", seed=2, max_time_s="10s")
    assert 1 <= entry.rows[0]["n"] < 6
    assert entry.rows[0]["verified"] is Verified.TRUE
    assert "the time limit came before 6 whole runs" in entry.notes[0]


def test_random_access_that_cannot_end_in_time_is_refused_before_it_runs():
    with pytest.raises(UsageError, match=r"takes about .* the time limit is 1 s; allowed: --max-time \d+s") as caught:
        measured(Runner(clock=ticking(1.0)), **UPDATES, op="update", max_time_s="1s")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("more", [{}, {"iterations": 100_000}])
def test_random_access_is_stopped_when_its_time_is_used_up(more):
    began = time.monotonic()
    with Runner() as runner:
        with pytest.raises(UsageError, match=r"takes more than 200 ms .*--max-time 2s"):
            measured(
                runner, kernel="random-access", op="update", conduit="extoll", ranks=512, sizes="32M",
                max_time_s="200ms", **more,
            )  # fmt: skip
        assert time.monotonic() - began < 30  # the whole of it takes minutes
        assert measured(runner).rows[0]["n"] == 1


def test_blocks_of_more_operations_than_the_limit_allows_are_stopped():
    with Runner() as runner:
        with pytest.raises(UsageError, match=r"blocks of 1000000000000 operations take more than .* 200 ms") as caught:
            measured(runner, kernel="ping-pong", op="put", conduit="extoll", iterations=10**12, max_time_s="200ms")
        assert "\n" not in str(caught.value)
        assert measured(runner).rows[0]["n"] == 1


def test_ranks_that_take_long_to_make_are_stopped_by_the_limit():
    began = time.process_time()
    with pytest.raises(UsageError, match=r"takes more than .*--max-time"):
        measured(
            kernel="random-access",
            op="update",
            conduit="extoll",
            ranks=8192,
            sizes="16M",
            max_time_s="100ms",
            topology="mesh3d:8x8x8",
        )
    assert time.process_time() - began < 10


def test_a_number_of_equal_blocks_that_differs_is_no_change():
    def sample(*values):
        row = {
            "value": values[0],
            "min": min(values),
            "p50": values[0],
            "p99": max(values),
            "n": len(values),
            "unit": "ns",
            "metric": "latency",
            "kind": "modelled",
        }
        return Sample([row], [list(values)])

    assert what_moved(sample(5.0), sample(*[5.0] * 6)) == ""
    assert what_moved(sample(*[5.0] * 6), sample(5.0)) == ""
    assert what_moved(sample(5.0, 6.0, 7.0), sample(5.0, 6.0)) == ""
    assert what_moved(sample(5.0, 6.0), sample(5.0, 6.001, 7.0)).startswith("block 1: 6.0 ns, now 6.001 ns")
    assert what_moved(sample(5.0), sample(*[5.001] * 6)).startswith("block 0: ")


def test_a_long_run_without_a_terminal_writes_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.02)
    with progress.showing_progress() as tell:
        tell(Progress(2, 5, 90.0, "ping-pong put 8 B on extoll"))
        deadline = time.monotonic() + 10
        text = ""
        while text.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
            text += capsys.readouterr().err
    first = text.split("\n")[0]
    assert re.fullmatch(
        r"2 of 5 points \(40 %\) after \d+ ms, about 1 min 30 s left; now ping-pong put 8 B on extoll", first
    )


def test_a_short_run_without_a_terminal_writes_no_line(capsys):
    with progress.showing_progress() as tell:
        tell(Progress(0, 1, 1.0, "a point"))
    assert capsys.readouterr().err == ""
