"""The report of a reproduction: claims in words, panels, tables of papers, all files written."""

from __future__ import annotations

__all__: list[str] = []
