"""What shared GETs take over the RDMA get of the card that serves them, on the networks of the XLUPC paper."""

import pytest

import gasmeter as gm

MACHINES = {"gm": "gm-marenostrum", "lapi": "lapi"}


def latency_ns(kernel, conduit, size, machine, **options):
    """Return what a get takes, in virtual time."""
    found = gm.measure(kernel, op="get", conduit=conduit, machine=machine, sizes=size, options=options)
    assert found.verified
    [row] = [row for row in found.rows if row["metric"] == "latency"]
    return row["value"]


@pytest.mark.parametrize("conduit", MACHINES)
@pytest.mark.parametrize(("cache", "size", "most"), [("on", 8, 1.3), ("off", 4 << 20, 1.15)])
def test_a_get_takes_little_more_than_the_cards_own(conduit, cache, size, most):
    machine = MACHINES[conduit]
    of_card = latency_ns("ping-pong", f"raw@{conduit}", size, machine)
    assert 1 < latency_ns("shared-access", conduit, size, machine, cache=cache) / of_card <= most


@pytest.mark.parametrize("conduit", MACHINES)
def test_without_the_cache_a_short_get_is_another_thing(conduit):
    machine = MACHINES[conduit]
    assert latency_ns("shared-access", conduit, 8, machine, cache="off") != pytest.approx(
        latency_ns("shared-access", conduit, 8, machine, cache="on"), rel=0.2
    )
