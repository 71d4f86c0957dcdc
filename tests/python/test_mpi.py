"""The mpi conduit on rank processes, over each MPI that the worker has a plug-in for; bad input in one clear line."""

import os
import shutil

import pytest

from gasmeter.errors import GasmeterError
from gasmeter.workers import WorkerPool, worker_binary

MPIS = ("openmpi", "mpich")


def plugin(mpi):
    try:
        folder = worker_binary().parent
    except GasmeterError:
        return None
    path = folder / f"gasmeter-mpi-{mpi}.so"
    return path if path.exists() else None


AVAILABLE = [mpi for mpi in MPIS if plugin(mpi)]
pytestmark = [
    pytest.mark.skipif(not AVAILABLE, reason="needs a worker that was built with an MPI"),
    pytest.mark.timeout(240),
]
each_mpi = pytest.mark.parametrize("mpi", AVAILABLE)


def open_session(pool, kernel, op, conduit="mpi", size=0, variant="", mpi="auto", session="1", transport="auto"):
    return pool.command(
        {
            "verb": "open", "session": session, "kernel": kernel, "op": op, "conduit": conduit, "variant": variant,
            "size_bytes": str(size), "seed": "7", "ranks": str(pool.ranks), "option.mpi": mpi,
            "option.transport": transport,
        },
        timeout=120,
    )  # fmt: skip


def run_and_verify(pool, iterations, session="1"):
    (first, *_) = pool.command({"verb": "block", "session": session, "iterations": str(iterations)}, timeout=120)
    assert first["status"] == "ok"
    replies = pool.command({"verb": "verify", "session": session}, timeout=120)
    assert [reply["verified"] for reply in replies] == ["true"] * pool.ranks, replies
    assert [reply["errors"] for reply in replies] == ["0"] * pool.ranks
    assert sum(int(reply["checked"]) for reply in replies) > 0


@each_mpi
def test_every_kernel_runs_and_verifies_beside_its_raw_variant(mpi):
    runs = [
        ("ping-pong", "am-short", 0, "", 300),
        ("ping-pong", "put", 4096, "", 100),
        ("flood", "am-short", 0, "", 5000),
        ("flood", "put", 1 << 20, "", 10),
        ("random-access", "update", 1 << 16, "am", 4000),
    ]
    with WorkerPool(2) as pool:
        for kernel, op, size, variant, iterations in runs:
            for conduit in ("raw@mpi", "mpi"):
                replies = open_session(pool, kernel, op, conduit, size, variant if conduit == "mpi" else "", mpi)
                assert all(reply["status"] == "ok" for reply in replies), replies
                run_and_verify(pool, iterations)
                pool.command({"verb": "close", "session": "1"}, timeout=60)


@each_mpi
def test_sessions_of_conduit_and_raw_alternate_in_one_job(mpi):
    with WorkerPool(3) as pool:
        for session, conduit, variant in (("1", "mpi", "am"), ("2", "raw@mpi", "")):
            replies = open_session(pool, "random-access", "update", conduit, 1 << 16, variant, mpi, session)
            assert all(reply["status"] == "ok" for reply in replies), replies
        for _ in range(3):
            for session in ("1", "2"):
                run_and_verify(pool, 1000, session)


@each_mpi
def test_a_job_keeps_its_transport_and_verifies_over_tcp(mpi):
    with WorkerPool(2) as pool:
        for conduit in ("raw@mpi", "mpi"):
            replies = open_session(pool, "ping-pong", "put", conduit, 20_000, mpi=mpi, transport="tcp")
            assert all(reply["status"] == "ok" for reply in replies), replies
            run_and_verify(pool, 5)
            pool.command({"verb": "close", "session": "1"}, timeout=60)
        for reply in open_session(pool, "ping-pong", "am-short", mpi=mpi):
            assert reply["status"] == "error"
            assert "option 'transport=auto'" in reply["message"]
            assert "with transport=tcp already" in reply["message"]


@pytest.mark.skipif(len(AVAILABLE) < 2, reason="needs two MPIs")
def test_a_job_that_runs_one_mpi_refuses_the_other():
    with WorkerPool(2) as pool:
        assert open_session(pool, "ping-pong", "am-short", mpi="openmpi")[0]["status"] == "ok"
        for reply in open_session(pool, "ping-pong", "am-short", mpi="mpich", session="2"):
            assert reply["status"] == "error"
            assert "run openmpi already, and a process can hold one MPI" in reply["message"]
        run_and_verify(pool, 100)


def errors_of(environment, mpi="auto", ranks=2):
    with WorkerPool(ranks, environment=environment) as pool:
        replies = open_session(pool, "ping-pong", "am-short", mpi=mpi)
    assert {reply["status"] for reply in replies} == {"error"}
    assert all("\n" not in reply["message"] for reply in replies)
    return [reply["message"] for reply in replies]


def test_without_a_plugin_the_packages_are_named(tmp_path):
    for message in errors_of({"GASMETER_MPI_PLUGINS": str(tmp_path)}):
        assert "no MPI" in message
        assert "libopenmpi-dev" in message


def test_a_launcher_that_is_not_there_or_fails_is_named_with_its_words():
    assert all(
        "gasmeter-no-such-mpiexec" in text for text in errors_of({"GASMETER_MPIEXEC": "gasmeter-no-such-mpiexec"})
    )
    assert all("has ended" in text for text in errors_of({"GASMETER_MPIEXEC": shutil.which("false")}))


@pytest.mark.skipif(len(AVAILABLE) < 2, reason="needs two MPIs")
def test_the_launcher_of_another_mpi_is_noticed():
    environment = {"GASMETER_MPIEXEC": shutil.which("mpiexec.mpich") or "mpiexec"}
    for message in errors_of(environment, "openmpi"):
        assert "gasmeter as" in message
        assert "of 2; is the launcher another MPI's?" in message


def test_under_an_mpiexec_of_the_users_gasmeter_says_how_to_start_it():
    for message in errors_of(os.environ | {"PMI_RANK": "0"}):
        assert "start it without" in message
