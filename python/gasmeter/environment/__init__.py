"""Surroundings of gasmeter: installed programs, the user's own kernels, an MPI's launcher, limits."""

from __future__ import annotations

__all__: list[str] = []
