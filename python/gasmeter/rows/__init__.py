"""Content of a result's row, in memory and as text: columns, state, counters and links.

All rooms that measure, draw, fit or store use the words of this room.
"""

from __future__ import annotations

__all__: list[str] = []
