"""Time the building of a dashboard and print its size: `python experiments/dashboard_speed.py [--runs N] [--series N]`.

The history is invented (seeded, with planted steps). The time covers reading the stores, finding steps and writing the
site. `--keep DIR` leaves stores and site there, to look at.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from gasmeter.dashboard import write_dashboard

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "python"))
from invented_histories import Plan, write_history


def main() -> None:
    """Build a site, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for stores and site; must not exist")
    given = parser.parse_args()
    steps = {
        number: [(given.runs // 2 + 7 * number % (given.runs // 3), 1.04)] for number in range(0, given.series, 16)
    }
    plan = Plan(given.runs, given.series, seed=given.seed, steps=steps, missing=0.01, blocks=4)
    with tempfile.TemporaryDirectory() as folder:
        place = given.keep or Path(folder)
        write_history(place / "stores", plan)
        started, used = time.perf_counter(), time.process_time()
        site = write_dashboard([place / "stores"], place / "site")
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        index = sum((place / "site" / name).stat().st_size for name in ("index.html", "data/index.js"))
    print(f"{site.runs} runs x {site.series} series, {site.steps} steps found ({len(steps)} planted)")
    print(f"built in {seconds:.1f} s ({cpu:.1f} s of one processor)")
    print(f"{site.bytes / 1e6:.2f} MB, of which {index / 1e3:.0f} kB are read to open it")


if __name__ == "__main__":
    main()
