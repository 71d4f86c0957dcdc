"""Worker processes of a real job: start, command and end a launcher and its ranks.

The caller is never a rank. It starts one launcher process per job (``gasmeter-rank --serve``). The launcher forks the
ranks, passes commands and replies, and ends everything when the caller ends, however that happens. See
``cpp/gasmeter/launch/README.md`` for the processes and the frames between them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import BrokenJob, ResourceError, Timeout, UsageError, error_named

__all__ = ["WorkerPool"]

_HEADER = struct.Struct("<IiQ")
_COMMAND, _QUIT, _REPLY, _DIED, _READY = 1, 2, 16, 17, 18
_EVERY_RANK = -1
_MAX_PAYLOAD = 1 << 32
_LONGEST_TIMEOUT_S = 1e9  # 32 years: sockets refuse to count longer ones than 292 years
_SMALL = 1 << 16
_QUIT_S = 8.0
"""Longest wait for an orderly end: the launcher itself kills ranks that have not left after 2 s."""
_DEATH_S = 3.0
"""Longest wait for a launcher to take down its ranks before this process kills both."""


class _Channel:
    """Frames over the socket to the launcher; one thread at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._buffer = bytearray()

    def send(self, kind: int, rank: int, payload: bytes, deadline: float | None) -> None:
        header = _HEADER.pack(kind, rank, len(payload))
        self._set_timeout(deadline)
        if len(payload) <= _SMALL:
            self.socket.sendall(header + payload)
        else:
            self.socket.sendall(header)
            self.socket.sendall(payload)

    def receive(self, deadline: float | None) -> tuple[int, int, bytes]:
        """Return kind, rank and payload; raise `EOFError` without a launcher, `TimeoutError` if it is late."""
        kind, rank, length = _HEADER.unpack(self._take(_HEADER.size, deadline))
        return kind, rank, self._take(length, deadline)

    def _take(self, count: int, deadline: float | None) -> bytes:
        if count > _SMALL:
            return self._take_large(count, deadline)
        while len(self._buffer) < count:
            self._set_timeout(deadline)
            self._buffer += self._received(self.socket.recv(_SMALL))
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _take_large(self, count: int, deadline: float | None) -> bytes:
        taken = bytearray(count)
        have = min(count, len(self._buffer))
        taken[:have] = self._buffer[:have]
        del self._buffer[:have]
        with memoryview(taken) as view:
            while have < count:
                self._set_timeout(deadline)
                got = self.socket.recv_into(view[have:])
                if got == 0:
                    raise EOFError
                have += got
        return bytes(taken)

    @staticmethod
    def _received(data: bytes) -> bytes:
        if not data:
            raise EOFError
        return data

    def _set_timeout(self, deadline: float | None) -> None:
        if deadline is None:
            self.socket.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)


def _deadline(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    if not timeout > 0:
        raise UsageError(f"timeout of {timeout!r} s: it must be positive, or None to wait without limit", str(timeout))
    if timeout > _LONGEST_TIMEOUT_S:
        return None
    return time.monotonic() + timeout


def _parse_fields(payload: bytes) -> dict[str, str]:
    pairs = (line.partition("=") for line in payload.decode(errors="replace").split("\n") if line)
    return {key: value for key, _, value in pairs}


def _format_fields(fields: Mapping[str, str]) -> bytes:
    for key, value in fields.items():
        if not key or "=" in key or "\n" in key or "\n" in value:
            raise UsageError(f"command field {key!r}={value!r}: no line breaks, no `=` in the name", value)
    return "".join(f"{key}={value}\n" for key, value in fields.items()).encode()


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _destroy(process: subprocess.Popen[bytes], connection: socket.socket, owner: int) -> None:
    """End launcher and ranks now, without leaving a descriptor or zombie; a forked copy of the owner does nothing."""
    if os.getpid() != owner:
        return
    with contextlib.suppress(OSError):  # wakes a thread that waits for replies, and the launcher, which kills its ranks
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
    try:
        process.wait(timeout=_DEATH_S)
    except BaseException as error:  # an interrupt, too: nothing may stay behind
        # The launcher is not reaped yet, so that its process group's number is not reused.
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


class WorkerPool:
    """The ranks of one real job, waiting for commands.

    Use it as a context manager: leaving the block ends the job in order, an exception kills it. A forgotten pool is
    killed when it is collected or when the interpreter ends. Commands of several threads run one after the other. Ranks
    write their standard error to this process's.

    `ranks` is 1 to 4096. `program` is the command of each rank, native by default; `binary` holds launcher and native
    rank, so that pools of two builds can coexist. `environment` adds variables, `arguments` go to the launcher, and
    `inherited` lists descriptors that it keeps. All ranks must start within `start_timeout` seconds. Raises UsageError
    for values that are not allowed, ResourceError if the system refuses processes, descriptors or shared memory,
    BrokenJob if the launcher ends at once.
    """

    def __init__(
        self,
        ranks: int,
        *,
        program: Sequence[str] = (),
        binary: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        start_timeout: float = 30.0,
        arguments: Sequence[str] = (),
        inherited: Sequence[int] = (),
    ) -> None:
        deadline = _deadline(start_timeout)
        if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
            raise UsageError(f"ranks: {ranks!r} is not a whole number of at least 1", str(ranks))
        path = Path(binary) if binary is not None else worker_binary()
        # Reentrant: a signal handler may kill the pool in the thread that waits for its replies.
        self._lock = threading.RLock()
        self._broken: str | None = None
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [os.fspath(path), "--serve", "--ranks", str(ranks), "--control-fd", str(theirs.fileno()), *arguments]
        if program:
            command += ["--program", *program]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno(), *inherited],
                start_new_session=True,  # Ctrl-C then reaches this process only
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            mine.close()
            raise ResourceError(f"worker program {path} cannot be run: {error.strerror}", str(path)) from None
        finally:
            theirs.close()
        self._channel = _Channel(mine)
        self._finalizer = weakref.finalize(self, _destroy, self._process, mine, os.getpid())
        self._ready = self._wait_until_ready(path, deadline)

    def _wait_until_ready(self, path: Path, deadline: float | None) -> dict[str, str]:
        try:
            kind, _, payload = self._channel.receive(deadline)
        except TimeoutError:
            self._break(Timeout(f"worker program {path} was not ready in time"))
        except (EOFError, OSError):
            self._break(BrokenJob(f"worker program {path} is no launcher: {self._launcher_end()}"))
        except BaseException:
            self._finalizer()
            raise
        fields = _parse_fields(payload)
        if kind == _DIED:
            self._break(error_named(fields.get("error", "BrokenJob"), fields.get("message", "the job did not start")))
        if kind != _READY:
            self._break(BrokenJob(f"worker program {path} began with frame {kind}: it does not fit this package"))
        return fields

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return int(self._ready["ranks"])

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPU that each rank is pinned to, -1 where the kernel chooses."""
        return _integers(self._ready["cpus"])

    @property
    def oversubscribed(self) -> bool:
        """Whether ranks share CPUs, so that a waiting rank has to yield."""
        return self._ready["oversubscribed"] == "true"

    @property
    def pids(self) -> tuple[int, ...]:
        """Process number of each rank."""
        return _integers(self._ready["pids"])

    @property
    def launcher_pid(self) -> int:
        """Process number of the launcher."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the pool still takes commands, as far as known without asking."""
        return self._broken is None

    def command(self, fields: Mapping[str, str], timeout: float | None = None) -> list[dict[str, str]]:
        """Send the same ``key=value`` fields to every rank and return one answer per rank, in rank order.

        Raises BrokenJob if a rank or the launcher dies or the pool has ended, UsageError if a field holds a line break.
        Raises Timeout if an answer takes more than `timeout` seconds; the job is killed then, as late answers cannot be
        told apart.
        """
        return [_parse_fields(reply) for reply in self.command_bytes(_format_fields(fields), timeout=timeout)]

    def command_bytes(
        self,
        payload: bytes,
        rank: int | None = None,
        timeout: float | None = None,
        on_reply: Callable[[int, bytes], None] | None = None,
    ) -> list[bytes]:
        """Send at most 4 GiB to one rank or to all; return one answer per addressed rank, in rank order.

        Only ranks interpret the payload. `on_reply(rank, answer)` is called as answers arrive; its exception ends the
        job and propagates. Raises BrokenJob and Timeout as `command`, UsageError for an unknown rank or a payload that
        is too large.
        """
        if rank is not None and not 0 <= rank < self.ranks:
            raise UsageError(f"rank {rank} is not in 0..{self.ranks - 1}", str(rank))
        if len(payload) > _MAX_PAYLOAD:
            raise UsageError(f"command of {len(payload)} bytes exceeds the largest allowed, {_MAX_PAYLOAD} bytes")
        asked = range(self.ranks) if rank is None else (rank,)
        deadline = _deadline(timeout)
        with self._lock:
            if self._broken is not None:
                raise BrokenJob(self._broken)
            try:
                return self._exchange(payload, asked, deadline, on_reply)
            except BaseException as error:  # an interrupt, too: pending replies would answer the next command
                if self._finalizer.alive:
                    self._break(error, "the job was killed because a command was interrupted")
                raise

    def _exchange(
        self,
        payload: bytes,
        asked: Sequence[int],
        deadline: float | None,
        on_reply: Callable[[int, bytes], None] | None,
    ) -> list[bytes]:
        replies: dict[int, bytes] = {}
        target = _EVERY_RANK if len(asked) == self.ranks else asked[0]
        try:
            # A dead launcher has left its reason in the socket.
            with contextlib.suppress(ConnectionError):
                self._channel.send(_COMMAND, target, payload, deadline)
            while len(replies) < len(asked):
                kind, rank, answer = self._channel.receive(deadline)
                if kind == _DIED:
                    self._raise_died(_parse_fields(answer))
                if kind != _REPLY or rank not in asked or rank in replies:
                    raise BrokenJob(f"unexpected frame {kind} of rank {rank}; the worker does not fit this package")
                replies[rank] = answer
                if on_reply is not None:
                    on_reply(rank, answer)
        except TimeoutError:
            late = ", ".join(str(rank) for rank in asked if rank not in replies)
            raise Timeout(f"no answer in time from rank {late}; the job was killed") from None
        except (EOFError, OSError):
            raise BrokenJob(self._broken or self._launcher_end()) from None
        return [replies[rank] for rank in asked]

    def _raise_died(self, fields: dict[str, str]) -> NoReturn:
        self._drain(_DEATH_S)  # until the launcher has reaped the other ranks
        raise error_named(fields.get("error", "BrokenJob"), fields.get("message", "the job died without a message"))

    def _launcher_end(self) -> str:
        """Return how the launcher with the closed socket ended."""
        pid = self._process.pid
        try:
            status = self._process.wait(timeout=_DEATH_S)
        except subprocess.TimeoutExpired:
            return f"the launcher (pid {pid}) closed its connection"
        if status < 0:
            return f"the launcher (pid {pid}) was killed by signal {-status} ({signal.strsignal(-status)})"
        return f"the launcher (pid {pid}) exited with status {status}"

    def _break(self, error: BaseException, message: str | None = None) -> NoReturn:
        """End everything, remember the reason, raise."""
        if self._broken is None:
            self._broken = str(error) if isinstance(error, BrokenJob) or message is None else message
        self._finalizer()
        raise error

    def _drain(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._channel.receive(deadline)

    def close(self) -> None:
        """End the job in order; ranks that do not leave within 2 s are killed. A pool that has ended stays as it is.

        The call waits for a command of another thread; `kill` does not.
        """
        with self._lock:
            if not self._finalizer.alive:
                return
            self._broken = self._broken or "the pool was closed"
            try:
                with contextlib.suppress(OSError):
                    self._channel.send(_QUIT, _EVERY_RANK, b"", time.monotonic() + _QUIT_S)
                self._drain(_QUIT_S)
            finally:
                self._finalizer()

    def kill(self) -> None:
        """End the job at once; a command under way in another thread raises `BrokenJob`."""
        self._broken = self._broken or "the pool was killed"
        with contextlib.suppress(OSError):  # ends the wait of another thread, which then gives up the lock
            self._channel.socket.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._finalizer()

    def __enter__(self) -> WorkerPool:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the job: in order, or at once if the block raised."""
        if kind is None:
            self.close()
        else:
            self.kill()

    def __repr__(self) -> str:
        """Return ranks, launcher and state."""
        state = "alive" if self._broken is None else self._broken
        return f"<WorkerPool ranks={self.ranks} launcher={self.launcher_pid}: {state}>"
