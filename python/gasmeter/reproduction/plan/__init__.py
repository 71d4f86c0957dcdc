"""Figures and lines of a paper, the machines and draws of each, and the points to run."""

from __future__ import annotations

__all__: list[str] = []
