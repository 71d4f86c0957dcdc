"""Shared arrays of programs: what lies where, what accesses see, who is told what; on processes and virtual ranks."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

import gasmeter as gm
from gasmeter import _core
from gasmeter.catalogue import catalogue
from gasmeter.programs.places import Places
from programs import everywhere, few, launched, refused

pytestmark = pytest.mark.timeout(240)


# ---- places of elements


@pytest.mark.parametrize("shape", [(7,), (5, 4), (3, 4, 5)])
def test_indices_without_tiles_are_those_of_numpy(shape):
    numbers = np.arange(np.prod(shape)).reshape(shape)
    places = Places(shape, None)
    for at in np.ndindex(shape):
        assert places.run(at) == (numbers[at], ())
        assert places.run((*at[:-1], at[-1] - shape[-1])) == (numbers[at], ())
        first, (many,) = places.run((*at[:-1], slice(at[-1], None)))
        assert list(range(first, first + many)) == list(numbers[(*at[:-1], slice(at[-1], None))])


@pytest.mark.parametrize(("shape", "tile"), [((6,), (4,)), ((5, 7), (2, 3)), ((4, 4, 4), (2, 4, 1))])
def test_each_index_has_a_place_of_its_own_in_its_tile(shape, tile):
    places = Places(shape, tile)
    results = {at: places.run(at)[0] for at in np.ndindex(shape)}
    assert len(set(results.values())) == len(results)
    assert max(results.values()) < places.elements
    for result, other in itertools.combinations(results, 2):
        same = all(a // of == b // of for a, b, of in zip(result, other, tile, strict=True))
        assert (results[result] // places.in_tile == results[other] // places.in_tile) == same


# ---- values that accesses see


def every_element(ep, dtype="int64", block=3, many=50, **options):
    """Each rank puts what is its own to put by number, reads all, and its own part without a call."""
    space = yield gm.shared_space(ep, **options)
    a = yield space.all_alloc(many, dtype, block=block)
    for i in range(ep.rank, many, ep.size):
        yield a.put(i, 100 + i)
    yield space.barrier()
    whole = yield a[0:many]
    some = []
    for i in (0, many // 2, many - 1, -1):
        some.append((yield a[i]))
    mine = a.local.copy()
    places = [(a.owner(i), a.phase(i)) for i in range(many)]
    yield space.barrier()
    yield space.all_free(a)
    return whole, some, mine, places, space.stats()


@everywhere
@pytest.mark.parametrize("cache", ["on", "off"])
def test_elements_are_what_was_put_wherever_they_lie(conduit, cache):
    many, block, ranks = 50, 3, 4
    results = launched(every_element, ranks=ranks, conduit=conduit, args=("int64", block, many), segment="64K")
    for rank, (whole, some, mine, places, _) in enumerate(results):
        np.testing.assert_array_equal(whole, np.arange(100, 100 + many))
        assert whole.dtype == np.int64
        assert some == [100, 100 + many // 2, 99 + many, 99 + many]
        indices = [i for i in range(many) if i // block % ranks == rank]
        np.testing.assert_array_equal(mine, [100 + i for i in indices])
        assert places == [(i // block % ranks, i % block) for i in range(many)]


def remote(ep, cache, times=5):
    """Rank 0 gets the same element of the last rank's some times."""
    space = yield gm.shared_space(ep, cache=cache, near="remote")
    a = yield space.all_alloc(64, "float64")
    a.local[:] = ep.rank
    yield space.barrier()
    seen = []
    if ep.rank == 0:
        for _ in range(times):
            seen.append((yield a[-1]))
    yield space.barrier()
    return seen, space.stats()


@few
@pytest.mark.parametrize(("cache", "lookups", "hits"), [("on", 5, 4), ("off", 0, 0), ("miss", 5, 0)])
def test_the_cache_is_asked_and_answers_as_it_is_set(conduit, cache, lookups, hits):
    seen, stats = launched(remote, ranks=4, conduit=conduit, args=(cache,))[0]
    assert seen == [3.0] * 5
    assert (stats["lookups"], stats["hits"], stats["misses"]) == (lookups, hits, lookups - hits)
    assert stats["remote_accesses"] == 5


def freed(ep):
    """An array that was freed, looked for again at a rank that had its address."""
    space = yield gm.shared_space(ep, near="remote")
    a = yield space.all_alloc(64)
    yield space.barrier()
    if ep.rank == 0:
        yield a[-1]
    yield space.barrier()
    before = space.stats()["entries"]
    yield space.all_free(a)
    after = space.stats()
    if ep.rank == 0:
        yield a[-1]
    yield space.barrier()
    return before, after["entries"]


@few
def test_what_was_freed_is_refused_in_one_line(conduit):
    assert "freed" in refused(freed, ranks=3, conduit=conduit)


def tiled(ep):
    space = yield gm.shared_space(ep)
    a = yield space.all_alloc((5, 7), "int32", block=(2, 3))
    for row in range(ep.rank, 5, ep.size):
        for column in (0, 3, 6):
            end = min(column + 3, 7)
            yield a.put((row, slice(column, end)), np.arange(column, end) + 10 * row)
    yield space.barrier()
    array = np.empty((5, 7), "int32")
    for at in np.ndindex(5, 7):
        array[at] = yield a[at]
    yield space.barrier()
    return array, {at: a.owner(at) for at in np.ndindex(5, 7)}


@few
def test_tiles_are_dealt_to_ranks_in_turn(conduit):
    expected = np.add.outer(10 * np.arange(5), np.arange(7))
    for answer, owners in launched(tiled, ranks=4, conduit=conduit):
        np.testing.assert_array_equal(answer, expected)
        assert owners == {(i, j): (i // 2 * 3 + j // 3) % 4 for i, j in np.ndindex(5, 7)}


def beside_own_bytes(ep):
    """Arrays, and words of the program's own at the start of each segment."""
    space = yield gm.shared_space(ep, reserve=16384)
    a = yield space.all_alloc(3000, "int64", block=1)
    for at in range(0, 16384, 256):
        yield ep.put_value((ep.rank + 1) % ep.size, at, 1000 * ep.rank + at)
    a.local[:] = -1
    yield space.barrier()
    yield a.put(ep.rank, ep.rank)
    yield space.barrier()
    bytes_before = []
    for at in range(0, 16384, 256):
        bytes_before.append((yield ep.get_value(ep.rank, at)))
    return bytes_before, (yield a[0 : ep.size]).tolist()


@few
def test_reserved_bytes_stay_the_programs_own(conduit):
    ranks = 3
    for rank, (reserved, elements) in enumerate(launched(beside_own_bytes, ranks=ranks, conduit=conduit)):
        assert reserved == [1000 * ((rank - 1) % ranks) + at for at in range(0, 16384, 256)]
        assert elements == list(range(ranks))


def symmetric(ep):
    space = yield gm.shared_space(ep)
    a = yield space.symmetric((2, 3), "int16")
    a.local[:] = 10 * ep.rank
    yield space.barrier()
    right = (ep.rank + 1) % ep.size
    yield a.put(right, (1, slice(0, 2)), [ep.rank, -ep.rank])
    yield space.barrier()
    whole = yield a.get(right)
    element = yield a.get(right, (1, 1))
    yield space.barrier()
    return whole, element, a.local.tolist()


@few
def test_every_rank_has_a_whole_symmetric_array(conduit):
    ranks = 3
    for rank, (whole, element, local) in enumerate(launched(symmetric, ranks=ranks, conduit=conduit)):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        np.testing.assert_array_equal(whole, [10 * right] * 3 + [rank, -rank, 10 * right])
        assert element == -rank
        assert local == [[10 * rank] * 3, [left, -left, 10 * rank]]


def added(ep, times=5):
    """Every rank adds to the same element of rank 1's."""
    space = yield gm.shared_space(ep, near="remote")
    a = yield space.symmetric(3, "int64")
    a.local[:] = 0
    yield space.barrier()
    before = []
    for _ in range(times):
        before.append((yield a.fetch_add(1, 2, 1)))
    yield space.barrier()
    return before, (yield a.get(1, 2)), a.local.tolist()


@few
def test_fetch_add_gives_each_rank_numbers_of_its_own(conduit):
    results = launched(added, ranks=3, conduit=conduit)
    assert sorted(number for before, _, _ in results for number in before) == list(range(15))
    assert [total for _, total, _ in results] == [15] * 3
    assert results[1][2] == [0, 0, 15]


# ---- objects of one rank, and locks


def handed_on(ep):
    """Rank 0 makes two arrays alone; the others are told their descriptors."""
    space = yield gm.shared_space(ep)
    handles = []
    handler = ep.register(lambda token: handles.append(token.payload))
    made = []
    if ep.rank == 0:
        import pickle

        made = [(yield space.global_alloc(20, "int64", block=2)), (yield space.alloc(5, "int64"))]
        yield made[1].put(slice(0, 5), np.arange(5))
        yield space.fence()
        for peer in range(1, ep.size):
            yield ep.request(peer, handler, pickle.dumps([each.descriptor for each in made]))
    else:
        import pickle

        yield ep.wait_until(lambda: handles)
        made = [space.at(each) for each in pickle.loads(handles[0])]
    for i in range(ep.rank, 20, ep.size):
        yield made[0].put(i, i)
    yield space.barrier()
    dealt, allotted = (yield made[0][0:20]), (yield made[1][0:5])
    owners = [made[0].owner(2), made[1].owner(4), made[1].local.size]
    yield space.barrier()
    if ep.rank == 0:
        for each in made:
            yield space.free(each)
    yield space.barrier()
    return dealt.tolist(), allotted.tolist(), owners


@few
def test_arrays_of_one_rank_are_named_by_others(conduit):
    for rank, (dealt, allotted, owners) in enumerate(launched(handed_on, ranks=3, conduit=conduit)):
        assert dealt == list(range(20))
        assert allotted == list(range(5))
        assert owners == [1, 0, 5 if rank == 0 else 0]


def counted_by_lock(ep, times=6):
    """A read, a pause and a write, which only a lock makes one."""
    space = yield gm.shared_space(ep)
    lock = yield space.lock()
    total = yield space.all_alloc(1, "int64")
    if ep.rank == 0:
        total.local[:] = 0
    yield space.barrier()
    for _ in range(times):
        yield lock.acquire()
        value = yield total[0]
        yield ep.sleep(200)
        yield total.put(0, value + 1)
        yield space.fence()
        yield lock.release()
    yield space.barrier()
    return (yield total[0])


@few
def test_a_lock_lets_one_in_at_a_time(conduit):
    assert launched(counted_by_lock, ranks=4, conduit=conduit) == [24] * 4


async def counted_in_a_coroutine(ep):
    space = await gm.shared_space(ep)
    lock = await space.lock()
    total = await space.all_alloc(1, "int64")
    if ep.rank == 0:
        total.local[:] = 0
    await space.barrier()
    async with lock:
        await total.put(0, await total[0] + 1)
        await space.fence()
    await space.barrier()
    return await total[0]


@few
def test_coroutines_use_locks_as_contexts(conduit):
    assert launched(counted_in_a_coroutine, ranks=3, conduit=conduit) == [3] * 3


def plainly(ep):
    space = gm.shared_space(ep, capacity=None)
    a = space.all_alloc(30, "float32", block=4)
    for i in range(ep.rank, 30, ep.size):
        a[i] = i / 2
    space.barrier()
    lock = space.lock()
    with lock:
        seen = a[0:30]
    space.barrier()  # nobody waits for the lock any more
    taken = lock.try_acquire() if ep.rank == 0 else None
    space.barrier()
    if taken:
        lock.release()
    space.all_free(a)
    return seen, taken


def test_plain_functions_read_and_assign():
    for rank, (seen, taken) in enumerate(launched(plainly, ranks=3, conduit="smp")):
        np.testing.assert_array_equal(seen, np.arange(30, dtype="float32") / 2)
        assert taken is (True if rank == 0 else None)


# ---- refusals


def test_options_are_those_of_the_core_in_its_order_with_its_choices_and_defaults():
    parameters = inspect.signature(gm.shared_space).parameters
    assert [*parameters][1:-1] == [*inspect.signature(_core.Endpoint.shared_space).parameters][1:-1]
    options = {each.name: each for each in catalogue().kernel("stressmark").options}
    for name in [*parameters][1:-1]:
        assert options[name].parse(parameters[name].default, "kernel stressmark") == options[name].default
        if options[name].choices:
            assert parameters[name].annotation == f"Literal{list(options[name].choices)}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capacity": 0}, "capacity 0; allowed: 1 entry or more"),
        ({"cache": "warm"}, "cache 'warm'; allowed: on, off, miss"),
        ({"near": "far"}, "near 'far'; allowed: direct, remote"),
        ({"chunk": 0}, "chunk 0; at least 1"),
    ],
)
def test_options_that_do_not_exist_are_one_line(options, message):
    def program(ep):
        yield gm.shared_space(ep, **options)

    assert message in refused(program, ranks=2, conduit="ideal")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda a: a[50], "index 50 on axis 0 of 50"),
        (lambda a: a[0:10:2], "slice of step 2"),
        (lambda a: a[1, 2], "2 indices for 1 axes"),
        (lambda a: a[5:5], "no elements"),
        (lambda a: a.put(slice(0, 3), [1, 2]), "shared array: "),
    ],
)
def test_indices_that_do_not_exist_are_one_line(asked, message):
    def program(ep):
        space = yield gm.shared_space(ep)
        a = yield space.all_alloc(50)
        yield asked(a)

    assert message in refused(program, ranks=2, conduit="ideal")


@few
def test_a_second_space_is_refused(conduit):
    def program(ep):
        yield gm.shared_space(ep)
        yield gm.shared_space(ep)

    assert "a program has one" in refused(program, ranks=2, conduit=conduit)


@few
def test_an_array_larger_than_segments_is_refused_at_all_ranks(conduit):
    def program(ep):
        space = yield gm.shared_space(ep)
        yield space.all_alloc(1 << 20)

    refused(program, ranks=3, conduit=conduit)


def test_assigning_in_a_program_that_yields_is_refused():
    def program(ep):
        space = yield gm.shared_space(ep)
        a = yield space.all_alloc(8)
        a[0] = 1

    assert "yield a.put" in refused(program, ranks=2, conduit="ideal")
