"""Run points and keep their results: blocks, probes, comparisons, and the rule that ends a measurement.

A group is a set of points that are measured together in small alternating blocks (`gasmeter.sweeps.point.Group`).
`execution` takes an experiment group by group, `runner` measures a group. `sessions` and `workers` hold the ranks of a
job, real or in virtual time. `recording` turns outcomes into rows. README.md has every module.
"""

from __future__ import annotations

__all__: list[str] = []
