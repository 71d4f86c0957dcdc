"""What is kept of a run: results, and the folders that hold them through crashes and damage.

`store` writes such a folder, `journal` keeps each finished group at once, `tables` reads, `files` guards every file by
its digest. `result` is what measuring and opening return.
"""

from __future__ import annotations

__all__: list[str] = []
