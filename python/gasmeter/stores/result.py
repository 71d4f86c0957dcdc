"""Result of a measurement or an experiment: rows, samples, plots, and their disturbances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gasmeter.errors import GasmeterError, UsageError
from gasmeter.rows.counters import COUNTER_COLUMNS
from gasmeter.rows.jumps import BisectedCurve, Jump, jump_lines
from gasmeter.rows.links import links_frame
from gasmeter.rows.record import COLUMNS, SAMPLE_COLUMNS, Record, Row
from gasmeter.rows.shown import rows_html, summary_line
from gasmeter.rows.state import GOOD, states_line
from gasmeter.rows.verified import Verified, data_line
from gasmeter.stores.moved import moved
from gasmeter.sweeps.distance import distances

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from gasmeter.loggp import LogGP

__all__ = ["About", "Result", "records_from"]

_TEXT = frozenset(
    {"experiment", "kernel", "op", "variant", "conduit", "network", "kind", "label", "machine", "topology", "placement",
     "options", "semantics", "metric", "unit", "reference", "run_id", "state"}
)  # fmt: skip
_CELLS = {Verified.TRUE: True, Verified.FALSE: False, Verified.NOT_CHECKED: None}


class About(Protocol):
    """Facts of a run beside its rows."""

    @property
    def runs(self) -> Sequence[Mapping[str, Any]]:
        """Facts of each run behind the rows, as in run.json."""

    def save(self, result: Result, folder: Path) -> None:
        """Write a run folder."""


class Result:
    """Rows and samples of a measurement, in the order of its points.

    Parameters
    ----------
    records : sequence of Record
        Records of the groups.
    name : str
        Name of the experiment.
    title : str, optional
        Title for plots and summaries.
    plots : sequence, optional
        Plots of the experiment (`gasmeter.Plot`); by default those that suit the rows.
    complete : bool, default True
        False if the sweep was interrupted.

    Attributes
    ----------
    added : frozenset of str
        Points by run_id that this run added to look for jumps.
    refusals : list of GasmeterError
        Errors of points that could not be measured; `notes` has a line for each.
    unstored : GasmeterError or None
        Reason why the folder could not be written; None if it is complete.

    Examples
    --------
    >>> result = gm.measure("ping-pong", conduit="ideal", op="put", sizes="8,64")
    >>> result
    <Result measure: 2 rows of 2 points, modelled, ping-pong put on ideal, data verified>
    >>> list(result.frame()["value"].round(1))
    [2970.8, 3036.4]
    """

    def __init__(
        self, records: Sequence[Record], *, name: str, title: str = "", plots: Sequence[Any] = (), complete: bool = True
    ) -> None:
        self.records = list(records)
        self.name = name
        self.title = title or name
        self.plots = tuple(plots)
        self.complete = complete
        self.remarks: list[str] = []
        self.bisected: list[BisectedCurve] = []
        self.added: frozenset[str] = frozenset()
        self.refusals: list[GasmeterError] = []
        self.unstored: GasmeterError | None = None
        self.about: About | None = None

    @property
    def runs(self) -> Sequence[Mapping[str, Any]]:
        """Facts of each run behind the rows, as in run.json; none for a result made by hand."""
        return self.about.runs if self.about else ()

    @property
    def rows(self) -> list[Row]:
        """Every row, as dictionaries by the names of `gasmeter.rows.record.COLUMNS`."""
        return [row for entry in self.records for row in entry.rows]

    @property
    def errors(self) -> list[str]:
        """A line per point whose data did not verify."""
        return [line for entry in self.records for line in entry.errors]

    @property
    def notes(self) -> list[str]:
        """Omissions with their reasons, and further notes for readers."""
        return [*(line for entry in self.records for line in entry.notes), *self.remarks]

    @property
    def verified(self) -> bool:
        """Whether no point's data were wrong; `unchecked` counts the points without a check."""
        return not self.errors

    @property
    def unchecked(self) -> int:
        """Number of points with `not_checked`: nothing was compared, or a rank kept silent."""
        return len({row["run_id"] for row in self.rows if row["verified"] is Verified.NOT_CHECKED})

    @property
    def jumps(self) -> list[Jump]:
        """Jumps of curves that were measured with ``bisect=``; `bisected` names the curve of each.

        Examples
        --------
        >>> sweep = {"conduit": "extoll", "op": "am-medium", "sizes": "8:64"}
        >>> [jump] = gm.measure("ping-pong", bisect="5%", **sweep).jumps
        >>> jump.before_bytes, jump.after_bytes, round(jump.change, 2)
        (48, 49, 0.08)
        """
        return [jump for curve in self.bisected for jump in curve.jumps]

    def frame(self) -> pd.DataFrame:
        """Return the tidy table, one row per measured quantity.

        Returns
        -------
        pandas.DataFrame
            Columns as in results.csv; `value`, `ci_low`, … in the unit of column ``unit``, NaN if missing. `verified`
            is pandas' ``boolean`` with NA for unchecked data: as a mask it keeps true rows, ``.fillna(False).all()``
            tells whether all are true, and ``.all()`` alone ignores NA.
        """
        import pandas as pd  # noqa: PLC0415 - most runs build no frame

        return _typed(pd.DataFrame(self.rows, columns=pd.Index(COLUMNS)))

    def samples(self) -> pd.DataFrame:
        """Return every block of every point.

        Returns
        -------
        pandas.DataFrame
            A row per block and metric; `kept` is False for blocks that were left out of comparisons.
        """
        import pandas as pd  # noqa: PLC0415 - most runs build no frame

        # Joined as lists: a frame for each of thousands of points costs more than measuring them in virtual time.
        joined: dict[str, list[Any]] = {name: [] for name in SAMPLE_COLUMNS}
        for columns in (columns for entry in self.records for columns in entry.samples):
            for name, column in joined.items():
                value = columns[name]
                column.extend(value if isinstance(value, list) else [value] * len(columns["block"]))
        return pd.DataFrame(joined, columns=pd.Index(SAMPLE_COLUMNS))

    def links(self, run_id: str | None = None) -> pd.DataFrame:
        """Return the load of each link of a modelled network during the last block of each point.

        Parameters
        ----------
        run_id : str, optional
            Point to select; all by default.

        Returns
        -------
        pandas.DataFrame
            A row per point and direction of a link, columns as in links.parquet (`gasmeter.rows.links.LINK_COLUMNS`);
            `busy` is the share of the time the link was busy, 0 to 1. Without links there are no rows.
        """
        return links_frame(table for table in self.link_tables() if run_id in {None, table["run_id"]})

    def link_tables(self) -> list[Row]:
        """Return the tables of `links` as the journal holds them, unpacked by `gasmeter.rows.links.unpack`.

        Returns
        -------
        list of dict
            Tables of the points with links, each point once.
        """
        return list({table["run_id"]: table for entry in self.records for table in entry.links}.values())

    def counters(self, run_id: str | None = None) -> pd.DataFrame:
        """Return the counts of conduits and modelled devices while the blocks of each point ran.

        Parameters
        ----------
        run_id : str, optional
            Point to select; all by default.

        Returns
        -------
        pandas.DataFrame
            A row per point and counter, columns as in counters.csv (`gasmeter.rows.counters.COUNTER_COLUMNS`). `value`
            is summed over ranks and blocks, `per_operation` is `value` over the kernel's operations in them. Points
            without counters, as on smp, have no rows.
        """
        import pandas as pd  # noqa: PLC0415 - most runs build no frame

        rows = [row for row in self.counter_rows() if run_id in {None, row["run_id"]}]
        return pd.DataFrame(rows, columns=pd.Index(COUNTER_COLUMNS))

    def counter_rows(self) -> list[Row]:
        """Return the rows of `counters` as dictionaries.

        Returns
        -------
        list of dict
            Rows with `gasmeter.rows.counters.COUNTER_COLUMNS`.
        """
        return [row for entry in self.records for row in entry.counters]

    def moved(self) -> pd.DataFrame:
        """Return the effect of each what-if: its ratio to the machine in its file, the largest effect first.

        Returns
        -------
        pandas.DataFrame
            Columns as in `gasmeter.stores.moved.MOVED_COLUMNS`; no rows without a what-if.
        """
        return moved(self)

    def fit_loggp(self) -> list[LogGP]:
        """Fit the LogGP model to the rows of kernel `loggp`.

        Returns
        -------
        list of gasmeter.loggp.LogGP
            A model for each operation, conduit, machine and set of options: ``parameters`` with L, o_s, o_r, g in ns
            and G in ns/B and their 95 % intervals, ``segments`` by protocol, ``notes`` on unidentified parameters.

        Raises
        ------
        UsageError
            If there are no verified rows of kernel `loggp`.
        """
        from gasmeter.loggp import curves_of, fit_curves  # noqa: PLC0415 - loads ruptures

        return [fit_curves(curves) for curves in curves_of(self)]

    def plot(self, kind: str | None = None) -> Figure:
        """Draw the rows.

        Parameters
        ----------
        kind : {"latency", "bandwidth", "gups", "crossover", "links"}, optional
            Kind of plot; by default the experiment's first plot, or the first kind that suits the rows.

        Returns
        -------
        matplotlib.figure.Figure
            A figure that notebooks show by themselves.

        Raises
        ------
        UsageError
            If there is no such kind or nothing to draw.
        """
        from gasmeter.plots import draw  # noqa: PLC0415 - loads matplotlib

        return draw(self, kind)

    def plot_links(self, run_id: str | None = None, title: str = "") -> Figure:
        """Draw the load of each link of a modelled network during the last block of one point, and blocked packets.

        Parameters
        ----------
        run_id : str, optional
            The point, as in column ``run_id``; by default the one with the busiest links.
        title : str, optional
            Title above the picture; by default it names the experiment and its conduit.

        Returns
        -------
        matplotlib.figure.Figure
            A ring is a row, a 2D grid a map, a 3D grid a map for each z with the links along z below. Any other
            topology has a row for each switch and a column for each port. Blocked packets, if any, have a map beside
            it.

        Raises
        ------
        UsageError
            If there is no such point, or no point has links.
        """
        from gasmeter.plots import draw_point_links  # noqa: PLC0415 - loads matplotlib

        return draw_point_links(self, run_id, title)

    def save(self, folder: str | Path) -> Path:
        """Write a run folder as `gasmeter run` does, for `compare`, `check`, `dashboard` and `open_result`.

        Parameters
        ----------
        folder : str or Path
            Folder, created if need be. An earlier run of the same experiment in it moves to another name.

        Returns
        -------
        Path
            The folder, with results.csv, samples.parquet, run.json, summary.md and plots.

        Raises
        ------
        UsageError
            If the folder holds anything else, or the origin of the rows is unknown.
        ResourceError
            If it cannot be written.

        Examples
        --------
        >>> gm.measure("barrier", conduit="ideal").save("out/barrier")
        PosixPath('out/barrier')
        """
        if self.about is None:
            raise UsageError(
                f"result {self.name!r} does not say what it was measured with; allowed: one of gasmeter.measure,"
                " Experiment.run or open_result", self.name,
            )  # fmt: skip
        self.about.save(self, Path(folder))
        return Path(folder)

    def disturbance(self, frame: pd.DataFrame | None = None) -> str:
        """Return the line under plots and tables: the kind of the numbers and their disturbances.

        Parameters
        ----------
        frame : pandas.DataFrame, optional
            The rows shown; all by default.

        Returns
        -------
        str
            Kind, probe range, verified, states of the rows, dropped blocks, shared cores.
        """
        rows = self.rows
        if frame is not None:
            rows = [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
        if not rows:
            return "no rows"
        groups = {row["run_id"] for row in rows}
        records = [entry for entry in self.records if any(row["run_id"] in groups for row in entry.rows)]
        return _disturbance(rows, records)

    def __repr__(self) -> str:
        """Return the experiment, the kind of its values and the check of its data in one line."""
        phrases = [summary_line(self.rows), _data_of(self.rows)] if self.rows else [summary_line(self.rows)]
        phrases += [] if self.complete else ["not complete"]
        return f"<Result {self.name}: {', '.join(phrases)}>"

    def _repr_html_(self) -> str:
        """Return varying columns as an HTML table, common facts as its caption, and the disturbances."""
        below = [*jump_lines(self.bisected), " · ".join([self.disturbance(), *self.errors]), *self.notes]
        return rows_html(self.title, self.rows, below)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    for column in frame.columns:
        if column in _TEXT:
            frame[column] = frame[column].fillna("").astype(str)
        elif column == "verified":
            frame[column] = frame[column].map(_CELLS.get).astype("boolean")
        elif column == "oversubscribed":
            frame[column] = frame[column].astype(bool)
        elif column in {"nodes", "ranks", "size_bytes", "n", "repetition", "seed"}:
            frame[column] = frame[column].astype("int64")
        else:
            frame[column] = frame[column].astype("float64")
    return frame


def _disturbance(rows: Sequence[Row], records: Sequence[Record]) -> str:
    kinds = " and ".join(sorted({row["kind"] for row in rows}))
    parts = [kinds, *filter(None, [distances(rows)])]
    states = [row["host_state_ns"] for row in rows if not math.isnan(row["host_state_ns"])]
    if states:
        low, high = min(states), max(states)
        span = f"{low:.0f} ns" if f"{low:.0f}" == f"{high:.0f}" else f"{low:.0f}-{high:.0f} ns"
        parts.append(f"core-to-core probe {span}" + (" (cores moved)" if high > 1.15 * low else ""))
    parts.append(_data_of(rows))
    parts += filter(None, [states_line(row["state"] for row in rows)])
    dropped, blocks = (sum(entry.dropped for entry in records), sum(entry.blocks for entry in records))
    if blocks:  # a store published without its journal has no blocks
        parts.append(f"{dropped} of {blocks} blocks dropped from comparison")
    if not {row["state"] for row in rows} <= {"", GOOD}:
        parts.append("crossed out in plots: not good")
    if any(row["oversubscribed"] for row in rows):
        parts.append("hollow markers: more ranks than cores")
    return " · ".join(parts)


def _data_of(rows: Sequence[Row]) -> str:
    return data_line({row["run_id"]: Verified.of(row["verified"]) for row in reversed(rows)}.values())


def records_from(entries: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Return records from journal entries, in the same order; null becomes NaN."""
    records = []
    for entry in entries:
        values = dict(entry)
        values["rows"] = [_row(row) for row in values.get("rows", [])]
        values["samples"] = [_numbers(row) for row in values.get("samples", [])]
        values["counters"] = [_numbers(row) for row in values.get("counters", [])]
        records.append(Record(**values))
    return records


def _row(row: Mapping[str, Any]) -> Row:
    return {"state": "", **_numbers(row), "verified": Verified.of(row["verified"])}


def _numbers(row: Mapping[str, Any]) -> Row:
    return {key: _number(value) for key, value in row.items()}


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [math.nan if entry is None else entry for entry in value]
    return math.nan if value is None else value
