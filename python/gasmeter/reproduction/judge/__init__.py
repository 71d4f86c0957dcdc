"""Values gathered from rows, claims judged by them, and the seal on a paper's method."""

from __future__ import annotations

__all__: list[str] = []
