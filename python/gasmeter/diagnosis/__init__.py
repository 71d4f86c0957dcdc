"""Diagnosis of this computer: conduits that work, MPI plug-ins, rules that each conduit keeps."""

from __future__ import annotations

__all__: list[str] = []
