"""`gasmeter plugins`: parts that are built on the user's computer."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.cli.common import FOLDER, note, option, out

__all__ = ["plugins"]

_EXAMPLES = """\b
Examples:
  gasmeter plugins build
  gasmeter plugins build --out plugins && export GASMETER_MPI_PLUGINS=$PWD/plugins
"""


@click.group(epilog=_EXAMPLES)
def plugins() -> None:
    """Compile plug-ins for the MPI of this computer, which a wheel does not contain."""


@plugins.command(epilog=_EXAMPLES)
@option(
    "--out", "folder", type=FOLDER, default=None, metavar="DIR",
    help="Where they are put.  [default: beside gasmeter-rank, where they are looked for]",
)  # fmt: skip
def build(*, folder: Path | None) -> int:
    """Compile a plug-in for each MPI that is found.

    The MPIs are those of `mpicxx` in the active environment, then in the system. Needs a C++20 compiler and CMake. With
    another plug-in, rows name another build of gasmeter.
    """
    from gasmeter.diagnosis.plugins import build_plugins

    for path in build_plugins(folder):
        out(str(path))
    if folder is not None:
        note(f"they are found with GASMETER_MPI_PLUGINS={folder.resolve()}")
    return 0
