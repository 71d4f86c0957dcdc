"""Python programs on ranks, real or virtual: the caller's side, the rank's process, and what programs see.

`launch` starts the ranks, `rank` is the process of one, `endpoint` is what a program that yields is given, with
`objects`, `atomics` and `teams` beside it.
"""

from __future__ import annotations

__all__: list[str] = []
