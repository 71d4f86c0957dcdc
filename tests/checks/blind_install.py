"""Check that figures do not depend on published statements: `blind_install.py [PAPER] [--figures N,…]`.

The script copies the installed package and removes its published statements: claims and predicates. The copy and the
package run the figures of a paper quickly. Rows and points must be the same, byte for byte.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

STATED = ("claims.csv", "predicates.toml", "tables.toml")
WRITTEN = ("results.csv", "points.csv")


def run(folder, out, paper, figures):
    """Run figures with the package that lies in a folder."""
    command = [sys.executable, "-m", "gasmeter", "reproduce", paper, "--quick", "--out", str(out)]
    command += ["--figures", figures] if figures else []
    place = {**os.environ, "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, env=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-500:]}")
    return {name: (out / name).read_bytes() for name in WRITTEN}


def main():
    """Run twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", nargs="?", default="extoll")
    parser.add_argument("--figures", default="")
    given = parser.parse_args()
    spec = find_spec("gasmeter")
    if spec is None or spec.origin is None:
        raise SystemExit("gasmeter is not installed")
    package = Path(spec.origin).parent
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        copies = {how: place / how for how in ("usual", "blind")}
        for copy in copies.values():
            shutil.copytree(package, copy / "gasmeter", ignore=shutil.ignore_patterns("__pycache__"))
        for stated in STATED:
            (copies["blind"] / "gasmeter" / "published" / stated).unlink()
        came = {how: run(copy, place / f"out_{how}", given.paper, given.figures) for how, copy in copies.items()}
    differ = [name for name in WRITTEN if came["usual"][name] != came["blind"][name]]
    lines = came["usual"]["results.csv"].count(b"\n") - 1
    print(f"{lines} rows of {given.paper} with and without its statements: {', '.join(differ) or 'nothing'} differs")
    raise SystemExit(1 if differ or not lines else 0)


if __name__ == "__main__":
    main()
