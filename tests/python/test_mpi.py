"""The mpi conduit on rank processes, over each MPI that the worker has a plug-in for; bad input in one clear line."""

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

import gasmeter as gm
from gasmeter.environment import mpi_launcher
from gasmeter.environment.installed import worker_binary
from gasmeter.errors import BrokenJob, GasmeterError, UsageError
from gasmeter.measuring.sessions import WorkerPools
from gasmeter.measuring.workers import WorkerPool

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


def open_session(
    pool, kernel, op, conduit="mpi", size=0, variant="", mpi="auto", session="1", transport="auto", rma=None, **options
):
    return pool.command(
        {
            "verb": "open", "session": session, "kernel": kernel, "op": op, "conduit": conduit, "variant": variant,
            "size_bytes": str(size), "seed": "7", "ranks": str(pool.ranks), "option.mpi": mpi,
            "option.transport": transport, **({} if rma is None else {"option.rma": rma}),
            **{f"option.{name}": value for name, value in options.items()},
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
@pytest.mark.parametrize("flow", [{"window": "1"}, {"window": "16"}, {"packed": "false"}], ids=str)
def test_random_access_verifies_in_every_flow(mpi, flow):
    with WorkerPool(3) as pool:
        for conduit, variant in (("raw@mpi", ""), ("mpi", "am")):
            replies = open_session(pool, "random-access", "update", conduit, 1 << 16, variant, mpi, **flow)
            assert all(reply["status"] == "ok" for reply in replies), replies
            for iterations in (500, 2000):
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
    for text in errors_of({"GASMETER_MPIEXEC": shutil.which("false")}):
        assert "exited with status 1 before every rank was started: it said nothing; `gasmeter doctor`" in text


@pytest.mark.parametrize("launcher", ["false", "gasmeter-no-such-mpiexec", "/no/such/mpiexec", "says.sh", "dies.sh"])
def test_a_launcher_that_cannot_work_is_one_line_and_status_three(launcher, tmp_path):
    (tmp_path / "says.sh").write_text("#!/bin/sh\nprintf 'no \\033[1mhost\\t\\n-----\\nfor you\\n' >&2\nexit 9\n")
    (tmp_path / "dies.sh").write_text("#!/bin/sh\nkill -9 $$\n")
    for script in tmp_path.iterdir():
        script.chmod(0o755)
    environment = os.environ | {"GASMETER_MPIEXEC": launcher, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "gasmeter", "measure", "ping-pong", "--conduit", "mpi", "--op", "am-short"],
        capture_output=True, text=True, timeout=60, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    (line,) = done.stderr.splitlines()
    assert "wait status" not in line
    assert line.isprintable()
    if launcher == "says.sh":
        assert "exited with status 9 before every rank was started: no  [1mhost  for you;" in line
    if launcher == "dies.sh":
        assert "was killed by signal 9 (Killed)" in line


def family_of(pool):
    """Return what the launcher of a pool and its ranks have started."""
    return psutil.Process(pool.launcher_pid).children(recursive=True)


def left_of(processes):
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


@each_mpi
def test_nothing_is_said_and_nothing_is_left_when_a_job_ends(mpi, capfd):
    for _ in range(3):
        with WorkerPool(4) as pool:
            assert {reply["status"] for reply in open_session(pool, "ping-pong", "am-short", mpi=mpi)} == {"ok"}
            run_and_verify(pool, 50)
            family = family_of(pool)
            assert len(family) > 4
        assert not left_of(family)
    assert not capfd.readouterr().err


@each_mpi
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rank_that_is_killed_or_stopped_ends_the_job_and_mpiexec(mpi, number):
    pool = WorkerPool(2)
    open_session(pool, "ping-pong", "am-short", mpi=mpi)
    run_and_verify(pool, 50)
    family = family_of(pool)
    os.kill(pool.pids[1], number)
    with pytest.raises(BrokenJob, match="rank 1 .* killed by signal 9" if number == signal.SIGKILL else "rank .*1;"):
        pool.command({"verb": "block", "session": "1", "iterations": "100"}, timeout=3)
    assert not left_of(family)
    with pytest.raises(BrokenJob):
        pool.command({"verb": "close", "session": "1"})


@each_mpi
def test_a_launcher_is_looked_for_on_the_path(mpi, tmp_path):
    launcher = shutil.which(f"mpiexec.{mpi}") or shutil.which("mpiexec")
    starter = tmp_path / "gasmeter-starter"
    bound = "--oversubscribe --bind-to none" if mpi == "openmpi" else ""
    starter.write_text(f'#!/bin/sh\n[ "$1" = --word ] && shift || exit 9\nexec {launcher} {bound} "$@"\n')
    starter.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    with WorkerPool(2, environment={"GASMETER_MPIEXEC": "gasmeter-starter --word", "PATH": path}) as pool:
        replies = open_session(pool, "ping-pong", "am-short", mpi=mpi)
        assert {reply["status"] for reply in replies} == {"ok"}, replies
        run_and_verify(pool, 50)
    assert all("names no program" in text for text in errors_of({"GASMETER_MPIEXEC": " "}))


@pytest.mark.skipif(len(AVAILABLE) < 2, reason="needs two MPIs")
def test_the_launcher_of_another_mpi_is_noticed():
    environment = {"GASMETER_MPIEXEC": shutil.which("mpiexec.mpich") or "mpiexec"}
    for message in errors_of(environment, "openmpi"):
        assert "gasmeter as" in message
        assert "of 2; is the launcher another MPI's?" in message


def test_under_an_mpiexec_of_the_users_gasmeter_says_how_to_start_it():
    for message in errors_of(os.environ | {"PMI_RANK": "0"}):
        assert "start it without" in message


@each_mpi
def test_puts_and_gets_verify_with_and_without_one_sided_calls(mpi):
    with WorkerPool(3) as pool:
        for rma in ("on", "off", "auto"):
            for op, size in (("put", 8), ("put", 100_000), ("get", 8), ("get", 100_000)):
                replies = open_session(pool, "flood", op, size=size, mpi=mpi, rma=rma)
                assert all(reply["status"] == "ok" for reply in replies), replies
                run_and_verify(pool, 200)
                pool.command({"verb": "close", "session": "1"}, timeout=60)


@each_mpi
def test_ranks_of_one_host_share_memory_where_it_is_asked_for(mpi):
    options = {"mpi": mpi, "neighbourhood": True}
    result = gm.measure("random-access", conduit="mpi", ranks=3, sizes="64K", options=options, time="50ms")
    rows = result.frame()
    assert set(rows["network"]) == {"shm"}
    assert set(rows["conduit"]) == {"mpi"}
    assert set(rows["options"]) == {f"mpi={mpi};neighbourhood=true"}
    assert rows["verified"].all()
    counted = {(row["counter"], row["value"] > 0) for row in result.counters().to_dict("records")}
    assert ("ring_messages", True) in counted
    assert not any(counter == "packets" for counter, _ in counted)
    plain = gm.measure("ping-pong", conduit="mpi", op="put", sizes="8", options={"mpi": mpi}, time="50ms").frame()
    assert set(plain["network"]) == {"mpi"}


@each_mpi
def test_one_sided_calls_that_would_wait_are_refused_and_auto_sends_messages(mpi):
    with WorkerPool(2) as pool:
        for reply in open_session(pool, "flood", "put", size=64, mpi=mpi, transport="tcp", rma="on"):
            assert reply["status"] == "error"
            assert "option 'rma=on': with transport=tcp a put would wait" in reply["message"]
            assert "\n" not in reply["message"]
        replies = open_session(pool, "flood", "put", size=64, mpi=mpi, transport="tcp")
        assert all(reply["status"] == "ok" for reply in replies), replies
        run_and_verify(pool, 50)


# ---- under an MPI's launcher

OPENMPI = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"PMI_RANK": "0"}, None),
        ({"PMI_RANK": "4", "PMI_SIZE": "4"}, None),
        ({"PMI_RANK": "x", "PMI_SIZE": "4"}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None),  # a batch script, which srun has not started
        (OPENMPI | {"PMIX_RANK": "1", "PMIX_NAMESPACE": "prte-7@1"}, (1, 4, 4, "openmpi", "prte-7-1")),
        ({"PMI_RANK": "2", "PMI_SIZE": "3", "MPI_LOCALNRANKS": "3", "PMI_JOBID": "9"}, (2, 3, 3, "mpich", "9")),
        # srun --mpi=pmi2, srun --mpi=pmix, and on two hosts
        (
            {"PMI_RANK": "1", "PMI_SIZE": "2", "SLURM_STEP_ID": "3", "SLURM_JOB_ID": "77"},
            (1, 2, 2, "mpich", "77-3"),
        ),
        (
            {"PMIX_RANK": "1", "PMIX_NAMESPACE": "slurm.pmix.77.3", "SLURM_STEP_NUM_TASKS": "2"},
            (1, 2, 2, "", "slurm-pmix-77-3"),
        ),
        (
            {"PMI_RANK": "1", "PMI_SIZE": "8", "PMI_JOBID": "9", "SLURM_STEP_NUM_NODES": "2"},
            (1, 8, 1, "mpich", "9"),
        ),
    ],
)
def test_a_launcher_is_known_by_its_variables(environment, expected):
    launched = mpi_launcher.found(environment)
    if expected is None:
        assert launched is None
    else:
        assert (launched.rank, launched.ranks, launched.here, launched.mpi) == expected[:4]
        assert launched.job == f"{os.geteuid()}-{expected[4]}"


def test_a_launched_process_runs_one_job_with_mpi_and_no_other_number_of_ranks(monkeypatch):
    launcher = mpi_launcher.MpiLauncher(0, 2, 2, "mpich", "0-test")
    monkeypatch.setattr(mpi_launcher, "_taken", [(launcher, None)])
    mpi_launcher.check_launched_ranks(2)
    with pytest.raises(UsageError, match="ranks 3: the launcher of mpich has started 2 processes; allowed: 2"):
        mpi_launcher.check_launched_ranks(3)

    class Ended:
        def close(self):
            pass

    pools = WorkerPools(lambda _ranks, _binary: Ended())
    assert pools.get(2, mpi="auto/auto") is pools.get(2, mpi="auto/auto")
    pools.get(2)
    with pytest.raises(UsageError, match="has run a job with auto/auto already"):
        pools.get(2, mpi="auto/tcp")


def launcher_program(mpi):
    program = shutil.which(f"mpiexec.{mpi}")
    if program is None:
        pytest.skip(f"needs mpiexec.{mpi}")
    return [program, *(["--oversubscribe"] if mpi == "openmpi" else [])]


def started_by(mpi, ranks, *command):
    return subprocess.run(
        [*launcher_program(mpi), "-n", str(ranks), *command],
        env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def under(mpi, ranks, *arguments):
    measure = [sys.executable, "-m", "gasmeter", "measure", "ping-pong", "--conduit", "mpi", "--op", "am-short"]
    return started_by(mpi, ranks, *measure, "--iterations", "20", "--time", "20ms", *arguments)


@each_mpi
def test_under_its_mpiexec_rank_0_alone_measures_and_prints(mpi):
    done = under(mpi, 2, "--format", "csv")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[0].startswith("experiment,")
    assert sum(line.startswith("experiment,") for line in lines) == 1
    assert len(lines) == 2
    assert "round_trip" in lines[1]


@each_mpi
def test_under_its_mpiexec_ranks_of_one_host_share_memory_where_it_is_asked_for(mpi):
    done = under(mpi, 2, "--format", "csv", "--option", "neighbourhood=on")
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(io.StringIO(done.stdout[done.stdout.index("experiment,") :]))
    assert (row["conduit"], row["network"], row["ranks"], row["verified"]) == ("mpi", "shm", "2", "true")


@each_mpi
def test_a_number_of_ranks_that_is_not_the_launchers_is_status_2(mpi):
    done = under(mpi, 2, "--ranks", "3")
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if "Error" in line] == [
        f"Error: ranks 3: the launcher of {mpi} has started 2 processes; allowed: 2, or start gasmeter without it"
    ]
    assert done.stdout.strip() == "" or "round_trip" not in done.stdout


@each_mpi
def test_a_rank_that_comes_when_gasmeter_has_refused_already_does_not_wait_for_it(mpi, tmp_path):
    late = tmp_path / "late"
    late.write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || sleep 4\n'
        f"exec {sys.executable} -m gasmeter measure ping-pong --conduit mpi --ranks 3\n"
    )
    late.chmod(0o755)
    started = time.monotonic()
    done = started_by(mpi, 2, str(late))
    assert done.returncode == 2, done.stderr
    assert time.monotonic() - started < 40  # a lender by itself waits for a minute


@pytest.mark.skipif(len(AVAILABLE) < 2, reason="needs two MPIs")
@each_mpi
def test_the_other_mpi_under_a_launcher_is_refused(mpi):
    other = next(name for name in AVAILABLE if name != mpi)
    done = under(mpi, 2, "--option", f"mpi={other}")
    assert done.returncode in (2, 3)  # MPICH's launcher joins the statuses of all ranks, and one may miss rank 0
    line = next(line for line in done.stderr.splitlines() if line.startswith("Error: option"))
    assert f"option 'mpi={other}': the launcher that started gasmeter is {mpi}'s" in line
