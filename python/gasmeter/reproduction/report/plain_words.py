"""Words for readers who have not read a paper, from published/plain_words.toml. They judge nothing."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["line_names", "quantity_words"]

_FILE = Path(__file__).resolve().parents[2] / "published" / "plain_words.toml"
_VALUE = "The value"


@functools.cache
def _words() -> Mapping[str, Mapping[str, Any]]:
    # An installation without published values has no such file.
    return tomllib.loads(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}


def line_names(paper: str) -> Mapping[str, str]:
    """Return the meaning of the names of a paper's lines, by name; empty for an unknown paper."""
    return dict(_words().get("names", {}).get(paper, {}))


def quantity_words(claim: str, place: int) -> str:
    """Return the quantity of a condition of a claim's primary reading, without an end; conditions count from 0."""
    words = _words().get("quantities", {}).get(claim, _VALUE)
    return str(words if isinstance(words, str) else words[place])
