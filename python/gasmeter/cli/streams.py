"""Standard streams of the command line: closed ones, refused texts, encodings that lack our characters."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any, TextIO

__all__ = ["drop_rest", "guarded", "open_closed", "plain"]

_PLAIN = {
    "\N{MICRO SIGN}": "u",
    "\N{GREEK SMALL LETTER MU}": "u",
    "\N{HORIZONTAL ELLIPSIS}": "~",
    "\N{MIDDLE DOT}": "-",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{PLUS-MINUS SIGN}": "~",
    "\N{LEFT RIGHT ARROW}": "-",
    "\N{RIGHTWARDS ARROW}": ">",
    "\N{GREATER-THAN OR EQUAL TO}": ">",
    "\N{LESS-THAN OR EQUAL TO}": "<",
    "\N{NO-BREAK SPACE}": " ",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{BOX DRAWINGS LIGHT HORIZONTAL}": "-",
    "\N{BOX DRAWINGS HEAVY HORIZONTAL}": "-",
    "\N{BOX DRAWINGS LIGHT VERTICAL}": "|",
}
"""A single character for each of ours, so that columns keep their places."""
_DESCRIPTORS = {0: ("stdin", "r"), 2: ("stderr", "w")}


class Unwritten(Exception):
    """Standard output refused a text, for the system's reason `why`."""

    def __init__(self, why: OSError) -> None:
        super().__init__(str(why))
        self.errno = why.errno or errno.EIO


def plain(text: str, encoding: str | None) -> str:
    """Return a text of the same length whose characters exist in an encoding (None: UTF-8).

    Missing characters become the nearest one, or a question mark.
    """
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(sign if _has(str(encoding), sign) else _nearest(str(encoding), sign) for sign in text)
    except LookupError:
        return text
    return text


def _has(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _nearest(encoding: str, sign: str) -> str:
    near = _PLAIN.get(sign) or unicodedata.normalize("NFKD", sign)[:1]
    return near if _has(encoding, near) else "?"


class _Guarded:
    """A stream that takes every text and replaces characters that its encoding lacks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str | bytes) -> int:
        if text == b"":  # click tests in this way whether the stream takes bytes
            raise TypeError("a text is written, not bytes")
        as_text = text.decode(errors="replace") if isinstance(text, bytes) else text
        try:
            self._stream.write(plain(as_text, self._stream.encoding))
        except OSError as error:
            self._refused(error)
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._refused(error)

    def _refused(self, error: OSError) -> None:
        raise Unwritten(error) from error

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # click would write UTF-8 into it, past this object
            raise AttributeError(name)
        return getattr(self._stream, name)


class _Notes(_Guarded):
    """Standard error, whose refused texts are lost, since notes decide nothing."""

    def _refused(self, error: OSError) -> None:
        drop_rest(self._stream)


def drop_rest(stream: TextIO) -> None:
    """Redirect a stream that refused a text to nowhere, so that the end of the process writes nothing to it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_closed() -> None:
    """Let standard input and standard error lead nowhere if the caller has closed them.

    Files opened later would get their numbers, and workers would write notes into them.
    """
    for number, (name, mode) in _DESCRIPTORS.items():
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Let standard output and standard error accept every text while the block runs.

    Writers to standard output get Unwritten if the system refuses the text.
    """
    with contextlib.ExitStack() as streams:
        if sys.stdout is not None:
            streams.enter_context(contextlib.redirect_stdout(_Guarded(sys.stdout)))
        if sys.stderr is not None:
            streams.enter_context(contextlib.redirect_stderr(_Notes(sys.stderr)))
        yield
