"""Python programs on real ranks: `gasmeter.launch` and the endpoint it hands over."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import gasmeter as gm
from gasmeter.programs.launch import ProgramError

pytestmark = pytest.mark.timeout(120)


def launched(program, **options):
    """A job that must not hang the tests."""
    return gm.launch(program, **{"timeout": 60.0, **options})


def refused(program, **options):
    """The one line with which every rank's call is refused."""
    with pytest.raises(gm.UsageError) as caught:
        launched(program, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- forms of programs


def ring(ep, start=0):
    yield ep.put_value((ep.rank + 1) % ep.size, 0, start + ep.rank)
    yield ep.barrier()
    return (yield ep.get_value(ep.rank, 0))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_results_come_in_rank_order(ranks):
    assert launched(ring, ranks=ranks) == [(rank - 1) % ranks for rank in range(ranks)]


def test_arguments_reach_the_program():
    assert launched(ring, args=[100]) == [101, 100]
    assert launched(functools.partial(ring, start=200)) == [201, 200]


def test_plain_function_gets_blocking_calls():
    def program(ep):
        ep.put((ep.rank + 1) % ep.size, 16, np.arange(4.0) + ep.rank)
        ep.barrier()
        mine = ep.segment[16:48].view("f8").copy()
        theirs = np.zeros(4)
        assert ep.get((ep.rank + 1) % ep.size, 16, theirs) is theirs
        return mine, theirs, np.frombuffer(ep.get(ep.rank, 16, 32))

    for rank, (mine, theirs, copy) in enumerate(launched(program)):
        np.testing.assert_array_equal(mine, np.arange(4.0) + (rank - 1) % 2)
        np.testing.assert_array_equal(theirs, np.arange(4.0) + rank)
        np.testing.assert_array_equal(copy, mine)


def test_coroutine_awaits_its_operations():
    async def program(ep):
        await ep.put_value(0, 8 * ep.rank, ep.rank + 7)
        await ep.barrier()
        return await ep.get_value(0, 8 * (1 - ep.rank))

    assert launched(program) == [8, 7]


class Shifted:
    """A callable object with a state; its call is a generator function."""

    def __init__(self, by):
        self.by = by

    def __call__(self, ep):
        yield ep.barrier()
        return ep.rank + self.by


def test_callable_object_is_a_program():
    assert launched(Shifted(5)) == [5, 6]


def test_operations_of_a_generator_yield_what_the_calls_return():
    def program(ep):
        yield ep.barrier()
        peer = 1 - ep.rank
        results = [(yield ep.put(peer, 0, b"12345678")), (yield ep.barrier())]
        into = bytearray(4)
        event = yield ep.get_nb(peer, 2, into)
        results.append((yield ep.wait(event)))
        results.append(bytes(into))
        event = yield ep.put_nb(peer, 64, memoryview(b"abcd"))
        while not event.test():
            pass
        yield ep.barrier()
        results.append((yield ep.get(peer, 64, 4)))
        results.append(isinstance((yield ep.poll()), int))
        results.append(ep.segment_of(peer)[64:68].tobytes())
        return results

    assert launched(program) == [[None, None, None, b"3456", b"abcd", True, b"abcd"]] * 2


def test_error_of_an_operation_is_raised_at_its_yield():
    def program(ep):
        try:
            yield ep.put(7, 0, b"")
        except ValueError as error:
            return str(error)

    assert launched(program) == ["put: rank 7 does not exist; ranks are 0..1"] * 2


def test_forgotten_yield_warns(capfd):
    def program(ep):
        ep.put_value(0, 0, 1)
        yield ep.barrier()
        return int(ep.segment[0])

    assert launched(program) == [0, 0]
    assert "put_value was never carried out: write `yield ep.put_value(...)`" in capfd.readouterr().err


def test_segment_has_the_size_asked_for_and_starts_zeroed():
    def program(ep):
        return len(ep.segment), int(ep.segment.sum()), len(ep.segment_of(ep.size - 1))

    assert launched(program, segment="64K") == [(65536, 0, 65536)] * 2
    assert launched(program, segment=100) == [(100, 0, 100)] * 2
    assert launched(program, segment=0) == [(0, 0, 0)] * 2


def test_neighbours_segment_is_its_memory():
    def program(ep):
        ep.segment_of((ep.rank + 1) % ep.size)[3] = ep.rank + 1
        ep.barrier()
        return int(ep.segment[3])

    assert launched(program, ranks=3) == [3, 1, 2]


def test_view_keeps_the_memory_of_its_endpoint():
    def program(ep):
        ep.segment[:] = 7
        return ep.segment[1:4]

    def keeper(ep):
        import gc

        ep.register(lambda token, ep=ep: ep)  # a cycle through the handler
        view = ep.segment
        view[:] = 9
        del ep
        gc.collect()
        return int(view.sum())

    np.testing.assert_array_equal(launched(program)[1], [7, 7, 7])
    assert launched(keeper, segment=1000) == [9000, 9000]


# ---- active messages


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_requests_and_replies_run_handlers_in_both_directions(ranks):
    def program(ep):
        pings, pongs = [], []

        def on_ping(token):
            pings.append((token.source, token.args, token.payload, token.is_request))
            token.reply(pong, token.payload * 2, *(argument + 1 for argument in token.args))

        def on_pong(token):
            pongs.append((token.source, token.args, token.payload, token.is_request))

        ping, pong = ep.register(on_ping), ep.register(on_pong)
        for rank in range(ep.size):
            yield ep.request(rank, ping, bytes([ep.rank]) * 3, ep.rank, -(2**31))
            yield ep.request(rank, ping)
        yield ep.wait_until(lambda: len(pongs) == 2 * ep.size)
        yield ep.barrier()
        return sorted(pings), sorted(pongs)

    for me, (pings, pongs) in enumerate(launched(program, ranks=ranks)):
        everyone = range(ranks)
        assert pings == sorted(
            [(rank, (rank, -(2**31)), bytes([rank]) * 3, True) for rank in everyone]
            + [(rank, (), b"", True) for rank in everyone]
        )
        assert pongs == sorted(
            [(rank, (me + 1, -(2**31) + 1), bytes([me]) * 6, False) for rank in everyone]
            + [(rank, (), b"", False) for rank in everyone]
        )


def test_sixteen_arguments_and_the_largest_payload_arrive():
    def program(ep):
        got = []
        handler = ep.register(lambda token: got.append((token.args, token.payload)))
        payload = np.arange(ep.max_medium, dtype="u1")
        for count in range(17):
            yield ep.request(1 - ep.rank, handler, payload, *range(count))
        yield ep.wait_until(lambda: len(got) == 17)
        assert all(data == payload.tobytes() for _, data in got)
        return [args for args, _ in got]

    assert launched(program) == [[tuple(range(count)) for count in range(17)]] * 2


def test_many_messages_fill_the_ring_and_wait_for_room():
    def program(ep):
        got = []
        handler = ep.register(lambda token: got.append(token.args[0]))
        for i in range(3000):
            yield ep.request(1 - ep.rank, handler, b"x" * 1000, i)
        yield ep.wait_until(lambda: len(got) == 3000)
        return got == list(range(3000))

    assert launched(program) == [True, True]


def test_rank_that_is_done_still_answers():
    def program(ep):
        answers = []
        pong = ep.register(lambda token: answers.append(token.source))
        ping = ep.register(lambda token: token.reply(pong))
        if ep.rank == 0:
            time.sleep(0.2)
            yield ep.request(1, ping)
            yield ep.wait_until(lambda: answers)
        else:
            yield ep.poll()
        return answers

    assert launched(program) == [[1], []]


def test_exception_of_a_handler_comes_out_of_the_wait():
    def program(ep):
        def handler(token):
            raise LookupError("no such key")

        index = ep.register(handler)
        yield ep.request(ep.rank, index)
        try:
            yield ep.wait_until(lambda: False)
        except LookupError as error:
            return str(error)

    assert launched(program) == ["no such key"] * 2


def in_handler(action):
    """A program whose handler does what `action(ep, token)` does; returns the error's text."""

    def program(ep):
        index = ep.register(lambda token: action(ep, token))
        ep.request(ep.rank, index)
        ep.poll()

    return program


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda ep, token: ep.barrier(), "barrier: not allowed in a handler"),
        (lambda ep, token: ep.poll(), "poll: not allowed in a handler"),
        (lambda ep, token: ep.request(0, 254), "request: not allowed in a handler"),
        (lambda ep, token: ep.wait_until(lambda: True), "wait_until: not allowed in a handler"),
        (lambda ep, token: ep.put(0, 0, b""), "put: not allowed in a handler"),
        (lambda ep, token: ep.get_value(0, 0), "get_value: not allowed in a handler"),
        (lambda ep, token: [token.reply(254), token.reply(254)], "answered at most once"),
        (lambda ep, token: token.reply(7), "reply: handler 7 does not exist"),
    ],
)
def test_handler_may_only_reply_once(action, words):
    assert words in refused(in_handler(action), ranks=1)


def test_reply_of_a_reply_or_after_the_handler_is_refused():
    def program(ep):
        kept, errors = [], []

        def on_reply(token):
            try:
                token.reply(pong)
            except ValueError as error:
                errors.append(str(error))

        pong = ep.register(on_reply)
        ping = ep.register(lambda token: [kept.append(token), token.reply(pong)])
        ep.request(ep.rank, ping)
        ep.wait_until(lambda: errors)
        try:
            kept[0].reply(pong)
        except ValueError as error:
            errors.append(str(error))
        return errors

    [[refusal, late]] = launched(program, ranks=1)
    assert refusal.startswith("rank 0: reply")
    assert refusal.endswith("called by rank 0: a reply handler must not communicate")
    assert late == "reply: the token's handler has returned; reply inside it"


def test_message_nobody_registered_is_named():
    assert "handler index 200, which is not registered" in refused(lambda ep: [ep.request(0, 200), ep.poll()], ranks=1)


# ---- wrong calls


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda ep: ep.put(2, 0, b"x"), "put: rank 2 does not exist; ranks are 0..0"),
        (lambda ep: ep.put(-1, 0, b"x"), "put: rank -1 does not exist"),
        (lambda ep: ep.put(0, 1000, b"123456789"), "put: offset 1000 and 9 bytes are not inside the segment of rank 0"),
        (lambda ep: ep.put(0, -1, b"x"), "put: offset -1 and 1 bytes"),
        (lambda ep: ep.put(0, 1001, np.zeros(1)), "which has 1008 bytes"),
        (lambda ep: ep.put(0, 1 << 70, b"x"), "put: offset 1180591620717411303424 is outside 64 bits"),
        (lambda ep: ep.put(0, 0, np.zeros(8)[::2]), "put: numpy.ndarray is not contiguous memory"),
        (lambda ep: ep.put(0, 0, "text"), "put: str is not contiguous memory; allowed: bytes"),
        (lambda ep: ep.put_value(0, 1001, 1), "put_value: offset 1001 and 8 bytes"),
        (lambda ep: ep.put_value(0, 0, 1 << 63), "put_value: value 9223372036854775808 is outside 64 bits"),
        (lambda ep: ep.get(0, 0, -1), "get: -1 bytes; at least 0"),
        (lambda ep: ep.get(0, 0, 1 << 60), "get: offset 0 and 1152921504606846976 bytes"),
        (lambda ep: ep.get(0, 0, b"read-only"), "get: bytes is not writable, contiguous memory"),
        (lambda ep: ep.get(5, 0, 8), "get: rank 5 does not exist"),
        (lambda ep: ep.get_value(0, -8), "get_value: offset -8"),
        (lambda ep: ep.put_nb(0, 1008, b"x"), "put_nb: offset 1008 and 1 bytes"),
        (lambda ep: ep.get_nb(0, 0, b"x"), "get_nb: bytes is not writable"),
        (lambda ep: ep.segment_of(1), "segment_of: rank 1 does not exist"),
        (lambda ep: ep.request(9, 200), "request: rank 9 does not exist"),
        (lambda ep: ep.request(0, 3), "request: handler 3 does not exist; allowed are the indices"),
        (lambda ep: ep.request(0, 255), "request: handler 255 does not exist"),
        (lambda ep: ep.request(0, 200, b"", *range(17)), "request: 17 arguments; at most 16"),
        (lambda ep: ep.request(0, 200, b"", 1 << 31), "request: argument 2147483648 is not a whole number of 32 bits"),
        (lambda ep: ep.request(0, 200, b"", "a"), "request: argument 'a' is not a whole number"),
        (lambda ep: ep.request(0, 200, 5), "request: int is not contiguous memory"),
        (lambda ep: ep.request(0, 200, bytes(ep.max_medium + 1000)), "Medium message of"),
    ],
)
def test_wrong_call_is_refused_in_one_line(call, words):
    message = refused(call, ranks=1, segment=1008)
    assert message.startswith("rank 0: ")
    assert words in message


@pytest.mark.parametrize(
    "call",
    [
        lambda ep: ep.put("0", 0, b""),
        lambda ep: ep.put(0, 0.5, b""),
        lambda ep: ep.put(0, 0),
        lambda ep: ep.put_value(0, 0, None),
        lambda ep: type(ep).put(type(ep).__new__(type(ep)), 0, 0, b""),
    ],
)
def test_wrong_type_is_a_type_error(call):
    with pytest.raises(ProgramError, match="TypeError") as caught:
        launched(call, ranks=1)
    assert isinstance(caught.value.__cause__, TypeError)


def test_numpy_integers_are_integers():
    def program(ep):
        ep.put_value(np.int64(0), np.uint8(8), np.int32(-5))
        return ep.get_value(np.int8(0), np.int64(8)), ep.get(0, 8, np.int64(1)), ep.get_value(0, 8) == -5

    assert launched(program, ranks=1) == [(-5, b"\xfb", True)]


def test_values_of_every_size_survive():
    def program(ep):
        values = [0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**63 - 1, -(2**63)]
        for i, value in enumerate(values):
            ep.put_value(0, 8 * i, value)
        return [ep.get_value(0, 8 * i) for i in range(len(values))] == values

    assert launched(program, ranks=1) == [True]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 4096, 1 << 20])
def test_put_of_every_size_moves_exactly_its_bytes(size):
    def program(ep):
        data = np.random.default_rng(size).integers(0, 256, size, dtype="u1")
        ep.segment[:] = 0xAA
        ep.barrier()
        ep.put(1 - ep.rank, 8, data)
        ep.put(1 - ep.rank, 8, data.tobytes())
        ep.barrier()
        inside = np.array_equal(ep.segment[8 : 8 + size], data)
        return inside and int((ep.segment[8 + size :] != 0xAA).sum()) == 0 and bool((ep.segment[:8] == 0xAA).all())

    assert launched(program, segment=size + 64) == [True, True]


# ---- the end of a job


def test_error_of_one_rank_ends_the_job_and_names_it():
    def program(ep):
        if ep.rank == 1:
            raise LookupError("bad\nthing")
        yield ep.barrier()
        yield ep.wait_until(lambda: False)

    with pytest.raises(ProgramError, match="rank 1: LookupError: bad") as caught:
        launched(program)
    error = caught.value
    assert error.rank == 1
    assert 'raise LookupError("bad\\nthing")' in error.traceback
    assert "rank.py" not in error.traceback
    assert error.__notes__ == [f"On rank 1:\n{error.traceback}"]
    assert isinstance(error.__cause__, LookupError)


def test_error_that_cannot_be_pickled_still_tells():
    def program(ep):
        class Odd(Exception):
            def __reduce__(self):
                raise RuntimeError("no")

        raise Odd("odd one")

    with pytest.raises(ProgramError, match="rank 0: Odd: odd one") as caught:
        launched(program, ranks=1)
    assert caught.value.__cause__ is None


def test_exit_of_a_program_is_an_error():
    with pytest.raises(ProgramError, match="rank 0: SystemExit: 3"):
        launched(lambda ep: sys.exit(3), ranks=1)


def test_killed_rank_breaks_the_job_within_seconds():
    def program(ep):
        if ep.rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ep.barrier()

    start = time.monotonic()
    with pytest.raises(gm.BrokenJob, match=r"rank 2 \(pid \d+\) was killed by signal 9"):
        launched(program, ranks=4)
    assert time.monotonic() - start < 10
    assert not [child for child in psutil.Process().children(recursive=True) if child.status() != "zombie"]


def test_rank_that_leaves_breaks_the_job():
    with pytest.raises(gm.BrokenJob, match="exited with status 5"):
        launched(lambda ep: os._exit(5))


def test_job_that_never_ends_runs_into_its_timeout():
    with pytest.raises(gm.Timeout, match="no answer in time from rank 0"):
        gm.launch(lambda ep: ep.wait_until(lambda: False), timeout=2.0)


@pytest.mark.parametrize(
    "wait",
    [
        lambda ep: ep.wait_until(lambda: False),
        lambda ep: ep.barrier() if ep.rank == 0 else ep.wait_until(lambda: False),
    ],
)
def test_interrupt_reaches_a_waiting_rank(wait):
    def program(ep):
        if ep.rank == 0:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        wait(ep)

    with pytest.raises(ProgramError, match="rank 0: KeyboardInterrupt"):
        launched(program)


def test_threads_run_while_a_rank_waits():
    def program(ep):
        seen = []
        threading.Thread(target=lambda: seen.append(1)).start()
        ep.wait_until(lambda: seen)
        return seen

    assert launched(program) == [[1], [1]]


def test_interrupt_of_the_caller_ends_every_process(tmp_path):
    script = tmp_path / "forever.py"
    script.write_text(
        textwrap.dedent("""
        import gasmeter as gm

        def forever(ep):
            print("started", flush=True)
            yield ep.wait_until(lambda: False)

        gm.launch(forever)
        """)
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) == 3
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


# ---- wrong jobs


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ranks": 0}, "ranks 0"),
        ({"ranks": -1}, "ranks -1"),
        ({"ranks": 10**6}, "ranks 1000000"),
        ({"ranks": 1.5}, "ranks 1.5 is not a whole number"),
        ({"ranks": True}, "ranks True is not a whole number"),
        ({"conduit": "smtp"}, "unknown conduit 'smtp'"),
        ({"segment": "1X"}, "size '1X' is not a size"),
        ({"segment": -5}, "size '-5' is negative"),
        ({"segment": 1.5}, "segment 1.5 is not a size"),
        ({"segment": "900T"}, "segment 900T: 2 ranks need 1800 TiB, /dev/shm holds"),
        ({"timeout": 0.0}, "timeout of 0.0 s"),
    ],
)
def test_wrong_job_is_refused_before_it_starts(options, words):
    assert words in refused(ring, **options)


def test_program_that_is_none_is_refused():
    assert "program 5 is not callable" in refused(5)
    assert "program yielded 3; it may yield operations" in refused(yields_three)
    assert "returned a generator; pass the generator function itself" in refused(lambda ep, start=0: ring(ep, start))


def yields_three(ep):
    yield 3


def test_what_cannot_be_pickled_is_named():
    lock = threading.Lock()
    assert "launch: program cannot be pickled" in refused(lambda ep: lock)
    assert "launch: args cannot be pickled" in refused(ring, args=[lock])
    assert "rank 0: result of type lock cannot be pickled" in refused(lambda ep: threading.Lock(), ranks=1)


def test_rank_outside_a_job_says_so():
    done = subprocess.run([sys.executable, "-m", "gasmeter.rank"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: GASMETER_RANK_LINK is not set")


def test_program_of_a_module_beside_the_script_is_found(tmp_path):
    (tmp_path / "beside.py").write_text("def program(ep):\n    yield ep.barrier()\n    return ep.size\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import gasmeter as gm, beside; print(gm.launch(beside.program))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    assert done.stdout == "[2, 2]\n", done.stderr


def test_ranks_print_to_the_callers_output(capfd):
    def program(ep):
        print(f"rank {ep.rank} here")
        return ep.rank

    assert launched(program) == [0, 1]
    assert sorted(capfd.readouterr().out.splitlines()) == ["rank 0 here", "rank 1 here"]
