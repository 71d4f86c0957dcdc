"""`gasmeter verify`: the rows that a picture was made from."""

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
    """Find the rows that the picture or page FILE was made from, and say whether they are the same.

    FILE is a PNG, SVG or HTML file that gasmeter wrote. Its run is looked for in each FOLDER and what lies in it;
    without one in the folders around FILE and in results/. What is not made of the rows of one run says what it is:
    of a trace steps.csv beside it is compared, of a dashboard its data. Exit status 1 if a row or such a file differs,
    the run is not found, or FILE says nothing of its rows or has none. What somebody has painted over is not seen:
    rows are compared, not pixels.
    """
    from gasmeter.stores.pictures import verify_picture

    found = verify_picture(picture, folders)
    out(found.text)
    return 0 if found.same else 1
