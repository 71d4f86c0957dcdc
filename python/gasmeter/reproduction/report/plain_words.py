"""Words for readers who have not read a paper, from published/plain_words.toml. They judge nothing."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["line_names", "published_plainly", "quantity_words", "reading_words", "why_undecidable"]

_FILE = Path(__file__).resolve().parents[2] / "published" / "plain_words.toml"
_VALUE = "The value"


@functools.cache
def _words() -> Mapping[str, Mapping[str, Any]]:
    # An installation without published values has no such file.
    return tomllib.loads(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}


def line_names(paper: str) -> Mapping[str, str]:
    """Return the meaning of the names of a paper's lines, by name; empty for an unknown paper."""
    return dict(_words().get("names", {}).get(paper, {}))


def published_plainly(claim: str) -> str:
    """Return what the paper states, where value and comparison alone would mislead; empty for other claims."""
    return str(_words().get("published", {}).get(claim, ""))


def why_undecidable(claim: str) -> str:
    """Return in a sentence why no model can decide a claim; empty for other claims."""
    return str(_words().get("undecidable", {}).get(claim, ""))


def reading_words(paper: str, claim: str, name: str) -> str:
    """Return the meaning of a reading's name: the claim's own entry, then the paper's, then the name itself."""
    readings = _words().get("readings", {})
    return str(readings.get(claim, {}).get(name) or readings.get(paper, {}).get(name) or name)


def quantity_words(claim: str, place: int) -> str:
    """Return the quantity of a condition of a claim's primary reading, without an end; conditions count from 0."""
    words = _words().get("quantities", {}).get(claim, _VALUE)
    return str(words if isinstance(words, str) else words[place])
