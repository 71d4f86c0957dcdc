"""The pages "your own kernel": the C++ project builds against the installed package and is measured; Python's runs."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "tests/cpp/own_kernel"
CPP_PAGE = ROOT / "cpp/gasmeter/kernels/README.md"
PYTHON_PAGE = ROOT / "docs/programs.md"


def blocks(page, language):
    """The fenced code of a page."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def code_lines(text, comment):
    """Lines that are neither blank, comment nor include."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith((comment, "#include"))]


def run(*command, **options):
    """Run a command, show what it printed if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def cmake():
    """The program cmake: of the system, or of the environment that runs the tests."""
    found = shutil.which("cmake", path=os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)]))
    if found is None:
        pytest.skip("no cmake")
    return found


@pytest.fixture(scope="module")
def prefix(cmake, tmp_path_factory):
    """The CMake package, installed from ``GASMETER_CPP_BUILD`` or from a quick build of its own."""
    folder = tmp_path_factory.mktemp("package")
    build = os.environ.get("GASMETER_CPP_BUILD")
    if build is None:
        build = folder / "build"
        # Not a speed test: no optimisation, and so less than half the time.
        run(cmake, "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Quick", "-DCMAKE_CXX_FLAGS=-O0")
        run(cmake, "--build", build, "--parallel", os.cpu_count() or 1)
    run(cmake, "--install", build, "--component", "cpp", "--prefix", folder / "prefix")
    return folder / "prefix"


@pytest.fixture(scope="module")
def own_rank(cmake, prefix, tmp_path_factory):
    """The example's worker program."""
    return built(cmake, PROJECT, prefix, tmp_path_factory.mktemp("own"))


def built(cmake, project, prefix, folder):
    """The worker program of a project against the installed package."""
    run(cmake, "-S", project, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS=-O1")
    run(cmake, "--build", folder)
    return folder / "own-rank"


def gasmeter(*arguments, rank):
    """Run the command line with a worker program of one's own."""
    return run(sys.executable, "-m", "gasmeter", *arguments, env={**os.environ, "GASMETER_RANK": str(rank)})


@pytest.mark.timeout(900)
def test_own_kernel_is_measured_on_real_ranks(own_rank):
    table = gasmeter(
        "measure", "shift", "--conduit", "smp", "--sizes", "64,4K", "--time", "50ms", "--format", "csv", rank=own_rank
    )
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["kernel"], row["metric"], row["size_bytes"]) for row in rows] == [
        ("shift", "latency", "64"),
        ("shift", "latency", "4096"),
    ]
    assert all(row["verified"] == "true" and float(row["value"]) > 0 for row in rows)
    assert "shift" in gasmeter("list", "kernels", rank=own_rank)


@pytest.mark.timeout(900)
def test_own_kernel_that_marks_its_operations_is_traced_on_real_ranks(cmake, prefix, tmp_path):
    asked = ("trace", "shift", "--conduit", "smp", "--sizes", "64", "--iterations", "20", "--format", "csv")
    shutil.copytree(PROJECT, tmp_path / "own")
    source = (PROJECT / "shift.cpp").read_text()
    put = re.search(r"ep\.put\(.*\);", source)[0]
    marked = f"ep.host().mark(Mark::begin), {put[:-1]}, ep.host().mark(Mark::end);"
    (tmp_path / "own/shift.cpp").write_text(source.replace(put, marked))
    rank = built(cmake, tmp_path / "own", prefix, tmp_path / "build")
    steps = list(csv.DictReader(io.StringIO(gasmeter(*asked, rank=rank))))
    assert len({step["operation"] for step in steps}) == 20
    assert "copy" in {step["step"] for step in steps}


@pytest.mark.timeout(900)
def test_kernels_of_the_library_stay_available(own_rank):
    table = gasmeter("measure", "barrier", "--conduit", "smp", "--time", "50ms", "--format", "csv", rank=own_rank)
    assert next(csv.DictReader(io.StringIO(table)))["verified"] == "true"


def test_page_shows_the_sources_of_the_example():
    shown = blocks(CPP_PAGE, "cpp")
    assert shown[0] == (PROJECT / "shift.cpp").read_text()
    assert blocks(CPP_PAGE, "cmake")[0] == (PROJECT / "CMakeLists.txt").read_text()
    assert len(code_lines(shown[0], "//")) <= 30


@pytest.mark.timeout(120)
def test_python_example_of_the_page_runs_and_has_twenty_lines(tmp_path):
    source = blocks(PYTHON_PAGE, "python")[0]
    assert len(code_lines(source, "#")) <= 20
    script = tmp_path / "own_kernel.py"
    script.write_text(source)
    assert re.fullmatch(r"\d+ ns per round trip, verified\n", run(sys.executable, script))
