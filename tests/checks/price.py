"""Check the price of a network (one folder and a machine file) and of a kernel (one file).

    python tests/checks/price.py [--work DIR]

The script copies the tree. In the copy, it adds `networks/ideal` and its machine file under another name, and
`kernels/barrier.cpp`. It installs the copy into an environment of its own and looks for both in every place a user
would: lists, measurements (the same picoseconds as the original), raw, a sweep, the conformance suite. A folder that
registers nothing must end the configuration in one line. The script prints its findings. Status 1 if anything is
missing. Needs a C++ compiler and minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NETWORK = "sandbox"
KERNEL = "rendezvous"
SWEEP = f"""
import gasmeter as gm

experiment = gm.Experiment(
    name="price",
    title="A network and a kernel that were copied",
    question="Do sweeps find them?",
    series=(
        gm.Series(kernel="ping-pong", op="put", sizes="8:64", conduit=("{NETWORK}",)),
        gm.Series(kernel="{KERNEL}", conduit=("{NETWORK}", "smp"), time_s=0.1),
    ),
)
"""


class Missing(Exception):
    """A part that has to follow by itself is missing."""


def copy_tree(work: Path) -> Path:
    """Copy the tracked files of this tree, as they are now."""
    tree = work / "tree"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    keep = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    if tree.exists():
        for old in [path for path in tree.rglob("*") if path.is_file()]:
            if str(old.relative_to(tree)) not in keep and not old.is_relative_to(tree / "build"):
                old.unlink()
    for name in keep:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, target)
    return tree


def renamed(text: str) -> str:
    """Return a text of the toy network as one of the new network."""
    return text.replace("ideal", NETWORK).replace("Ideal", NETWORK.capitalize())


def plant(tree: Path) -> list[str]:
    """Add the network with its machine and the kernel; return the files that are new."""
    new = []

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        new.append(str(path.relative_to(tree)))

    networks = tree / "cpp/gasmeter/networks"
    for source in sorted((networks / "ideal").rglob("*")):
        if source.is_file():
            target = networks / NETWORK / renamed(str(source.relative_to(networks / "ideal")))
            write(target, renamed(source.read_text(encoding="utf-8")))
    machines = tree / "python/gasmeter/machines"
    write(machines / f"{NETWORK}.toml", renamed((machines / "ideal.toml").read_text(encoding="utf-8")))
    barrier = (tree / "cpp/gasmeter/kernels/barrier.cpp").read_text(encoding="utf-8")
    kernel = barrier.replace("register_barrier", f"register_{KERNEL}").replace('"barrier"', f'"{KERNEL}"', 1)
    write(tree / f"cpp/gasmeter/kernels/{KERNEL}.cpp", kernel)
    return new


def install(tree: Path, work: Path) -> Path:
    """Install the copy with its conformance program; return the environment's Python."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(work / "venv", with_pip=True, system_site_packages=True)
        # The new environment has the packages of this one, too.
        paths = next((work / "venv/lib").glob("python3*/site-packages")) / "price.pth"
        paths.write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")), encoding="utf-8")
    arguments = f"{os.environ.get('CMAKE_ARGS', '')} -DGASMETER_CONFORMANCE=ON"
    environment = {**os.environ, "CMAKE_ARGS": arguments, "SKBUILD_BUILD_DIR": str(work / "cmake")}
    environment |= {"CCACHE_BASEDIR": str(tree)} if "CCACHE_DIR" in os.environ else {}
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", tree]
    subprocess.run(command, check=True, env=environment)
    return python


class Gasmeter:
    """The commands of the copy."""

    def __init__(self, python: Path, work: Path) -> None:
        self._python = python
        self._work = work

    def __call__(self, *words: str) -> str:
        command = [str(self._python), "-m", "gasmeter", *words]
        # Variables of this prefix would name the programs of another build.
        entry = {name: value for name, value in os.environ.items() if not name.startswith("GASMETER_")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self._work, env=entry)
        if done.returncode:
            raise Missing(f"gasmeter {' '.join(words)} ended with status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def measured(self, kernel: str, conduit: str, *words: str) -> list[float]:
        """Return the values of a measurement."""
        rows: list[dict[str, Any]] = json.loads(
            self("measure", kernel, "--conduit", conduit, "--ranks", "2", "--format", "json", *words)
        )
        if not rows or any(row["verified"] is not True and row["verified"] != "true" for row in rows):
            raise Missing(f"{kernel} on {conduit}: {rows}")
        return [row["value"] for row in rows]


def look(gasmeter: Gasmeter, work: Path) -> None:
    """Find both wherever a user would."""

    def expect(what: str, seen: bool, output: object = "") -> None:
        if not seen:
            raise Missing(f"{what}: {output}")
        print(f"  {what}", flush=True)

    conduits = [entry["name"] for entry in json.loads(gasmeter("list", "conduits", "--json"))]
    expect(f"{NETWORK} and raw@{NETWORK} are listed", {NETWORK, f"raw@{NETWORK}"} <= set(conduits), conduits)
    kernels = {entry["name"]: entry for entry in json.loads(gasmeter("list", "kernels", "--json"))}
    expect(f"{KERNEL} is listed", KERNEL in kernels, list(kernels))
    machines = [entry["name"] for entry in json.loads(gasmeter("list", "machines", "--json"))]
    expect("its machine is listed", NETWORK in machines, machines)
    put = ("--op", "put", "--sizes", "8:64K")
    copied, toy = (gasmeter.measured("ping-pong", name, *put) for name in (NETWORK, "ideal"))
    expect("puts take the toy network's picoseconds", copied == toy, (copied, toy))
    short = ("--op", "am-short")
    copied, toy = (gasmeter.measured("ping-pong", f"raw@{name}", *short) for name in (NETWORK, "ideal"))
    expect("raw takes the toy network's picoseconds", copied == toy, (copied, toy))
    copied, toy = (gasmeter.measured(name, NETWORK) for name in (KERNEL, "barrier"))
    expect(f"{KERNEL} takes a barrier's picoseconds", copied == toy, (copied, toy))
    expect(f"{KERNEL} is measured on real ranks", gasmeter.measured(KERNEL, "smp", "--max-time", "1") != [])
    sweep = work / "price.py"
    sweep.write_text(SWEEP, encoding="utf-8")
    shutil.rmtree(work / "out", ignore_errors=True)
    gasmeter("run", str(sweep), "--quick", "--out", str(work / "out"))
    rows = (work / "out/results.csv").read_text(encoding="utf-8")
    expect("a sweep has both", f",{NETWORK}," in rows and f",{KERNEL}," in rows, rows[:500])
    families = gasmeter("doctor", "--conformance", "--conduit", NETWORK)
    expect(f"the conformance suite passes on {NETWORK}", NETWORK in families, families)


def refuses_an_empty_folder(tree: Path, work: Path) -> None:
    """A folder without network.cpp ends the configuration, in a line that names it."""
    empty = tree / "cpp/gasmeter/networks/empty"
    empty.mkdir(exist_ok=True)
    try:
        command = ["cmake", "-S", str(tree), "-B", str(work / "refused")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        empty.rmdir()
    output = " ".join(done.stderr.split())
    if done.returncode == 0 or "cpp/gasmeter/networks/empty has no network.cpp" not in output:
        raise Missing(f"a folder without network.cpp: status {done.returncode}: {output}")
    print("  a folder without network.cpp is refused by name", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "price")
    work = parser.parse_args().work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        tree = copy_tree(work)
        new = plant(tree)
        print(f"{len(new)} new files: {', '.join(sorted({str(Path(name).parent) for name in new}))}", flush=True)
        look(Gasmeter(install(tree, work), work), work)
        refuses_an_empty_folder(tree, work)
    except Missing as error:
        print(f"MISSING: {error}")
        return 1
    print("price: a network is a folder and a machine file, a kernel is a file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
