"""Runs a Python program on real ranks: ``gasmeter.launch(program, ranks=4)``."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import cloudpickle

from gasmeter.errors import EnvironmentLacks, GasmeterError, ProgramError, UsageError, unknown
from gasmeter.limits import check_ranks, shared_memory
from gasmeter.units import format_bytes, parse_size
from gasmeter.workers import WorkerPool

__all__ = ["ProgramError", "launch"]

_CONDUITS = ("smp",)


class _Failed(Exception):
    """A reply says that a program failed."""

    def __init__(self, rank: int, reply: tuple[str, str, str, bytes | None]) -> None:
        super().__init__()
        self.rank = rank
        self.reply = reply


def launch(
    program: Callable[..., Any],
    *,
    conduit: str = "smp",
    ranks: int = 2,
    segment: str | int = "1M",
    args: Sequence[object] = (),
    timeout: float | None = None,
) -> list[Any]:
    """Run a program on every rank of a job of its own and return the results.

    Parameters
    ----------
    program : callable
        ``program(ep, *args)``. A generator function (or coroutine function) is given a
        `gasmeter.program.ProgramEndpoint` and yields (awaits) operations; a plain function is given the
        `gasmeter._core.Endpoint`, whose calls of the same names block. Functions of the main script or a notebook
        are sent as they are, with what they refer to; others are imported on the rank.
    conduit : str, default "smp"
        How ranks communicate; ``smp`` is shared memory.
    ranks : int, default 2
        Number of rank processes, 1 or more.
    segment : str or int, default "1M"
        Bytes of each rank's segment, for instance ``"64K"`` (K = 1024); it starts zeroed.
    args : sequence, optional
        Further arguments of the program, the same on every rank; anything that can be pickled.
    timeout : float, optional
        Seconds until every rank must be done; by default as long as it takes.

    Returns
    -------
    list
        What the program returned, in rank order.

    Raises
    ------
    UsageError
        For values that are not allowed, or what cannot be pickled.
    ResourceError
        If the segments do not fit into shared memory.
    ProgramError
        If the program raised on a rank: the job is ended, the message names the rank, its traceback is attached. An
        error of gasmeter keeps its class.
    BrokenJob
        If a rank dies.
    Timeout
        If the job was not done in time.

    Notes
    -----
    Ranks print to this process's standard output and error. A rank whose program is done goes on answering the others
    until all are done.

    Examples
    --------
    >>> def ring(ep):
    ...     yield ep.put_value((ep.rank + 1) % ep.size, 0, ep.rank)
    ...     yield ep.barrier()
    ...     return (yield ep.get_value(ep.rank, 0))
    >>> launch(ring, ranks=3)  # doctest: +SKIP
    [2, 0, 1]
    """
    segment_bytes = _check(program, conduit, ranks, segment)
    command = pickle.dumps((sys.path, segment_bytes, _pickled(program, tuple(args))))
    if not sys.executable:
        raise EnvironmentLacks("launch: this interpreter does not know its own program (sys.executable is empty)")
    with WorkerPool(ranks, program=[sys.executable, "-P", "-m", "gasmeter.rank"]) as pool:
        try:
            replies = pool.command_bytes(command, timeout=timeout, on_reply=_check_reply)
        except _Failed as failed:
            _raise_failed(failed.rank, *failed.reply)
    return [_result(rank, reply) for rank, reply in enumerate(replies)]


def _check(program: object, conduit: str, ranks: int, segment: str | int) -> int:
    """Return the bytes of a segment; refuse what cannot work before any process is started."""
    if not callable(program):
        raise UsageError(f"program {program!r} is not callable; allowed: a generator function of an endpoint")
    if conduit not in _CONDUITS:
        raise unknown("conduit for Python programs", str(conduit), _CONDUITS, "gasmeter list conduits")
    if isinstance(ranks, bool) or not isinstance(ranks, int):
        raise UsageError(f"ranks {ranks!r} is not a whole number; allowed: 1 or more", str(ranks))
    check_ranks(ranks)
    if isinstance(segment, bool) or not isinstance(segment, str | int):
        raise UsageError(f"segment {segment!r} is not a size; allowed: bytes, or text such as 64K or 1M", str(segment))
    segment_bytes = parse_size(str(segment))
    memory = shared_memory()
    if memory is not None and segment_bytes * ranks > memory.total:
        raise UsageError(
            f"segment {segment}: {ranks} ranks need {format_bytes(segment_bytes * ranks)}, /dev/shm holds"
            f" {format_bytes(memory.total)}; see `gasmeter doctor`",
            str(segment),
        )
    return segment_bytes


def _pickled(program: Callable[..., Any], args: tuple[object, ...]) -> bytes:
    for what, value in (("args", args), ("program", program)):
        try:
            cloudpickle.dumps(value)
        except Exception as error:
            raise UsageError(f"launch: {what} cannot be pickled ({error}); ranks are processes of their own") from None
    return bytes(cloudpickle.dumps((program, args)))


def _check_reply(rank: int, reply: bytes) -> None:
    answer = pickle.loads(reply)
    if answer[0] == "error":
        raise _Failed(rank, answer[1:])


def _result(rank: int, reply: bytes) -> Any:
    try:
        return pickle.loads(pickle.loads(reply)[1])
    except Exception as error:
        raise UsageError(f"launch: the result of rank {rank} cannot be read here ({error})") from error


def _raise_failed(rank: int, kind: str, message: str, trace: str, original: bytes | None) -> NoReturn:
    cause = pickle.loads(original) if original is not None else None
    if isinstance(cause, GasmeterError):
        error: GasmeterError = type(cause)(f"rank {rank}: {message}")
        cause = None
    else:
        error = ProgramError(f"rank {rank}: {kind}: {message}" if message else f"rank {rank}: {kind}", rank, trace)
    error.add_note(f"On rank {rank}:\n{trace}")
    raise error from cause
