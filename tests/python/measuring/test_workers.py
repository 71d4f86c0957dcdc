"""Worker pools: commands, and every way a job can end. The ranks run tests/cpp/launch/echo_rank.cpp."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import BrokenJob, EnvironmentLacks, ResourceError, Timeout, UsageError
from gasmeter.measuring import workers
from gasmeter.measuring.workers import WorkerPool

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.timeout(120)

Start = Callable[..., WorkerPool]


@pytest.fixture(scope="session")
def echo_rank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the test's rank program: ``GASMETER_ECHO_RANK``, or compiled here."""
    built = os.environ.get("GASMETER_ECHO_RANK")
    if built:
        return Path(built)
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    binary = tmp_path_factory.mktemp("echo") / "echo_rank"
    sources = [
        ROOT / "tests/cpp/launch/echo_rank.cpp",
        *sorted((ROOT / "cpp/gasmeter/launch").glob("*.cpp")),
        *sorted((ROOT / "cpp/gasmeter/base").glob("*.cpp")),
    ]
    command = [compiler, "-std=c++20", "-O1", "-pthread", f"-I{ROOT / 'cpp'}", *map(str, sources), "-lrt"]
    subprocess.run([*command, "-o", str(binary)], check=True)
    return binary


@pytest.fixture
def start(echo_rank: Path) -> Iterable[Start]:
    """Return a function that starts pools; whatever a test leaves open is killed."""
    pools: list[WorkerPool] = []

    def start_pool(ranks: int, **options: object) -> WorkerPool:
        pools.append(WorkerPool(ranks, binary=echo_rank, **options))  # type: ignore[arg-type]
        return pools[-1]

    yield start_pool
    for pool in pools:
        pool.kill()


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; a zombie has, reaping it is up to its parent."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def assert_vanish(pids: Iterable[int], seconds: float = 5.0) -> None:
    """Wait until no process of these is left; fail after `seconds`."""
    end = time.monotonic() + seconds
    left = set(pids)
    while left := {pid for pid in left if not is_gone(pid)}:
        assert time.monotonic() < end, f"processes {sorted(left)} are still there"
        time.sleep(0.01)


def everybody(pool: WorkerPool) -> set[int]:
    return {pool.launcher_pid, *pool.pids}


def shared_memory_names() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if "gasmeter" in name}


def test_every_rank_answers_and_answers_come_in_rank_order(start: Start) -> None:
    pool = start(3)
    answers = pool.command({"verb": "who"})
    assert [answer["rank"] for answer in answers] == ["0", "1", "2"]
    assert [int(answer["pid"]) for answer in answers] == list(pool.pids)
    assert {answer["parent"] for answer in answers} == {str(pool.launcher_pid)}
    assert pool.ranks == 3


def test_one_rank_alone_can_be_asked(start: Start) -> None:
    pool = start(3)
    assert pool.command_bytes(b"verb=who\n", rank=2)[0].startswith(b"status=ok\nrank=2\n")
    assert pool.command_bytes(b"all") == [b"all"] * 3
    with pytest.raises(UsageError, match=r"rank 3 is not in 0\.\.2"):
        pool.command_bytes(b"", rank=3)


@pytest.mark.parametrize("size", [0, 1, 16, 65_520, 65_536, 65_537, 30_000_000])
def test_payload_of_any_size_comes_back_unchanged(start: Start, size: int) -> None:
    payload = os.urandom(size)
    assert start(2).command_bytes(payload) == [payload, payload]


def test_ranks_are_pinned_to_the_cpus_of_the_affinity_mask_in_order(start: Start) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    pool = start(len(cpus))
    assert pool.cpus == tuple(cpus)
    assert not pool.oversubscribed
    assert [answer["cpu"] for answer in pool.command({"verb": "who"})] == list(map(str, cpus))
    assert [os.sched_getaffinity(pid) for pid in pool.pids] == [{cpu} for cpu in cpus]


def test_more_ranks_than_cpus_are_oversubscribed_and_not_pinned(start: Start) -> None:
    cpus = os.sched_getaffinity(0)
    pool = start(len(cpus) + 1)
    assert pool.oversubscribed
    assert set(pool.cpus) == {-1}
    assert all(os.sched_getaffinity(pid) == cpus for pid in pool.pids)
    assert {answer["oversubscribed"] for answer in pool.command({"verb": "who"})} == {"true"}


def test_pinning_can_be_chosen_by_environment(start: Start) -> None:
    last = max(os.sched_getaffinity(0))
    assert start(1, environment={"GASMETER_PIN": f"{last}"}).cpus == (last,)
    assert start(1, environment={"GASMETER_PIN": "none"}).cpus == (-1,)
    with pytest.raises(UsageError, match=r"GASMETER_PIN=most: `most` is no CPU; allowed are none or a list"):
        start(1, environment={"GASMETER_PIN": "most"})


@pytest.mark.parametrize("ranks", [0, -1, 4097, 10**7])
def test_impossible_number_of_ranks_is_a_usage_error(start: Start, ranks: int) -> None:
    with pytest.raises(UsageError, match=f"ranks: {ranks} is not "):
        start(ranks)


def test_process_limit_is_reported_with_what_to_look_at(echo_rank: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser has no process limit")
    script = """
        import resource, sys
        from gasmeter.errors import ResourceError
        from gasmeter.measuring.workers import WorkerPool
        resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))
        try:
            WorkerPool(64, binary=sys.argv[1])
        except ResourceError as error:
            print(error)
    """
    done = run_client(script, echo_rank)
    assert "ulimit -u" in done.stdout


def test_descriptor_limit_is_lifted_or_reported(tmp_path: Path, echo_rank: Path) -> None:
    with pytest.raises(ResourceError, match=r"need 264 open files; the limit is 70 \(`ulimit -Hn`\)"):
        WorkerPool(200, binary=limited(tmp_path, echo_rank, "ulimit -n 70"))
    with WorkerPool(40, binary=limited(tmp_path, echo_rank, "ulimit -Sn 64")) as pool:
        assert len(pool.command({"verb": "who"})) == 40


def limited(folder: Path, program: Path, limit: str) -> Path:
    """Return a script that runs a program under a limit of the shell."""
    script = folder / "limited"
    script.write_text(f'#!/bin/sh\n{limit}\nexec {program} "$@"\n')
    script.chmod(stat.S_IRWXU)
    return script


def test_ranks_share_zeroed_memory_and_release_gives_it_back(start: Start) -> None:
    pool = start(2)
    for _ in range(5):
        for answer in pool.command({"verb": "reserve", "id": "a", "bytes": str(1 << 20)}):
            assert answer == {"status": "ok", "zeroed": "true", "wrong": "0"}
        pool.command({"verb": "release", "id": "a"})
    assert not shared_memory_names()


def test_memory_that_does_not_fit_is_refused_with_advice_and_the_job_goes_on(start: Start) -> None:
    pool = start(2)
    for answer in pool.command({"verb": "reserve", "id": "a", "bytes": str(1 << 50)}):
        assert answer["status"] == "error"
        assert answer["error"] == "ResourceError"
        assert re.search(r"1125899906842624 bytes does not fit /dev/shm: \d+ of its \d+ bytes", answer["message"])
        assert "--shm-size" in answer["message"]
    assert pool.command({"verb": "barrier"}) == [{"status": "ok"}] * 2


def test_exchange_brings_every_blob_to_every_rank(start: Start) -> None:
    for answer in start(4).command({"verb": "exchange", "bytes": "200000"}):
        assert answer == {"status": "ok", **{f"from.{rank}": "right" for rank in range(4)}}


def test_ranks_started_by_exec_are_the_same(start: Start, echo_rank: Path) -> None:
    pool = start(2, program=[str(echo_rank)])
    assert [answer["rank"] for answer in pool.command({"verb": "who"})] == ["0", "1"]
    assert pool.command({"verb": "reserve", "id": "a", "bytes": "4096"})[1]["wrong"] == "0"
    pids = everybody(pool)
    pool.close()
    assert_vanish(pids)


def test_program_that_cannot_be_executed_is_named(start: Start) -> None:
    pool = start(2, program=["/nowhere/python", "-c", "pass"])
    with pytest.raises(BrokenJob, match="exited with status 127: cannot run /nowhere/python: No such file"):
        pool.command({"verb": "who"})


def test_rank_holds_no_descriptor_it_does_not_need(start: Start, echo_rank: Path) -> None:
    for program in ([], [str(echo_rank)]):
        pool = start(3, program=program)
        pool.command({"verb": "who"})
        for pid in pool.pids:
            assert sorted(map(int, os.listdir(f"/proc/{pid}/fd"))) == [0, 1, 2, 3, 4]


def test_close_ends_every_process_in_order(start: Start) -> None:
    pool = start(2)
    pids = everybody(pool)
    pool.close()
    assert_vanish(pids)
    pool.close()
    pool.kill()
    with pytest.raises(BrokenJob, match="the pool was closed"):
        pool.command({"verb": "who"})


def test_rank_that_does_not_leave_is_killed_after_a_grace(start: Start) -> None:
    pool = start(2)
    pids = everybody(pool)
    pool.command({"verb": "stuck", "rank": "1"})
    pool.close()
    assert_vanish(pids)


def test_rank_killed_while_idle_is_named_at_the_next_command(start: Start) -> None:
    pool = start(3)
    pids = everybody(pool)
    os.kill(pool.pids[1], signal.SIGKILL)
    assert_vanish(pids)
    message = rf"rank 1 \(pid {pool.pids[1]}\) was killed by signal 9 \(Killed\)"
    for _ in range(2):
        with pytest.raises(BrokenJob, match=message):
            pool.command({"verb": "who"})


def test_rank_killed_during_a_command_ends_the_command(start: Start) -> None:
    pool = start(3)
    pids = everybody(pool)
    threading.Timer(0.1, os.kill, (pool.pids[2], signal.SIGKILL)).start()
    with pytest.raises(BrokenJob, match=r"rank 2 \(pid \d+\) was killed by signal 9"):
        pool.command({"verb": "hang"})
    assert all(map(is_gone, pids))


def test_rank_killed_while_others_wait_in_a_collective_ends_the_job(start: Start) -> None:
    pool = start(3)
    with pytest.raises(BrokenJob, match=r"rank 0 \(pid \d+\) was killed by signal 6 \(Aborted\)"):
        pool.command_bytes(b"verb=die\nrank=0\nsignal=6\n")
    pool = start(2)
    pool_pids = everybody(pool)
    threading.Timer(0.1, os.kill, (pool.pids[0], signal.SIGKILL)).start()
    with pytest.raises(BrokenJob, match=r"rank 0 "):
        pool.command_bytes(b"verb=barrier\n", rank=1)
    assert_vanish(pool_pids)


def test_rank_that_leaves_or_throws_is_named_with_its_reason(start: Start) -> None:
    with pytest.raises(BrokenJob, match=r"rank 1 \(pid \d+\) exited with status 7$"):
        start(2).command({"verb": "exit", "rank": "1", "status": "7"})
    with pytest.raises(BrokenJob, match=r"rank 0 \(pid \d+\) left before the job ended"):
        start(2).command({"verb": "exit", "rank": "0", "status": "0"})
    with pytest.raises(BrokenJob, match=r"exited with status 1: GasmeterError: the test asked for it"):
        start(2).command({"verb": "throw", "rank": "1"})


def test_stopped_rank_can_still_be_killed(start: Start) -> None:
    pool = start(2)
    pids = everybody(pool)
    os.kill(pool.pids[0], signal.SIGSTOP)
    pool.close()
    assert_vanish(pids)


def test_launcher_killed_takes_the_ranks_with_it(start: Start, echo_rank: Path) -> None:
    for program in ([], [str(echo_rank)]):
        pool = start(3, program=program)
        pool.command({"verb": "stuck", "rank": "1"})
        pids = everybody(pool)
        os.kill(pool.launcher_pid, signal.SIGKILL)
        with pytest.raises(BrokenJob, match=r"the launcher \(pid \d+\) was killed by signal 9 \(Killed\)"):
            pool.command({"verb": "who"})
        assert_vanish(pids)


def test_late_answer_is_a_timeout_that_names_the_ranks_and_ends_the_job(start: Start) -> None:
    pool = start(3)
    pids = everybody(pool)
    with pytest.raises(Timeout, match="no answer in time from rank 1; the job was killed"):
        pool.command({"verb": "hang", "rank": "1"}, timeout=0.3)
    assert all(map(is_gone, pids))
    with pytest.raises(BrokenJob):
        pool.command({"verb": "who"})


def test_kill_ends_a_command_of_another_thread(start: Start) -> None:
    pool = start(2)
    pids = everybody(pool)
    threading.Timer(0.2, pool.kill).start()
    with pytest.raises(BrokenJob, match="the pool was killed"):
        pool.command({"verb": "hang"})
    assert_vanish(pids)


def test_interrupt_while_waiting_kills_the_job(start: Start) -> None:
    pool = start(2)
    pids = everybody(pool)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        pool.command({"verb": "hang"})
    assert all(map(is_gone, pids))
    with pytest.raises(BrokenJob, match="interrupted"):
        pool.command({"verb": "who"})


def test_exception_in_the_block_kills_the_job_and_passes_on(echo_rank: Path) -> None:
    pool = WorkerPool(2, binary=echo_rank)
    pids = everybody(pool)
    with pytest.raises(ZeroDivisionError), pool:
        raise ZeroDivisionError
    assert_vanish(pids)


def test_forgotten_pool_is_ended(start: Start, echo_rank: Path) -> None:
    pool = WorkerPool(2, binary=echo_rank)
    pids = everybody(pool)
    del pool
    gc.collect()
    assert_vanish(pids)


def run_client(script: str, echo_rank: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a Python script with the rank program as its argument."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(echo_rank)],
        env={**os.environ, "PYTHONPATH": str(Path(workers.__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def test_interpreter_that_ends_takes_open_pools_with_it(echo_rank: Path) -> None:
    script = """
        import sys
        from gasmeter.measuring.workers import WorkerPool
        pool = WorkerPool(2, binary=sys.argv[1])
        print(pool.launcher_pid, *pool.pids)
    """
    done = run_client(script, echo_rank)
    assert done.stderr == ""
    assert_vanish(map(int, done.stdout.split()))


@pytest.mark.parametrize("under_way", ["idle", "command", "forked"])
def test_client_killed_leaves_no_process_and_no_shared_memory(echo_rank: Path, under_way: str) -> None:
    script = """
        import os, sys, threading, time
        from gasmeter.measuring.workers import WorkerPool
        pool = WorkerPool(3, binary=sys.argv[1])
        pool.command({"verb": "reserve", "id": "a", "bytes": str(1 << 24)})
        forked = []
        if sys.argv[2] == "forked":  # a child keeps copies of every descriptor
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            forked = [pid]
        print(*forked, file=sys.stderr, flush=True)
        print(pool.launcher_pid, *pool.pids, flush=True)
        pool.command({"verb": "hang" if sys.argv[2] == "command" else "who"})
        time.sleep(60)
    """
    before = shared_memory_names()
    client = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(echo_rank), under_way],
        env={**os.environ, "PYTHONPATH": str(Path(workers.__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    assert client.stderr is not None
    forked = [int(word) for word in client.stderr.readline().split()]
    pids = [int(word) for word in client.stdout.readline().split()]
    assert len(pids) == 4
    client.kill()
    client.wait()
    try:
        assert_vanish(pids)
    finally:
        for pid in forked:
            os.kill(pid, signal.SIGKILL)
        client.stdout.close()
        client.stderr.close()
    assert shared_memory_names() == before


def test_opening_and_closing_leaves_nothing_behind(start: Start, echo_rank: Path) -> None:
    with WorkerPool(2, binary=echo_rank):
        pass  # whatever is imported or opened once
    this = psutil.Process()
    before = this.num_fds(), threading.active_count(), shared_memory_names()
    children = set(this.children())
    for cycle in range(50):
        pool = WorkerPool(2, binary=echo_rank)
        pool.command({"verb": "who"})
        if cycle % 2:
            pool.kill()
        else:
            pool.close()
    assert (this.num_fds(), threading.active_count(), shared_memory_names()) == before
    assert set(this.children()) == children


def test_four_threads_use_their_own_pools_at_once(echo_rank: Path) -> None:
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for cycle in range(5):
                with WorkerPool(2, binary=echo_rank) as pool:
                    for step in range(20):
                        text = f"{number}.{cycle}.{step}".encode()
                        assert pool.command_bytes(text) == [text, text]
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_commands_of_several_threads_to_one_pool_do_not_mix(start: Start) -> None:
    pool = start(2)
    wrong: list[bytes] = []

    def work(number: int) -> None:
        for step in range(100):
            text = f"{number}.{step}".encode()
            if pool.command_bytes(text) != [text, text]:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def private_kib(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kib) for kib in re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+) kB", text, re.MULTILINE))


def test_sixty_four_idle_ranks_hold_at_most_one_mebibyte_each(start: Start) -> None:
    pool = start(64)
    pool.command({"verb": "who"})
    used = [private_kib(pid) for pid in pool.pids]
    assert max(used) <= 1024, used


def test_idle_ranks_use_no_processor_time(start: Start) -> None:
    pool = start(2)
    pool.command({"verb": "who"})
    processes = [psutil.Process(pid) for pid in everybody(pool)]
    before = [sum(process.cpu_times()[:2]) for process in processes]
    time.sleep(0.5)
    spent = [sum(process.cpu_times()[:2]) - earlier for process, earlier in zip(processes, before, strict=True)]
    assert max(spent) < 0.1


def test_fields_that_would_break_the_text_are_refused(start: Start) -> None:
    pool = start(1)
    for fields in ({"a": "1\n2"}, {"a=b": "c"}, {"": "x"}):
        with pytest.raises(UsageError, match="command field"):
            pool.command(fields)
    with pytest.raises(UsageError, match="must be positive"):
        pool.command({}, timeout=0)
    assert pool.alive


def test_program_that_is_no_launcher_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrokenJob, match=r"/true is no launcher: the launcher \(pid \d+\) exited with status 0"):
        WorkerPool(1, binary=shutil.which("true"))
    with pytest.raises(ResourceError, match="cannot be run: No such file"):
        WorkerPool(1, binary=tmp_path / "nothing")


def test_worker_binary_is_the_override_or_the_packaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "gasmeter-rank"
    monkeypatch.setenv("GASMETER_RANK", str(program))
    with pytest.raises(UsageError, match=rf"GASMETER_RANK={program}: no such file"):
        worker_binary()
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="not executable"):
        worker_binary()
    program.chmod(stat.S_IRWXU)
    assert worker_binary() == program

    monkeypatch.delenv("GASMETER_RANK")
    monkeypatch.setattr("gasmeter.__path__", [str(tmp_path)])
    assert worker_binary() == program
    program.chmod(stat.S_IRUSR)
    if not os.access(program, os.X_OK):
        with pytest.raises(EnvironmentLacks, match="not executable; reinstall with `pip install"):
            worker_binary()
    with contextlib.suppress(FileNotFoundError):
        program.unlink()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EnvironmentLacks, match=rf"{program} is missing; reinstall with `pip install"):
        worker_binary()
