"""Arguments as callers write them: sizes, choices and bounds, names as types, old names."""

from __future__ import annotations

__all__: list[str] = []
