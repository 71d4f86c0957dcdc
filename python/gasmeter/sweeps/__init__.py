"""What is asked for: experiments as values, and the points that they come to.

An experiment names kernels and axes; `sweep` crosses the axes and checks every name against the catalogue, and each
`point` says all that decides what is measured: sizes, options, the machine it runs on and which of its nodes carries
which rank. Files of experiments are loaded or read here, too. Nothing here measures.
"""

from __future__ import annotations

__all__: list[str] = []
