"""Published rows against rows of this build: what `gasmeter reproduce PAPER --verify` says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.measuring.experiment import Experiment
from gasmeter.reproduction.figure import Paper, describe
from gasmeter.reproduction.folder import seen_in
from gasmeter.reproduction.publishing import rows_facts
from gasmeter.reproduction.seen import Seen
from gasmeter.rows.record import Row
from gasmeter.sweeps.series import Series

__all__ = ["Compared", "Published", "chosen", "compared_points", "compared_rows", "points_again", "published"]

_SHARE_OF_ONE_KERNEL = 4
"""One chosen point in so many is of another kernel than random-access, where that has points."""

_PLACE = (
    "kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size_bytes", "options",
)  # fmt: skip
Point = tuple[Sequence[Row], int]
"""The rows of a modelled point, and how many operations each rank did."""


@dataclass(frozen=True)
class Published:
    """Modelled rows that are published.

    Attributes
    ----------
    folder : Path
        Folder of the published rows.
    seen : Seen
        What the folder's verdicts are made of.
    facts : mapping
        What its run.json says of all rows, as `gasmeter.reproduction.publishing.rows_facts`; empty where it says none.
    """

    folder: Path
    seen: Seen
    facts: Mapping[str, Any]

    def points(self, figures: Iterable[str] = ()) -> list[Point]:
        """Return the modelled points of some figures.

        Parameters
        ----------
        figures : iterable of str, optional
            Their numbers; all by default.

        Returns
        -------
        list of tuple
            Those that differ in their length alone count once: rows do not tell their length.
        """
        names = set(figures)
        lines = {line for one in self.seen.figures if not names or one.number in names
                 for line in (*one.lines, *one.beside)}  # fmt: skip
        lengths = {one.run_id: one.length for one in self.seen.planned if one.line in lines}
        points: dict[str, list[Row]] = {}
        for row in self.seen.rows:
            if row["kind"] == "modelled" and row["run_id"] in lengths:
                points.setdefault(row["run_id"], []).append(row)
        return list({place_of(rows[0]): (rows, lengths[name]) for name, rows in points.items()}.values())


@dataclass(frozen=True)
class Compared:
    """What came of running published rows again.

    Attributes
    ----------
    points, rows : int
        Number of points and rows that were compared.
    differing : list of str
        A line for each row that differs, or for each line of a figure whose rows were not run again.
    digest : bool or None
        Whether all rows have the published digest; None where a part of them was run.
    """

    points: int
    rows: int
    differing: list[str]
    digest: bool | None = None

    @property
    def same(self) -> bool:
        """Whether something was compared and nothing differs."""
        return self.rows > 0 and not self.differing and self.digest is not False


def published(folder: Path, paper: Paper) -> Published:
    """Return what is published of a paper.

    Parameters
    ----------
    folder : Path
        Of a reproduction, published or not.
    paper : Paper
        Whose rows it should hold.

    Returns
    -------
    Published
        Rows and digest.

    Raises
    ------
    UsageError
        If the folder holds something else.
    """
    seen, said = seen_in(folder, {paper.name: paper})
    return Published(folder, seen, said.get("rows", {}))


def chosen(points: Sequence[Point], count: int, seed: int) -> list[Point]:
    """Return some points by chance, most of them where many ranks share cards.

    Parameters
    ----------
    points : sequence of tuple
        As `Published.points` returns them.
    count, seed : int
        How many, and which.

    Returns
    -------
    list of tuple
        All where there are fewer.
    """
    draw = random.Random(seed)
    crowded = [point for point in points if point[0][0]["kernel"] == "random-access"]
    others = [point for point in points if point[0][0]["kernel"] != "random-access"]
    few = min(len(others), count // _SHARE_OF_ONE_KERNEL if crowded else count)
    return draw.sample(others, few) + draw.sample(crowded, min(len(crowded), count - few))


def points_again(name: str, points: Sequence[Point], options: Mapping[str, str] | None = None) -> Experiment:
    """Return points as a sweep.

    Parameters
    ----------
    name : str
        Of the experiment.
    points : sequence of tuple
        As `chosen` returns them.
    options : mapping of str to str, optional
        Options that rows do not tell, such as ``sync``.

    Returns
    -------
    Experiment
        A series for each point.
    """
    return Experiment(name=name, series=tuple(_series(rows[0], length, options or {}) for rows, length in points))


def _series(row: Row, length: int, options: Mapping[str, str]) -> Series:
    given = dict(pair.split("=", 1) for pair in str(row["options"]).split(";") if pair)
    return Series(
        kernel=row["kernel"], op=(row["op"],), variant=(row["variant"],) if row["variant"] else (),
        conduit=(row["conduit"],), ranks=(row["ranks"],), sizes=(row["size_bytes"],), machine=(row["machine"],),
        topology=(row["topology"],), placement=(row["placement"],), options={**given, **options}, seed=(row["seed"],),
        iterations=length, blocks=1,
    )  # fmt: skip


def place_of(row: Row) -> str:
    """Return which point a row is of, in words; an option that `_series` adds is not among them.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        One line.
    """
    return " ".join(text for text in (str(row[key]) for key in _PLACE) if text)


def compared_points(points: Sequence[Point], again: Iterable[Row]) -> Compared:
    """Return whether points came to the published values.

    Parameters
    ----------
    points : sequence of tuple
        As published.
    again : iterable of dict
        Rows of `points_again`.

    Returns
    -------
    Compared
        To the last digit.
    """
    values = {(place_of(row), row["metric"]): float(row["value"]) for row in again}
    differing, count = [], 0
    for rows, _ in points:
        for row in rows:
            count += 1
            found = values.get((place_of(row), row["metric"]))
            if found != float(row["value"]):
                differing.append(_difference(place_of(row), row, found))
    return Compared(len(points), count, differing)


def compared_rows(known: Published, again: Sequence[Row], figures: Iterable[str]) -> Compared:
    """Return whether a reproduction came to the published rows.

    Parameters
    ----------
    known : Published
        What is published.
    again : sequence of dict
        Rows of the reproduction, of all figures or of some.
    figures : iterable of str
        Numbers of the figures that were run.

    Returns
    -------
    Compared
        With the digest where every published figure was run.
    """
    numbers = set(figures)
    values = {_key(row): row for row in again if row["kind"] == "modelled"}
    lines = {one.run_id: describe(one.line) for one in known.seen.planned}
    ran = {line for one in known.seen.figures if one.number in numbers for line in (*one.lines, *one.beside)}
    wanted = {one.run_id for one in known.seen.planned if one.line in ran}
    whole = numbers >= {one.number for one in known.seen.figures}
    missing: Counter[str] = Counter()
    differing: list[str] = []
    points: set[str] = set()
    count = 0
    for row in known.seen.rows:
        if row["kind"] != "modelled" or (row["run_id"] not in wanted and not whole):
            continue
        found = values.get(_key(row))
        if found is None:
            missing[lines.get(row["run_id"], "check rows")] += 1
            continue
        points.add(row["run_id"])
        count += 1
        if float(found["value"]) != float(row["value"]) or _verified(found) != _verified(row):
            differing.append(_difference(place_of(row), row, float(found["value"])))
    # Some figures alone may have other machines, and with them other draws: those are not run again.
    absent = [f"{name}: {lost} published rows were not run again" for name, lost in missing.items()] if whole else []
    digest = rows_facts(again) == dict(known.facts) if whole and known.facts else None
    return Compared(len(points), count, [*differing, *absent], digest)


def _key(row: Row) -> tuple[str, str, str]:
    return row["run_id"], row["metric"], row["reference"]


def _verified(row: Row) -> str:
    return str(row["verified"]).lower()


def _difference(where: str, row: Row, found: float | None) -> str:
    now = "was not run" if found is None else f"is {found!r}"
    return f"{where}: {row['metric']} {now}, published {float(row['value'])!r} {row['unit']}"


def checked_folder(folder: Path) -> Path:
    """Return a folder of published rows.

    Parameters
    ----------
    folder : Path
        That was named.

    Returns
    -------
    Path
        The same.

    Raises
    ------
    UsageError
        If there is none.
    """
    if not folder.is_dir():
        raise UsageError(
            f"--published {folder} is no folder; allowed: what `gasmeter reproduce --from --publish` wrote, for"
            " instance results/extoll of a clone", str(folder),
        )  # fmt: skip
    return folder
