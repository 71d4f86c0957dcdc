"""`gasmeter verify`: find the rows behind a picture."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.cli.common import FOLDER, out

__all__ = ["verify"]

_EXAMPLES = """\b
Examples:
  gasmeter verify results/mpi_speed/plots/bandwidth.svg
  gasmeter verify figure_3.svg out/extoll
"""


@click.command("verify", epilog=_EXAMPLES)
@click.argument("picture", type=click.Path(path_type=Path), metavar="FILE")
@click.argument("folders", type=FOLDER, nargs=-1, metavar="[FOLDER]...")
def verify(*, picture: Path, folders: tuple[Path, ...]) -> int:
    """Find the rows that the picture or page FILE was made from, and say whether they are unchanged.

    FILE is a PNG, SVG or HTML file that gasmeter wrote. Its run is looked for in each FOLDER and what lies in it;
    without one in the folders around FILE and in results/. For a picture without rows of a single run, the files beside
    it are compared: steps.csv of a trace, the data of a dashboard. Exit status 1 if a row or such a file differs, the
    run is not found, or FILE says nothing of its rows or has none. Painted-over pixels are not detected: rows are
    compared, not pixels.
    """
    from gasmeter.stores.pictures import verify_picture

    verification = verify_picture(picture, folders)
    out(verification.text)
    return 0 if verification.same else 1
