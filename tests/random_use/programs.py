"""Random programs of ranks: all ranks take the same steps, most of them within bounds, so that none can deadlock."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import gasmeter as gm

SEGMENT = 65536
COLLECTIVE = ("barrier", "allreduce", "broadcast", "shared")
ALONE = (
    "put",
    "get",
    "put_nb",
    "get_nb",
    "put_nbi",
    "value",
    "fetch_add",
    "strided",
    "message",
    "long",
    "sleep",
    "compute",
    "poll",
    "immediate",
    "atomic",
)
Step = tuple[Any, ...]


def draw(rng: random.Random, ranks: int) -> list[Step]:
    """Return 3 to 12 steps; one program in four has a step that asks for what cannot be."""
    steps: list[Step] = []
    for _ in range(rng.randint(3, 12)):
        if rng.random() < 0.25:
            steps.append((rng.choice(COLLECTIVE), rng.choice((1, 3, 8, 100)), rng.randrange(ranks)))
        else:
            size = rng.choice((0, 1, 8, 100, 1024, 4096, 5000, 30000))
            offset = rng.choice((0, 8, 64, 1000, 32768))
            steps.append((rng.choice(ALONE), rng.randrange(ranks), offset, size))
    if rng.random() < 0.25:
        wrong: tuple[Step, ...] = (
            ("put", rng.choice((ranks, -1, 2**31)), 0, 8),
            ("put", 0, rng.choice((SEGMENT, -8, 2**40, 2**63 - 1, 2**64)), 8),
            ("get", 0, SEGMENT - 4, 8),
            ("sleep", 0, rng.choice((-1.0, 1e15, 1e30, float("nan"), float("inf"))), 0),
            ("compute", 0, rng.choice((-1.0, 1e15, 1e30, float("nan"))), 0),
            ("strided", 0, SEGMENT, 2**20),
            ("long", 0, 2**62, 64),
            ("fetch_add", 0, 3, 8),
            (
                "array",
                rng.choice((2**61 - 1, 2**63 - 1, -1, 0, 2**40)),
                rng.choice((0, 1, 2**62)),
                rng.choice((0, 2**40, -1)),
            ),
        )
        steps.insert(rng.randrange(len(steps) + 1), rng.choice(wrong))
    return steps


def run(ep: Any, steps: list[Step]) -> Iterator[Any]:
    """Run the steps at a rank; end when all ranks have."""
    handler = ep.register(lambda token: None)
    domain = ep.atomic_domain("int64", ["cas"])
    data = np.arange(SEGMENT, dtype=np.uint8)
    space = None
    for name, *given in steps:
        if name == "barrier":
            yield ep.barrier()
        elif name == "allreduce":
            yield ep.team.all_reduce(np.ones(given[0]), "sum")
        elif name == "broadcast":
            yield ep.team.broadcast(np.ones(given[0]), given[1])
        elif name in {"shared", "array"}:
            if space is None:
                space = yield gm.shared_space(ep, reserve=SEGMENT // 2)
            if name == "array":
                elements, block, element = given
                array = yield space.all_alloc(elements, "int64", block=block)
                yield array.put(element, 1)
                yield array[element]
            else:
                array = yield space.all_alloc(given[0], "int64")
                yield array.put(0, 5)
                yield ep.barrier()
                yield space.all_free(array)
        else:
            yield from alone(ep, handler, domain, data, name, *given)
    yield ep.barrier()


def alone(ep: Any, handler: Any, domain: Any, data: Any, name: str, rank: int, offset: Any, size: int) -> Iterator[Any]:  # noqa: PLR0912
    """Run a step that no other rank takes part in."""
    part = data[: max(size, 0)]
    if name == "put":
        yield ep.put(rank, offset, part)
    elif name == "get":
        yield ep.get(rank, offset, size)
    elif name == "put_nb":
        event = yield ep.put_nb(rank, offset, part)
        yield ep.wait(event)
    elif name == "get_nb":
        event = yield ep.get_nb(rank, offset, np.empty(size, np.uint8))
        yield ep.wait(event)
    elif name == "put_nbi":
        yield ep.put_nbi(rank, offset, part)
        yield ep.wait_nbi()
    elif name == "value":
        yield ep.put_value(rank, offset, 7)
        yield ep.get_value(rank, offset)
    elif name == "fetch_add":
        yield ep.fetch_add(rank, offset, 1)
    elif name == "atomic":
        yield domain.cas(rank, offset, 0, 1)
    elif name == "strided":
        yield ep.put_strided(rank, gm.RemoteArray(offset, (16, 8), "u1", (16, 1)), np.zeros((16, 16), np.uint8)[:, ::2])
    elif name == "message":
        yield ep.request(rank, handler, part[:512], 1)
    elif name == "long":
        yield ep.request_long(rank, handler, part[:512], offset)
    elif name == "sleep":
        yield ep.sleep(offset if isinstance(offset, float) else 10.0)
    elif name == "compute":
        yield ep.compute(offset if isinstance(offset, float) else 10.0)
    elif name == "immediate":
        event = yield ep.put_nb(rank, offset, part, flags=gm.IMMEDIATE)
        if event is not None:
            yield ep.wait(event)
    else:
        yield ep.poll()
