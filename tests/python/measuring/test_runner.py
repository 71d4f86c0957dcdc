import math

import pytest

from gasmeter.errors import BrokenJob, UsageError
from gasmeter.measuring.probe import Probe, same_state
from gasmeter.measuring.recording import record
from gasmeter.measuring.runner import TARGET_BLOCK_NS, Runner
from gasmeter.rows.record import COLUMNS
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series


def groups(**settings):
    return plan_series(Series(**{"kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": 8, **settings}))


def measured(machine, **settings):
    with Runner() as runner:
        return [record(runner.measure(group), "test") for group in groups(**settings)]


def test_a_point_is_measured_in_blocks_of_about_two_milliseconds(machine):
    with Runner() as runner:
        outcome = runner.measure(groups()[0])
    blocks = outcome.outcomes[0].blocks
    assert len(blocks) > 50
    assert all(0.4 * TARGET_BLOCK_NS < block.elapsed_ns < 2.5 * TARGET_BLOCK_NS for block in blocks)


def test_a_point_keeps_to_its_budget(machine):
    before = machine.now
    measured(machine)
    # 0.4 s of blocks, two probes of 50 ms, and no more than 20 ms for everything else.
    assert machine.now - before < 0.4 + 2 * 0.05 + 0.02


def test_rows_have_exactly_the_columns(machine):
    for row in measured(machine, against="raw@shm")[0].rows:
        assert list(row) != []
        assert set(row) == set(COLUMNS)


def test_the_median_and_its_interval_stand_in_the_row(machine):
    row = measured(machine)[0].rows[0]
    assert row["value"] == pytest.approx(2.16, rel=0.01)
    assert row["min"] <= row["ci_low"] <= row["value"] <= row["ci_high"] <= row["p99"] * 1.1
    assert row["host_state_ns"] == 110.0
    assert row["kind"] == row["label"] == "measured"
    assert row["network"] == "shm"
    assert row["verified"] is Verified.TRUE


def test_compared_points_alternate_block_by_block(machine):
    order = []
    machine.on_block = lambda _: None
    with Runner() as runner:
        pool = runner.pools.get(2)
        original = pool._block
        pool._block = lambda fields: (order.append(fields["session"]), original(fields))[1]
        outcome = runner.measure(groups(against="raw@shm")[0])
    rounds = len(outcome.outcomes[0].blocks)
    tail = order[-2 * rounds :]
    assert len(set(tail)) == 2
    assert all(tail[index] != tail[index + 1] for index in range(len(tail) - 1))
    assert len(outcome.outcomes[0].blocks) == len(outcome.outcomes[1].blocks)


def test_overhead_comes_from_paired_blocks(machine):
    rows = measured(machine, against="raw@shm", op="am-short")[0].rows
    (row,) = [row for row in rows if row["metric"] == "overhead"]
    assert row["value"] == pytest.approx(1 / 0.85 - 1, abs=0.01)
    assert row["reference"] == "raw@shm"
    assert row["unit"] == "ratio"
    assert row["ci_low"] < row["value"] < row["ci_high"]


def test_what_is_modelled_is_as_long_whatever_it_stands_beside(machine):
    series = {"conduit": "ideal", "against": "smp", "op": "put"}
    (result,) = measured(machine, **series)
    machine.noise = 0.2
    (again,) = measured(machine, **series)
    ours, theirs = (
        {entry["conduit"]: entry for entry in item.rows if not entry["reference"]} for item in (result, again)
    )
    assert ours["smp"]["n"] != theirs["smp"]["n"]
    alone = measured(machine, conduit="ideal", op="put")[0].rows[0]
    assert ours["ideal"]["n"] == theirs["ideal"]["n"] == alone["n"]
    assert math.isnan(ours["ideal"]["host_state_ns"])
    assert result.blocks == ours["smp"]["n"] + alone["n"]


def test_a_measured_figure_over_a_modelled_one_is_mixed(machine):
    for series in ({"conduit": "ideal", "against": "smp"}, {"conduit": "smp", "against": "ideal"}):
        rows = measured(machine, op="put", **series)[0].rows
        (row,) = [row for row in rows if row["metric"] == "overhead"]
        values = {row["conduit"]: row for row in rows if not row["reference"]}
        assert (row["kind"], row["label"], row["host_state_ns"]) == ("mixed", "mixed", 110.0)
        expected = values[series["conduit"]]["value"] / values[series["against"]]["value"] - 1
        assert row["value"] == pytest.approx(expected, rel=1e-3)
        assert row["ci_low"] < row["value"] < row["ci_high"]
        assert row["n"] == values["smp"]["n"]


def test_pairing_cancels_drift(machine):
    calm = measured(machine, against="raw@shm", op="am-short")[0].rows[-1]
    machine.on_block = lambda fake: setattr(fake, "noise", 0.01)
    original = machine.timing

    def drifting(*arguments):
        elapsed, operations, metrics = original(*arguments)
        factor = 1 + 0.3 * math.sin(machine.now * 3)
        return elapsed * factor, operations, {name: value * factor for name, value in metrics.items()}

    machine.timing = drifting
    rows = measured(machine, against="raw@shm", op="am-short")[0].rows
    single, ratio = rows[1], rows[-1]
    assert ratio["ci_high"] - ratio["ci_low"] < 0.02
    assert ratio["value"] == pytest.approx(calm["value"], abs=0.01)
    assert (single["ci_high"] - single["ci_low"]) / single["value"] > 0.05


def test_unverified_data_reports_no_rate(machine):
    machine.unverified.add("put")
    result = measured(machine)[0]
    assert result.rows[0]["verified"] is Verified.FALSE
    assert math.isnan(result.rows[0]["value"])
    assert result.rows[0]["n"] == 0
    assert "ping-pong put 8 B on smp" in result.errors[0]
    assert result.samples == []


def test_where_nothing_was_compared_the_row_says_so(machine):
    row = measured(machine, op="call")[0].rows[0]
    assert row["verified"] == "not_checked"
    assert row["value"] > 0


def test_data_that_goes_wrong_while_measured_reports_no_rate(machine):
    machine.on_block = lambda fake: fake.unverified.add("put") if fake.blocks > 30 else None
    result = measured(machine)[0]
    assert result.rows[0]["verified"] is Verified.FALSE
    assert math.isnan(result.rows[0]["value"])


def test_an_unverified_point_is_not_compared(machine):
    machine.unverified.add("put")
    rows = measured(machine, op=("put", "get"), against={"op": "get"})[0].rows
    assert [row["metric"] for row in rows] == ["latency", "latency"]
    assert [row["verified"] for row in rows] == [True, False]


def test_a_point_stops_when_its_interval_is_narrow(machine):
    machine.noise = 0.1
    loose = measured(machine, ci="10%")[0].rows[0]
    tight = measured(machine, ci="1%")[0].rows[0]
    assert loose["n"] < tight["n"]
    assert (tight["ci_high"] - tight["ci_low"]) / 2 / tight["value"] <= 0.01


def test_a_point_that_never_becomes_precise_ends_at_its_limit(machine):
    machine.noise = 1.0
    before = machine.now
    row = measured(machine, ci="0.01%", max_time_s="2s")[0].rows[0]
    assert machine.now - before < 2.3
    assert row["n"] > 6


def test_fixed_iterations_are_kept(machine):
    samples = measured(machine, iterations=1000)[0].samples
    assert set(samples[0]["iterations"]) == {1000}


def test_every_point_has_six_blocks_however_long_they_are(machine):
    result = measured(machine, iterations=200_000_000, max_time_s="60s")[0].rows[0]
    assert result["n"] == 6
    assert math.isfinite(result["ci_low"])


def test_random_access_makes_four_updates_per_word(machine):
    result = measured(machine, kernel="random-access", op="update", sizes="1M", iterations=100)[0]
    updates = sum(result.samples[0]["iterations"]) * 2
    assert updates >= 4 * (1 << 20) / 8
    assert {row["metric"] for row in result.rows} == {"gups", "error_fraction"}


def test_random_access_says_when_its_time_limit_came_first(machine):
    result = measured(machine, kernel="random-access", op="update", sizes="64M", iterations=100, max_time_s="0.1s")[0]
    assert "time limit" in result.notes[0]


def test_blocks_around_a_move_of_the_cores_are_dropped_from_comparison(machine):
    machine.probe_ns = lambda now: 110.0 if now < 1001.5 else 540.0
    result = measured(machine, against="raw@shm", time_s="2s")[0]
    row = next(row for row in result.rows if row["metric"] == "overhead")
    (kept,) = [sample["kept"] for sample in result.samples if sample["conduit"] == "smp"]
    assert result.dropped > 0
    assert row["n"] == sum(kept) < len(kept)
    assert row["host_state_ns"] == 540.0


def test_a_comparison_that_lost_every_pair_is_measured_again(machine):
    states = iter([110.0, 540.0])
    machine.probe_ns = lambda now: next(states, 540.0)
    result = measured(machine, against="raw@shm", time_s="1s")[0]
    row = next(row for row in result.rows if row["metric"] == "overhead")
    assert result.dropped > 0
    assert row["n"] > 6
    assert row["value"] == pytest.approx(2.16 / 1.86 - 1, abs=0.02)


def test_a_comparison_on_a_restless_machine_says_so_instead_of_a_number(machine, monkeypatch):
    monkeypatch.setattr("gasmeter.measuring.probe.INTERVAL_S", 0.0)
    machine.probe_ns = lambda now: 110.0 * 2 ** (machine.probes % 2)
    result = measured(machine, against="raw@shm", time_s="1s")[0]
    row = next(row for row in result.rows if row["metric"] == "overhead")
    assert math.isnan(row["value"])
    assert row["n"] == 0
    assert all(row["n"] > 6 for row in result.rows if row["metric"] == "latency")


def test_the_probe_runs_at_most_once_a_second(machine):
    with Runner() as runner:
        before = machine.now
        for group in groups(sizes="8:1K"):
            runner.measure(group)
        assert machine.probes <= (machine.now - before) / 1.0 + 1


def test_the_probe_needs_two_cores(machine):
    machine.cores = 1
    assert math.isnan(measured(machine)[0].rows[0]["host_state_ns"])
    assert machine.probes == 0


def test_a_broken_probe_is_no_reason_to_stop_and_is_told_once(machine):
    machine.probe_ns = lambda now: (_ for _ in ()).throw(UsageError("no"))
    assert math.isnan(Probe(machine.clock).try_value_ns())
    first, second = measured(machine, sizes=(8, 64))
    assert [line.rpartition(": ")[2] for line in first.notes] == ["no"]
    assert second.notes == []
    assert math.isnan(second.rows[0]["host_state_ns"])


@pytest.mark.parametrize(
    ("first", "second", "same"), [(100, 115, True), (100, 116, False), (540, 110, False), (math.nan, 1, True)]
)
def test_fifteen_percent_is_the_same_state(first, second, same):
    assert same_state(first, second) is same


def test_pools_stay_alive_between_points_and_end_with_the_runner(machine):
    measured(machine, sizes="8:1K", ranks=(2, 4))
    assert sorted(pool.ranks for pool in machine.pools) == [2, 4]
    assert all(pool.closed for pool in machine.pools)
    assert all(not pool.sessions for pool in machine.pools)


def test_a_dead_rank_ends_every_job_and_is_named(machine):
    machine.die_at_block = 20
    with Runner() as runner, pytest.raises(BrokenJob, match="rank 1"):
        runner.measure(groups()[0])
    assert all(pool.closed for pool in machine.pools)
    machine.die_at_block = None
    with Runner() as runner:
        assert runner.measure(groups()[0]).outcomes[0].blocks


def test_an_interrupt_ends_the_jobs(machine):
    machine.interrupt_at_block = 20
    with Runner() as runner, pytest.raises(KeyboardInterrupt):
        runner.measure(groups()[0])
    assert all(pool.closed for pool in machine.pools)


def test_a_size_the_operation_does_not_carry_is_an_error_when_named(machine):
    with Runner() as runner, pytest.raises(UsageError, match="largest Medium"):
        runner.measure(groups(op="am-medium", sizes="1M")[0])
    assert not machine.pools[0].sessions


def test_a_size_chosen_by_default_is_left_out_with_a_note(machine):
    result = measured(machine, op="am-medium", sizes=None)
    sizes = {row["size_bytes"] for entry in result for row in entry.rows}
    assert max(sizes) == 64 * 1024
    assert any("largest Medium" in note for entry in result for note in entry.notes)


def test_oversubscribed_ranks_are_marked(machine):
    row = measured(machine, ranks=4)[0].rows[0]
    assert row["oversubscribed"] is True
    assert row["placement"] == "cpus 0 1 0 1"


def test_modelled_points_are_the_same_to_the_byte(machine):
    first, second = (measured(machine, conduit="ideal")[0] for _ in range(2))
    assert first.rows == second.rows or str(first.rows) == str(second.rows)
    row = first.rows[0]
    assert (row["kind"], row["label"]) == ("modelled", "predicted")
    assert math.isnan(row["host_state_ns"])
    assert machine.probes == 0


def test_a_difference_can_be_compared(machine):
    rows = measured(machine, op=("call", "put"), against={"op": "call"}, compare="difference")[0].rows
    row = rows[-1]
    assert row["reference"] == "op=call"
    assert (row["metric"], row["unit"]) == ("latency", "ns")
    assert row["value"] == pytest.approx(2.16 - 1.4, abs=0.05)
