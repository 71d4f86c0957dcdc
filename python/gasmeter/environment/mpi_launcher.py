"""gasmeter under an MPI's launcher: ``mpiexec -n 4 gasmeter measure ping-pong --conduit mpi``, or ``srun`` alike.

The launcher starts as many processes as there are ranks. The process of rank 0 becomes gasmeter: it parses, measures
and prints. The others lend their place in the launcher's job to the ranks that rank 0 starts (``gasmeter-rank
--lend-when-asked``) and end with it. For rank 0 itself, a child of its process lends. The launcher's variables alone
tell which processes belong together, so that no file is written.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import EnvironmentLacks, GasmeterError, ResourceError, UsageError

__all__ = ["MpiLauncher", "check_launched_ranks", "found", "launched", "take_part"]

_DESCRIPTOR = "PMI_FD"
_LATE_S = 10.0
# Variables of (rank, number of ranks, ranks on this host), and the MPI that they imply; "" if several MPIs use them.
_WORDS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "openmpi"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "mpich"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS", "", ""),
)


@dataclass(frozen=True)
class MpiLauncher:
    """The MPI launcher that started this process, and the process's place in the job."""

    rank: int
    ranks: int
    here: int  # ranks on this host
    mpi: str  # ``openmpi`` or ``mpich``; empty if the variables do not tell
    job: str  # the same for all its processes, and unique on this host


_taken: list[tuple[MpiLauncher, socket.socket]] = []
"""The launcher's job of this process. The socket stays open while it runs: lenders leave when it ends."""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _process_behind(descriptor: str | None) -> int | None:
    """Return the process that made the launcher's connection, the same for all ranks of a host."""
    number = _number(descriptor)
    if number is None:
        return None
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
        size = struct.calcsize("3i")
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(pid)
    return None


def _job(environment: Mapping[str, str]) -> str:
    for name in ("PMIX_NAMESPACE", "PMI_JOBID"):
        if environment.get(name):
            return environment[name]
    if environment.get("SLURM_STEP_ID"):
        return f"{environment.get('SLURM_JOB_ID', '')}.{environment['SLURM_STEP_ID']}"
    return str(_process_behind(environment.get(_DESCRIPTOR)) or os.getppid())


def found(environment: Mapping[str, str] = os.environ) -> MpiLauncher | None:
    """Return the MPI launcher in the environment; None without one, or if it does not tell the number of ranks."""
    for rank_name, ranks_name, here_name, mpi in _WORDS:
        rank, ranks = _number(environment.get(rank_name)), _number(environment.get(ranks_name))
        if rank is None or ranks is None or rank >= ranks:
            continue
        local_ranks = _number(environment.get(here_name))
        if local_ranks is None:
            local_ranks = ranks if environment.get("SLURM_STEP_NUM_NODES", "1") == "1" else 1
        job = "".join(c if c.isalnum() else "-" for c in _job(environment))[-40:]
        return MpiLauncher(rank, ranks, local_ranks, mpi, f"{os.geteuid()}-{job}")
    return None


def _see_all(waiting: socket.socket, ranks: int) -> None:
    """Wait until every lender has found this process, for at most `_LATE_S`.

    A later lender would wait in vain for a process that has ended, after a wrong option for instance, and hold up the
    launcher for a minute.
    """
    deadline = time.monotonic() + _LATE_S
    seen: list[socket.socket] = []  # a lender whose connection closes leaves
    with contextlib.suppress(OSError):
        while len(seen) < ranks and (left := deadline - time.monotonic()) > 0:
            waiting.settimeout(left)
            seen.append(waiting.accept()[0])


def launched() -> MpiLauncher | None:
    """Return the launcher in which this process is rank 0; None outside of the command ``gasmeter``."""
    return _taken[0][0] if _taken else None


def check_launched_ranks(ranks: int) -> None:
    """Raise UsageError if an MPI's launcher started another number of processes."""
    launcher = launched()
    if launcher is not None and ranks != launcher.ranks:
        raise UsageError(
            f"ranks {ranks}: the launcher of {launcher.mpi or 'MPI'} has started {launcher.ranks} processes; allowed:"
            f" {launcher.ranks}, or start gasmeter without it",
            str(ranks),
        )


def take_part() -> None:
    """Find this process's place under an MPI's launcher, before anything is printed.

    Rank 0 returns and becomes gasmeter; every other rank becomes a lender and never returns. Raises ResourceError at
    rank 0 if ranks are on several hosts (others end silently), GasmeterError without the worker program.
    """
    launcher = found()
    if launcher is None or _taken:
        return
    caller = f"gasmeter-{launcher.job}-caller"
    if launcher.here != launcher.ranks:
        if launcher.rank != 0:
            sys.exit(0)
        raise ResourceError(
            f"mpi: {launcher.here} of {launcher.ranks} processes are on this host; ranks of several hosts are joined by"
            " `gasmeter rank`, without an MPI"
        )
    try:
        command = [str(worker_binary()), "--lend-when-asked", launcher.job, caller]
    except GasmeterError:
        if launcher.rank != 0:
            sys.exit(0)  # rank 0 reports it
        raise
    if launcher.rank != 0:
        os.execv(command[0], command)
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        waiting.bind(f"\0{caller}")
    except OSError as error:
        waiting.close()
        raise EnvironmentLacks(f"mpi: a gasmeter runs as rank 0 of this launcher already ({error.strerror})") from None
    waiting.listen(launcher.ranks)  # connections stay in its queue: their only message is that this process exists
    _taken.append((launcher, waiting))
    atexit.register(_see_all, waiting, launcher.ranks)
    lent = [int(text) for text in (os.environ.get(_DESCRIPTOR, ""),) if text.isdigit()]
    subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=lent)
    os.environ["GASMETER_LENDERS"] = launcher.job
    if launcher.mpi:
        os.environ["GASMETER_LENDERS_MPI"] = launcher.mpi
    # A launcher binds each process to its own CPUs; gasmeter pins ranks on all CPUs of this job.
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
