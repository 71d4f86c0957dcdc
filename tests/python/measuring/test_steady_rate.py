"""The rate of RandomAccess while all ranks are at it."""

import pytest

import gasmeter as gm
from gasmeter.measuring.recording import record
from gasmeter.measuring.runner import Runner
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series


def rates(ranks=1, updates=500, variant="put-get", **options):
    """Return the rates of one block by metric, in updates per second."""
    [group] = plan_series(
        Series(
            kernel="random-access", conduit="extoll", variant=variant, ranks=ranks, sizes=8192 * ranks, seed=(2,),
            topology="mesh2d:4x4", options=options, iterations=updates, blocks=1,
        )
    )  # fmt: skip
    with Runner() as runner:
        records = record(runner.measure(group), "test")
    assert not records.errors
    return {row["metric"]: row["value"] * 1e9 for row in records.rows if row["metric"].endswith("gups")}


def test_of_updates_that_all_take_as_long_it_is_what_more_of_them_cost():
    few, many = (rates(updates=updates) for updates in (400, 1200))
    each = (1200 / many["gups"] - 400 / few["gups"]) / 800
    assert many["steady_gups"] == pytest.approx(1 / each, rel=1e-6)


def test_it_settles_sooner_than_a_whole_run():
    def moves(metric):
        short, long = (rates(32, updates, "am", window=16)[metric] for updates in (128, 2048))
        return abs(short / long - 1)

    assert moves("steady_gups") < 0.04
    assert moves("gups") > 2 * moves("steady_gups")


def test_it_does_not_depend_on_threads_or_synchronisation():
    rates_found = [rates(8, 200, "am", window=4, **how) for how in ({}, {"sync": "strict"}, {"threads": 2})]
    assert rates_found[0] == rates_found[1] == rates_found[2]
    assert rates_found[0]["steady_gups"] > 0


@pytest.mark.parametrize(
    ("conduit", "settings"),
    [
        ("smp", {}),
        ("raw@shm", {}),
        ("extoll", {"variant": "direct", "placement": "list:0,0", "options": {"neighbourhood": "true"}}),
    ],
)
def test_a_program_that_does_not_know_it_has_no_row_of_it(conduit, settings):
    rows = gm.measure("random-access", conduit=conduit, sizes="64K", ranks=2, time=0.05, **settings).rows
    assert {row["metric"] for row in rows} == {"gups", "error_fraction"}
