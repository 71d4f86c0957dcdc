"""`gasmeter dashboard`: static pages with the history of every series."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.cli.common import Count, note, option, out

__all__ = ["dashboard"]

_EXAMPLES = """\b
Examples:
  gasmeter dashboard history --out site        (history/: a folder for each run)
  gasmeter dashboard out/monday out/tuesday --out site --title "put and get"
"""


@click.command(epilog=_EXAMPLES)
@click.argument("stores", nargs=-1, required=True, metavar="STORE...", type=click.Path(path_type=Path))
@option(
    "--out", "site", required=True, metavar="SITE", type=click.Path(path_type=Path),
    help="Folder of the pages: new, or a dashboard that is replaced.",
)  # fmt: skip
@option("--title", default="gasmeter", show_default=True, metavar="TEXT", help="Heading of the pages.")
@option(
    "--samples", "sampled_runs", type=Count(0, 1000), default=10, show_default=True, metavar="N",
    help="Keep every block of the N newest runs of a series, and of those beside its steps.",
)  # fmt: skip
@option(
    "--commit-url", default="", metavar="URL",
    help="Address of a commit, {revision} in it: revisions become links. For instance https://HOST/OWNER/REPOSITORY/commit/{revision}",
)  # fmt: skip
def dashboard(*, stores: tuple[Path, ...], site: Path, title: str, sampled_runs: int, commit_url: str) -> None:
    """Write the histories of stores as static pages.

    STORE is a folder that `gasmeter run` or `gasmeter import` wrote, or one with such folders below. The pages need no
    server: open SITE/index.html from disk, or copy SITE anywhere. Stores of older schemas are read.
    """
    from gasmeter.functions.pages import dashboard as write

    written = write(stores, site, title=title, samples=sampled_runs, commit_url=commit_url)
    for line in written.notes[:20]:
        note(line)
    if len(written.notes) > 20:
        note(f"{len(written.notes) - 20} more remarks: see the end of the first page")
    note(written.headline)
    note(
        f"{written.series} series in {written.runs} runs, {written.steps} steps; {written.bytes / 1e6:.2f} MB in"
        f" {written.folder}"
    )
    out(str(written.folder / "index.html"))
