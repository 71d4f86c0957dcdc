"""Check exports by the programs that read them: asv and Apache Otava, from PyPI, in an environment of their own.

    python tests/checks/consumers.py [--work DIR]

Otava must find a planted step of an invented history where it was planted, and nothing else. asv must publish the value
of a stored row. The script prints a line for each program. Status 1 if one of them reads something else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from gasmeter.exchange import to_asv, to_otava  # noqa: E402
from gasmeter.stores.store import open_result  # noqa: E402
from invented_histories import Plan, write_history  # noqa: E402

PROGRAMS = ("asv", "apache-otava")
STEP_RUN, STEP_SERIES = 12, 1
METRIC = "measured/smp/ping-pong/put/size:8/ranks:2/latency"


def installed(work: Path) -> Path:
    """Install the programs; return the folder of their commands."""
    venv.create(work, with_pip=True, clear=True)
    subprocess.run([work / "bin" / "pip", "install", "--quiet", *PROGRAMS], check=True)
    return work / "bin"


def written(files: dict[str, str], folder: Path) -> None:
    """Write an export's files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def otava_finds_the_step(commands: Path, stores: list[Path], folder: Path) -> str:
    """Return what is wrong with Otava's reading of a history; empty if nothing is."""
    written(to_otava(stores), folder)
    command = [commands / "otava", "analyze", "gasmeter", "--output", "json", "--since", "2023-01-01"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "OTAVA_CONFIG": "otava.yaml"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.strip().splitlines()[-1])["gasmeter"]
    steps = [(change["metric"], change["index"]) for point in found for change in point["changes"]]
    return "" if steps == [(METRIC, STEP_RUN)] else f"otava finds {steps}, planted is {(METRIC, STEP_RUN)}"


def asv_publishes_the_value(commands: Path, store: Path, folder: Path) -> str:
    """Return what is wrong with asv's reading of a store; empty if nothing is."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost"]
    folder.mkdir()
    subprocess.run([*git, "init", "--quiet", "--initial-branch", "main"], cwd=folder, check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "one"], cwd=folder, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    facts = json.loads((store / "run.json").read_text(encoding="utf-8"))
    facts["runs"][-1]["git"] = head.stdout.strip()
    (store / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    settings = {"version": 1, "project": "gasmeter", "repo": ".", "branches": ["main"], "results_dir": "results",
                "html_dir": "html", "environment_type": "existing"}  # fmt: skip
    (folder / "asv.conf.json").write_text(json.dumps(settings), encoding="utf-8")
    written(to_asv(store), folder / "results")
    subprocess.run([commands / "asv", "publish"], cwd=folder, check=True, capture_output=True)
    name = METRIC.replace("/", ".").replace(":", "_")
    (graph,) = (path for path in folder.glob(f"html/graphs/**/{name}.json") if "summary" not in path.parts)
    ((_, seconds),) = json.loads(graph.read_text(encoding="utf-8"))
    (row,) = (row for row in open_result(store).rows if row["metric"] == "latency" and row["conduit"] == "smp")
    return "" if abs(seconds * 1e9 - row["value"]) < 1e-6 else f"asv shows {seconds} s, stored is {row['value']} ns"


def main() -> int:
    """Run both programs on an invented history; return the status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, help="folder of the programs' environment; a temporary one if left out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        commands = installed(given.work or place / "programs")
        plan = Plan(runs=24, series=4, steps={STEP_SERIES: [(STEP_RUN, 1.2)]}, outliers=0.0)
        stores = write_history(place / "history", plan)
        faults = {
            "otava": otava_finds_the_step(commands, stores, place / "otava"),
            "asv": asv_publishes_the_value(commands, stores[0], place / "asv"),
        }
    for program, fault in faults.items():
        print(f"{program}: {fault or 'reads what was written'}")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
