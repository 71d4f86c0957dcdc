"""Cost of a compiler's run time at each access to shared data, on machines that price it."""

import pytest

import gasmeter as gm

UPDATES = 500


def seconds(machine, *, variant="put-get", **options):
    """Return how long one rank alone takes for its updates."""
    result = gm.measure(
        "random-access", conduit="extoll", variant=variant, sizes="8K", ranks=1, iterations=UPDATES, machine=machine,
        placement="one-per-node", options=options,
    )  # fmt: skip
    frame = result.frame()
    assert result.verified
    return UPDATES / frame[frame["metric"] == "gups"]["value"].item() / 1e9


def test_each_update_by_put_and_get_is_two_accesses():
    plain, dearer = (gm.machine("extoll").with_(host_shared_access=price) for price in ("0 ns", "100 ns"))
    assert seconds(dearer) - seconds(plain) == pytest.approx(UPDATES * 2 * 100e-9, rel=1e-6)
    assert seconds(dearer, variant="am") == seconds(plain, variant="am")


def test_times_do_not_depend_on_threads_or_synchronisation():
    machine = gm.machine("extoll").with_(host_shared_access="7 ns")
    times = set()
    for how in ({}, {"sync": "strict"}, {"threads": 2}):
        result = gm.measure(
            "random-access", conduit="extoll", variant="put-get", sizes="64K", ranks=2, iterations=50, machine=machine,
            topology="mesh2d:2x1", placement="one-per-node", options=how,
        )  # fmt: skip
        assert result.verified
        times.add(tuple(result.frame()["value"]))
    assert len(times) == 1
