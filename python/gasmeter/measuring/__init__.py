"""What runs points and keeps what they gave: blocks, probes, comparisons, and how long to go on.

`execution` takes an experiment group by group, `runner` measures a group in small alternating blocks, `sessions` and
`workers` hold the ranks of a job, real or in virtual time. `recording` turns what came out into rows.
"""

from __future__ import annotations

__all__: list[str] = []
