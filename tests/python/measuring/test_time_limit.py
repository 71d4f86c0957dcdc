"""The time limit of real ranks: what does not end in time is ended, named, and the sweep goes on."""

import math
from types import SimpleNamespace

import pytest

import gasmeter as gm
from fakes import Pool
from gasmeter.catalogue import core
from gasmeter.errors import GasmeterError, Timeout, UsageError
from gasmeter.measuring.lost_updates import refuse_small_table, share_of_lost_words
from gasmeter.measuring.runner import Runner
from gasmeter.rows.verified import Verified
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series


@pytest.fixture
def slow(machine, monkeypatch):
    """Return the limits that commands were given, and the sizes whose blocks do not end within them."""
    point = SimpleNamespace(given=[], sizes=["64"])
    usual = Pool.command

    def command(self, fields, timeout=None):
        point.given.append((fields["verb"], timeout))
        if fields["verb"] == "block" and self.sessions[fields["session"]]["size_bytes"] in point.sizes:
            machine.now += timeout
            self.alive = False
            raise Timeout("no answer in time from rank 1; the job was killed")
        return usual(self, fields, timeout)

    monkeypatch.setattr(Pool, "command", command)
    return point


def sweep(**settings):
    return gm.Experiment(
        **{"name": "sweep", "kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8,64,512",
           "max_time_s": "3s", **settings}
    )  # fmt: skip


def test_a_point_that_does_not_end_is_named_and_the_sweep_goes_on(machine, slow):
    before = machine.now
    result = sweep().run()
    assert {row["size_bytes"] for row in result.rows} == {8, 512}
    (note,) = result.notes
    assert "ping-pong put 64 B on smp, 2 ranks: not finished within its time limit of 3 s" in note
    assert "rank 1" in note
    assert "\n" not in note
    assert machine.now - before < 16
    assert all(timeout is not None and 0 < timeout <= 70 for _, timeout in slow.given)
    assert all(timeout <= 8.0 for verb, timeout in slow.given if verb == "block")


def test_new_ranks_measure_what_follows(machine, slow):
    sweep().run()
    first, second = (pool for pool in machine.pools if pool.sessions or pool.closed)
    assert not first.alive
    assert second.alive


def test_where_nothing_ends_the_command_says_so(machine, slow):
    with pytest.raises(Timeout, match="not finished within its time limit") as caught:
        sweep(sizes="64").run()
    assert caught.value.exit_code == 4


def test_resume_measures_an_unfinished_point_again(machine, slow, tmp_path):
    sweep().run(tmp_path)
    assert {row["size_bytes"] for row in gm.open_result(tmp_path).rows} == {8, 512}
    slow.sizes.clear()
    before = machine.blocks
    sweep().resume(tmp_path)
    assert machine.blocks > before
    assert {row["size_bytes"] for row in gm.open_result(tmp_path).rows} == {8, 64, 512}


def test_a_block_that_would_end_behind_the_limit_is_not_begun(machine):
    before = machine.now
    (group,) = plan_series(
        Series(kernel="ping-pong", conduit="smp", op="put", sizes=8, iterations=1_000_000_000, max_time_s="9s")
    )
    with Runner() as runner:
        outcome = runner.measure(group)
    assert 1 <= len(outcome.outcomes[0].blocks) < 6
    assert machine.now - before < 10


def points(**settings):
    series = Series(kernel="random-access", op="update", conduit="smp", **{"variant": "put-get", **settings})
    return [group.points[0] for group in plan_series(series)]


def test_the_expected_loss_grows_with_ranks_and_falls_with_words():
    assert share_of_lost_words(8192, 1, 1e9) == 0
    assert share_of_lost_words(8192, 2, 2e6) == pytest.approx(0.0149, rel=0.01)
    assert share_of_lost_words(8192, 4, 2e6) == pytest.approx(0.0437, rel=0.01)
    assert share_of_lost_words(1 << 20, 2, 4 << 20) < 1e-5


def test_a_table_that_would_fail_its_own_check_is_refused_with_one_that_would_not():
    (small,) = points(sizes="64K")
    refuse_small_table(small)  # the prescribed updates alone would do
    with pytest.raises(UsageError, match=r"too small for 2 ranks.*of its 8192 words.*1% is allowed") as caught:
        refuse_small_table(small, rate=1e7)
    assert "--sizes 256K or more" in str(caught.value)
    (tiny,) = points(sizes="1K")
    with pytest.raises(UsageError, match="too small for 2 ranks"):
        refuse_small_table(tiny)
    for other in (*points(sizes="1K", variant="am"), *points(sizes="1M")):
        refuse_small_table(other, rate=1e5)


def test_more_words_than_expected_may_miss_an_update():
    (likely,) = points(sizes="2K")  # 0.8% of 256 words are expected: in one run of three more than 1% miss one
    assert share_of_lost_words(256, 2, 4 * 256) < 0.01
    with pytest.raises(UsageError, match="too small for 2 ranks"):
        refuse_small_table(likely)


def test_a_small_table_is_refused_in_virtual_time_too():
    settings = {"variant": "put-get", "conduit": "ideal", "ranks": 6}
    with pytest.raises(UsageError, match="too small for 6 ranks"):
        gm.measure("random-access", sizes="1K", **settings)
    enough = gm.measure("random-access", sizes="32K", **settings)
    assert enough.rows[0]["verified"] == Verified.TRUE


def test_the_end_is_heard_while_few_ranks_make_large_buffers():
    job = {"kernel": "collective", "op": "gather", "conduit": "ideal", "variant": "", "seed": 1, "options": {}}
    with pytest.raises(GasmeterError, match="stopped while they were made"):
        core().ModelJob(**job, size_bytes=8 << 20, ranks=16, machine={}, is_over=lambda: True)


def test_operations_that_take_no_virtual_time_have_no_rate():
    result = gm.measure("flood", conduit="udp@ethernet", op="put", sizes="0", iterations=3)
    assert all(math.isnan(row["value"]) for row in result.rows)


@pytest.mark.parametrize("conduit", ["ideal", "smp"])
def test_a_limit_beyond_every_clock_is_a_limit_that_is_never_reached(conduit, monkeypatch):
    failures = []
    monkeypatch.setattr("threading.excepthook", failures.append)
    result = gm.measure("ping-pong", op="put", conduit=conduit, sizes="8", iterations=10, max_time=2.0**64)
    assert result.rows
    assert not failures
