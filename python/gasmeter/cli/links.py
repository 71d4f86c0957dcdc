"""`gasmeter links`: which links of a modelled network held packets up in a stored run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gasmeter.cli.common import FOLDER, note, option, out

if TYPE_CHECKING:
    from gasmeter.stores.result import Result

__all__ = ["links", "links_text"]

_EXAMPLES = """\b
Examples:
  gasmeter measure fetch-add --op hot-spot --conduit extoll --topology mesh2d:4x4 --ranks 16 --out out/hot
  gasmeter links out/hot --plot hot.svg
"""
_NONE = "no point ran on a modelled network with links; allowed: runs of conduits whose machine has a topology"


@click.command("links", epilog=_EXAMPLES)
@click.argument("folder", type=FOLDER, metavar="RUN")
@option(
    "--point", default="", metavar="ID",
    help="Of this point, as column run_id names it.  [default: the one whose links were the busiest]",
)  # fmt: skip
@option("--all", "every", is_flag=True, help="Every link at which something waited, not the ten worst.")
@option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), default=None, metavar="FILE",
    help="Draw them, too: .svg or .png.",
)  # fmt: skip
def links(*, folder: Path, point: str, every: bool, plot: Path | None) -> int:
    """Show which links of the stored RUN held packets up during the last block of a point, the worst first.

    A packet is blocked where it finds no free buffer behind a link; the longest wait is that of a packet for the link
    itself. RUN is a folder written by `gasmeter run` or `measure --out`, with modelled points in it.
    """
    from gasmeter.errors import UsageError
    from gasmeter.stores.store import open_result

    ending = plot.suffix.lower().removeprefix(".") if plot is not None else ""
    if plot is not None and ending not in {"svg", "png"}:
        raise UsageError(f"--plot {plot} is not allowed; allowed: a file that ends in .svg or .png", str(plot))
    result = open_result(folder)
    if not result.link_tables():
        raise UsageError(f"{folder}: {_NONE} (see `gasmeter list machines`)", str(folder))
    out(links_text(result, point, every=every))
    if plot is not None:
        from gasmeter.plots import draw_point_links
        from gasmeter.stores.files import refused, write_atomically

        try:
            write_atomically(plot, draw_point_links(result, point or None).rendered(ending))
        except OSError as error:
            raise refused(plot, error, "a file in a folder that you may write (--plot)") from error
        note(f"{plot}: written")
    return 0


def links_text(result: Result, point: str = "", *, every: bool = False) -> str:
    """Return the table of links of one point, a sentence below it, and how many other points have links.

    `point` is a run_id, by default that of the busiest links. `every` lists all links with waiting packets instead of
    the ten worst.
    """
    from gasmeter.errors import unknown
    from gasmeter.rendering.terminal import lines_of, table_text
    from gasmeter.rows.back_pressure import WORST, WORST_HEADS, back_pressure
    from gasmeter.rows.links import busiest, links_title

    tables = {table["run_id"]: table for table in result.link_tables()}
    if not tables:
        return "links: none; what passes the links of a modelled network is counted\n"
    if point and point not in tables:
        raise unknown("point with links", point, tables, "help(gasmeter.Result.links)")
    table = tables[point] if point else busiest(list(tables.values()))
    pressure = back_pressure(table)
    numbers = {"packets", "busy", "blocked", "longest wait"}
    title = f"links of {links_title(table)}, last block"
    lines = pressure.lines(len(pressure.begin) if every else WORST)
    text = table_text(WORST_HEADS, lines, title=title, whole=numbers) if lines else f"{lines_of(title)}\n"
    others = [name for name in tables if name != table["run_id"]]
    remark = f"{len(others)} more points have links: --point {', '.join(others[:4])}{', …' * (len(others) > 4)}"
    return f"{text}{lines_of(pressure.sentence())}\n" + (f"{lines_of(remark)}\n" if others else "")
