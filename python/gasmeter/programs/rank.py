"""The process of a rank that runs Python programs: ``python -m gasmeter.rank``, started by a launcher.

Each command is a pickled program; the reply is its pickled result, or its error with the traceback as text.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import signal
import sys
import traceback
from pathlib import Path
from types import TracebackType

from gasmeter._core import Rank
from gasmeter.errors import GasmeterError, UsageError
from gasmeter.programs.program import run_program
from gasmeter.programs.shipping import shipped

__all__ = ["main"]

_PACKAGE = Path(__file__).parent


def main() -> int:
    """Serve until the job ends; return 0 after an orderly end, 2 if no launcher started this process."""
    try:
        rank = Rank()
    except GasmeterError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    for stream in (sys.stdout, sys.stderr):  # line by line, so that the lines of several ranks do not mix
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)
    # Python could not react to Ctrl-C while it waits for a command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while (command := rank.next_command()) is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reply = _answer(rank, command)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # The client may end the job by force on reading the reply.
        sys.stdout.flush()
        sys.stderr.flush()
        rank.reply(reply)
    rank.leave()
    return 0


def _answer(rank: Rank, command: bytes) -> bytes:
    try:
        return pickle.dumps(("ok", _run(rank, command)))
    except BaseException as error:  # the client must learn of every failure
        return _failure(error)


def _run(rank: Rank, command: bytes) -> bytes:
    path, segment_bytes, conduit, options, seed, pickled = pickle.loads(command)
    sys.path[:] = path
    # It is collective, and therefore comes before anything that can fail on one rank alone.
    endpoint = rank.attach(segment_bytes, conduit, options, seed)
    program, args = pickle.loads(pickled)
    result = _pickled(run_program(program, endpoint, args))
    # A finished rank still answers the others until they finish, too.
    endpoint.barrier()
    return result


def _pickled(result: object) -> bytes:
    try:
        return shipped(result)
    except Exception as error:
        kind = type(result).__name__
        raise UsageError(
            f"result of type {kind} cannot be pickled ({error}); return numbers, texts, arrays or containers of these"
        ) from None


def _failure(error: BaseException) -> bytes:
    shown = error.with_traceback(_of_program(error.__traceback__))
    text = "".join(traceback.format_exception(shown))
    original: bytes | None = None
    with contextlib.suppress(Exception):
        original = shipped(error)
        pickle.loads(original)
    return pickle.dumps(("error", type(error).__name__, str(error), text, original))


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the program, or all of it without such a part."""
    part = trace
    while part is not None and Path(part.tb_frame.f_code.co_filename).parent == _PACKAGE:
        part = part.tb_next
    return part or trace
