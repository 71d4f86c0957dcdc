"""Progress on standard error: a bar with the time left where someone looks at it, else a line now and then."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from gasmeter.cli.common import note
from gasmeter.measuring.execution import Progress
from gasmeter.units import format_duration

__all__ = ["LINE_EVERY_S", "showing_progress"]

LINE_EVERY_S = 30.0
"""Seconds between lines of a run whose standard error is no terminal; waking so seldom disturbs no measured rank."""


@contextmanager
def showing_progress() -> Iterator[Callable[[Progress], None]]:
    """Show a bar while the block runs; where standard error is no terminal, a line every 30 s.

    Yields
    ------
    callable
        To be told of progress.
    """
    if not sys.stderr.isatty():
        with _lines() as tell_lines:
            yield tell_lines
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    # Drawn when told, not by a thread: nothing may wake up beside the measured ranks.
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=None, left="")

        def tell(progress: Progress) -> None:
            bar.update(
                task, total=progress.total, completed=progress.done, left=_left(progress).removeprefix(", "),
                description=progress.label, refresh=True,
            )  # fmt: skip

        yield tell


@contextmanager
def _lines() -> Iterator[Callable[[Progress], None]]:
    """Write a line about what is under way every so often, so that a log shows life; none of a short run."""
    ended = threading.Event()
    latest: list[Progress] = []
    began = time.monotonic()

    def write() -> None:
        while not ended.wait(LINE_EVERY_S):
            passed = format_duration(time.monotonic() - began)
            if latest:
                at = latest[-1]
                note(f"{at.done} of {at.total} points after {passed}{_left(at)}; now {at.label}")

    def tell(progress: Progress) -> None:
        latest[:] = [progress]

    writer = threading.Thread(target=write, name="progress lines", daemon=True)
    writer.start()
    try:
        yield tell
    finally:
        ended.set()
        writer.join()


def _left(progress: Progress) -> str:
    """Return what is left as it follows in a line; nothing where that is not known yet."""
    known = progress.done > 0 and not math.isnan(progress.seconds_left)
    return f", about {format_duration(progress.seconds_left)} left" if known else ""
