"""Modelled installations from the files beside these modules: each number with its source.

`machine` is one installation and its what-ifs, `named` finds one by name or path, `files` reads a file with its base
and hosts, `folder` lists the installed ones, and `parameters` lists the needs of each network. `hardware` holds the
published facts behind the numbers; `provenance` and `bands` derive their consequences and those of the estimates'
ranges.
"""

from __future__ import annotations

__all__: list[str] = []
