"""All errors of gasmeter: one hierarchy, one line per message, one exit status per class.

A message names the object, the value given, the values allowed and a place to look. The compiled core raises the same
classes (its C++ hierarchy in ``base/error.hpp`` is translated to these).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = [
    "BrokenJob",
    "CheckFailed",
    "Deadlock",
    "EnvironmentLacks",
    "GasmeterError",
    "ProgramError",
    "ResourceError",
    "Timeout",
    "UsageError",
    "did_you_mean",
    "error_named",
    "first_mistake",
    "said_of",
    "unknown",
]


class GasmeterError(Exception):
    """Base of all errors that gasmeter raises.

    Parameters
    ----------
    message : str
        Text of one line: the object, the value given, the values allowed, where to look.
    value : str, optional
        The offending value alone, so that a caller can find its place (a line of an experiment file).

    Attributes
    ----------
    exit_code : int
        Status with which the command line ends when this error reaches it.

    Examples
    --------
    >>> try:
    ...     gm.measure("ping-pongs", conduit="ideal")
    ... except gm.GasmeterError as error:
    ...     print(type(error).__name__, error.exit_code, error.value)
    UsageError 2 ping-pongs
    """

    exit_code = 1

    def __init__(self, message: str = "", value: str | None = None) -> None:
        super().__init__(message)
        self.value = value


class CheckFailed(GasmeterError):
    """A check did not hold, for instance data that failed its verification (exit status 1).

    Examples
    --------
    >>> def checked(ep):
    ...     if ep.rank == 1:
    ...         raise gm.CheckFailed("word 3 is 5; allowed: 4")
    ...     yield ep.barrier()
    >>> try:
    ...     gm.launch(checked, conduit="ideal")
    ... except gm.CheckFailed as error:
    ...     print(error)
    rank 1: ...word 3 is 5; allowed: 4
    """


class ProgramError(GasmeterError):
    """A program given to `gasmeter.launch` raised on a rank (exit status 1).

    Parameters
    ----------
    message : str
        Text of one line: the rank, the class of the exception and its message.
    rank : int
        The failing rank.
    traceback : str
        The rank's traceback.

    Notes
    -----
    The traceback is also attached as a note, so that it is printed with this error. ``__cause__`` is the exception
    itself if it can be pickled.

    Examples
    --------
    >>> def wrong(ep):
    ...     yield ep.barrier()
    ...     raise ValueError("no")
    >>> try:
    ...     gm.launch(wrong, conduit="ideal")
    ... except gm.ProgramError as error:
    ...     print(error)
    rank 0: ValueError: no
    """

    def __init__(self, message: str = "", rank: int = 0, traceback: str = "") -> None:
        super().__init__(message)
        self.rank = rank
        self.traceback = traceback


class UsageError(GasmeterError, ValueError):
    """A value outside what is allowed: unknown names, sizes that do not fit (exit status 2).

    Examples
    --------
    >>> gm.machine("extol")
    Traceback (most recent call last):
    gasmeter.errors.UsageError: unknown machine 'extol'; did you mean 'extoll'? allowed: aries, ...
    """

    exit_code = 2


class ResourceError(GasmeterError):
    """The machine lacks something: memory, disk space, a permission (exit status 3).

    Examples
    --------
    >>> gm.launch(lambda ep: (yield ep.barrier()), conduit="ideal", segment="100000G")
    Traceback (most recent call last):
    gasmeter.errors.ResourceError: virtual ranks: a segment of 107374182400000 bytes; ... are free; ...
    """

    exit_code = 3


class EnvironmentLacks(ResourceError):
    """A library, program or part of the installation is missing (exit status 3).

    Examples
    --------
    >>> issubclass(gm.EnvironmentLacks, gm.ResourceError), gm.EnvironmentLacks.exit_code
    (True, 3)
    """


class BrokenJob(GasmeterError, RuntimeError):
    """A rank died or the launcher went away (exit status 4).

    Examples
    --------
    >>> def dies(ep):
    ...     os._exit(7)
    ...     yield ep.barrier()
    >>> gm.launch(dies, conduit="smp")
    Traceback (most recent call last):
    gasmeter.errors.BrokenJob: ...
    """

    exit_code = 4


class Deadlock(BrokenJob):
    """Every rank waits and no event is pending; the message has a line per waiting rank (exit status 4).

    Examples
    --------
    >>> try:
    ...     gm.launch(lambda ep: (yield ep.wait_until(lambda: False)), conduit="ideal")
    ... except gm.Deadlock as error:
    ...     print(str(error).splitlines()[1])
    rank 0 (node 0) at 0.000 ns waits for a condition of its program
    """


class Timeout(BrokenJob, TimeoutError):
    """A job gave no answer within the time it was given (exit status 4).

    Examples
    --------
    >>> def endless(ep):
    ...     while True:
    ...         yield ep.sleep(1000)
    >>> gm.launch(endless, conduit="ideal", timeout=0.2)
    Traceback (most recent call last):
    gasmeter.errors.Timeout: launch: the job in virtual time was not done in 0.2 s
    """


_BY_NAME: dict[str, type[GasmeterError]] = {
    "ValueError": UsageError,
    "UsageError": UsageError,
    "ResourceError": ResourceError,
    "EnvironmentLacks": EnvironmentLacks,
    "BrokenJob": BrokenJob,
    "Deadlock": Deadlock,
    "Timeout": Timeout,
}


def error_named(name: str, message: str) -> GasmeterError:
    """Return (not raise) the error that a worker reported by class name; unknown names give `GasmeterError`."""
    return _BY_NAME.get(name, GasmeterError)(message)


def did_you_mean(value: str, allowed: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest allowed name, or an empty text."""
    near = difflib.get_close_matches(value, list(allowed), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown(what: str, value: str, allowed: Iterable[str], where: str) -> UsageError:
    """Return (not raise) the error for an unknown name, with at most twelve allowed ones.

    `what` is the kind of name, such as ``"kernel"``; `where` the command that lists them.
    """
    names = list(allowed)
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    hint = did_you_mean(value, names)
    choices = f"allowed: {shown}" if names else "there is none"
    separator = " " if hint else "; "
    return UsageError(f"unknown {what} {value!r}{hint}{separator}{choices} (see `{where}`)", value)


_ALLOWED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "dict_type": "names with values",
    "model_type": "a table of fields",
}
"""Allowed values in our words, by the types of pydantic's errors."""


def said_of(mistake: Mapping[str, Any]) -> str:
    """Return in one line the fault of a value that pydantic refused, the value and what is allowed."""
    message = str(mistake["msg"]).removeprefix("Value error, ")
    allowed = _ALLOWED.get(mistake["type"]) or message.removeprefix("Input should be ")
    if mistake["type"] in _ALLOWED or allowed != message:
        return f"{mistake['input']!r} is not allowed; allowed: {allowed}"
    return message


def first_mistake(error: ValidationError, fields: Iterable[str]) -> str:
    """Return the first mistake in a file's entry in one line: field, value and what is allowed."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{place} is missing; allowed: an entry with {', '.join(fields)}"
    if first["type"] == "extra_forbidden":
        names = list(fields)
        return f"no field {place!r}{did_you_mean(place, names)}; allowed: {', '.join(names)}".replace("?;", "?")
    text = said_of(first)
    return f"{place}: {text}" if place else text
