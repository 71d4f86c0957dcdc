"""Pages of one file each: the common frame of reports, and its filling."""

from __future__ import annotations

import base64
from importlib.resources import files
from typing import Any

from gasmeter.version import package_version

__all__ = ["CARDS", "png_uri", "render", "style_sheet"]

CARDS = "cards.css"
"""Style sheet of every page with tables: their rows are cards on narrow screens."""

_FRAME = "page.html.j2"


def render(room: str, template: str, **names: Any) -> str:
    """Return a page in one HTML file without scripts; text never becomes markup.

    `template` lies in package `room` and extends ``page.html.j2``: style sheet, light and dark, and macros.
    """
    import jinja2  # noqa: PLC0415 - pages only

    sources = {
        _FRAME: files(__package__).joinpath(_FRAME).read_text(encoding="utf-8"),
        template: files(room).joinpath(template).read_text(encoding="utf-8"),
    }
    environment = jinja2.Environment(loader=jinja2.DictLoader(sources), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)  # fmt: skip
    style = style_sheet("report.css") + style_sheet(CARDS)
    return environment.get_template(template).render(style=style, version=package_version(), **names)


def style_sheet(name: str) -> str:
    """Return a style sheet of this room: ``report.css`` or `CARDS`."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def png_uri(picture: bytes) -> str:
    """Return a PNG as a data URI that markup need not escape."""
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"
