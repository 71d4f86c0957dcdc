"""Experiments as values, and the points of their axes.

An experiment names kernels and axes. `sweep` crosses the axes and checks every name against the catalogue. Each `point`
holds everything that decides its measurement: sizes, options, the machine and the node of each rank. Files of
experiments are loaded or read here, too; no module here measures.
"""

from __future__ import annotations

__all__: list[str] = []
