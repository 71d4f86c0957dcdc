"""Progress on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gasmeter.cli.common import note
from gasmeter.measuring.execution import Progress
from gasmeter.measuring.progress import left_text, showing_bar
from gasmeter.units import format_duration

__all__ = ["LINE_EVERY_S", "showing_progress"]

LINE_EVERY_S = 30.0
"""Seconds between lines of a run without a terminal; such rare wake-ups disturb no measured rank."""


@contextmanager
def showing_progress() -> Iterator[Callable[[Progress], None]]:
    """Show a bar while the block runs, or a line every 30 s if standard error is no terminal."""
    if not sys.stderr.isatty():
        with _lines() as tell_lines:
            yield tell_lines
        return
    with showing_bar() as tell:
        yield tell


@contextmanager
def _lines() -> Iterator[Callable[[Progress], None]]:
    """Write a line about the current work every so often, so that a log shows life; none for a short run."""
    ended = threading.Event()
    latest: list[Progress] = []
    began = time.monotonic()

    def write() -> None:
        while not ended.wait(LINE_EVERY_S):
            passed = format_duration(time.monotonic() - began)
            if latest:
                at = latest[-1]
                line = ", ".join(
                    filter(None, [f"{at.done} of {at.total} points ({at.percent} %) after {passed}", left_text(at)])
                )
                note(f"{line}; now {at.label}")

    def tell(progress: Progress) -> None:
        latest[:] = [progress]

    writer = threading.Thread(target=write, name="progress lines", daemon=True)
    writer.start()
    try:
        yield tell
    finally:
        ended.set()
        writer.join()
