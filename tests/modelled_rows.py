"""Whether a reproduction comes to the published modelled figures: `python tests/modelled_rows.py NEW PUBLISHED`.

Both are folders of a store. Figures in virtual time have to be equal to the digit, row by row; measured ones are left
out. Rows that one of the two lacks are differences, too.
"""

import csv
import lzma
import sys
from pathlib import Path

MOST_SHOWN = 10


def modelled(folder):
    """Return the modelled rows of a store by what identifies them."""
    packed = Path(folder) / "results.csv.xz"
    with lzma.open(packed, "rt") if packed.exists() else (Path(folder) / "results.csv").open() as file:
        return {
            (row["run_id"], row["metric"], row["repetition"]): row
            for row in csv.DictReader(file)
            if row["kind"] == "modelled"
        }


def main():
    """Compare, say what differs, and fail if anything does."""
    if len(sys.argv) != 3:
        raise SystemExit("usage: python tests/modelled_rows.py NEW PUBLISHED")
    new, published = modelled(sys.argv[1]), modelled(sys.argv[2])
    differ = [
        key for key in sorted(new.keys() | published.keys())
        if new.get(key, {}).get("value") != published.get(key, {}).get("value")
    ]  # fmt: skip
    for key in differ[:MOST_SHOWN]:
        row = new.get(key) or published[key]
        what = (
            f"{row['kernel']} {row['op']} {row['variant']} on {row['conduit']}, {row['ranks']} ranks, {row['topology']}"
        )
        values = [rows[key]["value"] if key in rows else "no row" for rows in (new, published)]
        print(f"{what}, seed {row['seed']}: {row['metric']} {values[0]}, published {values[1]}")
    print(f"{len(new)} modelled rows, {len(published)} published: {len(differ)} differ")
    if differ or not new:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
