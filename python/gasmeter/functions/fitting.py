"""Fit models to measurements: `gasmeter.fit`, as `gasmeter fit` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from gasmeter.errors import UsageError, unknown
from gasmeter.loggp import Curves, LogGP, curves_of, fit_curves, read_curves
from gasmeter.rows.pictures import made_facts, picture_facts, rows_digest
from gasmeter.rows.record import Row
from gasmeter.stores.builds import records_of
from gasmeter.stores.files import ROWS
from gasmeter.stores.result import Result
from gasmeter.stores.store import open_result
from gasmeter.stores.tables import read_run

__all__ = ["fit", "titles"]


def fit(
    results: str | Path | Result, *, model: Literal["loggp"] = "loggp", conduit: str = "", op: str = ""
) -> list[LogGP]:
    """Fit a model to stored results.

    Parameters
    ----------
    results : str, Path or Result
        A result, the folder of its store with rows of kernel `loggp`, or its results.csv (then intervals come from the
        rows and not from blocks).
    model : {"loggp"}, default "loggp"
        L, o_s, o_r, g in ns and G in ns/B, with 95 % intervals, by protocol segment.
    conduit, op : str, optional
        Fit only rows of this conduit and operation.

    Returns
    -------
    list of LogGP
        A model for each line of points: ``parameters``, ``segments``, and ``notes`` on unidentified parameters.

    Raises
    ------
    UsageError
        If there are no verified rows of that kernel for the request.

    Examples
    --------
    >>> gm.fit(gm.measure("loggp", conduit="ideal"))[0].parameters["L"].value
    1020.17...
    """
    if model != "loggp":
        raise unknown("model", model, ["loggp"], "gasmeter fit --help")
    curves = _read(results)
    words = [word for word in (conduit, op) if word]
    chosen = [line for line in curves if all(word in line.title.split() for word in words)]
    if not chosen:
        raise UsageError(f"nothing of {' and '.join(words)}; there is {titles(curves)}")
    return [fit_curves(line) for line in chosen]


def titles(curves: Sequence[Curves]) -> str:
    """Return the titles of lines of points, joined by semicolons, for messages."""
    return "; ".join(line.title for line in curves)


def _read(results: str | Path | Result) -> list[Curves]:
    if isinstance(results, Result):
        return curves_of(results)
    place = Path(results)
    return curves_of(open_result(place)) if place.is_dir() else read_curves(place, lambda rows: _facts(place, rows))


def _facts(path: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the metadata of pictures about rows of a results.csv: those of its run, if it lies in a run's folder."""
    try:
        run = (read_run(path.parent) if path.name == ROWS else None) or {}
    except UsageError:
        run = {}  # a fit does not depend on a damaged run.json
    if not run.get("experiment"):
        return made_facts(f"a fit of LogGP to {len(rows)} rows of {path.name}, digest {rows_digest(rows)}, of no run")
    records = records_of(rows, run.get("builds", []))
    return picture_facts(str(run["experiment"]), rows, records=records, runs=run.get("runs", []))
