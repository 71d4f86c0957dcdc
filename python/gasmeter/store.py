"""The output folder of a sweep: results.csv, samples.parquet, links.parquet, counters.csv, run.json, summary.md, plots.

Every finished group is durable at once (in the journal, and its rows in results.csv), so that Ctrl-C or a kill leaves
a store that can be read and resumed. The other files are made anew from the journal whenever a run ends.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gasmeter.counters import COUNTER_COLUMNS
from gasmeter.errors import UsageError
from gasmeter.formats import csv_lines, json_value, to_csv
from gasmeter.journal import Journal, read_journal, refused
from gasmeter.links import links_parquet
from gasmeter.point import SCHEMA_VERSION
from gasmeter.portable import portable
from gasmeter.result import Result, records_from
from gasmeter.rows import Record, taken_points
from gasmeter.tables import Blocks, Table, blocks_of, read_blocks, read_run, read_table, typed_row

__all__ = [
    "Blocks",
    "Store",
    "Table",
    "blocks_of",
    "merge_stores",
    "open_result",
    "read_blocks",
    "read_run",
    "read_table",
    "typed_row",
]

_JOURNAL = "journal.jsonl"
_RUN = "run.json"


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the file system refuses into one line."""
    try:
        yield
    except OSError as error:
        raise refused(folder, error) from error


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace a file so that readers see the old or the new one, never half of it.

    Parameters
    ----------
    path : Path
        The file.
    content : bytes or str
        All of it.

    Raises
    ------
    OSError
        If the folder refuses it.
    """
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


class Store:
    """An open output folder.

    Parameters
    ----------
    folder : Path
        Created if need be. A store of the same experiment that is not resumed is kept under another name.
    experiment : str
        Name of the experiment.
    resume : bool
        Continue what the folder holds.
    run : mapping
        Facts of this run, appended to ``runs`` in run.json.

    Raises
    ------
    UsageError
        If the folder holds another experiment, something else, is in use, or must not be written.
    ResourceError
        If the disk is full.
    """

    def __init__(self, folder: Path, experiment: str, *, resume: bool, run: Mapping[str, Any]) -> None:
        self.folder = folder
        self.moved_to: Path | None = None
        earlier = self._earlier(experiment)
        with _writing(folder):
            if earlier is not None and resume and earlier["schema"] != SCHEMA_VERSION:
                raise UsageError(
                    f"{folder} has schema {earlier['schema']}, of an older gasmeter; it can be read, not continued;"
                    f" allowed: {SCHEMA_VERSION}, or another --out", str(earlier["schema"]),
                )  # fmt: skip
            if earlier is not None and not resume:
                self._set_aside()
                earlier = None
            folder.mkdir(parents=True, exist_ok=True)
        self._journal = Journal(folder / _JOURNAL)
        self.done: dict[str, Record] = {entry.group: entry for entry in records_from(read_journal(folder / _JOURNAL))}
        runs = list(earlier.get("runs", [])) if earlier else []
        self._run: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "experiment": experiment,
            "state": "running",
            "runs": [*runs, dict(run)],
        }
        with _writing(folder):
            self._write_run()
            write_atomically(folder / "results.csv", to_csv(row for entry in self.done.values() for row in entry.rows))

    def _earlier(self, experiment: str) -> dict[str, Any] | None:
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(
                f"--out {self.folder} is a file; allowed: a folder, new or written by `gasmeter run`", str(self.folder)
            )
        try:
            earlier = read_run(self.folder)
        except PermissionError as error:
            raise UsageError(
                f"cannot read {self.folder}: {error.strerror}; allowed: a folder that you may read and write (--out)",
                str(self.folder),
            ) from error
        if earlier is not None and earlier.get("experiment") != experiment:
            other = earlier.get("experiment")
            raise UsageError(
                f"{self.folder} holds experiment {other!r}, not {experiment!r}; allowed: another --out",
                str(self.folder),
            )
        if earlier is None and (self.folder / "results.csv").exists():
            raise UsageError(
                f"{self.folder} holds a results.csv without run.json; allowed: another --out", str(self.folder)
            )
        return earlier

    def _set_aside(self) -> None:
        Journal(self.folder / _JOURNAL).close()  # refuses if another run is writing
        number = 1
        while (other := self.folder.with_name(f"{self.folder.name}.{number}")).exists():
            number += 1
        self.folder.rename(other)
        self.moved_to = other

    def append(self, record: Record) -> None:
        """Keep one group.

        Parameters
        ----------
        record : Record
            What it left; durable on return.

        Raises
        ------
        ResourceError
            If the disk is full; everything appended before is kept.
        """
        self._journal.append(record)
        self.done[record.group] = record
        with _writing(self.folder), (self.folder / "results.csv").open("ab", buffering=0) as file:
            file.write(csv_lines(record.rows).encode())

    def finish(self, result: Result, state: str, summary: str = "", *, plots: bool = True) -> list[Path]:
        """Write everything that is made of the rows, and close the store.

        Parameters
        ----------
        result : Result
            Rows in their final order.
        state : {"complete", "interrupted", "failed"}
            How the run ended.
        summary : str
            Text of summary.md.
        plots : bool, default True
            Whether to draw.

        Returns
        -------
        list of Path
            The plots written.

        Raises
        ------
        ResourceError
            If a file cannot be written; the journal is kept.
        """
        try:
            with _writing(self.folder):
                write_atomically(self.folder / "results.csv", to_csv(result.rows))
                self._write_samples(result)
                self._write_links(result)
                self._write_counters(result)
                self._run.update(
                    state=state, groups=len(self.done), errors=result.errors, notes=result.notes,
                    taken=taken_points(result.records),
                )  # fmt: skip
                self._write_run()
                if summary:
                    write_atomically(self.folder / "summary.md", portable(summary, self.folder))
                return self._write_plots(result) if plots else []
        finally:
            self._journal.close()

    def _write_run(self) -> None:
        content = portable(json_value(self._run), self.folder)
        write_atomically(self.folder / _RUN, json.dumps(content, indent=1, default=str) + "\n")

    def _write_samples(self, result: Result) -> None:
        buffer = io.BytesIO()
        result.samples().to_parquet(buffer, index=False, compression="zstd")  # times hardly shrink by less
        write_atomically(self.folder / "samples.parquet", buffer.getvalue())

    def _write_links(self, result: Result) -> None:
        """Write links.parquet, a table at a time; none where no point has links."""
        tables = result.link_tables()
        if tables:
            write_atomically(self.folder / "links.parquet", links_parquet(tables))

    def _write_counters(self, result: Result) -> None:
        """Write counters.csv; none where nothing was counted."""
        rows = result.counter_rows()
        if rows:
            write_atomically(self.folder / "counters.csv", to_csv(rows, COUNTER_COLUMNS))

    def _write_plots(self, result: Result) -> list[Path]:
        from gasmeter.plots import save_all  # noqa: PLC0415 - loads matplotlib

        return save_all(result, self.folder / "plots")


def open_result(folder: str | Path) -> Result:
    """Return what a store holds, also one that a kill left behind.

    Parameters
    ----------
    folder : str or Path
        Output folder of a run.

    Returns
    -------
    Result
        Rows in the order of results.csv.

    Raises
    ------
    UsageError
        If the folder holds no store, or a published one (without journal) is damaged.
    """
    place = Path(folder)
    run = read_run(place)
    if run is None:
        raise UsageError(f"{place} holds no run.json; allowed: a folder written by `gasmeter run`", str(place))
    if (place / _JOURNAL).exists():
        records = records_from(read_journal(place / _JOURNAL))
    elif (place / "results.csv").exists():  # published without its journal
        table = read_table(place)
        if table.lost:
            raise UsageError(f"{table.path}: the last line is cut off ({table.lost[:40]}…); measure anew", str(place))
        records = [Record(group=place.name, rows=table.rows())]
    else:
        records = []
    return Result(records, name=str(run.get("experiment", "")), complete=run.get("state") == "complete")


def merge_stores(folders: Sequence[str | Path], out: str | Path) -> Result:
    """Merge stores of one experiment, for instance of two halves of a sweep.

    Parameters
    ----------
    folders : sequence of str or Path
        Stores; a group that stands in several is taken from the last.
    out : str or Path
        New folder.

    Returns
    -------
    Result
        All groups.

    Raises
    ------
    UsageError
        If there is nothing to merge, the experiments differ, or `out` already holds a store.
    ResourceError
        If `out` cannot be written.
    """
    results = [open_result(folder) for folder in folders]
    names = list(dict.fromkeys(result.name for result in results))
    if len(names) != 1:
        raise UsageError(
            f"stores of different experiments cannot be merged: {', '.join(names) or 'none given'}; allowed: one"
        )
    place = Path(out)
    if read_run(place) is not None:
        raise UsageError(f"{place} already holds a store; allowed: a new folder", str(place))
    records = {entry.group: entry for result in results for entry in result.records}
    runs = [run for folder in folders for run in (read_run(Path(folder)) or {}).get("runs", [])]
    store = Store(place, names[0], resume=False, run={"merged_from": [str(folder) for folder in folders], "runs": runs})
    for entry in records.values():
        store.append(entry)
    merged = Result(list(records.values()), name=names[0], complete=all(result.complete for result in results))
    store.finish(merged, "complete" if merged.complete else "interrupted")
    return merged
