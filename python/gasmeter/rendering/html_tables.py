"""Short tables as HTML, for notebooks: a heading, a caption of common facts, lines, remarks."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

__all__ = ["html_table"]

_RIGHT = ' style="text-align:right;padding-right:1em"'
_LEFT = ' style="text-align:left;padding-right:1em"'


def html_table(
    title: str,
    caption: str,
    heads: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    right: Collection[str] = (),
    remarks: Sequence[str] = (),
    folded: str = "",
) -> str:
    """Return a table as an HTML fragment without scripts; all text is escaped.

    Without heads there are only title and caption. `right` names columns of numbers, `remarks` are paragraphs below,
    and `folded` is the text that a reader clicks to see the lines.
    """
    above = f"<h4>{html.escape(title)}</h4>" if title else ""
    caption_html = html.escape(caption)
    if not heads:
        return above + (f"<p>{caption_html}</p>" if caption_html else "")
    sides = [_RIGHT if head in right else _LEFT for head in heads]
    head = "".join(f'<th scope="col"{side}>{html.escape(text)}</th>' for side, text in zip(sides, heads, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{side}>{html.escape(cell)}</td>" for side, cell in zip(sides, line, strict=True))
        + "</tr>"
        for line in lines
    )
    caption_html = f'<caption style="text-align:left">{caption_html}</caption>' if caption_html else ""
    table = f"<table>{caption_html}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if folded:
        table = f"<details><summary>{html.escape(folded)}</summary>{table}</details>"
    return above + table + "".join(f"<p><small>{html.escape(line)}</small></p>" for line in remarks)
