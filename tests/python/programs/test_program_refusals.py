"""Refusals of launch and of a program's calls, each in one line."""

from __future__ import annotations

import numpy as np
import pytest

import gasmeter as gm
from programs import few, launched, refused, ring

pytestmark = pytest.mark.timeout(240)


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


def lent(take, finish="commit"):
    """A program that holds what it took of a buffer when the message ends, and what the message is then."""

    def program(ep):
        prepared = yield ep.prepare(0, 8, 8)
        kept = take(prepared.buffer)
        try:
            yield prepared.commit(200, 8) if finish == "commit" else prepared.cancel()
        finally:
            del kept
            yield prepared.cancel()

    return program


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


WRONG_CALLS = [
    (used_after_commit, "commit: the message was committed or cancelled before"),
    (buffer_after_commit, "buffer: the message was committed or cancelled"),
    (left_open, "the program ended with a prepared message that was neither committed nor cancelled"),
    (view_in_use, "commit: 1 view of the buffer still in use"),
    (lent(memoryview), "commit: a memoryview of the buffer may still be in use"),
    (lent(memoryview, "cancel"), "cancel: a memoryview of the buffer may still be in use"),
    (lent(lambda buffer: (buffer, memoryview(buffer))), "commit: a memoryview of the buffer may still be in use"),
    (lent(lambda buffer: memoryview(buffer[2:])), "commit: 1 view of the buffer still in use"),
    (lent(np.frombuffer), "commit: 1 view of the buffer still in use"),
    (lent(lambda buffer: np.frombuffer(memoryview(buffer), "u1")), "commit: a memoryview of the buffer may still"),
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
    (of(lambda ep: [ep.compute(-1)]), "compute: -1 ns; allowed: 0 to 1e15"),
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
]


@pytest.mark.parametrize("conduit", ["ideal", "extoll"])
@pytest.mark.parametrize(("program", "words"), WRONG_CALLS)
def test_wrong_call_of_a_virtual_rank_is_refused_in_one_line(conduit, program, words):
    message = refused(program, conduit=conduit, ranks=1)
    assert message.startswith("rank 0: ")
    assert words in message


def test_wrong_calls_of_a_rank_process_are_refused_in_one_line():
    # All in one job, as each would take a process; what comes out of a job is the next test's.
    def all_of_them(ep):
        messages = []
        for program in programs:
            try:
                yield from program(ep)
            except gm.UsageError as error:
                messages.append(str(error))
            else:
                messages.append("was not refused")
        return messages

    within = [(program, words) for program, words in WRONG_CALLS if not words.startswith("the program ended")]
    programs = [program for program, _ in within]
    assert len(programs) == len(WRONG_CALLS) - 1
    [refusals] = launched(all_of_them, ranks=1)
    for message, (_, words) in zip(refusals, within, strict=True):
        assert words in message
        assert "\n" not in message


@pytest.mark.parametrize(("program", "words"), [WRONG_CALLS[i] for i in (0, 2, 8)])
def test_what_a_rank_process_refuses_ends_its_job(program, words):
    message = refused(program, ranks=1)
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
