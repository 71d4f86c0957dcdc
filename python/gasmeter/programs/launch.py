"""Runs a Python program on ranks, real or virtual: ``gasmeter.launch(program, ranks=4)``."""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from typing import Any, NoReturn

from gasmeter.arguments.sizes import parse_size
from gasmeter.catalogue import Conduit, catalogue
from gasmeter.environment.installed import worker_binary
from gasmeter.environment.limits import check_ranks, check_virtual_ranks, shared_memory
from gasmeter.errors import Deadlock, EnvironmentLacks, GasmeterError, ProgramError, Timeout, UsageError, unknown
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine as machine_named
from gasmeter.measuring.workers import WorkerPool
from gasmeter.option import Option
from gasmeter.programs.shipping import shipped
from gasmeter.sweeps.installations import Installations
from gasmeter.units import format_bytes, parse_seeds

__all__ = ["ProgramError", "launch"]


class _Failed(Exception):
    """A reply that a program failed."""

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
    machine: str | Machine = "",
    topology: str = "",
    placement: str = "",
    options: Mapping[str, object] | None = None,
    seed: int = 1,
) -> list[Any]:
    """Run a program on every rank of a job of its own and return the results.

    Parameters
    ----------
    program : callable
        ``program(ep, *args)``. A generator function (or coroutine function) is given a
        `gasmeter.programs.endpoint.ProgramEndpoint` and yields (awaits) operations: it runs unchanged on every
        conduit. A plain function is given the `gasmeter._core.Endpoint`, whose calls of the same names block: on real
        conduits only.
        Rank processes receive functions of the main script or a notebook as they are, with everything they refer to;
        other functions are imported on the rank.
    conduit : str, default "smp"
        ``smp`` (shared memory), ``udp`` or ``mpi``: ranks are processes. A modelled one (``ideal``, ``extoll``,
        ``ibv``, ``mpi@extoll``, ``udp@ethernet``, ...): ranks are virtual, in this process, in exact virtual time.
    ranks : int, default 2
        Number of ranks, 1 or more.
    segment : str or int, default "1M"
        Bytes of each rank's segment, for instance ``"64K"`` (K = 1024); it starts zeroed.
    args : sequence, optional
        Further arguments of the program, the same on every rank; on rank processes anything that can be pickled.
    timeout : float, optional
        Seconds (of this machine's clock) until every rank must be done; by default as long as it takes.
    machine : str or Machine, optional
        Machine of a modelled conduit, see `gasmeter.machine`; its network's own by default.
    topology, placement : str, optional
        Topology and placement on a machine with links, for a modelled conduit, as in `gasmeter.measure`.
    options : mapping, optional
        Options of the conduit by name, see ``gasmeter list conduits``.
    seed : int, default 1
        Seed of every random stream of the network.

    Returns
    -------
    list
        Results of the program, in rank order.

    Raises
    ------
    UsageError
        For values that are not allowed, values that cannot be pickled, or a plain function in virtual time.
    ResourceError
        If the segments do not fit into memory, or the conduit's requirements are missing.
    ProgramError
        If the program raised on a rank: the job is ended, the message names the rank, its traceback is attached. An
        error of gasmeter keeps its class.
    Deadlock
        In virtual time, if every rank waits and no event is pending; one line per waiting rank.
    BrokenJob
        If a rank dies.
    Timeout
        If the job was not done in time.

    Notes
    -----
    Ranks print to this process's standard output and error. A rank whose program is done goes on answering the others
    until all are done. Virtual ranks share this process, including all objects outside of the program, and Python
    itself takes no virtual time (`ProgramEndpoint.sleep` does). When one of them fails, the others' programs are closed
    where they are: their `finally` blocks run.

    Examples
    --------
    >>> def ring(ep):
    ...     yield ep.put_value((ep.rank + 1) % ep.size, 0, ep.rank)
    ...     yield ep.barrier()
    ...     return (yield ep.get_value(ep.rank, 0))
    >>> gm.launch(ring, conduit="ideal", ranks=3)
    [2, 0, 1]
    """
    entry = _conduit(program, conduit, ranks)
    segment_bytes = _segment_bytes(segment)
    (seed,) = parse_seeds([seed])
    if not isinstance(args, Sequence) or isinstance(args, str):
        raise UsageError(f"args {args!r} is not allowed; allowed: a sequence, for instance args=(1000,)", str(args))
    if not isinstance(options, Mapping | None):
        raise UsageError(f"options {options!r} is not allowed; allowed: a mapping of names to values", str(options))
    chosen = {
        name: _option(entry, name).parse(value, f"conduit {entry.name}") for name, value in (options or {}).items()
    }
    for option in entry.options:  # fewer ranks than the network has nodes by default
        if entry.virtual and option.name == "nodes" and "nodes" not in chosen and int(option.default) > ranks:
            chosen["nodes"] = str(ranks)
    values = _machine_values(entry, ranks, machine, topology, placement)
    if entry.virtual:
        from gasmeter.programs.program import check_yields  # noqa: PLC0415 - loads the extension

        check_yields(program, entry.name)
        return _in_virtual_time(
            program, entry, ranks=ranks, segment_bytes=segment_bytes, args=tuple(args), timeout=timeout,
            options=chosen, machine=values, seed=seed,
        )  # fmt: skip
    if catalogue().networks[entry.network].shares_memory:
        _check_shared_memory(segment, segment_bytes, ranks)
    command = pickle.dumps((sys.path, segment_bytes, entry.name, chosen, seed, _pickled(program, tuple(args))))
    if not sys.executable:
        raise EnvironmentLacks("launch: this interpreter does not know its own program (sys.executable is empty)")
    worker = worker_binary()
    environment = {"GASMETER_MPI_PLUGINS": str(worker.parent), "GASMETER_MPI_LENDER": str(worker)}
    with WorkerPool(ranks, program=[sys.executable, "-P", "-m", "gasmeter.rank"], environment=environment) as pool:
        try:
            replies = pool.command_bytes(command, timeout=timeout, on_reply=_check_reply)
        except _Failed as failed:
            _raise_failed(failed.rank, *failed.reply)
    return [_result(rank, reply) for rank, reply in enumerate(replies)]


def _in_virtual_time(
    program: Callable[..., Any],
    conduit: Conduit,
    *,
    ranks: int,
    segment_bytes: int,
    args: tuple[object, ...],
    timeout: float | None,
    options: Mapping[str, str],
    machine: Mapping[str, float | str],
    seed: int,
) -> list[Any]:
    from gasmeter._core import VirtualRanks  # noqa: PLC0415 - loads the extension
    from gasmeter.programs.program import steps_of  # noqa: PLC0415

    if timeout is not None and not timeout > 0:
        raise UsageError(f"timeout of {timeout!r} s: it must be positive, or None to wait without limit", str(timeout))
    job = VirtualRanks(
        conduit=conduit.name, ranks=ranks, segment_bytes=segment_bytes, seed=seed, options=options, machine=machine
    )
    steps = [steps_of(program, job.endpoint(rank), args) for rank in range(ranks)]
    late = threading.Event()

    def stop() -> None:
        late.set()
        job.stop()

    timer = threading.Timer(timeout, stop) if timeout is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        return job.run(steps)
    except Deadlock:
        raise
    except Exception as error:
        if job.failed_rank >= 0:
            _raise_program(job.failed_rank, error)
        if late.is_set():
            raise Timeout(f"launch: the job in virtual time was not done in {timeout} s") from None
        raise
    except SystemExit as error:
        _raise_program(max(job.failed_rank, 0), error)
    finally:
        if timer is not None:
            timer.cancel()
        _close(steps)


def _close(steps: Sequence[Generator[Any, Any, Any] | Coroutine[Any, Any, Any]]) -> None:
    """End programs that were stopped midway: their `finally` blocks run, and their further operations are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # for operations that were never carried out
        for each in steps:
            with contextlib.suppress(Exception):  # another error reports the job in one line
                each.close()


def _conduit(program: object, name: str, ranks: int) -> Conduit:
    """Return the conduit; refuse impossible requests before anything is started."""
    if not callable(program):
        raise UsageError(f"program {program!r} is not callable; allowed: a generator function of an endpoint")
    conduit = catalogue().conduit(str(name))
    if conduit.raw:
        raise UsageError(f"conduit {conduit.name} is a network's own interface, without an endpoint for programs", name)
    if isinstance(ranks, bool) or not isinstance(ranks, int):
        raise UsageError(f"ranks {ranks!r} is not a whole number; allowed: 1 or more", str(ranks))
    (check_virtual_ranks if conduit.virtual else check_ranks)(ranks)
    return conduit


def _segment_bytes(segment: str | int) -> int:
    if isinstance(segment, bool) or not isinstance(segment, str | int):
        raise UsageError(f"segment {segment!r} is not a size; allowed: bytes, or text such as 64K or 1M", str(segment))
    return parse_size(str(segment))


def _check_shared_memory(segment: str | int, segment_bytes: int, ranks: int) -> None:
    memory = shared_memory()
    if memory is not None and segment_bytes * ranks > memory.total:
        raise UsageError(
            f"segment {segment}: {ranks} ranks need {format_bytes(segment_bytes * ranks)}, /dev/shm holds"
            f" {format_bytes(memory.total)}; see `gasmeter doctor`",
            str(segment),
        )


def _option(conduit: Conduit, name: str) -> Option:
    for option in conduit.options:
        if option.name == name:
            return option
    names = [option.name for option in conduit.options]
    raise unknown(f"option of conduit {conduit.name}", str(name), names, "gasmeter list conduits")


def _machine_values(
    conduit: Conduit, ranks: int, machine: str | Machine, topology: str, placement: str
) -> dict[str, float | str]:
    for name, text in (("topology", topology), ("placement", placement)):
        if not isinstance(text, str):
            raise UsageError(f"{name} {text!r} is no text; allowed: text, as `gasmeter measure` takes it", str(text))
    label = machine_named(machine).label if machine else ""
    installed = Installations([conduit], [label] if label else [], [topology], [placement])
    installed_machine = installed.of(conduit, label, topology)
    if installed_machine is None:
        return {}
    placed, _ = installed.place(installed_machine, placement, ranks)
    return {**installed_machine.values(), **({"placement": placed} if placed else {})}


def _pickled(program: Callable[..., Any], args: tuple[object, ...]) -> bytes:
    for what, value in (("args", args), ("program", program)):
        try:
            shipped(value)
        except Exception as error:
            raise UsageError(f"launch: {what} cannot be pickled ({error}); ranks are processes of their own") from None
    return shipped((program, args))


def _check_reply(rank: int, reply: bytes) -> None:
    answer = pickle.loads(reply)
    if answer[0] == "error":
        raise _Failed(rank, answer[1:])


def _result(rank: int, reply: bytes) -> Any:
    try:
        return pickle.loads(pickle.loads(reply)[1])
    except Exception as error:
        raise UsageError(f"launch: the result of rank {rank} cannot be read here ({error})") from error


def _raise_program(rank: int, error: BaseException) -> NoReturn:
    """Raise a virtual rank's exception as if it came from a rank process."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, GasmeterError):
        reported: GasmeterError = type(error)(f"rank {rank}: {error}")
        cause = error.__cause__
    else:
        kind, message = type(error).__name__, str(error)
        reported = ProgramError(f"rank {rank}: {kind}: {message}" if message else f"rank {rank}: {kind}", rank, trace)
        cause = error
    reported.add_note(f"On rank {rank}:\n{trace}")
    raise reported from cause


def _raise_failed(rank: int, kind: str, message: str, trace: str, original: bytes | None) -> NoReturn:
    cause = pickle.loads(original) if original is not None else None
    if isinstance(cause, GasmeterError):
        error: GasmeterError = type(cause)(f"rank {rank}: {message}")
        cause = None
    else:
        error = ProgramError(f"rank {rank}: {kind}: {message}" if message else f"rank {rank}: {kind}", rank, trace)
    error.add_note(f"On rank {rank}:\n{trace}")
    raise error from cause
