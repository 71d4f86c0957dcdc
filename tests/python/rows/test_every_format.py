"""Everything that can be run, through every format and every export: what the catalogue lists, not what a hand wrote.

Every kernel, operation and variant on every conduit is asked for once, with a few operations; what the core refuses in
one line runs nowhere else. One store of all rows serves every format and export.
"""

import csv
import io
import itertools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.arguments.choices import FORMATS
from gasmeter.catalogue import catalogue
from gasmeter.cli.app import cli
from gasmeter.cli.export_store import STORE_EXPORTS
from gasmeter.errors import EnvironmentLacks, ResourceError, UsageError
from gasmeter.exchange.osu import read_osu
from gasmeter.measuring import context
from gasmeter.measuring.runner import Runner
from gasmeter.rows.direction import better
from gasmeter.rows.formats import render
from gasmeter.rows.record import COLUMNS
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store

TINY = {"iterations": 2, "time": 0.001, "max_time": 0.01}
OPTIONS = {"immediate": {"messages": "20", "sleep": "1"}, "loggp": {"messages": "2"}}
SIZES = {"random-access": "256K"}
MAY_LACK = {"mpi", "raw@mpi"}
BESIDE = (
    {"conduit": "smp", "against": "raw@shm"},
    {"conduit": "ideal", "against": "smp"},
    {"conduit": "smp", "against": "ideal"},
    {"conduit": "extoll", "topology": "ring:4", "placement": "fill,one-per-node,round-robin,list:0,3"},
    {"conduit": "extoll", "machine": "extoll,extoll+link.bandwidth=1.25 GB/s", "topology": "ring:2,mesh2d:2x2"},
    {"conduit": "udp", "options": {"protocol": "amudp"}},
    {"conduit": "ideal", "seed": 7},
)
"""Columns that rows may have beside kernel, operation, variant and conduit."""


@dataclass
class Everything:
    """All that ran, and what did not."""

    result: Result
    store: object
    ran: set = field(default_factory=set)
    lacking: set = field(default_factory=set)

    @property
    def rows(self):
        return self.result.rows


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    entry, records, ran, lacking = catalogue(), [], set(), set()
    with Runner() as runner:

        def measure(kernel, **settings):
            records.extend(gm.measure(kernel, runner=runner, **TINY, **settings).records)

        for kernel, conduit in itertools.product(entry.kernels.values(), entry.conduits):
            variants = ("",) if conduit.startswith("raw@") else (kernel.variants or ("",))
            for op, variant in itertools.product((op.name for op in kernel.ops), variants):
                if conduit in lacking:
                    continue
                try:
                    measure(
                        kernel.name,
                        conduit=conduit,
                        op=op,
                        variant=variant,
                        sizes=SIZES.get(kernel.name, "8"),
                        options=OPTIONS.get(kernel.name),
                    )
                except UsageError:
                    continue
                except (EnvironmentLacks, ResourceError):
                    lacking.add(conduit)
                else:
                    ran.add((kernel.name, op, variant, conduit))
        for number, settings in enumerate(BESIDE):
            measure("ping-pong", op="put", sizes=16 << number, **settings)
    place = tmp_path_factory.mktemp("everything") / "store"
    run = {"started": context.now(), "git": "0123456789abcdef" * 2, "host": context.host_facts()}
    store = Store(place, "everything", resume=False, run=run)
    for record in records:
        store.append(record)
    result = Result(records, name="everything")
    store.finish(result, "complete", plots=False)
    return Everything(result, place, ran, lacking)


def with_value(rows):
    return [row for row in rows if math.isfinite(row["value"])]


def test_everything_that_the_catalogue_lists_runs_somewhere(everything):
    entry = catalogue()
    assert everything.lacking <= MAY_LACK
    ran = everything.ran
    assert {(kernel, op) for kernel, op, _, _ in ran} == {
        (kernel.name, op.name) for kernel in entry.kernels.values() for op in kernel.ops
    }
    assert {conduit for *_, conduit in ran} == set(entry.conduits) - everything.lacking
    assert {(kernel, variant) for kernel, _, variant, _ in ran if variant} == {
        (kernel.name, variant) for kernel in entry.kernels.values() for variant in kernel.variants
    }
    assert everything.result.errors == []
    assert {row["kind"] for row in everything.rows} == {"measured", "modelled", "mixed"}
    assert {row["placement"] for row in everything.rows if row["topology"]} >= {"one-per-node", "list:0,3"}


def as_table(text, rows):
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines[0] == "2 ranks"  # all that they agree in
    assert len(lines) == 3 + len(rows)  # heads, a rule, and a line each
    assert all(" …" in line or " - " in line for line in lines[3:])


def as_csv(text, rows):
    read = list(csv.DictReader(io.StringIO(text)))
    assert tuple(read[0]) == COLUMNS
    assert [entry["run_id"] for entry in read] == [row["run_id"] for row in rows]
    assert [float(entry["value"] or "nan") for entry in read] == pytest.approx(
        [row["value"] for row in rows], nan_ok=True
    )


def as_json(text, rows):
    read = json.loads(text)
    assert [(entry["run_id"], entry["metric"], entry["state"]) for entry in read] == [
        (row["run_id"], row["metric"], row["state"]) for row in rows
    ]


def as_osu(text, rows):
    expected = with_value(rows)
    back = list(read_osu(text, "x"))
    assert sorted((entry.metric, entry.kind, entry.size_bytes) for entry in back) == sorted(
        (row["metric"], row["kind"], row["size_bytes"]) for row in expected
    )
    for metric in {row["metric"] for row in expected}:
        results = sorted(entry.value for entry in back if entry.metric == metric)
        assert results == pytest.approx(sorted(row["value"] for row in expected if row["metric"] == metric), rel=6e-3)


CHECKS = {"table": as_table, "csv": as_csv, "json": as_json, "osu": as_osu}


@pytest.mark.parametrize("form", FORMATS)
def test_every_row_goes_through_every_format(everything, form, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    CHECKS[form](render(everything.rows, form), everything.rows)


def google(files, rows):
    (text,) = files.values()
    names = {entry["name"] for entry in json.loads(text)["benchmarks"]}
    assert len(names) == len(rows)


def asv(files, rows):
    (results,) = (json.loads(text)["results"] for name, text in files.items() if name.endswith("-gasmeter.json"))
    smaller = [row for row in rows if better(row["metric"], row["unit"]) == "smaller"]
    assert len(results) == len(smaller) > 0


def osu(files, rows):
    (text,) = files.values()
    as_osu(text, rows)


def otava(files, rows):
    (table,) = (text for name, text in files.items() if name.endswith(".csv"))
    heads, line = csv.reader(io.StringIO(table))
    judged = [row for row in rows if better(row["metric"], row["unit"]) != "neither"]
    assert len(set(heads)) == len(heads) == len(line) == len(judged) + 2 > 2


EXPORTS = {
    "osu": osu, "google-benchmark": google, "asv": asv, "otava": otava,
}  # fmt: skip


@pytest.mark.parametrize("name", [command.name for command in STORE_EXPORTS])
def test_every_row_goes_through_every_export(everything, tmp_path, name):
    done = CliRunner().invoke(cli, ["export", name, str(everything.store), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.stderr
    files = {path: Path(path).read_text(encoding="utf-8") for path in done.stdout.split()}
    EXPORTS[name](files, with_value(everything.rows))
