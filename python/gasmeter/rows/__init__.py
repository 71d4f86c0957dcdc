"""What one row of a result says, in memory and as text: its columns, state, counters and links.

Whoever measures, draws, fits or stores uses the words of this room.
"""

from __future__ import annotations

__all__: list[str] = []
