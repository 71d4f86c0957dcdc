"""The udp conduit on rank processes: exact over a network that loses, patient, clear when wrong."""

import csv
import importlib.util
import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gasmeter.errors import BrokenJob
from gasmeter.measuring.workers import WorkerPool

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core"),
    pytest.mark.timeout(240),
]
GASMETER = (sys.executable, "-m", "gasmeter")


def run(*arguments, **settings):
    return subprocess.run([*GASMETER, *arguments], capture_output=True, text=True, timeout=200, check=False, **settings)


def rows_of(*arguments):
    result = run("measure", *arguments, "--conduit", "udp", "--format", "csv")
    assert result.returncode == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def open_session(pool, kernel="random-access", op="update", size=1 << 20, variant="am", **options):
    fields = {
        "verb": "open", "session": "1", "kernel": kernel, "op": op, "conduit": "udp", "variant": variant,
        "size_bytes": str(size), "seed": "7", "ranks": str(pool.ranks),
    }  # fmt: skip
    replies = pool.command(fields | {f"option.{name}": str(value) for name, value in options.items()})
    assert all(reply["status"] == "ok" for reply in replies), replies


def verify(pool):
    replies = pool.command({"verb": "verify", "session": "1"}, timeout=120)
    assert [reply["verified"] for reply in replies] == ["true"] * pool.ranks
    assert [reply["errors"] for reply in replies] == ["0"] * pool.ranks


@pytest.mark.parametrize("mtu", [0, 1500])
@pytest.mark.parametrize("ranks", [2, 3])
def test_random_access_is_exact_over_a_network_that_loses_a_third(mtu, ranks):
    with WorkerPool(ranks) as pool:
        open_session(pool, loss=0.3, dup=0.1, reorder=0.1, mtu=mtu)
        pool.command({"verb": "block", "session": "1", "iterations": "200000"}, timeout=120)
        verify(pool)


@pytest.mark.parametrize(("protocol", "iterations"), [("window", 50000), ("amudp", 500)])
def test_corrupt_datagrams_are_repaired_by_default(protocol, iterations):
    with WorkerPool(2) as pool:
        open_session(pool, corrupt=0.1, protocol=protocol)
        pool.command({"verb": "block", "session": "1", "iterations": str(iterations)}, timeout=120)
        verify(pool)


def test_corrupt_payload_of_large_transfers_is_repaired_by_default():
    with WorkerPool(2) as pool:
        open_session(pool, "flood", "put", 1 << 20, "", corrupt=0.1)
        pool.command({"verb": "block", "session": "1", "iterations": "20"}, timeout=120)
        verify(pool)


@pytest.mark.parametrize(
    ("kernel", "op", "size"), [("flood", "put", 1 << 20), ("flood", "get", 1 << 20), ("flood", "am-long", 1 << 18)]
)
def test_large_transfers_survive_loss(kernel, op, size):
    with WorkerPool(2) as pool:
        open_session(pool, kernel, op, size, "", loss=0.1, reorder=0.1, mtu=1500)
        pool.command({"verb": "block", "session": "1", "iterations": "20"}, timeout=120)
        verify(pool)


def test_rank_that_is_stopped_for_seconds_loses_nothing():
    with WorkerPool(2) as pool:
        open_session(pool)
        stopped = pool.pids[1]

        def stop_for_a_while():
            time.sleep(0.3)
            os.kill(stopped, signal.SIGSTOP)
            time.sleep(5)
            os.kill(stopped, signal.SIGCONT)

        stopper = threading.Thread(target=stop_for_a_while)
        stopper.start()
        blocks = 0
        while stopper.is_alive() or not blocks:
            pool.command({"verb": "block", "session": "1", "iterations": "5000"}, timeout=60)
            blocks += 1
        stopper.join()
        verify(pool)


def test_death_of_a_rank_ends_the_job_and_names_it():
    with pytest.raises(BrokenJob, match="rank 1"), WorkerPool(2) as pool:  # noqa: PT012
        open_session(pool, "ping-pong", "am-short", 8, "")
        threading.Timer(0.5, os.kill, (pool.pids[1], signal.SIGKILL)).start()
        begin = time.monotonic()
        try:
            for _ in range(1000):
                pool.command({"verb": "block", "session": "1", "iterations": "20000"}, timeout=60)
        finally:
            assert time.monotonic() - begin < 6


def test_sixty_four_ranks():
    with WorkerPool(64) as pool:
        open_session(pool, size=1 << 20)
        pool.command({"verb": "block", "session": "1", "iterations": "256"}, timeout=200)
        verify(pool)


def test_rows_name_what_carried_them():
    common = ("ping-pong", "--op", "put", "--sizes", "8", "--time", "30ms")
    assert {row["network"] for row in rows_of(*common)} == {"udp"}
    assert {row["network"] for row in rows_of(*common, "--option", "neighbourhood=on")} == {"shm"}


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("loss=1.5", ("loss", "1.5", "below 1")),
        ("mtu=40", ("mtu=40", "576")),
        ("mtu=-1", ("mtu=-1",)),
        ("auth=all", ("all", "header", "payload")),
        ("delay_us=x", ("delay_us", "x")),
    ],
)
def test_wrong_options_are_one_line_with_what_is_allowed(option, words):
    result = run("measure", "ping-pong", "--conduit", "udp", "--op", "put", "--sizes", "8", "--option", option)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("Error: ")
    assert all(word in result.stderr for word in words)


def test_without_any_interface_that_is_up_udp_says_so_at_once():
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs a network namespace of its own")
    for conduit in ("udp", "raw@udp"):
        done = subprocess.run(
            ["unshare", "-rn", *GASMETER, "measure", "ping-pong", "--conduit", conduit, "--op", "am-short"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        (line,) = done.stderr.splitlines()
        assert "no network interface that is up carries packets for 127.0.0.1" in line
        assert "ip link set lo up" in line


@pytest.mark.parametrize(
    "words",
    [
        ("loggp", "--op", "am-long", "--sizes", "65536", "--option", "loss=0.1"),
        ("vis", "--op", "indexed-put", "--sizes", "1M", "--option", "loss=0.6"),
    ],
)
def test_a_block_that_crawls_is_ended_at_the_time_limit(words):
    began = time.monotonic()
    kernel, *rest = words
    done = run("measure", kernel, "--conduit", "udp", *rest, "--iterations", "100000", "--max-time", "2s")
    assert time.monotonic() - began < 30
    assert done.returncode == 4, done.stderr
    line = done.stderr.splitlines()[-1]
    assert "not finished within its time limit of 2 s" in line
    assert "--max-time" in line
