"""A progress bar with the time left, on standard error and only where someone looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from gasmeter.execution import Progress
from gasmeter.units import format_duration

__all__ = ["showing_progress"]


@contextmanager
def showing_progress() -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar while the block runs.

    Yields
    ------
    callable or None
        To be told of progress; None if standard error is not a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.description}"),
    )
    # Drawn when told, not by a thread: nothing may wake up beside the measured ranks.
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=None, left="")

        def tell(progress: Progress) -> None:
            bar.update(
                task, total=progress.total, completed=progress.done, left=format_duration(progress.seconds_left),
                description=progress.label, refresh=True,
            )  # fmt: skip

        yield tell
