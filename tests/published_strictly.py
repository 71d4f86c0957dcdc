"""Published figures, strictly: `python tests/published_strictly.py [FOLDER] [--points N] [--seed N] [--jobs N]`.

Takes some modelled points of a published reproduction by chance, most of them where many ranks share cards, and runs
them again with `sync=strict`: every rank waits for its clock before it does anything. Rows have to be the same to the
digit, so that a short cut of the simulation that shows in one point of some hundred is found by published rows.
"""

import argparse
import csv
import lzma
import random
from collections import defaultdict
from pathlib import Path

from gasmeter.measuring.experiment import Experiment
from gasmeter.sweeps.series import Series

ROOT = Path(__file__).parent.parent
SHARE_OF_ONE_KERNEL = 4
"""One point in so many is of another kernel than random-access, where that has points."""


def table(path):
    """Rows of a compressed table."""
    with lzma.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def published(folder):
    """Every modelled point: its rows, and how many operations each rank did."""
    lengths = {row["run_id"]: int(row["length"]) for row in table(folder / "points.csv.xz")}
    points = defaultdict(list)
    for row in table(folder / "results.csv.xz"):
        if row["kind"] == "modelled" and row["run_id"] in lengths:
            points[row["run_id"]].append(row)
    # A place that was run at several lengths counts at one of them: rows do not tell their length.
    return list({place(rows[0]): (rows, lengths[run]) for run, rows in points.items()}.values())


def chosen(points, count, seed):
    """Points by chance, those of random-access apart."""
    draw = random.Random(seed)
    crowded = [point for point in points if point[0][0]["kernel"] == "random-access"]
    others = [point for point in points if point[0][0]["kernel"] != "random-access"]
    few = min(len(others), count // SHARE_OF_ONE_KERNEL if crowded else count)
    return draw.sample(others, few) + draw.sample(crowded, min(len(crowded), count - few))


def series(rows, length):
    """Describe the point, strictly."""
    row = rows[0]
    options = dict(pair.split("=", 1) for pair in row["options"].split(";") if pair)
    return Series(
        kernel=row["kernel"],
        op=(row["op"],),
        variant=(row["variant"],) if row["variant"] else (),
        conduit=(row["conduit"],),
        ranks=(int(row["ranks"]),),
        sizes=(int(row["size_bytes"]),),
        machine=(row["machine"],),
        topology=(row["topology"],),
        placement=(row["placement"],),
        options={**options, "sync": "strict"},
        seed=(int(row["seed"]),),
        iterations=length,
        blocks=1,
    )


def place(row):
    """Which point a row is of; whether ranks wait for their clocks stands in run.json alone."""
    keys = ("kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size_bytes", "options")
    return " ".join(text for text in (str(row[key]) for key in keys) if text)


def main():
    """Run again and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "results" / "extoll")
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    points = chosen(published(given.folder), given.points, given.seed)
    if not points:
        raise SystemExit(f"{given.folder} holds no modelled points")
    expected = {place(rows[0]): rows for rows, _ in points}
    again = Experiment(name="strictly", series=tuple(series(*point) for point in points)).run(jobs=given.jobs)
    values = {(place(row), row["metric"]): float(row["value"]) for row in again.frame().to_dict("records")}
    wanted = {(where, row["metric"]): float(row["value"]) for where, rows in expected.items() for row in rows}
    differ = [key for key, value in wanted.items() if values.get(key) != value]
    for where, metric in differ:
        print(f"{where}: {metric} {wanted[where, metric]} is {values.get((where, metric))} strictly")
    print(f"{len(expected)} points, {len(wanted)} rows of {given.folder.name} run again strictly: {len(differ)} differ")
    raise SystemExit(1 if differ or not wanted else 0)


if __name__ == "__main__":
    main()
