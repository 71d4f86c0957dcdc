"""The command line on the compiled core, worker processes and all; numbers are not judged, only what surrounds them."""

import csv
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

import gasmeter as gm
from gasmeter.catalogue import catalogue
from gasmeter.errors import BrokenJob

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core"),
    pytest.mark.timeout(180),
]
GASMETER = (sys.executable, "-m", "gasmeter")
SWEEP = """
import gasmeter as gm
experiment = gm.Experiment(
    name="sweep", kernel="ping-pong", op=("put", "get"), sizes="8:32K", conduit="smp", against="raw@shm", time_s=0.05
)
"""


def run(*arguments, **settings):
    return subprocess.run([*GASMETER, *arguments], capture_output=True, text=True, timeout=150, check=False, **settings)


def children_of(process):
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return result


def test_a_comparison_on_shared_memory():
    command = ("--conduit", "smp", "--op", "am-short,put", "--sizes", "8", "--against", "raw@shm", "--time", "50ms")
    result = run("measure", "ping-pong", *command, "--format", "csv")
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["metric"] for row in rows] == ["round_trip", "round_trip", "overhead", "latency", "latency", "overhead"]
    assert all(row["verified"] == "true" and row["network"] == "shm" for row in rows)


@pytest.mark.parametrize(
    ("conduit", "done"), [("smp", "initiation"), ("raw@shm", "initiation"), ("udp", "remotely complete")]
)
def test_a_put_says_what_done_meant_where_it_is_nothing_but_a_store(conduit, done):
    rows = gm.measure("ping-pong", op="put", conduit=conduit, sizes="8", iterations=1000, time=0.01).rows
    assert [done in row["semantics"] for row in rows if row["metric"] == "latency"] == [True]


def test_random_access_in_every_variant():
    frame = gm.measure("random-access", conduit="smp", variant="all", sizes="1M", against="raw@shm", time=0.05).frame()
    gups = frame[frame["metric"] == "gups"]
    assert list(gups["variant"]) == ["raw", "am", "put-get", "direct"]
    assert (gups["value"] > 0).all()
    assert (frame[frame["metric"] == "error_fraction"]["value"] <= 0.01).all()


def test_virtual_time_is_the_same_to_the_byte():
    command = ("--conduit", "ideal", "--op", "am-short,am-medium", "--sizes", "8,4K", "--against", "raw@ideal")
    first, second = (run("measure", "ping-pong", *command, "--format", "csv") for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert {row["kind"] for row in csv.DictReader(io.StringIO(first.stdout))} == {"modelled"}


def test_doctor_finds_everything():
    result = run("doctor", "--json")
    assert result.returncode == 0, result.stdout
    state = {entry["name"]: entry["state"] for entry in json.loads(result.stdout)}
    assert state["core"] == state["worker"] == state["probe"] == "ok"
    sockets = next(entry for entry in json.loads(result.stdout) if entry["name"] == "udp sockets")
    assert sockets["value"]["receive_buffer"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--op", "am-medium", "--sizes", "64M"), ("67108864", "largest Medium")),
        (("--op", "put", "--sizes", "8", "--ranks", "1"), ("ranks=1", "at least 2")),
    ],
)
def test_what_only_the_workers_know_is_one_line_too(arguments, words):
    result = run("measure", "ping-pong", "--conduit", "smp", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert all(word in result.stderr for word in words)


def started(tmp_path):
    """A sweep in its own process that has kept at least one group."""
    Path(tmp_path / "sweep.py").write_text(SWEEP)
    process = subprocess.Popen(
        [*GASMETER, "run", "sweep.py", "--out", "out"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    rows = tmp_path / "out" / "results.csv"
    wait_for(lambda: process.poll() is not None or (rows.exists() and rows.read_text().count("\n") > 1))
    assert process.poll() is None
    return process


def table(tmp_path):
    return list(csv.DictReader(io.StringIO((tmp_path / "out" / "results.csv").read_text())))


def finished(tmp_path):
    result = run("run", "sweep.py", "--out", "out", "--resume", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = table(tmp_path)
    return len(rows) == 2 * 13 * 3 and json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "complete"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_ended_early_leaves_nothing_behind_and_can_be_finished(tmp_path, number):
    process = started(tmp_path)
    children = children_of(process)
    os.kill(process.pid, number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else -9)
    if number == signal.SIGINT:
        assert "continue with --resume" in stderr
    wait_for(lambda: not any(child.is_running() for child in children), seconds=5)
    assert 0 < len(table(tmp_path)) < 78
    assert finished(tmp_path)


MODELLED = """
import os
import gasmeter as gm
long = int(os.environ.get("LONG", "1000"))
experiment = gm.Experiment(
    name="modelled",
    series=[
        gm.Series(kernel="ping-pong", op="put", size=size, conduit="ideal", iterations=iterations)
        for size, iterations in ((8, 1000), (16, long), (32, 1000), (64, long), (128, long))
    ],
)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_modelled_points_at_once_and_resume_finishes_them(tmp_path, jobs):
    Path(tmp_path / "modelled.py").write_text(MODELLED)
    command = ("run", "modelled.py", "--out", "out", "--jobs", str(jobs))
    process = subprocess.Popen(
        [*GASMETER, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "LONG": str(10**13)},
    )  # fmt: skip
    rows = tmp_path / "out" / "results.csv"
    try:
        wait_for(lambda: process.poll() is not None or (rows.exists() and rows.read_text().count("\n") > 1))
        time.sleep(0.5)  # until the second point, and beside it the third, are under way or done
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    assert time.monotonic() - start < 10
    assert "continue with --resume" in stderr
    kept = table(tmp_path)
    # Beside a point that takes for ever, another one may be done: it is kept too.
    assert [row["size_bytes"] for row in kept] == ["8", "32"][:jobs]
    assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "interrupted"
    result = run(*command, "--resume", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    finished_rows = table(tmp_path)
    assert [row["size_bytes"] for row in finished_rows] == ["8", "16", "32", "64", "128"]
    assert [row for row in finished_rows if row["size_bytes"] in {"8", "32"}][:jobs] == kept
    assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "complete"


def test_a_killed_rank_ends_the_sweep_with_its_name_and_keeps_what_is_done(tmp_path):
    process = started(tmp_path)
    ranks = wait_for(lambda: [child for child in children_of(process) if child.ppid() != process.pid])
    victim = ranks[-1].pid
    os.kill(victim, signal.SIGKILL)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 4
    assert f"pid {victim}" in stderr
    assert "signal 9" in stderr
    assert finished(tmp_path)


def test_the_next_measurement_starts_new_ranks():
    with gm.Runner() as runner:
        first = gm.measure("ping-pong", conduit="smp", op="put", sizes=8, time=0.02, runner=runner)
        os.kill(runner.pools.get(2).pids[1], signal.SIGKILL)
        with pytest.raises(BrokenJob, match="rank 1"):
            gm.measure("ping-pong", conduit="smp", op="put", sizes=8, time=0.02, runner=runner)
        again = gm.measure("ping-pong", conduit="smp", op="put", sizes=8, time=0.02, runner=runner)
    assert first.verified
    assert again.verified


def test_a_planted_slow_down_stands_in_the_options_and_makes_no_other_figure(tmp_path):
    """Only a quiet machine shows the size of the slow-down; the guard's README says how."""
    for out, option in (("usual", "0"), ("slowed", "50%")):
        path = tmp_path / f"{out}.py"
        path.write_text(
            "import gasmeter as gm\n"
            "experiment = gm.Experiment(name='spin', kernel='ping-pong', op='am-short,put', sizes='8', conduit='smp',"
            f" options={{'debug_spin': '{option}'}}, time_s=0.02)\n"
        )
        done = run("run", str(path), "--out", str(tmp_path / out))
        assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "slowed" / "results.csv").read_text().splitlines()))
    assert {row["options"] for row in rows} == {"debug_spin=0.5"}
    assert {row["verified"] for row in rows} == {"true"}
    whole = json.loads(
        run("check", "--baseline", str(tmp_path / "usual"), str(tmp_path / "slowed"), "--format", "json").stdout
    )
    assert {entry["verdict"] for entry in whole["findings"]} <= {
        "slower", "not significant", "undecided", "faster", "shifted",
    }  # fmt: skip
    # None is missing, none is new; of the machine itself there is one more where its cores have moved.
    assert sorted(entry["op"] for entry in whole["findings"] if entry["kernel"] != "probe") == ["am-short", "put"]


@pytest.mark.parametrize(("conduit", "value"), [("smp", "-0.1"), ("smp", "11"), ("udp", "4%")])
def test_a_slow_down_that_cannot_be_is_refused(conduit, value):
    done = run("measure", "ping-pong", "--conduit", conduit, "--op", "am-short", "--option", f"debug_spin={value}")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "debug_spin" in done.stderr


@pytest.fixture
def suite_program():
    from gasmeter.diagnosis.conformance import conformance_program
    from gasmeter.errors import EnvironmentLacks

    try:
        return conformance_program()
    except EnvironmentLacks:
        pytest.skip("gasmeter-conformance is not built")


def test_every_conduit_has_a_conformance_family(suite_program):
    listed = subprocess.run([suite_program, "--json", "--list"], capture_output=True, text=True, check=True).stdout
    families = [entry for entry in map(json.loads, listed.splitlines()) if "family" in entry]
    catalogued = {conduit.name for conduit in catalogue().conduits.values() if not conduit.raw}
    # Without an invented machine: the code is that of udp@ethernet.
    assert catalogued - {entry["conduit"] for entry in families} == {"udp@ibv"}
    assert {entry["kind"] for entry in families} == {"virtual", "threads", "sockets"}
    plain = subprocess.run([suite_program, "--list"], capture_output=True, text=True, check=True).stdout
    assert plain.split() == [entry["family"] for entry in families]


def test_the_conformance_program_is_understood(suite_program):
    from gasmeter.diagnosis.conformance import run_suite

    suite = run_suite(suite_program, ("smp",))
    assert not suite.failed, suite.broken
    assert {"message", "flood", "immediate", "rma", "event", "barrier", "negotiated", "atomic", "restricted",
            "random program", "misuse", "mixed", "thread"} <= set(suite.groups)  # fmt: skip
    for group in set(suite.groups) - {"restricted"}:
        assert suite.counts(group, "smp").passed > 0, group
    restricted = suite.counts("restricted", "smp")
    assert (restricted.passed > 0) == suite.checked
    assert (restricted.skipped > 0) != suite.checked


def pid_of_rank_1(runner):
    (pid,) = {pid for pool in runner.pools._pools.values() for pid in pool.pids[1:]}
    return pid


def test_a_rank_that_is_stopped_in_a_block_costs_its_point_alone():
    def stop(progress):
        if "64 B" in progress.label and not stopped:
            stopped.append(pid_of_rank_1(runner))
            threading.Timer(0.7, os.kill, (stopped[0], signal.SIGSTOP)).start()

    stopped = []
    with gm.Runner() as runner:
        experiment = gm.Experiment(
            name="stopped", kernel="ping-pong", conduit="smp", op="put", sizes="8,64,512", time_s="2s", max_time_s="3s"
        )
        result = experiment.run(runner=runner, progress=stop)
    assert {row["size_bytes"] for row in result.rows} == {8, 512}
    (note,) = [note for note in result.notes if "not finished" in note]
    assert "ping-pong put 64 B on smp, 2 ranks: not finished within its time limit of 3 s" in note
    assert not psutil.pid_exists(stopped[0])


def test_a_rank_that_stays_stopped_ends_the_job_and_is_named():
    def program(ep):
        if ep.rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        yield ep.barrier()

    with pytest.raises(BrokenJob, match=r"rank 1 \(pid \d+\) was stopped by signal 19.*has not gone on for 10 s"):
        gm.launch(program, conduit="smp", ranks=2)
