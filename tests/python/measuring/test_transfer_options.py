"""Options of ping-pong and flood: place of the memory, answers without payload, windows; raw programs, too."""

import pytest

import gasmeter as gm


def values(kernel, conduit, op, size, machine="", **options):
    """Return a point's values by metric; everything in it verified."""
    rows = gm.measure(kernel, conduit=conduit, op=op, sizes=size, options=options, machine=machine, time=0.05).rows
    assert rows
    assert {row["verified"] for row in rows} == {True}
    return {row["metric"]: row["value"] for row in rows}


@pytest.mark.parametrize("op", ["put", "get"])
@pytest.mark.parametrize("kernel", ["ping-pong", "flood"])
@pytest.mark.parametrize("conduit", ["smp", "raw@shm"])
def test_transfers_verify_wherever_their_memory_lies(conduit, kernel, op):
    for local in ("outside", "segment"):
        values(kernel, conduit, op, 1000, local=local, offset=4095)


@pytest.mark.parametrize(("conduit", "op"), [("ideal", "am-medium"), ("ideal", "am-long"), ("extoll", "am-medium"),
                                             ("raw@mpi@extoll", "am-medium"), ("raw@ideal", "am-long")])  # fmt: skip
def test_answer_without_payload_is_back_sooner(conduit, op):
    full, empty = (values("ping-pong", conduit, op, 1000, answer=answer)["round_trip"] for answer in ("same", "empty"))
    assert empty < full


@pytest.mark.parametrize("conduit", ["smp", "raw@shm"])
def test_answer_without_payload_verifies_in_memory(conduit):
    values("ping-pong", conduit, "am-medium", 1000, answer="empty")


@pytest.mark.parametrize("op", ["am-short", "am-medium", "am-long"])
@pytest.mark.parametrize("conduit", ["smp", "udp", "ideal", "extoll", "ibv", "gm", "mpi@extoll", "udp@ethernet"])
def test_messages_may_be_answered_by_requests(conduit, op):
    values("ping-pong", conduit, op, 500, pong="request")


@pytest.mark.parametrize(
    ("machine", "size", "longer"),
    [
        ("", 8, True),
        ("ethernet+nic.moderation=1 ns", 8, True),
        ("ethernet+nic.moderation=1 ns", 500, True),
        # The acknowledgement, which comes first, begins the card's wait for an interrupt: the larger message that
        # comes meanwhile waits less than it would alone.
        ("", 500, False),
    ],
)
def test_request_that_answers_is_acknowledged_by_the_classic_scheme(machine, size, longer):
    reply, request = (
        values("ping-pong", "udp@ethernet", "am-medium", size, machine, pong=pong, protocol="amudp")["round_trip"]
        for pong in ("reply", "request")
    )
    assert (request > reply) is longer


def test_puts_are_answered_by_nothing():
    with pytest.raises(gm.UsageError, match=r"option 'pong=request': it is for ops am-\*"):
        values("ping-pong", "ideal", "put", 8, pong="request")


def test_message_that_answers_a_raw_put_may_be_empty():
    word, nothing = (
        values("ping-pong", "raw@mpi@extoll", "put", 64, answer=answer)["latency"] for answer in ("same", "empty")
    )
    assert nothing <= word


def test_smaller_windows_take_longer():
    rates = [values("flood", "ideal", "put", 64, window=window)["rate"] for window in (1, 8, 0)]
    assert rates == sorted(rates)
    assert rates[0] < rates[1]


@pytest.mark.parametrize(
    ("kernel", "conduit", "op", "option"),
    [
        ("ping-pong", "raw@udp", "am-medium", {"answer": "empty"}),
        ("ping-pong", "raw@extoll", "put", {"offset": 8}),
        ("ping-pong", "raw@shm", "am-medium", {"pong": "request"}),
        ("ping-pong", "raw@ethernet", "am-medium", {"pong": "request"}),
        ("ping-pong", "raw@shm", "am-medium", {"local": "segment"}),
        ("ping-pong", "raw@mpi@extoll", "put", {"local": "segment"}),
        ("flood", "raw@ibv", "put", {"window": 4}),
        ("flood", "raw@shm", "put", {"window": 4}),
        ("flood", "raw@ethernet", "put", {"offset": 8}),
    ],
)
def test_raw_programs_refuse_what_they_do_not_know_in_one_line(kernel, conduit, op, option):
    ((name, value),) = option.items()
    with pytest.raises(gm.UsageError, match=rf"option '{name}={value}': it has {name}=\w+ alone") as refusal:
        values(kernel, conduit, op, 64, **option)
    assert "\n" not in str(refusal.value)
