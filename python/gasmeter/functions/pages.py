"""Static pages: `gasmeter.dashboard`, as `gasmeter dashboard` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gasmeter.arguments.choices import whole_number
from gasmeter.dashboard import Site, write_dashboard
from gasmeter.errors import UsageError

__all__ = ["dashboard"]


def dashboard(
    stores: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    title: str = "gasmeter",
    samples: int = 10,
    commit_url: str = "",
) -> Site:
    """Write the histories of stores as static pages.

    Parameters
    ----------
    stores : str, Path or sequence of these
        Folders that `gasmeter run` or `gasmeter import` wrote, or with such folders below.
    out : str or Path
        Folder of the pages: new, or a dashboard that is replaced.
    title : str, default "gasmeter"
        Heading of the pages.
    samples : int, default 10
        Newest runs of a series whose every block is kept; runs beside its steps keep theirs, too.
    commit_url : str, default ""
        Address of a commit of the source, with ``{revision}`` in it: revisions become links to it.

    Returns
    -------
    Site
        Open ``index.html`` of its `folder`; `notes` name the omissions.

    Raises
    ------
    UsageError
        If there is nothing to show, or `out` holds anything else.

    Examples
    --------
    >>> stored = gm.measure("barrier", conduit="ideal", out="history/first")
    >>> gm.dashboard("history", "site").folder / "index.html"
    PosixPath('site/index.html')
    """
    places = [stores] if isinstance(stores, str | Path) else list(stores)
    if not places:
        raise UsageError("no store is given; allowed: one or more folders written by `gasmeter run`, or above such")
    whole_number(samples, "samples", 0)
    return write_dashboard(
        [Path(place) for place in places], Path(out), title=title, sampled_runs=samples, commit_url=commit_url
    )
