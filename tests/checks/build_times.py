"""Print the cost of a build: CPU seconds of every compiler run, by folder, file and target, and their total.

    python tests/checks/build_times.py [--work DIR] [--jobs N] [--longest N] [CMAKE_ARGUMENT ...]

The script builds the parts that `pip install .` builds (library, extension, worker, probe, plug-ins) in an empty
folder, without ccache. This same script starts every compiler run and records its cost. Further arguments go to CMake:
-DGASMETER_TESTS=ON adds the tests, -DGASMETER_UNITY=OFF compiles every file by itself. CPU seconds show the cost of a
change of the sources even on a busy machine; wall time does so on an idle machine only.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pybind11

ROOT = Path(__file__).resolve().parents[2]
RECORD = "--record"


@dataclass(frozen=True)
class Run:
    """One run of the compiler: CPU seconds, the most memory it took in bytes, and the file it wrote."""

    seconds: float
    memory: int
    output: str

    @property
    def source(self) -> str:
        """File of the run, without the folders of the build: the unity file, the source, or the product of a link."""
        return self.output.split(".dir/", 1)[-1].removesuffix(".o")

    @property
    def folder(self) -> str:
        """The target, and of its object files the layer they belong to."""
        if ".dir/" not in self.output:
            return "links"
        target = Path(self.output.split(".dir/", 1)[0]).name
        name = self.source
        if "/unity_" in f"/{name}":
            layer = name.rsplit("unity_", 1)[1].removesuffix("_cxx.cxx").rstrip("_0123456789")
            return f"{target} {layer}".rstrip()
        parts = name.split("/")
        layer = parts[2] if parts[:2] == ["cpp", "gasmeter"] and len(parts) > 3 else ""
        return f"{target} {layer}".rstrip()


def record(log: Path, command: list[str]) -> int:
    """Run a command and append its cost to a log, in one short write, so that lines of parallel runs stay whole."""
    status = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else command[-1]
    with log.open("a") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss * 1024} {output}\n")
    return status


def build(work: Path, jobs: int, arguments: list[str]) -> tuple[list[Run], float, float]:
    """Configure and build in a folder; return the compiler's runs, CPU seconds and wall seconds of all of it."""
    log = work / "times"
    behind = f"{sys.executable};{Path(__file__).resolve()};{RECORD};{log}"
    configure = ["cmake", "-S", str(ROOT), "-B", str(work), "-G", "Ninja", "-DGASMETER_PYTHON=ON"]
    configure += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={behind}", f"-DCMAKE_CXX_LINKER_LAUNCHER={behind}"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    configure += [*os.environ.get("CMAKE_ARGS", "").split(), *arguments]
    began = time.monotonic()
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(work), "--parallel", str(jobs)], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line.split(" ", 2) for line in log.read_text().splitlines()]
    runs = [
        Run(float(seconds), int(memory), output) for seconds, memory, output in lines if "CMakeScratch" not in output
    ]
    return runs, used.ru_utime + used.ru_stime, time.monotonic() - began


def table(runs: list[Run], longest: int) -> Iterator[str]:
    """Yield the lines of the two tables: folders, then the files that took longest."""
    folders: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        folders[run.folder].append(run)
    yield f"{'folder':<40} {'files':>5} {'CPU s':>7} {'most memory':>12}"
    for folder, members in sorted(folders.items(), key=lambda item: -sum(run.seconds for run in item[1])):
        most = max(run.memory for run in members) / 2**20
        yield f"{folder:<40} {len(members):>5} {sum(run.seconds for run in members):>7.1f} {most:>8.0f} MiB"
    yield ""
    yield f"{'file':<68} {'CPU s':>7}"
    for run in sorted(runs, key=lambda run: -run.seconds)[:longest]:
        yield f"{run.source[-68:]:<68} {run.seconds:>7.1f}"


def main() -> int:
    """Build and print, or, as a compiler's launcher, record one run of it."""
    if sys.argv[1:2] == [RECORD]:
        return record(Path(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--work", type=Path, help="folder to build in, which must not exist; without it, a temporary one"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="compiler runs at a time (default: one a core)"
    )
    parser.add_argument("--longest", type=int, default=20, help="how many files to name (default: 20)")
    options, arguments = parser.parse_known_args()
    os.environ["CCACHE_DISABLE"] = "1"
    with contextlib.ExitStack() as stack:
        work = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.work:
            work.mkdir(parents=True)
        try:
            runs, cpu, wall = build(work.resolve(), options.jobs, arguments)
        except subprocess.CalledProcessError as error:
            print(
                f"Error: `{' '.join(map(str, error.cmd[:3]))} …` failed with status {error.returncode}", file=sys.stderr
            )
            return 1
    print(*table(runs, options.longest), sep="\n")
    compiled = sum(run.seconds for run in runs)
    print(
        f"\n{len(runs)} runs of the compiler: {compiled:.0f} CPU s; with CMake: {cpu:.0f} CPU s, {wall:.0f} s of wall"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
