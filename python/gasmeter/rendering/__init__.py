"""Text for people: tables on terminals and in notebooks, and the frame of HTML pages."""

from __future__ import annotations

__all__: list[str] = []
