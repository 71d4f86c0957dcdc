"""Plug-ins that are built where gasmeter is installed: what they are made of comes along, and misses are one line."""

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.diagnosis import plugins
from gasmeter.diagnosis.plugins import build_plugins, plugin_sources
from gasmeter.errors import EnvironmentLacks, UsageError

ROOT = Path(__file__).resolve().parents[2]
MADE = "cpp/gasmeter/base/version.hpp"  # by CMake
LISTED = [
    line for line in (ROOT / "cpp/cmake/plugins/sources.txt").read_text().splitlines() if not line.startswith("#")
]
CMAKE = """#!/bin/sh
case "$1" in
  -S) {configured} ;;
  --build) {built} ;;
esac
"""


@pytest.fixture
def cmake(tmp_path, monkeypatch):
    """A CMake that says and does what a test wants, sources to build from, and a folder for plug-ins."""
    monkeypatch.setattr(plugins, "plugin_sources", lambda: tmp_path)
    monkeypatch.setattr(plugins, "_program", lambda name: str(tmp_path / "cmake") if name == "cmake" else None)

    def says(configured="echo '-- MPI: openmpi (/usr/include)'; echo '-- MPI: mpich (/opt)'", built="true"):
        path = tmp_path / "cmake"
        path.write_text(CMAKE.format(configured=configured, built=built))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    says()
    return says


def test_what_a_plugin_includes_comes_along_and_nothing_else():
    included, left = set(), ["cpp/gasmeter/networks/mpi/plugin/mpi_plugin.cpp"]
    while left:
        name = left.pop()
        included.add(name)
        if name != MADE:
            includes = re.findall(r'^#include "(.+)"', (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
            left += [f"cpp/{other}" for other in includes if f"cpp/{other}" not in included]
    assert sorted(included - {MADE}) == sorted(name for name in LISTED if not name.endswith(".cmake"))
    listing = (ROOT / "cpp/cmake/plugins/CMakeLists.txt").read_text()
    assert re.findall(r"^include\((.+)\)", listing, flags=re.MULTILINE) == [
        n for n in LISTED[::-1] if n.endswith(".cmake")
    ]


def test_plugins_are_put_where_they_are_looked_for_or_where_one_says(cmake, tmp_path, monkeypatch):
    worker = tmp_path / "bin" / "gasmeter-rank"
    worker.parent.mkdir()
    monkeypatch.setattr(plugins, "worker_binary", lambda: worker)
    assert build_plugins() == [worker.parent / f"gasmeter-mpi-{name}.so" for name in ("openmpi", "mpich")]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["plugins", "build", "--out", "mine"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == str(tmp_path / "mine" / "gasmeter-mpi-openmpi.so")
    assert f"GASMETER_MPI_PLUGINS={tmp_path / 'mine'}" in done.stderr


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"configured": "echo '-- done'"}, "no MPI was found; install openmpi-bin"),
        (
            {"configured": "echo 'CMake Error: No CMAKE_CXX_COMPILER could be found.' >&2; exit 1"},
            "configuring plug-ins failed: CMake Error: No CMAKE_CXX_COMPILER",
        ),
        (
            {"built": "echo '[1/2] c++'; echo 'x.cpp:1: error: no such header'; echo more; exit 2"},
            "compiling plug-ins failed: x.cpp:1: error: no such header",
        ),
        ({"built": "exit 2"}, "compiling plug-ins failed: it says nothing"),
    ],
)
def test_what_is_missing_is_said_in_one_line(cmake, tmp_path, how, message):
    cmake(**how)
    done = CliRunner().invoke(cli, ["plugins", "build", "--out", str(tmp_path / "out")])
    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {message}")
    assert len(done.stderr.splitlines()) == 1


def test_without_cmake_sources_or_a_folder_it_says_so(cmake, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot write .*file/below.*--out"):
        build_plugins(tmp_path / "file" / "below")
    monkeypatch.setattr(plugins, "_program", lambda name: None)
    with pytest.raises(EnvironmentLacks, match="pip install cmake"):
        build_plugins(tmp_path / "out")
    monkeypatch.setattr(plugins, "plugin_sources", lambda: None)
    with pytest.raises(EnvironmentLacks, match="came without"):
        build_plugins(tmp_path / "out")


@pytest.mark.skipif(plugin_sources() is None, reason="needs an installed package")
@pytest.mark.skipif(shutil.which("mpicxx") is None or shutil.which("mpiexec") is None, reason="needs an MPI")
@pytest.mark.skipif(importlib.util.find_spec("cmake") is None, reason="needs cmake")
def test_an_installed_package_builds_plugins_that_its_worker_takes(tmp_path):
    built = build_plugins(tmp_path)
    assert built
    assert all(path.is_file() for path in built)
    mpi = built[0].stem.removeprefix("gasmeter-mpi-")
    words = ["measure", "ping-pong", "--op", "put", "--sizes", "8", "--conduit", "mpi", "--option", f"mpi={mpi}"]
    done = subprocess.run(
        [sys.executable, "-m", "gasmeter", *words, "--time", "10ms", "--format", "csv"], capture_output=True, text=True,
        env={**os.environ, "GASMETER_MPI_PLUGINS": str(tmp_path)}, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ",true," in done.stdout
