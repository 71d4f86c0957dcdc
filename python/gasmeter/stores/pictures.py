"""Find the rows behind a picture in the folders of runs, and compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.rows.pictures import content_digest, read_facts, row_key, row_mark, rows_digest
from gasmeter.rows.record import Row
from gasmeter.stores.files import RUN, is_there
from gasmeter.stores.tables import read_run, read_table

__all__ = ["Verified", "verify_picture"]

_PARENTS, _BELOW = 3, 3
_PUBLISHED = "results"
_MOST_SHOWN = 3


@dataclass(frozen=True)
class Verified:
    """Verification of a picture."""

    same: bool  # whether its rows, or the files it was made from, exist as they were drawn
    text: str  # in one line


def verify_picture(path: Path, folders: Sequence[Path] = ()) -> Verified:
    """Verify that the rows or files behind a picture or page exist unchanged.

    By default, runs around the picture and in ``results`` of the working directory are searched. A picture without
    metadata, or whose run is missing, is not the same. Raises UsageError if a file, a folder or the rows cannot be
    read.
    """
    facts = read_facts(path)
    if facts is None:
        return Verified(False, f"{path} says nothing of its rows: not drawn by gasmeter, or by one that did not say it")
    if "is" in facts:
        return _without_rows(path, folders, facts)
    sentence = (
        f"made from {_counted(facts['rows'])} of {facts['experiment']}, revision {facts['revision'] or 'unknown'}"
    )
    runs = list(_runs(path, folders, facts))
    if not runs:
        where = ", ".join(map(str, folders)) or f"the folders around it and {_PUBLISHED}/"
        return Verified(
            False, f"{path}: {sentence}; no run of that name in {where}: `gasmeter verify {path.name} FOLDER`"
        )
    differing = []
    for folder in runs:
        problem = _difference(folder, facts)
        if not problem:
            return Verified(True, f"{path}: {sentence}; the rows' digest is the same ({folder})")
        differing.append(f"{problem} ({folder})")
    return Verified(False, f"{path}: {sentence}; {differing[0]}")


def _without_rows(path: Path, folders: Sequence[Path], facts: Mapping[str, Any]) -> Verified:
    """Describe a picture that shows no rows of a single run, and tell whether its sources lie beside it."""
    _check_folders(folders)
    sentence = f"{path} is {facts['is']}, drawn by revision {facts['revision'] or 'unknown'}"
    wanted: dict[str, str] = facts["beside"]
    if not wanted:
        return Verified(False, f"{sentence}; no rows of a run to look for")
    names = " and ".join(wanted)
    problem = f"{names} not there: `gasmeter verify {path.name} FOLDER`"
    for folder in folders or [path.parent]:
        if all((folder / name).exists() for name in wanted):
            try:
                others = [name for name, digest in wanted.items() if content_digest(folder / name) != digest]
            except OSError as error:
                raise UsageError(f"{error.filename} cannot be read: {error.strerror}", str(error.filename)) from error
            if not others:
                return Verified(True, f"{sentence}; the digest of {names} is the same ({folder})")
            problem = f"{' and '.join(others)} changed ({folder})"
    return Verified(False, f"{sentence}; {problem}")


def _check_folders(folders: Sequence[Path]) -> None:
    if missing := [folder for folder in folders if not folder.is_dir()]:
        raise UsageError(f"{missing[0]} is no folder; allowed: a folder written by `gasmeter run`", str(missing[0]))


def _runs(path: Path, folders: Sequence[Path], facts: Mapping[str, Any]) -> Iterator[Path]:
    """Yield folders of runs with that name, those with the picture's start first."""
    _check_folders(folders)
    places = list(folders) or [*list(path.absolute().parents)[:_PARENTS], *sorted(Path(_PUBLISHED).glob("*"))]
    by_folder: dict[Path, tuple[bool, Path]] = {}
    for place in places:
        below = _below(place, _BELOW) if folders else [place]
        for folder in (each for each in below if is_there(each, RUN)):
            try:
                run = read_run(folder)
            except (UsageError, OSError):
                continue  # another run's damaged run.json does not concern this picture
            if run is not None and run.get("experiment") == facts["experiment"]:
                started = [str(entry.get("started", "")) for entry in run.get("runs", [])]
                other = not set(started) & set(facts["started"])
                by_folder.setdefault(folder.resolve(), (other, folder))
    yield from (folder for _, folder in sorted(by_folder.values(), key=lambda entry: entry[0]))


def _below(place: Path, levels: int) -> Iterator[Path]:
    yield place
    if levels:
        for folder in sorted(each for each in place.iterdir() if each.is_dir() and not each.is_symlink()):
            yield from _below(folder, levels - 1)


def _difference(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return how the rows of a run differ from a picture's; empty if they do not."""
    table = read_table(folder)
    rows = table.rows()
    cut = "; the last line of its rows is cut off" if table.lost else ""
    if "named" not in facts:
        if rows_digest(rows) == facts["digest"]:
            return ""
        return f"the run has {_counted(len(rows))} of another digest{cut}"
    wanted = Counter(str(mark) for mark in facts["named"])
    names = {_name(mark) for mark in wanted}
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        if row_key(row) in names:
            by_name.setdefault(row_mark(row), []).append(row)
    missing = wanted - Counter({mark: len(rows) for mark, rows in by_name.items()})
    if not missing:
        same = [row for mark, count in wanted.items() for row in by_name[mark][:count]]
        return "" if rows_digest(same) == facts["digest"] else "what the picture says of its rows is not their digest"
    row_names = {_name(mark) for mark in by_name}
    changed = [_name(mark) for mark in missing if _name(mark) in row_names]
    gone = [_name(mark) for mark in missing if _name(mark) not in row_names]
    texts = [f"{_counted(len(changed))} changed: {_listed(changed)}"] if changed else []
    texts += [f"{_counted(len(gone))} not there: {_listed(gone)}"] if gone else []
    return "; ".join(texts) + cut


def _name(mark: str) -> str:
    return mark.rpartition("#")[0]


def _counted(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    more = f", … {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more
