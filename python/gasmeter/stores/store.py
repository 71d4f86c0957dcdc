"""The output folder of a sweep: results.csv, samples.parquet, links.parquet, counters.csv, run.json, summary.md, plots.

Every finished group is durable at once (in the journal, and its rows in results.csv), so that Ctrl-C or a kill leaves
a store that can be read and resumed. The other files are made anew from the journal whenever a run ends.
"""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.rows.counters import COUNTER_COLUMNS
from gasmeter.rows.formats import csv_lines, json_value, to_csv
from gasmeter.rows.jumps import curves_from
from gasmeter.rows.links import links_parquet, packed_tables
from gasmeter.rows.record import Record, taken_points
from gasmeter.stores.builds import builds_of, records_of
from gasmeter.stores.files import (
    JOURNAL,
    ROWS,
    RUN,
    SAMPLES,
    STORE_SCHEMA,
    check_files,
    digests,
    is_there,
    making_in,
    refused,
    sync_folder,
    write_all,
    write_atomically,
)
from gasmeter.stores.journal import Journal, check_unused
from gasmeter.stores.portable import portable
from gasmeter.stores.result import Result, records_from
from gasmeter.stores.tables import Blocks, Table, blocks_of, read_blocks, read_entries, read_run, read_table, typed_row

__all__ = [
    "Blocks",
    "Store",
    "Table",
    "add_to_run",
    "blocks_of",
    "merge_stores",
    "open_result",
    "read_blocks",
    "read_entries",
    "read_run",
    "read_table",
    "save_result",
    "typed_row",
]

_LINKS, _COUNTERS, _SUMMARY, _PAGE = "links.parquet", "counters.csv", "summary.md", "report.html"


def _make_parents(folder: Path) -> None:
    """Make the folders above one; a file among them gives the file system's own message."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the file system refuses into one line."""
    try:
        yield
    except OSError as error:
        raise refused(folder, error) from error


class Store:
    """An open output folder, created if need be.

    A store of the same experiment that is not resumed moves to another name. `run` holds facts of this run for
    run.json, with the build (``library``) of records that name none; `before` those of earlier runs whose records are
    kept. Raises UsageError if the folder holds anything else, is in use or must not be written, ResourceError if the
    disk is full.
    """

    def __init__(
        self, folder: Path, experiment: str, *, resume: bool, run: Mapping[str, Any],
        before: Sequence[Mapping[str, Any]] = (),
    ) -> None:  # fmt: skip
        self.folder = folder
        self._library = dict(run.get("library", {}))
        self.moved_to: Path | None = None
        with _writing(folder):
            _make_parents(folder)
        # Held until the journal is locked: otherwise another run could take the folder between the check and the lock.
        with _writing(folder), making_in(folder.parent):
            earlier = self._earlier(experiment)
            if earlier is not None and resume and earlier["schema"] != STORE_SCHEMA:
                raise UsageError(
                    f"{folder} has schema {earlier['schema']}, of an older gasmeter; it can be read, not continued;"
                    f" allowed: {STORE_SCHEMA}, or another --out", str(earlier["schema"]),
                )  # fmt: skip
            if earlier is not None and not resume:
                self._set_aside()
                earlier = None
            folder.mkdir(exist_ok=True)
            sync_folder(folder.parent)
            self._journal = Journal(folder / JOURNAL)
        self.done: dict[str, Record] = {}
        with self._closed_on_failure(), _writing(folder):
            self.done.update((entry.group, entry) for entry in records_from(self._journal.entries))
            runs = list(earlier.get("runs", [])) if earlier else []
            self._run: dict[str, Any] = {
                "schema": STORE_SCHEMA,
                "experiment": experiment,
                "state": "running",
                "runs": [*runs, *map(dict, before), dict(run)],
            }
            self._write_run()
            write_atomically(folder / ROWS, to_csv(row for entry in self.done.values() for row in entry.rows))
            self._rows = (folder / ROWS).open("ab", buffering=0)

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
        for name in (ROWS, JOURNAL):
            if earlier is None and (self.folder / name).exists() and (self.folder / name).stat().st_size:
                raise UsageError(
                    f"{self.folder} holds a {name} without run.json; allowed: another --out", str(self.folder)
                )
        return earlier

    def _set_aside(self) -> None:
        check_unused(self.folder / JOURNAL)
        number = 1
        while (other := self.folder.with_name(f"{self.folder.name}.{number}")).exists():
            number += 1
        self.folder.rename(other)
        sync_folder(self.folder.parent)
        self.moved_to = other

    def append(self, record: Record, *, lazily: bool = False) -> None:
        """Keep one group: durable on return, or soon if `lazily` (`Journal.append`).

        Raises ResourceError if the disk is full; earlier groups are kept.
        """
        record.revision = record.revision or self._library.get("revision", "")
        record.build = record.build or self._library.get("digest", "")
        self._journal.append(record, lazily=lazily)
        self.done[record.group] = record
        with _writing(self.folder):
            write_all(self._rows.fileno(), csv_lines(record.rows).encode())

    def finish(
        self, result: Result, state: str, summary: str = "", *, plots: bool = True,
        host: Mapping[str, Any] | None = None, plan: Mapping[str, Any] | None = None,
    ) -> list[Path]:  # fmt: skip
        """Write everything that is made from the rows, close the store and return the plots.

        `host` holds facts of this run's host at its end, `plan` those of a plan that has grown. Raises ResourceError if
        a file cannot be written; the journal is kept.
        """
        this_run = self._run["runs"][-1]
        this_run.update(plan or {})
        if host:
            this_run["host"] = {**this_run.get("host", {}), **host}
        result.about = _Read(self._run["runs"], summary)
        try:
            with _writing(self.folder):
                written = [JOURNAL, *self._write_tables(result)]
                if summary:
                    write_atomically(self.folder / _SUMMARY, portable(summary, self.folder))
                    written.append(_SUMMARY)
                self._run.update(
                    state=state, groups=len(self.done), errors=result.errors, notes=result.notes,
                    **({"bisected": [curve.facts() for curve in result.bisected]} if result.bisected else {}),
                    taken=taken_points(result.records), builds=builds_of(result.records),
                    resolved={point: options for entry in result.records for point, options in entry.resolved.items()},
                    files=digests(self.folder, written),
                )  # fmt: skip
                self._write_run()
                return self._write_plots(result) if plots else []
        finally:
            self._rows.close()
            self._journal.close()

    def write_page(self, text: str) -> None:
        """Write report.html; raise ResourceError if that fails."""
        with _writing(self.folder):
            write_atomically(self.folder / _PAGE, text)

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._journal.close()
            raise

    def _write_run(self) -> None:
        content = portable(json_value(self._run), self.folder)
        write_atomically(self.folder / RUN, _run_text(content))

    def _write_tables(self, result: Result) -> list[str]:
        """Write all tables that are made from the journal; return the names of the files."""
        samples = io.BytesIO()
        # Times hardly shrink with any other codec
        result.samples().to_parquet(samples, index=False, compression="zstd")
        contents: dict[str, bytes | str] = {ROWS: to_csv(result.rows), SAMPLES: samples.getvalue()}
        if tables := result.link_tables():  # none without links
            contents[_LINKS] = links_parquet(tables)
        if rows := result.counter_rows():  # none without counts
            contents[_COUNTERS] = to_csv(rows, COUNTER_COLUMNS)
        for name, content in contents.items():
            write_atomically(self.folder / name, content)
        return list(contents)

    def _write_plots(self, result: Result) -> list[Path]:
        from gasmeter.plots import save_all  # noqa: PLC0415 - loads matplotlib

        return save_all(result, self.folder / "plots")


def add_to_run(folder: Path, facts: Mapping[str, Any]) -> None:
    """Replace or add facts in the run.json of a finished store.

    Raises UsageError without a readable run.json, ResourceError if it cannot be written; the old file stays then.
    """
    run = read_run(folder)
    if run is None:
        raise UsageError(f"{folder} holds no run.json; allowed: a folder written by `gasmeter run`", str(folder))
    with _writing(folder):
        write_atomically(folder / RUN, _run_text({**run, **portable(json_value(facts), folder)}))


def _run_text(content: object) -> str:
    return json.dumps(content, indent=1, default=str) + "\n"


def open_result(folder: str | Path) -> Result:
    """Return the content of a store, also of one that a kill left behind.

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
        If the folder holds no store, or a file of it is missing, cut off, or not as its run wrote it.

    Examples
    --------
    >>> stored = gm.measure("ping-pong", conduit="ideal", op="put", sizes=8, out="out/puts")
    >>> gm.open_result("out/puts").rows == stored.rows
    True
    """
    place = Path(folder)
    run = read_run(place)
    if run is None:
        raise UsageError(f"{place} holds no run.json; allowed: a folder written by `gasmeter run`", str(place))
    check_files(place, run, needed=(ROWS,))
    if (place / JOURNAL).exists():
        records = records_from(read_entries(place, run))
    elif is_there(place, ROWS):  # published without its journal
        table = read_table(place)
        if table.lost:
            raise UsageError(f"{table.path}: the last line is cut off ({table.lost[:40]}…); measure anew", str(place))
        records = records_of(table.rows(), run.get("builds", []))
        if records and (place / _LINKS).exists():
            records[0].links.extend(packed_tables((place / _LINKS).read_bytes()))
    else:
        records = []
    result = Result(records, name=str(run.get("experiment", "")), complete=run.get("state") == "complete")
    result.bisected = curves_from(run.get("bisected", []))
    text = (place / _SUMMARY).read_text(encoding="utf-8") if (place / _SUMMARY).exists() else ""
    result.about = _Read(list(run.get("runs", [])), text)
    return result


@dataclass(frozen=True)
class _Read:
    """A store's facts about its runs."""

    runs: list[dict[str, Any]]
    summary: str

    def save(self, result: Result, folder: Path) -> None:
        save_result(result, folder, self.runs, self.summary)


def save_result(
    result: Result,
    folder: Path,
    runs: Sequence[Mapping[str, Any]],
    summary: str,
    page: Callable[[Sequence[Path]], str] | None = None,
) -> None:
    """Write the run folder of a result, as a run with ``out=`` does; `page` makes report.html from the pictures.

    Raises UsageError if the folder holds anything else, ResourceError if it cannot be written.
    """
    store = Store(folder, result.name, resume=False, run=runs[-1] if runs else {}, before=runs[:-1])
    for entry in result.records:
        store.append(entry, lazily=True)
    drawn = store.finish(result, "complete" if result.complete else "interrupted", summary, plots=bool(result.rows))
    if page:
        store.write_page(page(drawn))


def merge_stores(folders: Sequence[str | Path], out: str | Path) -> Result:
    """Merge stores of one experiment, for instance of two halves of a sweep.

    Parameters
    ----------
    folders : sequence of str or Path
        Folders of the stores; a group in several stores is taken from the last one.
    out : str or Path
        New folder.

    Returns
    -------
    Result
        Rows of all groups.

    Raises
    ------
    UsageError
        If there is nothing to merge, the experiments differ, or `out` already holds a store.
    ResourceError
        If `out` cannot be written.

    Examples
    --------
    >>> for place, sizes in (("out/small", "8:32"), ("out/large", "64:256")):
    ...     _ = gm.measure("ping-pong", conduit="ideal", op="put", sizes=sizes, out=place)
    >>> gm.merge_stores(["out/small", "out/large"], "out/both")
    <Result measure: 6 rows of 6 points, modelled, ping-pong put on ideal, data verified>
    """
    results = [open_result(folder) for folder in folders]
    names = list(dict.fromkeys(result.name for result in results))
    if not names:
        raise UsageError("no store is given to be merged; allowed: one or more folders written by `gasmeter run`")
    if len(names) > 1:
        raise UsageError(f"stores of different experiments cannot be merged: {', '.join(names)}; allowed: one")
    place = Path(out)
    if read_run(place) is not None:
        raise UsageError(f"{place} already holds a store; allowed: a new folder", str(place))
    records = {entry.group: entry for result in results for entry in result.records}
    runs = [run for folder in folders for run in (read_run(Path(folder)) or {}).get("runs", [])]
    store = Store(place, names[0], resume=False, run={"merged_from": [str(folder) for folder in folders], "runs": runs})
    for entry in records.values():
        store.append(entry)
    merged = Result(list(records.values()), name=names[0], complete=all(result.complete for result in results))
    merged.bisected = [curve for result in results for curve in result.bisected]
    store.finish(merged, "complete" if merged.complete else "interrupted")
    return merged
