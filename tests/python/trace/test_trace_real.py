"""Ways found in time stamps of real ranks; and ranks that take them."""

import numpy as np
import pytest

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import CheckFailed
from gasmeter.measuring.sessions import RealSession
from gasmeter.measuring.workers import WorkerPool
from gasmeter.trace.real import Stamps, operations_of, read_stamps
from gasmeter.trace.virtual import points_of, trace_point

BEGIN, END, IN_HANDLER, OUT_OF_HANDLER = range(0x80, 0x84)
COPY, NOTIFY, IDLE, SEND, SENT, RECEIVE, RECEIVED = range(0x90, 0x97)
CALL, HEADER, DISPATCH, LINE_STORE, LINE_TRANSFER = 0, 1, 2, 0x40, 0x41
STEPS = {CALL: "inject", HEADER: "header", DISPATCH: "dispatch", LINE_STORE: "doorbell", LINE_TRANSFER: "poll"}


def stamps(*pairs):
    return Stamps([at for at, _ in pairs], [code for _, code in pairs], 7)


def test_a_round_trip_through_memory():
    first = stamps(
        (100, BEGIN), (110, HEADER), (120, LINE_STORE), (130, NOTIFY), (140, IDLE), (290, IDLE), (300, LINE_TRANSFER),
        (310, DISPATCH), (320, IN_HANDLER), (330, OUT_OF_HANDLER), (340, END),
    )  # fmt: skip
    second = stamps(
        (10, IDLE), (170, IDLE), (180, LINE_TRANSFER), (190, DISPATCH), (200, IN_HANDLER), (210, HEADER),
        (220, LINE_STORE), (230, NOTIFY), (240, OUT_OF_HANDLER), (250, IDLE), (400, IDLE),
    )  # fmt: skip
    (operation,) = operations_of([first, second], STEPS)
    assert operation.ps == 240
    assert [(step.phase, step.name, step.where, step.ps) for step in operation.steps] == [
        ("initiate", "inject", "rank 0", 10),
        ("initiate", "header", "rank 0", 10),
        ("initiate", "doorbell", "rank 0", 10),
        ("request", "wire", "between ranks", 50),
        ("target", "poll", "rank 1", 10),
        ("target", "dispatch", "rank 1", 10),
        ("target", "handler", "rank 1", 10),
        ("target", "header", "rank 1", 10),
        ("target", "doorbell", "rank 1", 10),
        ("ack", "wire", "between ranks", 70),
        ("completion", "poll", "rank 0", 10),
        ("completion", "dispatch", "rank 0", 10),
        ("completion", "handler", "rank 0", 10),
        ("completion", "poll", "rank 0", 10),
    ]


def test_a_round_trip_through_sockets():
    first = stamps(
        (0, BEGIN), (10, HEADER), (20, SEND), (50, SENT), (60, IDLE), (200, IDLE), (210, RECEIVE), (230, RECEIVED),
        (240, DISPATCH), (250, END),
    )  # fmt: skip
    # The answer is seen before the call that sends it returns.
    second = stamps((5, IDLE), (70, IDLE), (80, RECEIVE), (100, RECEIVED), (110, DISPATCH), (120, SEND), (215, SENT))
    (operation,) = operations_of([first, second], STEPS)
    assert sum(step.ps for step in operation.steps) == operation.ps == 250
    named = [(step.phase, step.name, step.ps) for step in operation.steps]
    assert ("initiate", "system call", 30) in named
    assert ("request", "wire", 30) in named
    assert ("target", "system call", 20) in named
    assert ("target", "system call", 90) in named
    assert ("completion", "system call", 20) in named


def test_calls_of_an_mpi_are_two_sided_steps():
    first = stamps((0, BEGIN), (20, SEND), (50, SENT), (60, IDLE), (200, IDLE), (210, RECEIVE), (230, RECEIVED),
                   (250, END))  # fmt: skip
    second = stamps((5, IDLE), (70, IDLE), (80, RECEIVE), (100, RECEIVED), (120, SEND), (140, SENT))
    (operation,) = operations_of([first, second], STEPS, "two-sided")
    named = [(step.phase, step.name, step.ps) for step in operation.steps]
    assert [step for step in named if step[1] == "two-sided"] == [
        ("initiate", "two-sided", 30), ("target", "two-sided", 20), ("target", "two-sided", 20),
        ("completion", "two-sided", 20),
    ]  # fmt: skip


def test_an_operation_that_needs_nobody_else():
    (operation,) = operations_of([stamps((0, BEGIN), (3, CALL), (5, COPY), (9, END)), stamps()], STEPS)
    assert [(step.phase, step.name) for step in operation.steps] == [("initiate", "inject"), ("initiate", "copy")]


def test_files_that_are_cut_off_are_refused(tmp_path):
    path = tmp_path / "stamps.0"
    whole = np.array([5, BEGIN, 9, END, 7, -1], dtype=np.int64)
    whole.tofile(path)
    assert read_stamps(path) == stamps((5, BEGIN), (9, END))
    for broken in (whole[:-1], whole[:-2], whole[[2, 3, 0, 1, 4, 5]], whole[:0]):
        broken.tofile(path)
        with pytest.raises(CheckFailed):
            read_stamps(path)


HANDLED = {"inject", "header", "copy", "dispatch", "handler", "poll"}


@pytest.mark.parametrize(
    ("what", "conduit", "options", "names"),
    [
        ("am-medium", "smp", {}, HANDLED | {"doorbell", "wire"}),
        ("am-medium", "udp", {}, HANDLED | {"system call"}),
        ("am-medium", "udp", {"protocol": "amudp"}, HANDLED | {"system call"}),
        ("am-medium", "udp", {"neighbourhood": "on"}, HANDLED | {"doorbell", "wire"}),
        ("am-medium", "mpi", {}, HANDLED | {"two-sided"}),
        ("am-medium", "mpi", {"protocol": "ammpi"}, HANDLED | {"two-sided"}),
        ("put", "smp", {}, {"copy"}),
        ("am", "smp", {}, HANDLED),
        ("fetch-add", "smp", {}, {"inject"}),
        ("fetch-add", "udp", {}, HANDLED - {"copy"} | {"system call"}),
        ("barrier", "udp", {}, {"system call"}),
    ],
    ids=lambda value: ",".join(value) or "-" if isinstance(value, dict) else None,
)
def test_ranks_as_installed_take_time_stamps(what, conduit, options, names):
    pytest.importorskip("gasmeter._core")
    if conduit == "mpi" and not list(worker_binary().parent.glob("gasmeter-mpi-*.so")):
        pytest.skip("needs a worker that was built with an MPI")
    (point,) = points_of(what, conduit=conduit, sizes="64", options=options)[:1]
    traced = trace_point(point, 20)
    assert traced.kind == "measured"
    assert traced.cost_ps > 0
    assert len(traced.operations) == 20
    for operation in traced.operations:
        assert sum(step.ps for step in operation.steps) == operation.ps > 0
    assert names <= {step.name for operation in traced.operations for step in operation.steps}
    phases = {step.phase for operation in traced.operations for step in operation.steps}
    if what == "am-medium":  # a message that is seen before its send returns has no wire step
        by_memory = "wire" in names
        assert {"initiate", "target", "completion"} | ({"request", "ack"} if by_memory else set()) <= phases


def test_what_is_measured_takes_no_time_stamps(tmp_path):
    pytest.importorskip("gasmeter._core")
    (point,) = points_of("am-medium", conduit="smp", sizes="64")
    with WorkerPool(point.ranks) as pool:
        for stamps in (False, True):
            session = RealSession(pool, point, stamps=stamps)
            session.block(5)
            session.take_stamps()
            session.block(5)
            session.write_stamps(tmp_path)
            session.close()
            taken = [read_stamps(tmp_path / f"stamps.{rank}") for rank in range(point.ranks)]
            assert [bool(trace.codes) for trace in taken] == [stamps, stamps]
