"""Run published points again strictly: `published_strictly.py [FOLDER] [--points N] [--seed N] [--jobs N]`.

The script draws some modelled points of a published reproduction, most of them with many ranks on a card. It runs them
again with `sync=strict`: every rank waits for its clock before it does anything. Rows have to be the same to the digit.
So published rows reveal a short cut of the simulation that changes one point in some hundred.
"""

import argparse
from pathlib import Path

from gasmeter.papers.registry import paper
from gasmeter.reproduction.run.verifying import chosen, compared_points, points_again, published

ROOT = Path(__file__).parents[2]


def main():
    """Run again and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "results" / "extoll")
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    points = chosen(published(given.folder, paper(given.folder.name)).points(), given.points, given.seed)
    if not points:
        raise SystemExit(f"{given.folder} holds no modelled points")
    again = points_again("strictly", points, {"sync": "strict"}).run(jobs=given.jobs)
    outcome = compared_points(points, again.rows)
    for line in outcome.differing:
        print(f"strictly {line}")
    print(
        f"{outcome.points} points, {outcome.rows} rows of {given.folder.name} run again strictly:"
        f" {len(outcome.differing)} differ"
    )
    raise SystemExit(0 if outcome.same else 1)


if __name__ == "__main__":
    main()
