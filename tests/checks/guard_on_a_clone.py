"""Follow the guard's workflow file, word for word, on a clone with a planted slow-down and on one without.

    python tests/checks/guard_on_a_clone.py [--work DIR] [--case planted|harmless]

The planted commit makes every active message on smp spin before its handler. The job has to go red, because of active
messages and nothing else. The harmless commit changes the same file and no instruction. The job has to stay green. Both
need a C++ compiler and minutes; ccache compiles unchanged files once.

The statistics allow one false alarm in twenty jobs. So a harmless commit that goes red is measured once more, and has
to stay green then.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "python" / "gasmeter" / "guard" / "workflows" / "github-actions.yml"
BASE = "${{ github.event.pull_request.base.sha }}"
SOURCE = "cpp/gasmeter/core/progress.ipp"
PLACE = "  message.handler = handler;\n"
PLANTED = '  for (int step = 0; step < 150; ++step) asm volatile("");\n'
HARMLESS = "  // What the handler is told of its message.\n"
AUTHOR = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")


@dataclass(frozen=True)
class Step:
    """A step of a job that is a command.

    Attributes
    ----------
    command : str
        For bash.
    always : bool
        Whether it runs after a failure, too.
    """

    command: str
    always: bool


def steps(text: str) -> list[Step]:
    """Return the commands of a workflow file of the one form that this project ships."""
    commands = []
    for block in re.split(r"^      - ", text, flags=re.MULTILINE)[1:]:
        run = re.search(r"^(?:        )?run: (?P<fold>>\n)?(?P<first>.*\n?(?:^          .*\n?)*)", block, re.MULTILINE)
        if run is None:
            continue
        command = " ".join(line.strip() for line in run["first"].splitlines())
        commands.append(Step(command.strip(), "if: always()" in block))
    return commands


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    done = subprocess.run(["git", "-C", str(folder), *AUTHOR, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def change(clone: Path, base: str, line: str) -> None:
    """Commit one more line at the beginning of every handler; the job judges this commit."""
    git(clone, "reset", "--hard", "--quiet", base)
    (clone / "check.xml").unlink(missing_ok=True)
    path = clone / SOURCE
    text = path.read_text()
    if text.count(PLACE) != 1:
        raise SystemExit(f"{SOURCE} has not one place to change: {PLACE.strip()!r}")
    path.write_text(text.replace(PLACE, PLACE + line))
    git(clone, "commit", "--quiet", "--all", "--message", "Change the way of a message to its handler")


def job(clone: Path, base: str, environment: dict[str, str]) -> int:
    """Run the job; return the status of the first step that failed, or 0."""
    status = 0
    for step in steps(WORKFLOW.read_text()):
        if status != 0 and not step.always:
            continue
        command = step.command.replace(BASE, base)
        print(f"$ {command}", flush=True)
        begun = time.monotonic()
        done = subprocess.run(["bash", "-ec", command], cwd=clone, env=environment, check=False)
        print(f"  status {done.returncode} after {time.monotonic() - begun:.0f} s", flush=True)
        status = status or done.returncode
    return status


def failures(report: Path) -> list[str]:
    """Return the names of the figures that failed; none if nothing was compared."""
    if not report.exists():
        return []
    return [str(case.get("name")) for case in ET.parse(report).iter("testcase") if case.find("failure") is not None]


def judge_planted(clone: Path, status: int) -> str:
    """Return why the job did not do what it should, or nothing."""
    if status != 1:
        return f"the job with the planted slow-down ended with status {status}, not 1"
    named = failures(clone / "check.xml")
    others = [name for name in named if " am-" not in name]
    if others:
        return f"the planted slow-down is one of active messages; blamed were {', '.join(others)}, too"
    if not any(name.startswith("ping-pong am-short") for name in named):
        return f"the round trip of a Short was slowed down; blamed were {', '.join(named) or 'none'}"
    print(f"red for the right reason: {len(named)} figures, all of active messages", flush=True)
    return ""


def main() -> int:
    """Follow the workflow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--work", type=Path, help="folder for clone, environment and builds, kept; else a temporary one"
    )
    parser.add_argument("--case", choices=("planted", "harmless"), help="only one of the two")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gasmeter-clone-") as temporary:
        work = (given.work or Path(temporary)).absolute()
        clone = work / "gasmeter"
        shutil.rmtree(clone, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        base = git(clone, "rev-parse", "HEAD")
        if not (work / "venv").exists():
            venv.create(work / "venv", with_pip=True)
        environment = {
            **os.environ,
            "PATH": f"{work}/venv/bin:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(work / "cache"),
            "GITHUB_STEP_SUMMARY": str(work / "summary.md"),
            "CCACHE_BASEDIR": str(work),
        }
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "GASMETER_RANK", "GASMETER_CACHE"):
            environment.pop(name, None)
        if given.case != "harmless":
            change(clone, base, PLANTED)
            if wrong := judge_planted(clone, job(clone, base, environment)):
                print(wrong, file=sys.stderr)
                return 1
        if given.case != "planted":
            change(clone, base, HARMLESS)
            status = job(clone, base, environment)
            if status == 1 and failures(clone / "check.xml"):
                print("red once; a second job decides", flush=True)
                status = job(clone, base, environment)
            if status != 0:
                print(f"the job with a commit that changed no instruction ended with status {status}", file=sys.stderr)
                return 1
            print("green without a slow-down", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
