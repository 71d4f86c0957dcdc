"""Run every command of README.md and docs/tour.md, word for word, in a fresh copy of the repository and environment.

--here uses this copy, which has to be fresh, and the active environment. --first runs the first command alone, which
installs the package and runs its main job. The command that runs the tests is left out: the caller runs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST_COMMAND = "tests/run.sh"
PAGES = ("README.md", "docs/tour.md")  # in the order in which a reader comes to them


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


def commands(readme: str) -> list[str]:
    """Return the lines of all ``sh`` blocks, joined where a line ends in a backslash."""
    lines = "".join(blocks(readme, "sh")).replace("\\\n", "").splitlines()
    return [line.split("  #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


def run(lines: list[str], folder: Path, environment: dict[str, str]) -> int:
    """Run all in order and print every failure, because a reader goes on, too; return 1 if a command fails."""
    failed = []
    for line in lines:
        print(f"$ {line}", flush=True)
        status = subprocess.run(["bash", "-ec", line], cwd=folder, env=environment, check=False).returncode
        if status != 0:
            failed.append(f"{' and '.join(PAGES)}: exit status {status} of: {line}")
            print(failed[-1], file=sys.stderr, flush=True)
    print(f"{' and '.join(PAGES)}: {len(lines) - len(failed)} of {len(lines)} commands passed")
    print(*failed, sep="\n", end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


def main() -> int:
    """Run the commands in this copy (``--here``) or in a fresh copy and environment."""
    shown = {page: commands((ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
    if empty := [page for page, lines in shown.items() if not lines]:
        print(f"{' and '.join(empty)}: no commands", file=sys.stderr)
        return 1
    lines_to_run = [line for lines in shown.values() for line in lines if TEST_COMMAND not in line]
    options = set(sys.argv[1:])
    if "--first" in options:
        lines_to_run = lines_to_run[:1]
    if "--here" in options:
        return run(lines_to_run, ROOT, dict(os.environ))
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "gasmeter"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        venv.create(Path(folder) / "venv", with_pip=True)
        environment = {**os.environ, "PATH": f"{folder}/venv/bin:{os.environ['PATH']}"}
        environment.pop("VIRTUAL_ENV", None)
        return run(lines_to_run, clone, environment)


if __name__ == "__main__":
    sys.exit(main())
