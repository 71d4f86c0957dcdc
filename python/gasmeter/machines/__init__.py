"""Modelled installations, as the files beside these modules describe them: each number with its source.

`machine` is one installation and its what-ifs, `named` finds one by its name, `files` reads the files, `parameters`
lists what each network needs. `hardware` holds the published facts behind the numbers, `provenance` and `bands` say
what follows from them and from the ranges of estimates.
"""

from __future__ import annotations

__all__: list[str] = []
