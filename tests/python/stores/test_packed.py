"""Packed tables give back every byte, and what is published keeps to its limits."""

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

from gasmeter.stores.files import check_files, digests, read_content
from gasmeter.stores.packed import pack, packed_name, point_name
from gasmeter.stores.tables import read_run
from gasmeter.sweeps.point import Budget, Point

ROOT = Path(__file__).resolve().parents[3]
MB = 1 << 20  # as du counts
PAPERS = ("aries", "extoll", "portals", "sci", "xlupc")
MOST = {"results": 12 * MB, "paper": 2 * MB, "file": 1.5 * MB}
HEADS = (
    "experiment", "kernel", "op", "variant", "conduit", "network", "kind", "machine", "topology", "placement", "nodes",
    "ranks", "size_bytes", "options", "metric", "value", "unit", "reference", "min", "p50", "p99", "n", "repetition",
    "seed", "run_id",
)  # fmt: skip


def point(**given):
    """A modelled point, with what counts in its name beside the row."""
    budget = Budget(iterations=7, blocks=1, time_s=0.001)
    facts = {"kernel": "flood", "op": "put", "conduit": "extoll", "machine": "extoll+draw=3", "nodes": 2, "seed": 2,
             "machine_digest": "0123456789abcdef", "size_bytes": 64,
             "options": {"window": "4", "local": "segment"}}  # fmt: skip
    return Point(**{**facts, "budget": budget, **given})


def row(of, metric, value, unit):
    """A row of results.csv, as text."""
    cells = of.model_dump(include=set(HEADS) - {"options"})
    options = ";".join(f"{name}={text}" for name, text in of.options.items())
    cells |= {"run_id": of.id, "options": options, "metric": metric, "value": repr(value), "unit": unit, "n": 1}
    cells |= {"min": repr(value), "p50": repr(value), "p99": repr(value), "experiment": "x", "kind": "modelled"}
    return {name: str(cells.get(name, "")) for name in HEADS}


def text(rows):
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def hashed(of):
    budget = of.budget.model_dump()
    iterations = json.dumps(budget.pop("iterations"))
    budget = {name: value for name, value in budget.items() if (name, value) != ("blocks", None)}
    return {"machine_digest": of.machine_digest, "budget": json.dumps(budget), "iterations": iterations}


@pytest.fixture
def tables():
    points = [point(), point(size_bytes=128), point(machine="", machine_digest="", budget=Budget()), point(seed=9)]
    rows = [
        row(points[0], "latency", 15357.95275, "ns"), row(points[0], "bandwidth", 266969231.79603553, "B/s"),
        row(points[0], "rate", 266969231.79603553 / 64, "1/s"), row(points[1], "latency", 1 / 3, "ns"),
        row(points[2], "latency", 5e-324, "ns"), row(points[3], "error_fraction", 0.0, "ratio"),
        {**row(points[3], "latency", 1e300, "ns"), "p99": "2e+300"},
    ]  # fmt: skip
    planned = [{"run_id": one.id, "line": 'a, "line"', "x": x} for one, x in zip(points, (8, 0.5, 64, 7), strict=True)]
    planned.append({"run_id": "f" * 16, "line": "not run", "x": 3})
    counted = [
        {"run_id": points[0].id, "kernel": "flood", "seed": "2", "value": "44", "operations": "20.0",
         "per_operation": "2.2"},
        {"run_id": points[1].id, "kernel": "other", "seed": "2", "value": "3", "operations": "0.0",
         "per_operation": ""},
    ]  # fmt: skip
    files = {"results.csv": text(rows), "points.csv": text(planned), "counters.csv": text(counted)}
    return files, {one.id: hashed(one) for one in points[:3]}


def test_a_name_is_the_one_of_its_point(tables):
    for one in (point(), point(budget=Budget(), machine="", machine_digest=""), point(options={}, variant='µ"x')):
        assert point_name(row(one, "latency", 1.0, "ns"), *hashed(one).values()) == one.id


def test_every_byte_comes_back(tables, tmp_path):
    files, points = tables
    for name, content in pack(files, points).items():
        (tmp_path / name).write_bytes(content)
    assert {name: read_content(tmp_path, name) for name in files} == files
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    plain = digests(tmp_path, files)
    for name in files:
        (tmp_path / name).unlink()
    assert digests(tmp_path, files) == plain
    check_files(tmp_path, {"files": plain})


def test_a_damaged_table_is_no_file_of_the_store(tables, tmp_path):
    files, points = tables
    for name, content in pack(files, points).items():
        (tmp_path / name).write_bytes(content[:-9])
    with pytest.raises(OSError, match=r"arquet"):
        read_content(tmp_path, "results.csv")


def tracked():
    """Bytes by path of everything below results/ that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode or not listed.stdout:
        pytest.skip("not a clone")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return {name: (ROOT / name).stat().st_size for name in names if (ROOT / name).exists()}


def test_what_is_published_keeps_to_its_limits():
    sizes = tracked()
    assert sum(sizes.values()) <= MOST["results"]
    assert {name: size for name, size in sizes.items() if size > MOST["file"]} == {}
    papers = {paper: sum(s for name, s in sizes.items() if name.startswith(f"results/{paper}/")) for paper in PAPERS}
    assert {paper: size for paper, size in papers.items() if size > MOST["paper"]} == {}


@pytest.mark.parametrize("paper", PAPERS)
def test_published_tables_are_those_that_were_run(paper):
    folder = ROOT / "results" / paper
    run = read_run(folder)
    assert (folder / packed_name("results.csv")).exists()
    check_files(folder, run)
    assert run["reproduction"]["rows"]["modelled"] > 10_000
