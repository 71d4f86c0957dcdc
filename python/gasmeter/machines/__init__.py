"""Modelled installations, as the files beside these modules describe them: each number with its source.

`machine` is one installation and its what-ifs, `named` finds one by its name or path, `files` reads a file with the
base and the hosts that it names, `folder` knows which are installed, `parameters` lists what each network needs.
`hardware` holds the published facts behind the numbers, `provenance` and `bands` say what follows from them and from
the ranges of estimates.
"""

from __future__ import annotations

__all__: list[str] = []
