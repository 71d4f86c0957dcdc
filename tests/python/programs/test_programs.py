"""The same programs on rank processes and on virtual ranks: transfers, events, waits."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

import gasmeter as gm
from programs import everywhere, few, launched

pytestmark = pytest.mark.timeout(240)


@everywhere
def test_puts_gets_and_barriers(conduit):
    def program(ep):
        right, left = (ep.rank + 1) % ep.size, (ep.rank - 1) % ep.size
        yield ep.put_value(right, 0, ep.rank - 5)
        yield ep.put(right, 8, np.arange(300, dtype="u2") + ep.rank)
        yield ep.barrier()
        into = bytearray(600)
        answers = [(yield ep.get_value(ep.rank, 0)), (yield ep.get_value(right, 0)), (yield ep.get(left, 8, 4))]
        answers.append((yield ep.get(right, 8, into)) is into)
        assert ep.segment[:8].view("i8")[0] == left - 5
        assert bytes(into) == (np.arange(300, dtype="u2") + ep.rank).tobytes()
        yield ep.barrier()
        return answers

    for rank, (written, theirs, head, same) in enumerate(launched(program, ranks=3, conduit=conduit)):
        assert written == (rank - 1) % 3 - 5
        assert theirs == rank - 5
        assert head == (np.arange(2, dtype="u2") + (rank - 2) % 3).tobytes()
        assert same


@everywhere
def test_events_regions_and_implicit_operations(conduit):
    def program(ep):
        peer = 1 - ep.rank
        yield ep.barrier()
        yield (yield ep.put_nb(peer, 0, b"event 00"))
        event = yield ep.put_nb(peer, 8, b"event 01")
        while not (yield ep.test(event)):
            pass
        assert (yield ep.test(event))  # once complete, always complete
        yield ep.put_nbi(peer, 16, b"nbi 0000")
        yield ep.wait_nbi()
        with ep.region() as region:
            for i in range(4):
                yield ep.put_nbi(peer, 24 + 8 * i, i.to_bytes(8, "little"))
        yield ep.wait(region.event)
        into = np.zeros(56, "u1")
        yield ep.wait((yield ep.get_nb(peer, 0, into)))
        yield ep.barrier()
        return into.tobytes(), ep.segment[:56].tobytes()

    expected = b"event 00event 01nbi 0000" + b"".join(i.to_bytes(8, "little") for i in range(4))
    assert launched(program, conduit=conduit) == [(expected, expected)] * 2


@everywhere
def test_event_of_a_region_frees_the_memory_of_its_own_operations_alone(conduit):
    size = 2 << 20  # freed, memory of so many bytes is given back to the system

    def program(ep):
        peer = 1 - ep.rank
        yield ep.barrier()
        data = np.full(size, ep.rank + 1, "u1")
        before = sys.getrefcount(data)
        yield ep.put_nbi(peer, 0, data)
        with ep.region() as region:
            yield ep.put_nbi(peer, size, b"12345678")
        yield region.event
        held = sys.getrefcount(data) - before
        del data
        yield ep.wait_nbi()
        yield ep.barrier()
        return held, np.unique(ep.segment[:size]).tolist(), ep.segment[size : size + 8].tobytes()

    results = launched(program, conduit=conduit, segment="3M")
    assert results == [(1, [2 - rank], b"12345678") for rank in range(2)]


@everywhere
def test_strided_transfers(conduit):
    def program(ep):
        peer = 1 - ep.rank
        layout = gm.RemoteArray(64, (4, 3), "u2", (32, -4))  # rows 32 bytes apart, every other word from the right
        grid = np.arange(12, dtype="u2").reshape(3, 4).T + 100 * ep.rank
        yield ep.barrier()
        yield ep.put_strided(peer, layout, grid)
        yield ep.barrier()
        own_zeros = np.zeros((4, 3), "u2")
        same = (yield ep.get_strided(peer, own_zeros[::-1], layout)) is not None
        view = ep.segment[56:].view("u2")[: 4 * 16].reshape(4, 16)[:, 4::-2][:, :3]
        twin = yield ep.get_strided(peer, np.zeros((4, 3), "u2"), view)  # the same place, described by the own segment
        yield ep.barrier()
        return same, own_zeros.tolist(), twin.tolist(), view.tolist(), int(ep.segment.astype(int).sum())

    plain = np.arange(12).reshape(3, 4).T
    for rank, (same, matrix, twin, landed, total) in enumerate(launched(program, conduit=conduit)):
        expected = plain + 100 * rank
        assert same
        assert matrix == expected[::-1].tolist()
        assert twin == expected.tolist()
        assert landed == (plain + 100 * (1 - rank)).tolist()
        assert total == (plain + 100 * (1 - rank)).sum()  # and nothing beside


@few
def test_coroutines_await_operations_and_events(conduit):
    async def program(ep):
        peer = 1 - ep.rank
        await ep.barrier()
        await (await ep.put_nb(peer, 0, b"12345678"))
        async with ep.region():
            await ep.put_nbi(peer, 8, b"abcdefgh")
        await ep.barrier()
        return await ep.get(ep.rank, 0, 16)

    assert launched(program, conduit=conduit) == [b"12345678abcdefgh"] * 2


@everywhere
def test_sleep_takes_the_time_that_it_is_told(conduit):
    def program(ep):
        before = ep.now_ns()
        yield ep.sleep(2500)
        return ep.now_ns() - before, ep._endpoint.is_virtual

    for taken, is_virtual in launched(program, conduit=conduit):
        assert taken >= 2500
        assert not is_virtual or taken < 2600


@few
def test_error_of_an_operation_can_be_handled(conduit):
    def program(ep):
        errors = []
        for operation in (ep.put(7, 0, b""), ep.get(0, 1 << 30, 8), ep.request(0, 3)):
            try:
                yield operation
            except gm.UsageError as error:
                errors.append(str(error))
        yield ep.barrier()
        return errors

    for errors in launched(program, conduit=conduit):
        assert errors[0] == "put: rank 7 does not exist; ranks are 0..1"
        assert "are not inside the segment of rank 0" in errors[1]
        assert "request: handler 3 does not exist" in errors[2]


@pytest.mark.parametrize("conduit", ["smp", "udp"])
def test_plain_function_has_the_same_calls(conduit):
    def program(ep):
        got = []
        note = ep.register(lambda token: got.append(token.payload))
        ep.barrier()
        with ep.prepare(1 - ep.rank, 4, 4) as prepared:
            prepared.buffer[:] = [1, 2, 3, 4]
            prepared.commit(note, 4)
        ep.wait_until(lambda: got)
        domain = ep.atomic_domain("float64", ["fetch_add", "get"])
        ep.barrier()
        domain.fetch_add(0, 0, 0.5)
        event = domain.fetch_add_nb(0, 8, 1)
        event.wait()
        assert event.value in {0.0, 1.0}
        ep.barrier()
        assert ep.request(ep.rank, note, flags=gm.IMMEDIATE) in {True, False}
        assert ep.put(ep.rank, 64, b"x", flags=gm.IMMEDIATE) is True
        return got[0], domain.get(0, 0), ep.fetch_add(ep.rank, 128, 4), os.getpid()

    results = launched(program, conduit=conduit)
    assert [result[:3] for result in results] == [(b"\1\2\3\4", 1.0, 0)] * 2
    assert results[0][3] != results[1][3]
