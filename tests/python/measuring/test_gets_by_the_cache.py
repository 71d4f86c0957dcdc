"""Time of shared GETs over the RDMA get of the card that serves them, on the networks of the XLUPC paper."""

import pytest

import gasmeter as gm

MACHINES = {"gm": "gm-marenostrum", "lapi": "lapi"}


def latency_ns(kernel, conduit, size, machine, **options):
    """Return what a get takes, in virtual time."""
    result = gm.measure(kernel, op="get", conduit=conduit, machine=machine, sizes=size, options=options)
    assert result.verified
    [row] = [row for row in result.rows if row["metric"] == "latency"]
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


def accesses(objects, **options):
    """Return the latency of a get on GM, what it counted by name, and what its result notes."""
    result = gm.measure(
        "shared-access", op="get", conduit="gm", machine="gm-marenostrum", sizes=8,
        options={"objects": objects, **options},
    )  # fmt: skip
    assert result.verified
    [row] = [row for row in result.rows if row["metric"] == "latency"]
    return row["value"], {row["counter"]: row["value"] for row in result.counter_rows()}, result.notes


def test_a_hit_takes_the_same_of_few_objects_and_of_many():
    few, many = (accesses(objects, capacity="unlimited") for objects in (8, 8192))
    assert few[0] == many[0]
    for _, counted, notes in (few, many):
        assert counted["hits"] == counted["lookups"] > 0
        assert notes == []


def test_a_note_says_that_objects_which_have_their_turns_are_more_than_the_cache_holds():
    few, many = (accesses(objects) for objects in (100, 101))
    assert few[1]["misses"] == 0
    assert few[2] == []
    assert many[1]["misses"] == many[1]["lookups"] > 0
    assert many[0] > few[0]
    assert [note.split(": ", 1)[1] for note in many[2]] == [
        f"{many[1]['misses']:.0f} of {many[1]['lookups']:.0f} look-ups missed: 101 objects have their turns and the"
        " cache holds 100 addresses; capacity=unlimited times hits"
    ]
