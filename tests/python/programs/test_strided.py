"""Strided transfers between NumPy arrays: what they move, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import gasmeter as gm
from gasmeter import _core

pytestmark = pytest.mark.timeout(120)

WORDS = 4096


def launched(program, *args, conduit="smp"):
    """A job of two ranks that must not hang the tests."""
    return gm.launch(program, ranks=2, segment="64K", args=args, timeout=60.0, conduit=conduit)


@st.composite
def views(draw):
    """A shape with, for each side, the order of axes and a step per axis, of either sign."""
    shape = draw(st.lists(st.integers(0, 5), max_size=4))
    side = st.tuples(
        st.permutations(range(len(shape))),
        st.lists(st.sampled_from((-3, -2, -1, 1, 2, 3)), min_size=len(shape), max_size=len(shape)),
    )
    sides = draw(side), draw(side)
    for _, steps in sides:
        assume(np.prod([extent * abs(step) for extent, step in zip(shape, steps, strict=True)], dtype=int) <= WORDS * 4)
    return tuple(shape), *sides, draw(st.booleans())


def view(words, shape, side):
    """A view of `shape` into words: axes nested in the order given, with steps."""
    order, steps = side
    dense = words[: int(np.prod([shape[axis] * abs(steps[axis]) for axis in order], dtype=int))]
    dense = dense.reshape([shape[axis] * abs(steps[axis]) for axis in order])
    return dense[(..., *(slice(None, None, steps[axis]) for axis in order))].transpose(np.argsort(order))


def moves(ep, cases):
    """Whether every case moves on rank 1 what NumPy's own assignment does, and nothing else."""
    if ep.rank != 0:
        ep.barrier()
        return True
    random = np.random.default_rng(5)
    mine = ep.segment.view(np.uint16)[: WORDS * 4]
    good = True
    for shape, to, source, put in cases:
        theirs = random.integers(0, 60000, mine.size, dtype=np.uint16)
        local = random.integers(0, 60000, mine.size, dtype=np.uint16)
        ep.put(1, 0, theirs)
        if put:
            ep.put_strided(1, view(mine, shape, to), view(local, shape, source))
            view(theirs, shape, to)[...] = view(local, shape, source)
        else:
            remote = view(mine, shape, source)
            offset = remote.__array_interface__["data"][0] - mine.__array_interface__["data"][0]
            if remote.size == 0:
                offset = 0
            described = _core.RemoteArray(offset, remote.shape, remote.dtype, remote.strides)
            expected = local.copy()
            view(expected, shape, to)[...] = view(theirs, shape, source)
            target = view(local, shape, to)
            good = good and ep.get_strided(1, target, described) is target and bool((local == expected).all())
        bytes_read = np.frombuffer(ep.get(1, 0, theirs.nbytes), np.uint16)
        good = good and bool((bytes_read == theirs).all())
    ep.barrier()
    return good


@pytest.mark.parametrize("conduit", ["smp", "udp"])
# Each example is a job of many cases: shrinking would take long.
@settings(max_examples=5, phases=(Phase.generate,))
@given(cases=st.lists(views(), min_size=10, max_size=40))
def test_moves_what_numpy_moves(conduit, cases):
    assert launched(moves, cases, conduit=conduit) == [True, True]


def test_neighbour_segment_is_a_target():
    def program(ep):
        if ep.rank == 0:
            remote = ep.segment_of(1).view(np.float64)[:12].reshape(3, 4)
            ep.put_strided(1, remote.T, np.arange(12.0).reshape(4, 3))
        ep.barrier()
        return ep.segment.view(np.float64)[:12].tolist()

    assert launched(program)[1] == np.arange(12.0).reshape(4, 3).T.ravel().tolist()


def refused(call, conduit="smp"):
    """The one line with which a call of rank 0 is refused."""

    def program(ep):
        from gasmeter.errors import UsageError  # the program travels to processes of its own

        text = ""
        if ep.rank == 0:
            try:
                call(ep)
            except UsageError as error:
                text = str(error)
        ep.barrier()
        return text

    text = launched(program, conduit=conduit)[0]
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(0, (3, 4), "f8"), np.zeros((4, 3))),
            "put_strided: target has shape (3, 4) and source (4, 3); equal shapes are expected",
        ),
        (
            lambda ep: ep.get_strided(1, np.zeros(4), _core.RemoteArray(0, (5,), "f8")),
            "get_strided: target has shape (4,) and source (5,); equal shapes are expected",
        ),
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(0, (4,), "f4"), np.zeros(4)),
            "put_strided: target has dtype float32 and source float64; equal dtypes are expected",
        ),
        (
            lambda ep: ep.get_strided(1, np.broadcast_to(np.zeros(1), (4,)), _core.RemoteArray(0, (4,), "f8")),
            "get_strided: target is not writeable; an array that can be written is expected",
        ),
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(65536 - 8, (2,), "f8"), np.zeros(2)),
            "put_strided: offset 65528 and 16 bytes are not inside the segment of rank 1, which has 65536 bytes",
        ),
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(8, (3,), "f8", (-8,)), np.zeros(3)),
            "put_strided: offset -8 and 24 bytes are not inside the segment of rank 1, which has 65536 bytes",
        ),
        (
            lambda ep: ep.put_strided(2, _core.RemoteArray(0, (1,), "f8"), np.zeros(1)),
            "put_strided: rank 2 does not exist; ranks are 0..1",
        ),
        (
            lambda ep: ep.put_strided(1, np.zeros(3), np.zeros(3)),
            "put_strided: target lies in no segment; a view of `segment` or `segment_of(rank)`, or a RemoteArray is"
            " expected",
        ),
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(0, (1,), "O"), np.array([ep], dtype=object)),
            "put_strided: source holds Python objects; numbers are expected",
        ),
        (
            lambda ep: ep.put_strided(1, _core.RemoteArray(0, (1,)), [1]),
            "put_strided: source is a list; a NumPy array is expected",
        ),
        (
            lambda ep: _core.RemoteArray(0, (2, 3), "f8", (8,)),
            "RemoteArray: shape (2, 3) and strides (8,); one stride per dimension is expected",
        ),
        (
            lambda ep: _core.RemoteArray(0, (2, -3)),
            "RemoteArray: shape (2, -3); each count is expected to be 0 or more",
        ),
    ],
)
def test_mistakes_are_refused_in_one_line(call, says):
    assert refused(call) == says


FAR = 2**62


@pytest.mark.parametrize("conduit", ["smp", "udp"])
@pytest.mark.parametrize("stride", [FAR, -FAR - 1, 2**63 - 1, -(2**63)])
def test_strides_that_overflow_are_refused_alike_on_every_conduit(conduit, stride):
    def put(ep):
        ep.put_strided(1, _core.RemoteArray(0, (3,), "f8", (stride,)), np.zeros(3))

    assert refused(put, conduit) == (
        f"put_strided: target of shape (3,) and strides ({stride},) reaches further than 64 bits count;"
        " strides inside the segment are expected"
    )

    def get(ep):
        ep.get_strided(1, np.zeros((2, 2)), _core.RemoteArray(-(2**63), (2, 2), "f8", (8, -8)))

    assert refused(get, conduit) == (
        "get_strided: source of shape (2, 2) and strides (8, -8) reaches further than 64 bits count;"
        " strides inside the segment are expected"
    )


@pytest.mark.parametrize("conduit", ["smp", "udp"])
def test_strides_that_leave_the_segment_are_refused_alike_on_every_conduit(conduit):
    def call(ep):
        ep.put_strided(1, _core.RemoteArray(0, (2,), "f8", (2**40,)), np.zeros(2))

    assert refused(call, conduit) == (
        f"put_strided: offset 0 and {2**40 + 8} bytes are not inside the segment of rank 1, which has 65536 bytes"
    )


def test_array_of_more_than_64_bits_is_refused():
    assert refused(lambda ep: _core.RemoteArray(0, (2**40, 2**40))) == (
        f"RemoteArray: shape ({2**40}, {2**40}) holds more bytes than 64 bits count"
    )
