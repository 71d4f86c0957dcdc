"""Cost of transfers of many pieces on modelled machines that price them."""

import pytest

import gasmeter as gm

PRICES = {
    "host_piece_copy": "3 ns",
    "host_loop_turn": "2 ns",
    "host_loop_level": "10 ns",
    "host_translation": "5 ns",
}


def rate(machine, *, near=False, op="strided-put", **options):
    """Return transfers per second of 512 pieces of 8 B in three levels, to another node or a neighbour."""
    result = gm.measure(
        "vis", conduit="extoll", op=op, sizes=4096, iterations=3, machine=machine,
        placement="fill" if near else "one-per-node",
        options={"levels": 3, "foldable": "false", "neighbourhood": near, **options},
    )  # fmt: skip
    assert result.verified
    frame = result.frame()
    return frame[frame["metric"] == "rate"]["value"].item()


@pytest.fixture(scope="module")
def priced():
    return gm.machine("extoll").with_(**PRICES)


@pytest.mark.parametrize("op", ["strided-put", "strided-get", "indexed-put", "vector-get"])
def test_times_do_not_depend_on_threads_or_synchronisation(priced, op):
    results = {rate(priced, op=op, **how) for how in ({}, {"sync": "strict"}, {"threads": 2}, {"threads": 4})}
    assert len(results) == 1


@pytest.mark.parametrize("key", ["host_loop_turn", "host_loop_level"])
def test_loops_cost_wherever_pieces_are_packed_or_stored(key):
    plain = gm.machine("extoll")
    dearer = plain.with_({key: "50 ns"})
    for near in (False, True):
        assert rate(dearer, near=near) < rate(plain, near=near)


def test_translations_cost_between_neighbours_alone():
    plain = gm.machine("extoll")
    dearer = plain.with_(host_translation="50 ns")
    assert rate(dearer) == rate(plain)
    assert rate(dearer, near=True) < rate(plain, near=True)


def test_a_piece_costs_less_than_a_copy_where_the_machine_says_so():
    plain = gm.machine("extoll")
    assert rate(plain.with_(host_piece_copy="1 ns")) > rate(plain)
    assert rate(plain.with_(host_piece_copy=plain["host.copy_start"].text)) == rate(plain)
