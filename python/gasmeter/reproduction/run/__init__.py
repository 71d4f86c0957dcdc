"""A paper's points run and kept in a folder, which is read, published and verified again."""

from __future__ import annotations

__all__: list[str] = []
