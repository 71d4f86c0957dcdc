"""Stored runs: results, and the folders that keep them through crashes and damage.

`store` writes a folder, `journal` keeps each finished group at once, `tables` reads, `files` guards every file by its
digest. `result` is returned by measuring and opening.
"""

from __future__ import annotations

__all__: list[str] = []
