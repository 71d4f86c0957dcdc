"""Run points and keep their results: blocks, probes, comparisons, and the rule that ends a measurement.

`execution` takes an experiment group by group, `runner` measures a group in small alternating blocks, `sessions` and
`workers` hold the ranks of a job, real or in virtual time. `recording` turns outcomes into rows.
"""

from __future__ import annotations

__all__: list[str] = []
