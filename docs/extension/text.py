"""Markdown of what is said elsewhere as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["below", "code", "plain", "table"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|{}#])")


def plain(text: str) -> str:
    """Return Markdown that shows a text as it is, on one line.

    Parameters
    ----------
    text : str
        Whatever it holds.

    Returns
    -------
    str
        Markdown.
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Return Markdown that shows a name as code; nothing for none.

    Parameters
    ----------
    text : str
        A name, or what is typed.

    Returns
    -------
    str
        Markdown.
    """
    return f"`{text}`".replace("|", "\\|") if text else ""


def below(*lines: str) -> str:
    """Return a cell of several lines; those that say nothing are left out.

    Parameters
    ----------
    *lines : str
        Lines of the cell in Markdown.

    Returns
    -------
    str
        Markdown.
    """
    return "<br>".join(line for line in lines if line)


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Parameters
    ----------
    heads : sequence of str
        Of its columns.
    lines : iterable of sequence of str
        Cells, as Markdown.

    Returns
    -------
    str
        Markdown; nothing if it has no lines.
    """
    rows = [*lines]
    every = [heads, ["---"] * len(heads), *rows] if rows else []
    return "\n".join(f"| {' | '.join(row)} |" for row in every)
