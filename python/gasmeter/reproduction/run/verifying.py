"""Published rows against rows of this build, for `gasmeter reproduce PAPER --verify`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.errors import UsageError
from gasmeter.measuring.experiment import Experiment
from gasmeter.reproduction.judge.seen import Seen
from gasmeter.reproduction.plan.figure import Paper, describe
from gasmeter.reproduction.run.folder import seen_in
from gasmeter.reproduction.run.publishing import rows_facts
from gasmeter.rows.record import Row
from gasmeter.sweeps.series import Series

__all__ = ["Compared", "Published", "chosen", "compared_points", "compared_rows", "points_again", "published"]

_SHARE_OF_ONE_KERNEL = 4
"""Number of chosen points among which one has another kernel than random-access, if such points exist."""

_PLACE = (
    "kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size_bytes", "options",
)  # fmt: skip
Point = tuple[Sequence[Row], int]
"""Rows of a modelled point, and the number of operations of each rank."""


@dataclass(frozen=True)
class Published:
    """Modelled rows that are published."""

    folder: Path  # folder of the rows
    seen: Seen  # evidence for the folder's verdicts
    facts: Mapping[str, Any]  # facts in its run.json about all rows, as `publishing.rows_facts`; empty without them

    def points(self, figures: Iterable[str] = ()) -> list[Point]:
        """Return the modelled points of some figures, given by number, or of all.

        Points that differ only in their length count once, because rows do not state their length.
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
    """Result of running published rows again."""

    points: int  # number of compared points
    rows: int  # number of compared rows
    differing: list[str]  # a text for each row that differs, or for each line of a figure whose rows were not run
    digest: bool | None = None  # whether all rows have the published digest; None if only a part was run

    @property
    def same(self) -> bool:
        """Whether something was compared and nothing differs."""
        return self.rows > 0 and not self.differing and self.digest is not False


def published(folder: Path, paper: Paper) -> Published:
    """Return the published rows of a paper and their digest from the folder of a reproduction.

    Raises UsageError if the folder holds something else.
    """
    seen, said = seen_in(folder, {paper.name: paper})
    return Published(folder, seen, said.get("rows", {}))


def chosen(points: Sequence[Point], count: int, seed: int) -> list[Point]:
    """Return `count` points chosen by chance, or all if there are fewer.

    Three quarters or more are RandomAccess, if published, in which many ranks share cards.
    """
    draw = random.Random(seed)
    crowded = [point for point in points if point[0][0]["kernel"] == "random-access"]
    others = [point for point in points if point[0][0]["kernel"] != "random-access"]
    few = min(len(others), count // _SHARE_OF_ONE_KERNEL if crowded else count)
    return draw.sample(others, few) + draw.sample(crowded, min(len(crowded), count - few))


def points_again(name: str, points: Sequence[Point], options: Mapping[str, str] | None = None) -> Experiment:
    """Return points as an experiment with a series for each point.

    `options` are options that rows do not state, such as ``sync``.
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
    """Return the point of a row in one line of words, without options that `_series` adds."""
    return " ".join(text for text in (str(row[key]) for key in _PLACE) if text)


def compared_points(points: Sequence[Point], again: Iterable[Row]) -> Compared:
    """Compare the rows of `points_again` with the published values, to the last digit."""
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
    """Compare the rows of a reproduction with the published ones; with the digest if every published figure was run.

    `figures` are the numbers of the figures that were run.
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
    """Return the folder of published rows unchanged; raise UsageError if there is none."""
    if not folder.is_dir():
        raise UsageError(
            f"--published {folder} is no folder; allowed: what `gasmeter reproduce --from --publish` wrote, for"
            " instance results/extoll of a clone", str(folder),
        )  # fmt: skip
    return folder
