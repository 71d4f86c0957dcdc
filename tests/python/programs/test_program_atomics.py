"""Atomics of programs: fetch-and-add, and domains of every type."""

from __future__ import annotations

import numpy as np
import pytest

from programs import everywhere, few, launched

pytestmark = pytest.mark.timeout(240)

DTYPES = ["int32", "uint32", "int64", "uint64", "float32", "float64"]


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
def test_atomic_domains_of_every_type(conduit):
    def program(ep):
        of_types = []
        for dtype in DTYPES:
            of_types.append((yield from every_operation(ep, dtype)))
        return of_types

    def every_operation(ep, dtype):
        domain = ep.atomic_domain(np.dtype(dtype))
        yield ep.barrier()
        answers = []
        if ep.rank == 0:
            where = (1, 16)
            answers.append((yield domain.set(*where, 40)))
            answers.append((yield domain.fetch_add(*where, 2)))
            answers.append((yield domain.swap(*where, 7)))
            answers.append((yield domain.cas(*where, 7, 9)))
            answers.append((yield domain.cas(*where, 7, 1)))
            answers.append((yield domain.inc(*where)))
            event = yield domain.fetch_mult_nb(*where, 3)
            yield event
            answers.append(event.value)
            answers.append((yield domain.fetch_max(*where, 5)))
            if dtype.startswith(("int", "uint")):
                answers.append((yield domain.fetch_xor(*where, 2)))
            answers.append((yield domain.get(*where)))
        yield ep.barrier()
        return answers, str(domain.dtype)

    of_types, _ = launched(program, conduit=conduit)
    for dtype, (of_type, name) in zip(DTYPES, of_types, strict=True):
        whole = dtype.startswith(("int", "uint"))
        assert of_type == [None, 40, 42, 7, 9, None, 10, 30, *([30, 28] if whole else [30])]
        assert all(isinstance(value, int if whole else float) for value in of_type if value is not None)
        assert name == dtype


@pytest.mark.parametrize(("conduit", "path"), [("smp", "direct"), ("ideal", "messages"), ("extoll", "messages")])
def test_atomic_domains_name_their_path(conduit, path):
    def program(ep):
        yield ep.barrier()
        return ep.atomic_domain("int64").path

    assert launched(program, conduit=conduit) == [path] * 2


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
