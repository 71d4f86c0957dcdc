"""Flags of operations."""

from __future__ import annotations

from typing import Final

__all__ = ["IMMEDIATE"]

IMMEDIATE: Final = 1
"""Refuse instead of waiting: nothing is sent, taken or polled then, and the call returns False or None."""
