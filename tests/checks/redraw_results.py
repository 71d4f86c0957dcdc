"""Draw the pictures of published runs again from their rows; nothing is measured, no row changes.

    python tests/checks/redraw_results.py results/mpi_speed results/vis_speed … [--out FOLDER]

Pictures go to the folder's plots/, or to FOLDER/NAME/plots. Use `gasmeter reproduce` for reproductions of papers: their
pictures need draws and verdicts.
"""

import argparse
from pathlib import Path

import gasmeter as gm
from gasmeter.plots import save_all
from gasmeter.stores.tables import read_blocks
from gasmeter.sweeps.loading import load_experiment

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def count_blocks(result, folder):
    """Set each record's numbers of measured and dropped blocks. The samples give them, because there is no journal."""
    blocks = list(read_blocks(folder))
    at = 0
    for entry in result.records:
        first = {}
        run_ids = {row["run_id"] for row in entry.rows}
        while at < len(blocks) and blocks[at].run_id in run_ids and (blocks[at].run_id, blocks[at].metric) not in first:
            first[blocks[at].run_id, blocks[at].metric] = blocks[at]
            at += 1
        real = {row["run_id"] for row in entry.rows if row["kind"] == "measured" and not row["reference"]}
        item = {run_id: block for (run_id, _), block in reversed(first.items()) if run_id in real}
        entry.blocks = sum(len(block.kept) for block in item.values())
        entry.dropped = sum(int((~block.kept).sum()) for block in item.values())


def redraw(folder, out):
    experiment = load_experiment(EXPERIMENTS / f"{folder.name}.py")
    result = gm.open_result(folder)
    result.plots, result.title = experiment.plots, experiment.title
    count_blocks(result, folder)
    return save_all(result, (out / folder.name if out else folder) / "plots")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    for folder in given.folders:
        for path in redraw(folder, given.out):
            print(path)


if __name__ == "__main__":
    main()
