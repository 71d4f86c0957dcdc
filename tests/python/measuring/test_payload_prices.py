"""Cost of making a payload: its stores, and its memory."""

import pytest

import gasmeter as gm
from gasmeter.errors import UsageError

CALL, SMALL, LARGE = 19, 166, 350
"""Instructions: entering the library once more; memory of its own, up to 1032 B and beyond."""
# Polls that cost nothing: otherwise what comes is found up to one of them later.
QUICK = gm.machine("aries").with_(host_cq_empty="1 ps", host_poll_miss="1 ps")
INSTRUCTION = 1e9 * QUICK.values()["host.instruction"]


def round_trip(op, size, machine=QUICK, **options):
    """Return the time of a Medium there and back, in ns."""
    result = gm.measure("am", conduit="aries", op=op, sizes=size, machine=machine, options=options)
    assert result.verified
    frame = result.frame()
    return frame[frame["metric"] == "round_trip"]["value"].item()


@pytest.mark.parametrize(("size", "memory"), [(8, SMALL), (1032, SMALL), (1033, LARGE), (4096, LARGE)])
def test_the_reference_pays_for_the_memory_that_a_message_is_made_in(size, memory):
    more = round_trip("np-medium", size, np_am="reference") - round_trip("medium", size)
    assert more == pytest.approx(2 * (CALL + memory) * INSTRUCTION, abs=0.5)


def test_a_client_s_own_memory_costs_the_reference_a_call_alone():
    more = round_trip("np-medium-client", 64, np_am="reference") - round_trip("medium", 64)
    assert more == pytest.approx(2 * CALL * INSTRUCTION, abs=0.5)


def test_what_a_program_makes_is_stored_at_a_price_of_its_own():
    slow, fast = (QUICK.with_(host_generate_bandwidth=given) for given in ("1 GB/s", "2 GB/s"))
    less = round_trip("np-medium", 4000, slow, generate="fill") - round_trip("np-medium", 4000, fast, generate="fill")
    assert less == pytest.approx(2 * 4000 * (1 - 0.5), abs=0.01)
    assert round_trip("np-medium", 4000, slow) == round_trip("np-medium", 4000, fast)


def test_a_medium_without_arguments_may_be_larger_than_one_with_16():
    assert round_trip("medium", 4096) > round_trip("medium", 4032)
    with pytest.raises(UsageError, match="size 4097 B exceeds the largest Medium payload of 4096 B here"):
        round_trip("medium", 4097)
