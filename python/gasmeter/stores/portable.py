"""Facts about files without their place on this machine, because stores are published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["portable"]

_ELSEWHERE = "\N{HORIZONTAL ELLIPSIS}/"
# A path begins where no word, other path or web address continues; -I and -L are options of compilers.
_BEGIN = r"(?:(?<![\w./~\-\N{HORIZONTAL ELLIPSIS}])|(?<=-[IL]))"
_END = r"(?![\w.\-])"
_ABSOLUTE = re.compile(_BEGIN + r"/(?![/\s])[^\s'\"`=,:;()\[\]]+")
_EVERYWHERE = ("/dev/", "/proc/", "/sys/")


def portable(content: Any, store: Path) -> Any:
    """Return a store's content with absolute paths made relative; values other than texts, lists, mappings stay.

    Paths below the working directory become relative to it, the store becomes its name, the home folder ``~``, files
    elsewhere ``…/NAME``. Paths that every machine has (``/dev/shm``) stay.
    """
    folder = store.absolute()
    bases = ((Path.cwd(), ""), (folder, folder.name), (Path.home(), "~"))
    # The root contains everything and identifies nothing.
    replacements = [(_below(base), instead) for base, instead in bases if base != Path(base.anchor)]
    return _relative(content, replacements)


def _below(base: Path) -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}{re.escape(str(base))}(/*)(?:(?<=/)|{_END})")


def _relative(content: Any, replacements: list[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(content, str | Path):
        return _text(str(content), replacements)
    if isinstance(content, Mapping):
        return {key: _relative(value, replacements) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_relative(value, replacements) for value in content]
    return content


def _text(text: str, replacements: list[tuple[re.Pattern[str], str]]) -> str:
    for base, instead in replacements:
        text = base.sub(lambda match, instead=instead: _kept(match, instead), text)  # type: ignore[misc]
    return _ABSOLUTE.sub(lambda match: _shortened(match.group()), text)


def _kept(match: re.Match[str], instead: str) -> str:
    goes_on = match.group(1) and match.end() < len(match.string) and not match.string[match.end()].isspace()
    if goes_on:
        return f"{instead}/" if instead else ""
    return instead or "."


def _shortened(path: str) -> str:
    return path if path.startswith(_EVERYWHERE) else _ELSEWHERE + Path(path).name
