"""Programs in virtual time: it is exact, and jobs end however they go wrong."""

from __future__ import annotations

import inspect
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import zlib

import numpy as np
import pytest
import test_program_atomics
import test_program_messages
import test_program_teams
import test_programs

import gasmeter as gm
from programs import MPI, launched, ring

pytestmark = pytest.mark.timeout(240)
REAL = ["smp", "udp", MPI]


def of_virtual_ranks(*modules):
    """The tests of programs that ask for a conduit alone, each with the modelled ones of theirs."""
    cases = []
    for test in (value for module in modules for name, value in vars(module).items() if name.startswith("test_")):
        for mark in (mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"):
            if mark.args[0] == "conduit" and inspect.signature(test).parameters.keys() == {"conduit"}:
                cases += [(test, conduit) for conduit in mark.args[1] if conduit not in REAL]
    return cases


PROGRAMS = of_virtual_ranks(test_programs, test_program_messages, test_program_atomics, test_program_teams)


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "ibv", "gm", "mpi@ibv", "udp@ibv", "mpi@extoll"])
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


@pytest.mark.parametrize(
    ("conduit", "job"),  # conduits whose targets take no part in a put
    [
        ("ibv", {}),
        ("ideal", {"options": {"nodes": 1, "neighbourhood": True}}),
        ("extoll", {"options": {"neighbourhood": True}, "placement": "fill"}),
    ],
)
@pytest.mark.parametrize("sync", ["lazy", "strict"])
def test_segment_shows_what_has_come_by_now(conduit, job, sync):
    def program(ep):
        yield ep.barrier()
        if ep.rank == 0:
            yield ep.sleep(1e6)
            yield ep.put_value(1, 0, 7)
            return None
        yield ep.sleep(0.9e6)
        early = int(ep.segment[0])
        yield ep.sleep(0.9e6)
        return early, int(ep.segment[0])

    job = {**job, "options": {"sync": sync, **job.get("options", {})}}
    assert launched(program, conduit=conduit, **job)[1] == (0, 7)


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize(("test", "conduit"), PROGRAMS)
def test_lazy_ranks_are_strict_ones_at_every_step(test, conduit, neighbours, monkeypatch):
    def watched(program):
        def steps(ep, *args):
            inner = program(ep, *args)
            seen = []
            try:
                operation = inner.send(None)
                while True:
                    seen.append((ep.now_ns(), zlib.crc32(ep.segment)))
                    try:
                        value = yield operation
                    except Exception as error:
                        operation = inner.throw(error)
                    else:
                        operation = inner.send(value)
            except StopIteration as end:
                return end.value, ep.now_ns(), ep.segment.tobytes(), seen

        return steps

    def both(program, **options):
        chosen = {"neighbourhood": neighbours, **options.pop("options", {})}
        if neighbours and conduit == "ideal":
            chosen["nodes"] = 1
        lazy, strict = (
            launched(watched(program), **options, options={**chosen, "sync": sync}) for sync in ("lazy", "strict")
        )
        assert pickle.dumps(lazy) == pickle.dumps(strict)
        return [result for result, *_ in lazy]

    monkeypatch.setattr(sys.modules[test.__module__], "launched", both)
    test(conduit)


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


def test_thousands_of_virtual_ranks():
    results = launched(ring, conduit="ideal", ranks=1000, segment=64, options={"nodes": 1000})
    assert [value for value, _ in results] == [(rank - 1) % 1000 for rank in range(1000)]


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


@pytest.mark.parametrize(
    ("options", "computed"),
    [
        ({}, 2000.0),
        ({"interrupt": 500}, 2500.0),
        ({"interrupt": 500, "interrupts": "other"}, 2000.0),
        ({"interrupt": 500, "handlers": "interrupt"}, 2950.8),  # taken 200, dispatched 20, copied 10.8, answered 220
    ],
)
def test_what_comes_while_a_rank_computes_costs_it_what_the_conduit_says(options, computed):
    def program(ep):
        begin = ep.now_ns()
        if ep.rank == 0:
            yield ep.put_nbi(1, 0, 8 * b"x")
            yield ep.wait_nbi()
        else:
            yield ep.compute(2000)
        took = ep.now_ns() - begin
        yield ep.barrier()
        return took

    assert gm.launch(program, conduit="ideal", ranks=2, options=options)[1] == computed


def test_memory_that_goes_is_not_taken_for_what_lies_there_next():
    def program(ep):
        if ep.rank == 1:
            yield ep.barrier()
            return []
        took = []
        place = bytearray(100)
        for goes in (False, True, False):
            begin = ep.now_ns()
            event = yield ep.put_nb(1, 0, place)
            took.append(ep.now_ns() - begin)
            yield event
            if goes:
                begin = ep.now_ns()
                yield ep.forget(memoryview(place)[10:20])
                took.append(ep.now_ns() - begin)
        yield ep.barrier()
        return took

    options = {"put": "native", "registration": "cached"}
    took = gm.launch(program, conduit="ideal", ranks=2, options=options)[0]
    assert took == pytest.approx([1404.8, 200, 602.4, 1404.8])  # registered, a hit, undone, registered anew


def test_words_that_a_call_holds_go_with_it():
    def program(ep):
        took = []
        for value in range(3):
            begin = ep.now_ns()
            yield ep.put_value(1 - ep.rank, 0, value)
            took.append(ep.now_ns() - begin)
        yield ep.barrier()
        return took

    options = {"put": "native", "registration": "cached", "sync": "strict"}
    took = gm.launch(program, conduit="ideal", ranks=2, options=options)
    assert all(time > 1404.8 + 602.4 for rank in took for time in rank)
    assert took == gm.launch(program, conduit="ideal", ranks=2, options={**options, "sync": "lazy"})
