"""The same programs on rank processes and on virtual ranks: every operation, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import gasmeter as gm
from gasmeter.errors import GasmeterError
from gasmeter.workers import worker_binary

pytestmark = pytest.mark.timeout(240)


def has_mpi():
    try:
        return any(worker_binary().parent.glob("gasmeter-mpi-*.so"))
    except GasmeterError:
        return False


MPI = pytest.param("mpi", marks=pytest.mark.skipif(not has_mpi(), reason="needs a worker that was built with an MPI"))
FEW = ["smp", "ideal", "extoll"]
ALL = [*FEW, "udp", MPI, "ibv", "mpi@extoll", "udp@ethernet"]
everywhere = pytest.mark.parametrize("conduit", ALL)
few = pytest.mark.parametrize("conduit", FEW)


def launched(program, **options):
    """A job that must not hang the tests."""
    return gm.launch(program, **{"timeout": 100.0, "segment": "64K", **options})


def refused(program, **options):
    """The one line with which a rank's call is refused."""
    with pytest.raises(gm.UsageError) as caught:
        launched(program, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- every operation


@everywhere
def test_puts_gets_and_barriers(conduit):
    def program(ep):
        right, left = (ep.rank + 1) % ep.size, (ep.rank - 1) % ep.size
        yield ep.put_value(right, 0, ep.rank - 5)
        yield ep.put(right, 8, np.arange(300, dtype="u2") + ep.rank)
        yield ep.barrier()
        into = bytearray(600)
        found = [(yield ep.get_value(ep.rank, 0)), (yield ep.get_value(right, 0)), (yield ep.get(left, 8, 4))]
        found.append((yield ep.get(right, 8, into)) is into)
        assert ep.segment[:8].view("i8")[0] == left - 5
        assert bytes(into) == (np.arange(300, dtype="u2") + ep.rank).tobytes()
        yield ep.barrier()
        return found

    for rank, (own, theirs, head, same) in enumerate(launched(program, ranks=3, conduit=conduit)):
        assert own == (rank - 1) % 3 - 5
        assert theirs == rank - 5
        assert head == (np.arange(2, dtype="u2") + (rank - 2) % 3).tobytes()
        assert same


@everywhere
def test_requests_longs_and_replies(conduit):
    def program(ep):
        got, answers = [], []
        pong = ep.register(lambda token: answers.append((token.source, token.args, token.payload, token.is_request)))

        def on_ping(token):
            got.append((token.source, token.args, bytes(token.view), len(token.payload)))
            token.reply(pong, token.payload[::-1], len(got), *token.args)

        ping = ep.register(on_ping)
        peer = 1 - ep.rank
        yield ep.barrier()
        yield ep.request(peer, ping)
        yield ep.request(peer, ping, b"abc", 1, -(2**31))
        yield ep.request_long(peer, ping, b"long one", 64, 9)
        yield ep.wait_until(lambda: len(answers) == 3)
        yield ep.barrier()
        return got, answers, ep.segment[64:72].tobytes(), (yield ep.poll()) >= 0

    for rank, (got, answers, landed, polled) in enumerate(launched(program, conduit=conduit)):
        peer = 1 - rank
        assert sorted(got) == [
            (peer, (), b"", 0), (peer, (1, -(2**31)), b"abc", 3), (peer, (9,), b"long one", 8)]  # fmt: skip
        assert sorted(args[1:] for _, args, _, _ in answers) == [(), (1, -(2**31)), (9,)]
        assert sorted(payload for _, _, payload, _ in answers) == [b"", b"cba", b"eno gnol"]
        assert landed == b"long one"
        assert polled


@everywhere
def test_prepared_messages(conduit):
    def program(ep):
        got = []
        note = ep.register(lambda token: got.append((token.args, token.payload)))

        def on_question(token):
            prepared = yield token.prepare(0, 16, 1)
            prepared.buffer[:4] = np.frombuffer(token.payload, "u1")[::-1]
            yield prepared.commit(note, 4, 7)

        question = ep.register(on_question)
        peer = 1 - ep.rank
        yield ep.barrier()
        prepared = yield ep.prepare(peer, 16, 256, 2)
        size = prepared.size
        array = prepared.buffer
        assert (array.dtype, array.shape, array.flags.writeable) == (np.uint8, (size,), True)
        array[:16] = np.arange(16)
        array[2:4].view("u2")[0] = 0xFFFF
        yield prepared.commit(note, 16, 1, 2)
        dead = len(array), array.flags.writeable
        prepared = yield ep.prepare(peer, 8, 8)
        yield prepared.cancel()
        with (yield ep.prepare(peer, 8, 8)) as prepared:
            prepared.buffer[:] = 3
        prepared = yield ep.prepare(peer, 8, 8, offset=32)
        prepared.buffer[:] = 5
        yield prepared.commit(note, 8)
        yield ep.request(peer, question, b"abcd")
        yield ep.wait_until(lambda: len(got) == 3)
        yield ep.barrier()
        return size, dead, sorted(got), ep.segment[32:40].tobytes()

    for size, dead, got, landed in launched(program, conduit=conduit):
        assert 16 <= size <= 256
        assert dead == (0, False)
        medium = bytes([0, 1, 255, 255, *range(4, 16)])
        assert got == [((), b"\5" * 8), ((1, 2), medium), ((7,), b"dcba")]
        assert landed == b"\5" * 8


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
def test_strided_transfers(conduit):
    def program(ep):
        peer = 1 - ep.rank
        layout = gm.RemoteArray(64, (4, 3), "u2", (32, -4))  # rows 32 bytes apart, every other word from the right
        grid = np.arange(12, dtype="u2").reshape(3, 4).T + 100 * ep.rank
        yield ep.barrier()
        yield ep.put_strided(peer, layout, grid)
        yield ep.barrier()
        own = np.zeros((4, 3), "u2")
        same = (yield ep.get_strided(peer, own[::-1], layout)) is not None
        view = ep.segment[56:].view("u2")[: 4 * 16].reshape(4, 16)[:, 4::-2][:, :3]
        twin = yield ep.get_strided(peer, np.zeros((4, 3), "u2"), view)  # the same place, described by the own segment
        yield ep.barrier()
        return same, own.tolist(), twin.tolist(), view.tolist(), int(ep.segment.astype(int).sum())

    plain = np.arange(12).reshape(3, 4).T
    for rank, (same, own, twin, landed, total) in enumerate(launched(program, conduit=conduit)):
        there = plain + 100 * rank
        assert same
        assert own == there[::-1].tolist()
        assert twin == there.tolist()
        assert landed == (plain + 100 * (1 - rank)).tolist()
        assert total == (plain + 100 * (1 - rank)).sum()  # and nothing beside


@pytest.mark.parametrize("conduit", ["ideal", "extoll"])
def test_strided_transfers_take_virtual_time(conduit):
    def program(ep, count):
        yield ep.barrier()
        start = ep.now_ns()
        if ep.rank == 0:
            yield ep.put_strided(1, gm.RemoteArray(0, (count,), "f8", (16,)), np.arange(2.0 * count)[::2])
        return ep.now_ns() - start

    few, many = (launched(program, conduit=conduit, args=[count])[0] for count in (1, 1000))
    assert 100 < few < many
    assert (few, many) == tuple(launched(program, conduit=conduit, args=[count])[0] for count in (1, 1000))


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
def test_fetch_add_counts_every_rank_once(conduit):
    def program(ep):
        seen = []
        for _ in range(5):
            seen.append((yield ep.fetch_add(0, 8, 1)))
        yield ep.barrier()
        return seen, (yield ep.get_value(0, 8))

    results = launched(program, conduit=conduit, ranks=3)
    assert sorted(value for seen, _ in results for value in seen) == list(range(15))
    assert {total for _, total in results} == {15}


@few
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_atomic_domains_of_every_type(conduit, dtype):
    def program(ep):
        domain = ep.atomic_domain(np.dtype(dtype))
        yield ep.barrier()
        found = []
        if ep.rank == 0:
            where = (1, 16)
            found.append((yield domain.set(*where, 40)))
            found.append((yield domain.fetch_add(*where, 2)))
            found.append((yield domain.swap(*where, 7)))
            found.append((yield domain.cas(*where, 7, 9)))
            found.append((yield domain.cas(*where, 7, 1)))
            found.append((yield domain.inc(*where)))
            event = yield domain.fetch_mult_nb(*where, 3)
            yield event
            found.append(event.value)
            found.append((yield domain.fetch_max(*where, 5)))
            if dtype.startswith(("int", "uint")):
                found.append((yield domain.fetch_xor(*where, 2)))
            found.append((yield domain.get(*where)))
        yield ep.barrier()
        return found, str(domain.dtype), domain.path

    (found, name, path), _ = launched(program, conduit=conduit)
    whole = dtype.startswith(("int", "uint"))
    assert found == [None, 40, 42, 7, 9, None, 10, 30, *([30, 28] if whole else [30])]
    assert all(isinstance(value, int if whole else float) for value in found if value is not None)
    assert name == dtype
    assert path == ("direct" if conduit == "smp" else "messages")


@few
def test_atomics_keep_to_their_range(conduit):
    def program(ep):
        domain = ep.atomic_domain("uint64", ["fetch_add", "get", "set"])
        yield domain.set(0, 0, 2**64 - 1)
        yield domain.fetch_add(0, 0, 2)
        small = ep.atomic_domain("int32")
        yield small.set(0, 8, -(2**31))
        return (yield domain.get(0, 0)), (yield small.fetch_dec(0, 8)), (yield small.get(0, 8)), domain.ops

    assert launched(program, conduit=conduit, ranks=1) == [(1, -(2**31), 2**31 - 1, ["set", "get", "fetch_add"])]


@few
def test_immediate_is_refused_where_it_would_wait(conduit):
    def program(ep):
        got = []
        note = ep.register(lambda token: got.append(len(token.payload)))
        yield ep.barrier()
        sent = 0
        if ep.rank == 0:
            payload = bytes(min(2000, ep.max_medium))
            while (yield ep.request(1, note, payload, flags=gm.IMMEDIATE)):
                sent += 1
                if sent == 100_000:
                    return sent, None
            prepared = None
            tries = 0
            while prepared is None:  # room for a small one comes back, since rank 1 polls from now on
                tries += 1
                if tries == 1:
                    yield ep.put_value(1, 0, sent)
                yield ep.poll()
                prepared = yield ep.prepare(1, 8, 8, flags=gm.IMMEDIATE)
            assert (yield prepared.commit(note, 8, flags=gm.IMMEDIATE)) in {True, False}
        else:
            yield ep.sleep(2e8 if not ep._endpoint.is_virtual else 1e9)
            yield ep.wait_until(lambda: got and got[-1] == 8)
        yield ep.barrier()
        return sent, len(got)

    (sent, _), (_, received) = launched(program, conduit=conduit)
    assert 0 < sent < 100_000
    assert received == sent + 1


@everywhere
def test_sleep_takes_the_time_that_it_is_told(conduit):
    def program(ep):
        before = ep.now_ns()
        yield ep.sleep(2500)
        return ep.now_ns() - before, ep._endpoint.is_virtual

    for taken, is_virtual in launched(program, conduit=conduit):
        assert taken >= 2500
        assert not is_virtual or taken < 2600


# ---- virtual time


def ring(ep, rounds=1):
    for i in range(rounds):
        yield ep.put_value((ep.rank + 1) % ep.size, 8 * i, ep.rank + i)
        yield ep.barrier()
    return (yield ep.get_value(ep.rank, 8 * (rounds - 1))), ep.now_ns()


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "ibv", "mpi@ibv", "udp@ibv", "mpi@extoll"])
def test_virtual_time_is_exact(conduit):
    first = launched(ring, conduit=conduit, ranks=5, args=[3])
    again = launched(ring, conduit=conduit, ranks=5, args=[3])
    strict = launched(ring, conduit=conduit, ranks=5, args=[3], options={"sync": "strict"})
    assert first == again == strict
    assert [value for value, _ in first] == [(rank - 1) % 5 + 2 for rank in range(5)]


def test_virtual_time_of_a_put_is_that_of_the_kernel():
    def program(ep):
        yield ep.barrier()
        if ep.rank == 0:
            start = ep.now_ns()
            for _ in range(10):
                yield ep.put_value(1, 0, 7)
            return (ep.now_ns() - start) / 10
        yield ep.sleep(0)
        return None

    frame = gm.measure("ping-pong", conduit="ideal", op="put", sizes=8, iterations=10).frame()
    latency = frame[frame["metric"] == "latency"]["value"].iloc[0]
    assert launched(program, conduit="ideal")[0] == pytest.approx(latency, abs=20)


def test_machine_topology_and_placement_matter():
    def distance(ep):
        yield ep.barrier()
        start = ep.now_ns()
        if ep.rank == 0:
            yield ep.put_value(ep.size - 1, 0, 1)
        return ep.now_ns() - start

    def taken(**more):
        return launched(distance, conduit="extoll", ranks=8, **more)[0]

    near = taken(topology="ring:8", placement="list:0,2,3,4,5,6,7,1")
    far = taken(topology="ring:8", placement="list:0,1,2,3,5,6,7,4")
    assert near < far
    slower = gm.machine("extoll").with_(link_latency="500 ns")
    assert taken(topology="ring:8", placement="list:0,2,3,4,5,6,7,1", machine=slower) > near


@pytest.mark.parametrize("conduit", ["ideal", "extoll"])  # without timers, which would go on for ever
def test_deadlock_has_a_line_for_every_waiting_rank(conduit):
    def program(ep):
        if ep.rank == 0:
            yield ep.barrier()
        else:
            yield ep.wait_until(lambda: False)

    with pytest.raises(gm.Deadlock) as caught:
        launched(program, conduit=conduit, ranks=3)
    head, *lines = str(caught.value).split("\n")
    assert "deadlock" in head
    assert [line.split(" ")[1] for line in lines] == ["0", "1", "2"]
    assert lines[0].endswith("waits for a barrier")
    assert lines[2].endswith("waits for a condition of its program")


@pytest.mark.parametrize("conduit", ["ideal", "extoll"])
def test_error_of_a_virtual_rank_is_a_program_error(conduit):
    cleaned = []

    def program(ep):
        try:
            yield ep.barrier()
            if ep.rank == 1:
                raise LookupError("bad")
            yield ep.wait_until(lambda: False)
        finally:
            cleaned.append(ep.rank)

    with pytest.raises(gm.ProgramError, match="rank 1: LookupError: bad") as caught:
        launched(program, conduit=conduit)
    assert caught.value.rank == 1
    assert isinstance(caught.value.__cause__, LookupError)
    assert 'raise LookupError("bad")' in caught.value.traceback
    assert sorted(cleaned) == [0, 1]


def test_what_an_error_stops_midway_is_ended():
    ended = []

    def program(ep):
        yield ep.sleep(1e6 * (ep.rank == 1))
        with (yield ep.prepare(ep.rank, 8, 8)) as prepared:
            prepared.buffer[:] = 1
            if ep.rank == 1:
                yield prepared.commit(200, 9)
            try:
                yield prepared.cancel()
                yield ep.barrier()
            finally:
                ended.append(ep.rank)
                yield ep.poll()  # too late: nothing is carried out any more

    with pytest.raises(gm.UsageError, match="rank 1: commit: 9 bytes"):
        launched(program, conduit="ideal", ranks=3)
    assert ended == [0, 2]


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


@few
def test_exception_of_a_handler_comes_out_of_the_wait(conduit):
    def program(ep):
        def handler(token):
            raise LookupError("no such key")

        def generator(token):
            yield token.reply(calm)
            raise LookupError("later")

        plain, stepped, calm = ep.register(handler), ep.register(generator), ep.register(lambda token: None)
        found = []
        for index in (plain, stepped):
            yield ep.request(ep.rank, index)
            try:
                yield ep.wait_until(lambda: False)
            except LookupError as error:
                found.append(str(error))
        return found

    assert launched(program, conduit=conduit, ranks=1) == [["no such key", "later"]]


def test_thousands_of_virtual_ranks():
    results = launched(ring, conduit="ideal", ranks=1000, segment=64, options={"nodes": 1000})
    assert [value for value, _ in results] == [(rank - 1) % 1000 for rank in range(1000)]


def test_interrupt_ends_a_job_in_virtual_time(tmp_path):
    script = tmp_path / "forever.py"
    script.write_text(
        textwrap.dedent("""
        import gasmeter as gm

        def forever(ep):
            if ep.rank == 0:
                print("started", flush=True)
            while True:
                yield ep.poll()

        gm.launch(forever, conduit="ideal")
        """)
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert process.returncode not in {0, None}


def test_timeout_ends_a_job_in_virtual_time():
    def forever(ep):
        while True:
            yield ep.poll()

    with pytest.raises(gm.Timeout, match=r"not done in 0\.5 s"):
        gm.launch(forever, conduit="ideal", timeout=0.5)


# ---- what is refused


def plain_function(ep):
    return ep.rank


@pytest.mark.parametrize(
    ("program", "options", "words"),
    [
        (plain_function, {"conduit": "ideal"}, "program plain_function is a plain function, whose calls block"),
        (ring, {"conduit": "raw@ideal"}, "a network's own interface"),
        (ring, {"conduit": "idael"}, "unknown conduit 'idael'"),
        (ring, {"conduit": "ideal", "ranks": 0}, "ranks 0"),
        (ring, {"conduit": "ideal", "options": {"colour": 1}}, "unknown option of conduit ideal 'colour'"),
        (ring, {"conduit": "ideal", "options": {"nodes": "x"}}, "option nodes='x'"),
        (ring, {"conduit": "extoll", "options": {"threads": 2}}, "Python programs take turns on one thread"),
        (ring, {"conduit": "smp", "options": {"threads": True}}, "is used by one thread"),
        (ring, {"conduit": "smp", "topology": "ring:4"}, "has no topology"),
        (ring, {"conduit": "extoll", "topology": "ring:4", "ranks": 999999}, "ranks 999999"),
        (ring, {"conduit": "extoll", "machine": "ideal"}, "belongs to network ideal"),
        (ring, {"conduit": "ideal", "timeout": -1.0}, "timeout of -1.0 s"),
    ],
)
def test_wrong_job_is_refused(program, options, words):
    assert words in refused(program, **options)


def of(operations):
    """A program of one rank that yields what `operations(ep)` makes."""

    def program(ep):
        yield from operations(ep)

    return program


def used_after_commit(ep):
    prepared = yield ep.prepare(0, 8, 8)
    yield prepared.commit(ep.register(lambda token: None), 8)
    yield prepared.commit(200, 8)


def buffer_after_commit(ep):
    prepared = yield ep.prepare(0, 8, 8)
    yield prepared.commit(ep.register(lambda token: None), 8)
    prepared.buffer[0] = 1


def left_open(ep):
    kept = yield ep.prepare(0, 8, 8)
    assert kept.size == 8


def view_in_use(ep):
    prepared = yield ep.prepare(0, 8, 8)
    part = prepared.buffer[2:]
    try:
        yield prepared.commit(200, 8)
    finally:
        del part
        yield prepared.cancel()


def something_between(ep):
    prepared = yield ep.prepare(0, 8, 8)
    try:
        yield ep.barrier()
    finally:
        yield prepared.cancel()


def two_at_once(ep):
    first = yield ep.prepare(0, 8, 8)
    try:
        yield ep.prepare(0, 8, 8)
    finally:
        yield first.cancel()


def view_kept(ep):
    kept = []
    index = ep.register(lambda token: kept.append(np.frombuffer(token.view, "u1")))
    yield ep.request(ep.rank, index, b"12345678")
    yield ep.wait_until(lambda: kept)


def part_of_view_kept(ep):
    kept = []
    index = ep.register(lambda token: kept.append(token.view[2:]))
    yield ep.request(ep.rank, index, b"12345678")
    yield ep.wait_until(lambda: kept)


def with_prepared(use):
    def program(ep):
        prepared = yield ep.prepare(0, 8, 8)
        try:
            yield from use(ep, prepared)
        finally:
            yield prepared.cancel()

    return program


def too_much(ep, prepared):
    yield prepared.commit(200, 9)


def other_count(ep, prepared):
    yield prepared.commit(200, 8, 1)


def atomic(dtype, op, *arguments):
    def program(ep):
        yield ep.atomic_domain(dtype).do(op, *arguments)

    return program


@few
@pytest.mark.parametrize(
    ("program", "words"),
    [
        (used_after_commit, "commit: the message was committed or cancelled before"),
        (buffer_after_commit, "buffer: the message was committed or cancelled"),
        (left_open, "the program ended with a prepared message that was neither committed nor cancelled"),
        (view_in_use, "commit: 1 view of the buffer still in use"),
        (something_between, "barrier: a message is prepared; commit or cancel it first"),
        (two_at_once, "prepare: a message is prepared; commit or cancel it first"),
        (with_prepared(too_much), "commit: 9 bytes; 0 to 8 are prepared"),
        (with_prepared(other_count), "commit: 1 arguments; prepare was told args=0"),
        (view_kept, "handler: an array of token.view outlives it"),
        (part_of_view_kept, "handler: an array of token.view outlives it"),
        (of(lambda ep: [ep.prepare(0, 9, 8)]), "prepare: least 9 is more than most 8"),
        (of(lambda ep: [ep.prepare(0, -1, 8)]), "prepare: least -1 bytes; at least 0"),
        (of(lambda ep: [ep.prepare(0, 0, 8, 17)]), "prepare: args 17; allowed: 0 to 16"),
        (of(lambda ep: [ep.prepare(5, 0, 8)]), "prepare: rank 5 does not exist"),
        (of(lambda ep: [ep.prepare(0, 8, 8, offset=1 << 30)]), "prepare: offset"),
        (of(lambda ep: [ep.prepare(0, 1 << 40, 1 << 40)]), "prepare of a Medium of"),
        (of(lambda ep: [ep.put(0, 0, b"", flags=6)]), "put: flags 6 are unknown; allowed: 0 or gasmeter.IMMEDIATE"),
        (of(lambda ep: [ep.request_long(0, 200, b"12345678", 1 << 20)]), "request_long: offset 1048576 and 8 bytes"),
        (of(lambda ep: [ep.sleep(-1)]), "sleep: -1 ns; allowed: 0 to 1e15"),
        (of(lambda ep: [3]), "program yielded 3; it may yield operations"),
        (of(lambda ep: [ep.fetch_add(0, 4, 1)]), "fetch_add: offset 4 is not a multiple of 8"),
        (of(lambda ep: [ep.atomic_domain("int16")]), "atomic_domain: unknown dtype 'int16'; allowed: int32"),
        (of(lambda ep: [ep.atomic_domain("colour")]), "atomic_domain: unknown dtype 'colour'"),
        (of(lambda ep: [ep.atomic_domain("int32", ["sqrt"])]), "atomic_domain: unknown operation 'sqrt'"),
        (of(lambda ep: [ep.atomic_domain("float32", ["bit_and"])]), "'bit_and' is for integers"),
        (of(lambda ep: [ep.atomic_domain("int32", ["add"]).get(0, 0)]), "get: not in the domain's operations (int32)"),
        (atomic("int32", "add", 0, 2, 1), "add: offset 2 is not a multiple of 4"),
        (atomic("int32", "add", 0, 0, 2**31), "add: operand 2147483648 is outside the domain's type"),
        (atomic("uint32", "add", 0, 0, -1), "add: operand -1 is outside the domain's type (0..4294967295)"),
        (atomic("int64", "add", 9, 0, 1), "add: rank 9 does not exist"),
    ],
)
def test_wrong_call_is_refused_in_one_line(conduit, program, words):
    message = refused(program, conduit=conduit, ranks=1)
    assert message.startswith("rank 0: ")
    assert words in message


@few
def test_wrong_types_are_type_errors(conduit):
    def program(ep):
        calls = [
            ep.put("0", 0, b""), ep.put_value(0, 0, None), ep.wait(3), ep.wait_until(5),
            ep.atomic_domain("int32").add(0, 0, 0.5), ep.prepare(0, None, 8),
        ]  # fmt: skip
        kinds = []
        for call in calls:
            try:
                yield call
            except TypeError as error:
                kinds.append("\n" not in str(error))
        return kinds

    assert launched(program, conduit=conduit, ranks=1) == [[True] * 6]


def test_calls_at_once_are_refused_in_virtual_time():
    def program(ep):
        errors = []
        event = yield ep.put_nb(0, 0, b"12345678")
        for call in (event.test, ep._endpoint.barrier, lambda: ep._endpoint.put(0, 0, b"")):
            try:
                call()
            except gm.UsageError as error:
                errors.append(str(error))
        yield event
        return errors

    [errors] = launched(program, conduit="ideal", ranks=1)
    assert len(errors) == 3
    assert all("in virtual time nothing can block here" in error for error in errors)


def test_plain_handlers_of_virtual_ranks_answer_once_and_not_at_once():
    def program(ep):
        errors = []

        def handler(token):
            for reply in (
                lambda: token.prepare(0, 8),
                lambda: token.reply(pong, flags=gm.IMMEDIATE),
                lambda: token.reply(pong),
                lambda: token.reply(pong),
            ):
                try:
                    reply()
                except gm.UsageError as error:
                    errors.append(str(error))

        done = []
        pong = ep.register(done.append)
        ping = ep.register(handler)
        yield ep.request(0, ping)
        yield ep.wait_until(lambda: done)
        return errors

    [errors] = launched(program, conduit="ideal", ranks=1)
    assert ["generator" in errors[0], "generator" in errors[1], "at most once" in errors[2]] == [True] * 3


# ---- plain functions on rank processes


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
