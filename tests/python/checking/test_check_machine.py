"""`gasmeter hardware`: a machine of numbers against rows that nobody published, and EXTOLL for real."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.checking import check, check_points, findings, modelled
from gasmeter.cli import cli
from gasmeter.errors import CheckFailed, UsageError
from gasmeter.machines import checks
from gasmeter.machines.checks import read_checks, weight
from gasmeter.machines.hardware import Fact, facts
from invented_hardware import FACTS, POINT, TRIP, TRIP_NS, published

LONG = "a source, with commas, whose title is so long that no table has room for it " * 5
ROWS = {
    **FACTS,
    "hw.a.trip": replace(FACTS["hw.a.trip"], source=LONG),
    "hw.a.extra": Fact("hw.a.extra", "n", "what a conduit adds", "0.5..2", "us", "s", "low", ()),
    "hw.a.clock": Fact("hw.a.clock", "n", "clock", "2.0", "GHz", "s", "high", ()),
    "hw.a.word": Fact("hw.a.word", "n", "word", "64", "B", "s", "high", ()),
    "hw.a.guess": Fact("hw.a.guess", "n", "guess", "1", "us", "s", "low", ()),
    "hw.b.clock": Fact("hw.b.clock", "n", "clock", "2.0", "GHz", "s", "high", ()),
}
TEXT = f"""{TRIP}[[check]]
machine = "extoll"
hardware = "hw.a.extra"
published = "0.5..2 us"
kind = "range"
modelled = "conduit - card"
[check.points.conduit]
kernel = "ping-pong"
op = "am-short"
conduit = "extoll"
metric = "round_trip"
options = {{ am = "1" }}
iterations = 10
[check.points.card]
{POINT}[[check]]
machine = "extoll"
hardware = "hw.a.links"
published = "45 Gbit/s"
kind = "at_least"
modelled = "12 * link.bandwidth"
[[left_out]]
hardware = "hw.a.clock"
why = "prices rest on instructions"
"""
CONDUIT_NS = 4000.0


@pytest.fixture
def invented(machine, monkeypatch):
    """The fake machine takes times of its own, and is held against rows that nobody published."""
    published(monkeypatch, ROWS, TEXT)
    monkeypatch.setattr(
        "fakes.cost_ns", lambda kernel, op, conduit, size: CONDUIT_NS if conduit == "extoll" else TRIP_NS
    )
    return machine


def call(*words):
    return CliRunner().invoke(cli, ["hardware", *words])


def test_every_row_is_run_once_and_held_against_its_value(invented):
    series = check_points("extoll")
    assert [(one.kernel, one.op, one.conduit, one.size) for one in series] == [
        ("ping-pong", ("am-medium",), ("raw@extoll",), (8,)), ("ping-pong", ("am-short",), ("extoll",), None),
    ]  # fmt: skip
    assert {one.machine for one in check_points("extoll+draw=3")} == {("extoll+draw=3",)}
    trip, extra, links = check("extoll")
    assert trip.modelled == pytest.approx(TRIP_NS / 2 * 1e-9)
    assert (trip.shown, trip.ratio) == (pytest.approx(1.45), pytest.approx(1.45 / 1.5))
    assert extra.modelled == pytest.approx((CONDUIT_NS - TRIP_NS) * 1e-9)
    assert links.modelled == 12 * 625e6
    assert [entry.holds for entry in (trip, extra, links)] == [True, True, True]


def test_rows_of_several_draws_are_told_apart(invented):
    experiment = gm.Experiment(
        name="e", series=(*check_points("extoll"), *check_points("extoll+draw=3+link.bandwidth=1 GB/s"))
    )
    rows = experiment.run().rows
    rows = [row if row["machine"] == "extoll" else {**row, "value": 2 * row["value"]} for row in rows]
    trip = next(row for row in rows if row["conduit"] == "raw@extoll" and row["metric"] == "round_trip")
    others = [{**trip, "value": 7.0, "reference": "smp"}, {**trip, "metric": "gups", "unit": "GUP/s"}]
    rows = [*others, *rows]  # a difference to something else, and what no check row asks for
    own, drawn = modelled(rows, "extoll"), modelled(rows, "extoll+draw=3+link.bandwidth=1 GB/s")
    assert drawn["hw.a.trip"] == 2 * own["hw.a.trip"]
    assert (own["hw.a.links"], drawn["hw.a.links"]) == (7.5e9, 12e9)
    assert weight("extoll", own) == pytest.approx(math.exp(-((math.log(1.5 / 1.45) / math.log(1.05)) ** 2) / 2))
    written = list(csv.DictReader(io.StringIO(_csv(rows))))
    assert modelled(written, "extoll") == pytest.approx(own)
    with pytest.raises(
        UsageError, match=r"^machine extoll\+draw=4: no row of ping-pong am-medium on raw@extoll for check"
    ):
        modelled(rows, "extoll+draw=4")


def _csv(rows):
    from gasmeter.rows.formats import to_csv

    return to_csv(rows)


def test_what_nobody_uses_is_found(invented):
    assert [(entry.fact.id, entry.why) for entry in findings("extoll")] == [
        ("hw.a.clock", "prices rest on instructions"), ("hw.a.word", ""),
    ]  # fmt: skip
    assert findings("ideal") == []


def test_the_table_says_row_source_confidence_values_and_whether_it_is_in(invented):
    found = call("extoll")
    assert (found.exit_code, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    trip, source = (line for line in lines if "hw.a.trip" in line)
    assert trip.split()[:8] == ["hw.a.trip", "high", "1.5", "us", "1.45", "us", "0.967", "in"]
    assert source.startswith("source: hw.a.trip: a source, with commas")
    assert " ".join(LONG.split()) in " ".join(found.stdout.split())
    links = next(line for line in lines if "hw.a.links" in line)
    assert "at least 45 Gbit/s" in links
    assert "60 Gbit/s" in links
    assert lines[0].startswith("machine extoll: 3 of 3 check rows are in. 1 of them is a bound, which does")
    assert "ratio of a range: over its geometric middle" in lines
    assert "unused: hw.a.clock: clock 2.0 GHz (prices rest on instructions)" in lines
    assert "unused: hw.a.word: word 64 B (nobody says why)" in lines


def test_a_row_that_is_out_is_exit_status_one(invented):
    found = call("extoll+link.bandwidth=400 MB/s")
    assert found.exit_code == 1
    assert "machine extoll+link.bandwidth=400 MB/s" in found.stdout
    assert "OUT" in next(line for line in found.stdout.splitlines() if "hw.a.links" in line)
    assert "2 of 3 check rows are in" in " ".join(found.stdout.split())


def test_csv_and_json_hold_the_same(invented):
    found = call("extoll", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert [row["hardware"] for row in rows] == ["hw.a.trip", "hw.a.extra", "hw.a.links"]
    assert (rows[0]["unit"], rows[0]["holds"]) == ("us", "true")
    assert float(rows[0]["modelled"]) == pytest.approx(1.45)
    assert len(found.stderr.splitlines()) == 2
    said = json.loads(call("extoll", "--format", "json").stdout)
    assert (said["machine"], said["digest"]) == ("extoll", gm.machine("extoll").digest)
    assert [entry["ratio"] for entry in said["checks"]] == pytest.approx([float(row["ratio"]) for row in rows])
    assert [entry["hardware"] for entry in said["unused"]] == ["hw.a.clock", "hw.a.word"]
    assert call("extoll", "--format", "json").stderr == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extol", "unknown machine 'extol'; did you mean 'extoll'?"),
        ("ideal", "machine ideal has no check rows: nobody measured such hardware; allowed: extoll"),
        ("extoll+draw=4096", "draw=4096 of machine extoll does not exist; allowed: whole numbers from 0 to 4095"),
    ],
)
def test_a_machine_that_cannot_be_checked_is_one_line_and_status_two(invented, name, message):
    found = call(name)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"Error: {message}")
    assert len(found.stderr.splitlines()) == 1


def test_data_that_arrive_wrong_are_no_check(invented, monkeypatch):
    monkeypatch.setattr("fakes.ModelJob.verify", lambda _, **__: {"verified": False, "errors": 3, "checked": 8})
    with pytest.raises(CheckFailed):
        check("extoll")


# ---- for real


def test_extoll_has_a_value_for_every_row():
    found = call("extoll", "--format", "json")
    assert found.exit_code in {0, 1}
    said = json.loads(found.stdout)
    assert [entry["hardware"] for entry in said["checks"]] == [
        entry.hardware for entry in checks.checks().checks if entry.machine == "extoll"
    ]
    assert all(entry["modelled"] > 0 for entry in said["checks"])
    assert {entry["hardware"] for entry in said["unused"]} <= set(facts())
    assert call("extoll", "--format", "json").stdout == found.stdout


@pytest.mark.parametrize(
    "name",
    ["extoll", "ibv", "ipoib", "ethernet", "sci", "gm", "gm-marenostrum", "portals", "portals-catamount"],
)
def test_four_times_the_work_moves_no_check_row(name, monkeypatch):
    before = {entry.check.hardware: entry for entry in check(name)}
    text = (checks._FILE).read_text()
    longer = read_checks(re.sub(r"iterations = (\d+)", lambda found: f"iterations = {4 * int(found[1])}", text))
    monkeypatch.setattr("gasmeter.checking.points.checks", lambda: longer)
    after = {entry.check.hardware: entry.modelled for entry in check(name)}
    for row, entry in before.items():
        beyond = {entry.check.deviation(entry.modelled), entry.check.deviation(after[row])} == {0}  # a bound or range
        assert abs(after[row] / entry.modelled - 1) < 0.02 or beyond, row
