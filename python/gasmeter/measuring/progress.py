"""A bar with the time left, in notebooks and on terminals; nothing where output is piped."""

from __future__ import annotations

import importlib
import io
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from gasmeter.measuring.execution import Progress
from gasmeter.units import format_duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Tell", "in_notebook", "left_text", "showing_bar", "told"]

Tell = Callable[[Progress], None]
"""Callback before and after every group."""

_WORTH_IT_S = 1.0
_NOTEBOOK_WIDTH = 100


@contextmanager
def told(progress: Tell | Literal[False] | None) -> Iterator[Tell | None]:
    """Yield the callback for progress: the caller's own, None for False, a bar for None if a person watches."""
    notebook = in_notebook()
    if progress is False:
        yield None
    elif progress is not None:
        yield progress
    elif notebook or (sys.stderr is not None and sys.stderr.isatty()):
        with showing_bar(notebook=notebook) as tell:
            yield tell
    else:
        yield None


@contextmanager
def showing_bar(*, notebook: bool = False) -> Iterator[Tell]:
    """Show a bar while the block runs, unless the work takes less than a second; yield its callback."""
    from rich.console import Console  # noqa: PLC0415 - where nobody looks, nothing is drawn
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[percent]} %"),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    # The bar is drawn on calls, not by a thread: no thread may wake up beside the measured ranks.
    console = Console(file=io.StringIO()) if notebook else Console(stderr=True)
    bar = Bar(*columns, console=console, transient=True, auto_refresh=False)
    screen: _Cell | Bar = _Cell(bar) if notebook else bar
    task = bar.add_task("", total=None, left="", percent=0)
    began, shown = time.monotonic(), False

    def tell(progress: Progress) -> None:
        nonlocal shown
        soon = progress.seconds_left <= _WORTH_IT_S and time.monotonic() - began <= _WORTH_IT_S
        bar.update(
            task, total=progress.total, completed=progress.done, left=left_text(progress), percent=progress.percent,
            description=progress.label,
        )  # fmt: skip
        if shown:
            screen.refresh()
        elif not soon:
            shown = True
            screen.start()

    try:
        yield tell
    finally:
        if shown:
            screen.stop()


def left_text(progress: Progress) -> str:
    """Return the time left in words; empty if unknown."""
    is_estimated = progress.done > 0 and not math.isnan(progress.seconds_left)
    return f"about {format_duration(progress.seconds_left)} left" if is_estimated else ""


def in_notebook() -> bool:
    """Tell whether a notebook displays this process's output. rich decides, and is loaded only beside IPython."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console  # noqa: PLC0415 - most processes have no IPython

    return Console().is_jupyter


class _Cell:
    """An output of a notebook's cell, rewritten each time.

    rich's own way needs ipywidgets, and shows nothing without.
    """

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._handle: Any = None

    def start(self) -> None:
        display: Any = importlib.import_module("IPython.display")  # IPython exists, or nobody asked for a cell
        self._handle = display.display(self._bundle(), raw=True, display_id=True)

    def refresh(self) -> None:
        self._handle.update(self._bundle(), raw=True)

    def stop(self) -> None:
        self._handle.update({"text/html": "", "text/plain": ""}, raw=True)

    def _bundle(self) -> dict[str, str]:
        from rich.console import Console  # noqa: PLC0415 - loaded by now

        console = Console(file=io.StringIO(), record=True, width=_NOTEBOOK_WIDTH, force_jupyter=False)
        console.print(self._bar.get_renderable())
        form = '<pre style="line-height:normal">{code}</pre>'
        page = console.export_html(inline_styles=True, code_format=form, clear=False)
        return {"text/html": page, "text/plain": console.export_text().strip()}
