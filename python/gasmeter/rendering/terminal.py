"""Text for terminals: tables and lines of the terminal's width, verdicts in colour."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = ["GAP", "coloured", "folded", "lines_of", "painted", "shortened", "table_text", "width", "wrapped"]

_NARROWEST = 40
"""Narrower terminals break lines themselves: a table would be unreadable there."""
_LEAST_WORDS = (16, 12, 9)
"""Least letters of a column's longest word: the first number for which there is room."""
_ALL = 1000
GAP = 2
"""Blanks between columns."""

_GOOD, _BAD, _OPEN = "green", "bold red", "yellow"
_COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("within", "as given: within", "in", "ok", "yes", "good", "faster", "better", "passed"), _GOOD),
    **dict.fromkeys(
        ("outside", "as given: outside", "out", "missing", "no", "slower", "worse", "failed", "moved", "vanished",
         "wrong", "not verified"), _BAD,
    ),
    **dict.fromkeys(
        ("depends", "as given: depends", "undecided", "underdetermined", "not converged", "not decidable", "not run",
         "no band", "note", "few blocks", "load", "noisy", "new"), _OPEN,
    ),
}  # fmt: skip
"""Colours by verdict, and by state of a row (`gasmeter.rows.state.STATES`), in lower case: good, bad, or undecided."""


def width() -> int:
    """Return the columns of a line: ``COLUMNS``, else those of a standard stream's terminal, else 80; at least 40."""
    from rich.console import Console  # noqa: PLC0415 - `gasmeter --help` writes no table

    return max(_NARROWEST, Console(file=io.StringIO()).width)


def coloured() -> bool:
    """Tell whether standard output is a terminal with colours and ``NO_COLOR`` is not set."""
    from rich.console import Console  # noqa: PLC0415

    console = Console()
    return console.is_terminal and not console.no_color and console.color_system is not None


def wrapped(text: str, indent: int = 2) -> str:
    """Return a line broken at the terminal's width, with `indent` more blanks from the second line on.

    Words are never broken, so that they can be copied; a longer word has a line of its own.
    """
    start = " " * (len(text) - len(text.lstrip()))
    broken = textwrap.wrap(
        text, width(), subsequent_indent=start + " " * indent, break_long_words=False, break_on_hyphens=False,
        replace_whitespace=False, drop_whitespace=True,
    )  # fmt: skip
    return "\n".join(broken)


def shortened(text: str) -> str:
    """Return a line cut at the terminal's width, or the whole line if standard output is no terminal."""
    if not sys.stdout.isatty() or len(text) <= width():
        return text
    return text[: width() - 1] + "\N{HORIZONTAL ELLIPSIS}"


def lines_of(text: str, indent: int = 2) -> str:
    """Return lines, each broken at the terminal's width as by `wrapped`; a final newline stays."""
    return "\n".join(wrapped(line, indent) for line in text.split("\n"))


def painted(text: str, *, colour: bool) -> str:
    """Return a verdict such as ``within`` in its colour; any other text is unchanged."""
    import click  # noqa: PLC0415

    bold, _, name = _style(text).rpartition(" ")
    return click.style(text, fg=name, bold=bool(bold) or None) if colour and name else text


def _style(text: str) -> str:
    """Return the colour of a verdict, also with more words behind it (``1.04x slower``, ``noisy, modelled``)."""
    lowered = text.lower().strip()
    parts = (lowered, lowered.split(",")[0], lowered.partition(":")[0], lowered.split(" ")[-1])
    return next((_COLOURS[part] for part in parts if part in _COLOURS), "")


def folded(
    heads: Sequence[str], lines: Sequence[Sequence[str]], words: Mapping[str, str], kept: Collection[str] = ()
) -> tuple[list[str], list[str], list[list[str]]]:
    """Remove from a table the columns in which all lines agree; return the title's words and the table.

    `words` gives by head the title's text, for instance ``{} ranks``, or nothing if empty. Columns named in `kept`
    stay; columns without any text are dropped.
    """
    words_used, places = [], []
    for place, head in enumerate(heads):
        cells = {line[place] for line in lines}
        if len(cells) == 1 and head not in kept:
            cell = cells.pop()
            word = words.get(head, f"{head} {{}}").format(cell)
            if word and cell not in {"", "-"}:
                words_used.append(word.removesuffix("s") if cell == "1" else word)
        else:
            places.append(place)
    return words_used, [heads[place] for place in places], [[line[place] for place in places] for line in lines]


def table_text(
    heads: Sequence[str], lines: Sequence[Sequence[str]], *, title: str = "", whole: Collection[str] = (),
    left: Collection[str] = (), verdicts: Collection[str] = (), rule_before_last: bool = False, colour: bool = False,
) -> str:  # fmt: skip
    """Return a table that fits the terminal and ends in a newline; long cells take several lines.

    `whole` names columns of numbers, aligned right and never broken, even if the table becomes too wide; `left` aligns
    some of them left. `verdicts` names columns with colours, whose words stay whole. `rule_before_last` marks the last
    line as a sum.
    """
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    room = width()
    for kept in (*_LEAST_WORDS, _ALL):  # a table that is too wide in any case has its words whole
        needed = [
            _needed(head, [line[place] for line in lines], kept, whole=head in whole, unbroken=head in verdicts)
            for place, head in enumerate(heads)
        ]
        if (least := sum(needed) + GAP * len(heads)) <= room:
            break
    longest = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    # Our own widths: rich's may exceed the terminal and lose the last characters.
    for head, column_width in zip(heads, _widths(needed, longest, room - GAP * (len(heads) - 1)), strict=True):
        table.add_column(
            head, justify="right" if head in whole and head not in left else "left", no_wrap=head in whole,
            overflow="fold", width=column_width,
        )  # fmt: skip
    for number, line in enumerate(lines):
        if rule_before_last and number == len(lines) - 1:
            table.add_section()
        _add(table, heads, line, verdicts if colour else ())
    text = io.StringIO()
    console = Console(
        file=text, width=max(room, least), no_color=not colour, force_terminal=colour or None,
        color_system="standard" if colour else None, highlight=False, legacy_windows=False,
    )  # fmt: skip
    console.print(table)
    above = f"{lines_of(title)}\n\n" if title else ""
    return above + "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _needed(head: str, cells: Sequence[str], kept: int, *, whole: bool, unbroken: bool) -> int:
    """Return the least width of a column."""
    if whole:
        return max(map(len, [head, *cells]))
    longest = max((len(word) for text in [head, *cells] for word in text.split()), default=0)
    return longest if unbroken else min(longest, kept)


def _widths(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns; the rest of the room goes to the narrowest ones that can use it."""
    widths = list(least)
    for _ in range(room - sum(least)):
        lacking = [place for place, column_width in enumerate(widths) if column_width < most[place]]
        if not lacking:
            break
        widths[min(lacking, key=widths.__getitem__)] += 1
    return widths


def _add(table: Table, heads: Sequence[str], line: Sequence[str], verdicts: Collection[str]) -> None:
    from rich.text import Text  # noqa: PLC0415

    cells: list[Text] = [
        Text(cell, style=_style(cell) if head in verdicts else "") for head, cell in zip(heads, line, strict=True)
    ]
    table.add_row(*cells)
