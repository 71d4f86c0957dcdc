"""Rank programs in Python: their operations, and the driver that carries them out.

A program is a generator function (or coroutine function) of an endpoint. It yields operations and gets their results,
so that the driver decides about place and time. A plain function gets the compiled endpoint itself, whose calls block.
Virtual time refuses it, since nothing can block there.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import TYPE_CHECKING, Any

from gasmeter._core import Operation
from gasmeter.errors import UsageError
from gasmeter.programs.endpoint import ProgramEndpoint

if TYPE_CHECKING:
    from gasmeter._core import Endpoint

__all__ = ["Operation", "ProgramEndpoint", "check_yields", "run_program", "steps_of"]

Steps = Generator[Any, Any, Any] | Coroutine[Any, Any, Any]


def run_program(program: Callable[..., Any], endpoint: Endpoint, args: Sequence[object] = ()) -> Any:
    """Run one rank's program to its end and return its result.

    A generator or coroutine function takes a `ProgramEndpoint`, a plain function the endpoint itself. Raises UsageError
    if the program yields a value that is no operation, or is a plain function that returns a generator.
    """
    if _yields(program):
        result = _drive(program(ProgramEndpoint(endpoint), *args), endpoint)
    else:
        result = program(endpoint, *args)
    if isinstance(result, types.GeneratorType | types.CoroutineType):
        result.close()
        raise UsageError(
            f"program {_name(program)} returned a {type(result).__name__}; pass the generator function itself"
            " (functools.partial or args= for its arguments)"
        )
    if endpoint.has_prepared:
        raise UsageError("the program ended with a prepared message that was neither committed nor cancelled")
    return result


def steps_of(program: Callable[..., Any], endpoint: Endpoint, args: Sequence[object] = ()) -> Steps:
    """Return a virtual rank's generator or coroutine, which yields the operations."""
    steps: Steps = program(ProgramEndpoint(endpoint), *args)
    return steps


def check_yields(program: Callable[..., Any], conduit: str) -> None:
    """Raise UsageError for a plain function, whose calls would block in virtual time."""
    if not _yields(program):
        raise UsageError(
            f"program {_name(program)} is a plain function, whose calls block; conduit {conduit} runs in virtual time:"
            " make it a generator (`yield ep.put(...)`) or a coroutine (`await ep.put(...)`)"
        )


def _yields(program: Callable[..., Any]) -> bool:
    candidates = (program, getattr(program, "__call__", None))  # noqa: B004 - an object whose __call__ is a generator
    return any(inspect.isgeneratorfunction(each) or inspect.iscoroutinefunction(each) for each in candidates)


def _name(program: Callable[..., Any]) -> str:
    return getattr(program, "__qualname__", None) or repr(program)


def _drive(steps: Steps, endpoint: Endpoint) -> Any:
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            yielded = steps.send(value) if error is None else steps.throw(error)
        except StopIteration as stop:
            return stop.value
        value = error = None
        try:
            value = endpoint._carry_out(yielded)
        except BaseException as failure:  # the program may want to handle it, and has to clean up
            error = failure
