"""Tables that papers print: published/tables.toml, for comparison with a run."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["PublishedTable", "published_table"]

_FILE = Path(__file__).resolve().parents[2] / "published" / "tables.toml"


@dataclass(frozen=True)
class PublishedTable:
    """A table as a paper prints it."""

    heads: tuple[str, ...] = ()  # column heads without the first
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by the name in the first column


def published_table(paper: str, number: str) -> PublishedTable:
    """Return a table of a paper; empty in an installation without published values."""
    return _tables().get((paper, number), PublishedTable())


@functools.cache
def _tables() -> Mapping[tuple[str, str], PublishedTable]:
    if not _FILE.exists():  # an installation without published values
        return {}
    return {
        (table["paper"], table["number"]): PublishedTable(
            tuple(table["heads"]), {name: tuple(cells) for name, cells in table["rows"].items()}
        )
        for table in tomllib.loads(_FILE.read_text(encoding="utf-8"))["table"]
    }
