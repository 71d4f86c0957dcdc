"""Python programs on ranks, real or virtual: the caller's side, the rank's process, and the program's objects.

`launch` starts the ranks, `rank` is the process of one. A program that yields gets `endpoint`, with `objects`,
`atomics` and `teams` beside it.
"""

from __future__ import annotations

__all__: list[str] = []
