"""A reproduction in the smallest form from which every verdict can be made again: what ``results/PAPER`` holds.

The name of a point is a hash of all that the point is. Rows show most of these parts, but not the machine's digest, the
budget and the iterations. A packed table holds these three instead of the name, because the name can be computed from
them. run.json has the digests of machines, but it lists points only for small plans. The budget of a point contains the
time that the plan expected of it, which no file of a long plan holds. `_hashed` therefore guesses the missing parts: a
guess is right if it hashes to the name. A point without a right guess keeps its name in the table.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gasmeter.reproduction.plan.planning import Planned
from gasmeter.reproduction.run.folder import EVIDENCE, POINTS_FILE, choice_facts
from gasmeter.rows.record import Row
from gasmeter.stores.builds import stretches
from gasmeter.stores.files import ROWS, RUN, is_there, read_content, refused, write_atomically
from gasmeter.stores.packed import pack, point_name
from gasmeter.stores.tables import read_run, read_table

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["publish", "rows_facts"]

_COUNTERS = "counters.csv"
_COMPRESSED = ".xz"
_LONGEST_MS = 20_000
"""Expected times that are tried: every whole ms below this. A point with a longer one keeps its name in the table."""


def publish(reproduction: Reproduction, folder: Path, place: Path) -> list[Path]:
    """Write the published part of a reproduction beside its claims.csv, tables and report.html; return the files.

    `reproduction` was read from `folder` by `gasmeter.reproduction.run.again.kept_reproduction`. `place` is another
    folder, which exists. The files are the packed tables and run.json. Samples, pictures, links and the estimates of
    draws are left out: they follow from the rows and the machines' files, or stand in the report. Raises UsageError or
    ResourceError if a file cannot be read, packed or written.
    """
    run = read_run(folder)
    assert run is not None
    planned = reproduction.seen.planned
    table = read_table(folder)
    cells = [dict(zip(table.columns, row, strict=True)) for row in table.cells]
    names = (name for name in (ROWS, POINTS_FILE, _COUNTERS) if is_there(folder, name))
    contents = pack({name: read_content(folder, name) for name in names}, _hashed(cells, planned, run))
    facts = _slim(run, list(dict.fromkeys(row["run_id"] for row in cells)))
    facts[EVIDENCE] = {
        **{name: value for name, value in run[EVIDENCE].items() if name != "files"},
        **choice_facts(reproduction.choice),
        "rows": rows_facts(reproduction.seen.rows),
        "files": {POINTS_FILE: run[EVIDENCE]["files"][POINTS_FILE]},
    }
    contents[RUN + _COMPRESSED] = lzma.compress((json.dumps(facts, indent=1) + "\n").encode(), preset=9)
    try:
        for name, content in contents.items():
            write_atomically(place / name, content)
    except OSError as error:
        raise refused(place, error) from error
    return [place / name for name in contents]


def rows_facts(rows: Iterable[Row]) -> dict[str, Any]:
    """Return facts that show whether two runs have the same modelled rows: ``modelled`` and ``sha256``.

    ``modelled`` is the number of rows. ``sha256`` covers their points, metrics, units, values and whether they were
    verified, in any order. Measured rows do not count, because no run repeats them.
    """
    lines = sorted(row_line(row) for row in rows if row["kind"] == "modelled")
    return {"modelled": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def row_line(row: Row) -> str:
    """Return the part of a modelled row that every run repeats, as one line."""
    verified = str(row["verified"]).lower()
    return f"{row['run_id']} {row['metric']} {row['reference']} {float(row['value'])!r} {row['unit']} {verified}\n"


def _slim(run: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return run.json without what rows and machines' files say again for each draw."""
    runs = [
        {**one, "points": [], "machines": [each for each in one.get("machines", ()) if each["label"] == each["name"]]}
        for one in run["runs"]
    ]
    builds = [
        {**{key: value for key, value in one.items() if key != "points"}, "stretches": stretches(one["points"], names)}
        if "points" in one
        else one
        for one in run.get("builds", ())
    ]
    files = {name: facts for name, facts in run["files"].items() if name in {ROWS, _COUNTERS}}
    kept = {name: value for name, value in run.items() if name not in {"resolved", "seconds"}}
    return {**kept, "runs": runs, "builds": builds, "files": files, "seconds": run.get("seconds", {})}


def _hashed(
    rows: Sequence[Mapping[str, str]], planned: Sequence[Planned], run: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return machine digest, budget and iterations of each point whose name they reproduce.

    Points whose parts cannot be guessed are left out.
    """
    digests = {each["label"]: str(each["digest"]) for one in run["runs"] for each in one.get("machines", ())}
    known = {each["run_id"]: each["budget"] for one in run["runs"] for each in one.get("points", ())}
    lengths = {one.run_id: str(one.length) for one in planned}
    found: dict[str, dict[str, str]] = {}
    alike: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for row in rows:
        name = row["run_id"]
        if name in found:
            continue
        key = (*(row[one] for one in ("kernel", "op", "variant", "conduit", "ranks", "options", "topology")),
               lengths.get(name, ""))  # fmt: skip
        digest = digests.get(row["machine"], "")
        if name in known:
            given: Iterable[tuple[str, str]] = [_parts(known[name])]
        elif key in alike:
            given = alike[key]
        else:
            given = _guesses(lengths.get(name, ""), known.values())
        right = next((one for one in given if point_name(row, digest, *one) == name), None)
        if right is not None:
            alike.setdefault(key, [])
            alike[key] += [right] if right not in alike[key] else []
            found[name] = {"machine_digest": digest, "budget": right[0], "iterations": right[1]}
        else:
            alike.setdefault(key, [])
    return found


def _parts(budget: Mapping[str, Any]) -> tuple[str, str]:
    """Return a budget as a packed table has it, and its iterations."""
    given = {name: value for name, value in budget.items() if name != "iterations"}
    if given.get("blocks") is None:  # without a prescribed number of blocks `blocks` is not hashed (`Point.id`)
        given.pop("blocks", None)
    return json.dumps(given, sort_keys=True), json.dumps(budget["iterations"])


def _guesses(length: str, known: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield budgets that a point of so many operations may have: the known ones, then one of them with every time."""
    every = list(dict.fromkeys(map(_parts, known)))
    yield from every
    if length:
        yield from ((budget, length) for budget, _ in every)
        yield from zip(_times(every[0][0]) if every else (), itertools.repeat(length), strict=False)


@functools.cache
def _times(budget: str) -> list[str]:
    given = json.loads(budget)
    return [json.dumps({**given, "time_s": ms / 1000}, sort_keys=True) for ms in range(1, _LONGEST_MS)]
