"""Teams and collectives of programs against NumPy, on rank processes and on virtual ranks, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import gasmeter as gm
from programs import MPI, everywhere, few, launched, refused

pytestmark = pytest.mark.timeout(240)

AROUND_POWERS = {near for power in range(6) for near in ((1 << power) - 1, 1 << power, (1 << power) + 1)}
DTYPES = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
OPS = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
}


def ops_of(dtype):
    return [op for op in OPS if not (op.startswith("bit") and dtype.startswith("float"))]


def part(rank, dtype, shape=(3, 2), high=9):
    """A member's array: whole numbers, whose sums and products floating point knows exactly."""
    values = np.random.default_rng([rank, 7]).integers(1, high, shape)
    return np.asarray(values if high == 3 else values - 4).astype(dtype)


def every_collective(ep, dtypes, shape=(3, 2)):
    """Return the answer of each call, by its name and dtype."""
    team = ep.team
    root = team.size // 2
    answers = {}
    for dtype in dtypes:
        mine = part(team.rank, dtype, shape)
        blocks = np.stack([part(100 * team.rank + peer, dtype, shape) for peer in range(team.size)])
        landed = mine.copy()
        assert (yield team.broadcast(landed, root)) is landed
        answers["broadcast", dtype] = landed
        answers["exchange", dtype] = yield team.exchange(blocks)
        answers["gather", dtype] = yield team.gather(mine, root)
        answers["all_gather", dtype] = yield team.all_gather(mine)
        for op in ops_of(dtype):
            operand = part(team.rank, dtype, shape, 3) if op == "prod" else mine
            answers["reduce", dtype, op] = yield team.reduce(operand, op, root)
            answers["all_reduce", dtype, op] = yield team.all_reduce(operand, op)
            answers["scan", dtype, op] = yield team.scan(operand, op)
        yield team.barrier()
    return answers


def check(results, dtypes, shape=(3, 2)):
    """Compare with NumPy, at every rank; types, shapes and bits."""
    size = len(results)
    root = size // 2
    for rank, result in enumerate(results):
        for (name, dtype, *op), array in result.items():
            parts = np.stack([part(each, dtype, shape, 3 if op == ["prod"] else 9) for each in range(size)])
            if name in {"reduce", "gather"} and rank != root:
                assert array is None
                continue
            if name == "broadcast":
                expected = parts[root]
            elif name == "exchange":
                expected = np.stack([part(100 * peer + rank, dtype, shape) for peer in range(size)])
            elif op:
                operands = parts[: rank + 1] if name == "scan" else parts
                expected = OPS[op[0]].reduce(operands, axis=0, dtype=dtype)
            else:
                expected = parts
            assert array.dtype == np.dtype(dtype), (name, dtype, op)
            np.testing.assert_array_equal(array, expected, err_msg=f"{name} {dtype} {op} of rank {rank} of {size}")
    assert len(results[0]) == sum(4 + 3 * len(ops_of(dtype)) for dtype in dtypes)


@everywhere
def test_collectives_are_those_of_numpy(conduit):
    check(launched(every_collective, conduit=conduit, ranks=3, args=[DTYPES]), DTYPES)


# Around each power of two, in the quick tier: trees change their shape there.
@pytest.mark.parametrize(
    "ranks",
    [ranks if ranks in AROUND_POWERS else pytest.param(ranks, marks=pytest.mark.slow) for ranks in range(1, 34)],
)
def test_collectives_of_any_number_of_ranks(ranks):
    check(launched(every_collective, conduit="extoll", ranks=ranks, args=[["int32", "float64"]]), ["int32", "float64"])


# Long enough for pieces, rings and trees beside what one message holds; no elements, and one without axes.
@pytest.mark.parametrize("shape", [(), (0, 2), (1200,), (250, 61)])
@pytest.mark.parametrize("conduit", ["smp", "udp", MPI, "extoll"])
def test_collectives_of_any_shape(conduit, shape):
    results = launched(every_collective, conduit=conduit, ranks=3, args=[["float64"], shape])
    check(results, ["float64"], shape)


@everywhere
def test_teams_split_and_work_side_by_side(conduit):
    def program(ep):
        world = ep.team
        half = yield world.split(ep.rank % 2, key=-ep.rank)
        none = yield world.split(None if ep.rank == 0 else 5)
        facts = [half.rank, half.size, none and (none.rank, none.size)]
        sums = []
        for _ in range(3):
            sums.append(int((yield half.all_reduce(np.array([ep.rank + 1]), "sum"))[0]))
        facts.append(sums)
        facts.append((yield half.all_gather(np.array([ep.rank]))).ravel().tolist())
        quarter = yield half.split(0, half.rank)
        facts.append((yield quarter.scan(np.array([1.0])))[0])
        yield quarter.destroy()
        if none is not None:
            yield none.barrier()
        facts.append((yield world.broadcast(np.array([ep.rank]), 2))[0])
        return facts, repr(half)

    for rank, (answer, text) in enumerate(launched(program, conduit=conduit, ranks=5)):
        members = [other for other in (4, 3, 2, 1, 0) if other % 2 == rank % 2]
        position = members.index(rank)
        joined = None if rank == 0 else (rank - 1, 4)
        total = sum(member + 1 for member in members)
        assert answer == [position, len(members), joined, [total] * 3, members, position + 1.0, 2]
        assert text == f"Team(rank {position} of {len(members)})"


@few
def test_arrays_that_are_read_may_lie_anyhow(conduit):
    def program(ep):
        team = ep.team
        grid = np.arange(24, dtype="f4").reshape(4, 6) + ep.rank
        packed = np.zeros(3, dtype=[("flag", "u1"), ("value", "f8")])  # the values lie at odd addresses
        packed["value"] = ep.rank + 1
        fixed = grid[::-2].T
        fixed.flags.writeable = False
        sums = [(yield team.all_reduce(fixed)), (yield team.all_gather(packed["value"]))]
        into = fixed if ep.rank == 0 else np.zeros((6, 2), "f4")
        sums.append((yield team.broadcast(into)))
        assert sums[-1] is into
        assert np.array_equal(grid, np.arange(24, dtype="f4").reshape(4, 6) + ep.rank)
        return sums

    base = np.arange(24, dtype="f4").reshape(4, 6)[::-2].T
    for total, values, sent in launched(program, conduit=conduit):
        np.testing.assert_array_equal(total, 2 * base + 1)
        np.testing.assert_array_equal(values, [[1.0] * 3, [2.0] * 3])
        np.testing.assert_array_equal(sent, base)


@few
def test_coroutines_await_collectives(conduit):
    async def program(ep):
        await ep.team.barrier()
        part_of_it = await ep.team.split(0, -ep.rank)
        return (await part_of_it.all_gather(np.array([ep.rank]))).tolist()

    assert launched(program, conduit=conduit, ranks=3) == [[[2], [1], [0]]] * 3


@pytest.mark.parametrize("conduit", ["smp", "udp"])
def test_collectives_of_plain_functions_block(conduit):
    def program(ep):
        team = ep.team
        team.barrier()
        pair = team.split(ep.rank // 2, ep.rank)
        total = pair.reduce(np.array([ep.rank], "u4"), "max", root=1)
        pair.destroy()
        with_error = ""
        try:
            pair.barrier()
        except gm.UsageError as error:
            with_error = str(error)
        return team.rank, pair.size, None if total is None else int(total[0]), with_error

    gone = "team.barrier: the team was destroyed"
    assert launched(program, conduit=conduit, ranks=4) == [
        (rank, 2, rank if rank % 2 else None, gone) for rank in range(4)
    ]


@pytest.mark.parametrize("conduit", ["ideal", "extoll"])
def test_collectives_take_virtual_time(conduit):
    def program(ep):
        team = ep.team
        yield team.barrier()  # also makes teams known to every rank
        taken = []
        for call in (ep.barrier, team.barrier):
            yield ep.barrier()
            start = ep.now_ns()
            yield call()
            taken.append(ep.now_ns() - start)
        start = ep.now_ns()
        yield team.all_reduce(np.zeros(1))
        taken.append(ep.now_ns() - start)
        start = ep.now_ns()
        yield team.all_reduce(np.zeros(1000))
        taken.append(ep.now_ns() - start)
        return taken

    job = {"conduit": conduit, "ranks": 4, "placement": "fill" if conduit == "extoll" else ""}
    runs = [launched(program, **job, options=options) for options in ({}, {}, {"sync": "strict"})]
    assert runs[0] == runs[1] == runs[2]
    for plain, barrier, short, long in runs[0]:
        assert 0 < barrier == pytest.approx(plain, rel=0.2)
        assert 0 < short < long


# ---- refusals


ONES = np.ones(4)
WRONG_CALLS = [
    (lambda team: team.all_reduce(ONES.astype("i2")), "team.all_reduce: array has dtype int16; possible: int32, uin"),
    (lambda team: team.all_gather(ONES.astype(">f8")), "team.all_gather: array has dtype >f8; possible: int32"),
    (lambda team: team.scan(ONES > 0), "team.scan: array has dtype bool; possible"),
    (lambda team: team.reduce([1, 2]), "team.reduce: array is a list; a NumPy array is expected"),
    (lambda team: team.all_reduce(ONES, "avg"), "team.all_reduce: unknown op 'avg'; allowed: sum, prod, min, max"),
    (lambda team: team.all_reduce(ONES, "bit_or"), "op 'bit_or' is for integers, not for floating point"),
    (lambda team: team.broadcast(ONES, 2), "team.broadcast: root 2 does not exist in the team; its ranks are 0..1"),
    (lambda team: team.gather(ONES, -1), "team.gather: root -1 does not exist"),
    (lambda team: team.exchange(np.ones(3)), "team.exchange: array has shape (3,); its first axis is expected to be"),
    (lambda team: team.exchange(np.array(1.0)), "team.exchange: array has shape ()"),
    (lambda team: team.broadcast(ONES[::2], 1 - team.rank), "team.broadcast: array is not C-contiguous; where the r"),
    (lambda team: team.broadcast(np.broadcast_to(1.0, 1), 1 - team.rank), "team.broadcast: array is not writeable"),
    (lambda team: team.split(-1), "team.split: color -1; allowed: 0 to 4294967295, or None to join no team"),
    (lambda team: team.destroy(), "team.destroy: the team of all ranks stays"),
]  # fmt: skip


@few
def test_wrong_collectives_are_refused_in_one_line(conduit):
    def program(ep):
        messages = []
        for call in calls:
            try:
                yield call(ep.team)
            except gm.UsageError as error:
                messages.append(str(error))
            else:
                messages.append("was not refused")
        return messages

    calls = [call for call, _ in WRONG_CALLS]
    for refusals in launched(program, conduit=conduit):
        for message, (_, words) in zip(refusals, WRONG_CALLS, strict=True):
            assert words in message
            assert "\n" not in message


@pytest.mark.parametrize("conduit", ["smp", "udp", MPI, "ideal", "extoll"])
def test_members_that_contradict_each_other_are_told(conduit):
    def program(ep):
        yield ep.team.all_reduce(np.ones(3 + ep.rank))

    assert "team 0" in refused(program, conduit=conduit)


@few
def test_wrong_types_of_collectives_are_type_errors(conduit):
    def program(ep):
        kinds = []
        for call in (ep.team.broadcast(ONES, "0"), ep.team.split("red"), ep.team.split(0, 0.5)):
            try:
                yield call
            except TypeError as error:
                kinds.append("\n" not in str(error))
        return kinds

    assert launched(program, conduit=conduit, ranks=1) == [[True] * 3]
