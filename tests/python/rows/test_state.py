"""The state of each row: whether its figure can be relied on, and where that is said."""

import json
import math
import os
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.measuring import load
from gasmeter.measuring.load import Load, disturbs
from gasmeter.measuring.summary import digest
from gasmeter.rows.formats import render
from gasmeter.rows.state import state_of, states_line, worst
from gasmeter.statistics import Interval
from gasmeter.stores.store import open_result
from stored import edit_journal, edit_rows

CALM = Interval(100.0, 98.0, 103.0, 30)


def measured(**settings):
    return gm.measure(**{"kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8", "time": 0.05, **settings})


@pytest.mark.parametrize(
    ("interval", "disturbed", "state"),
    [
        (CALM, {}, "good"),
        (Interval(100.0, 89.0, 110.0, 30), {}, "noisy"),
        (Interval(100.0, math.nan, math.nan, 5), {}, "few blocks"),
        (CALM, {"left_out": 0.6}, "moved"),
        (CALM, {"left_out": 0.5}, "good"),
        (CALM, {"loaded": True}, "load"),
        (Interval(100.0, math.nan, math.nan, 1), {"modelled": True}, "good"),
        (Interval(math.nan, math.nan, math.nan, 0), {"modelled": True}, "few blocks"),
        (Interval(100.0, 1.0, 900.0, 30), {"modelled": True, "loaded": True, "left_out": 1.0}, "good"),
    ],
)
def test_a_state_follows_from_interval_probe_load_and_blocks(interval, disturbed, state):
    given = {"modelled": False, "left_out": 0.0, "loaded": False, **disturbed}
    assert state_of(interval, interval.median, **given) == state


def test_states_in_words():
    assert states_line(["good", "good"]) == "all 2 rows good"
    assert states_line(["good", "noisy", "moved", "noisy"]) == "1 of 4 rows good, 1 moved, 2 noisy"
    assert states_line(["", ""]) == states_line([]) == ""
    assert worst(["good", "", "load", "noisy"]) == "load"
    assert worst([""]) == ""


def test_a_ruined_measurement_says_so_everywhere(machine, tmp_path):
    machine.noise = 1.5
    experiment = gm.Experiment(
        name="ruin", kernel="ping-pong", op="put", sizes=("8", "64", "512"), conduit="smp", against="raw@shm"
    )
    result = experiment.run(tmp_path)
    (row, *_) = [row for row in result.rows if row["metric"] == "overhead"]
    assert row["ci_high"] > 2
    assert {row["state"] for row in result.rows} == {"noisy"}
    table = render(result.rows, "table")
    assert all("noisy" in line for line in table.splitlines() if "latency" in line or "overhead" in line)
    assert {entry["state"] for entry in json.loads(render(result.rows, "json"))} == {"noisy"}
    assert "0 of 9 rows good, 9 noisy" in result.disturbance()
    assert "noisy" in (tmp_path / "summary.md").read_text()
    assert {line[-1] for line in digest(result)[1]} == {"noisy"}
    figure = result.plot()
    assert "9 noisy" in figure.get_supxlabel().replace("\n", " ")
    assert all(any(line.get_marker() == "x" for line in axes.get_lines()) for axes in figure.axes)
    assert (tmp_path / "results.csv").read_text().splitlines()[0].endswith(",run_id,state")


def test_a_calm_measurement_is_good(machine):
    result = measured(against="raw@shm")
    assert {row["state"] for row in result.rows} == {"good"}
    assert "all 3 rows good" in result.disturbance()
    assert "crossed" not in result.disturbance()


def test_cores_that_move_all_the_time_leave_no_good_row(machine, monkeypatch):
    monkeypatch.setattr("gasmeter.measuring.probe.INTERVAL_S", 0.0)
    machine.probe_ns = lambda now: 110.0 * 2 ** (machine.probes % 2)
    rows = measured(against="raw@shm", conduit="smp,ideal").rows
    assert {row["conduit"]: row["state"] for row in rows if not row["reference"]} == {
        "raw@shm": "moved", "smp": "moved", "ideal": "good",
    }  # fmt: skip
    assert {row["state"] for row in rows if row["reference"]} == {"moved"}


def test_a_busy_machine_is_told(machine):
    machine.others = 1.0
    rows = measured(conduit="smp,ideal").rows
    assert {row["conduit"]: row["state"] for row in rows} == {"smp": "load", "ideal": "good"}


def test_what_was_not_verified_is_not_good(machine):
    machine.unverified.add("put")
    assert {row["state"] for row in measured().rows} == {"few blocks"}


def test_stores_from_before_there_were_states_are_read(machine, tmp_path):
    result = gm.Experiment(name="old", kernel="ping-pong", op="put", sizes="8", conduit="smp", time_s=0.05).run(
        tmp_path
    )
    edit_journal(tmp_path, lambda entry: [row.pop("state") for row in entry["rows"]])
    old = open_result(tmp_path)
    assert [row["state"] for row in old.rows] == [""]
    assert set(old.frame()["state"]) == {""}
    assert "good" not in old.disturbance()
    assert render(old.rows, "csv") == render([{**row, "state": ""} for row in result.rows], "csv")
    assert "state" not in render(old.rows, "table")
    (tmp_path / "journal.jsonl").unlink()
    edit_rows(tmp_path, lambda text: "".join(line.rpartition(",")[0] + "\n" for line in text.splitlines()))
    assert open_result(tmp_path).rows == old.rows


def test_the_command_shows_states(machine):
    machine.noise = 1.5
    words = ["measure", "ping-pong", "--conduit", "smp", "--op", "put", "--sizes", "8", "--time", "50ms"]
    text = CliRunner().invoke(cli, words).stdout
    above, _, below = text.partition("95 % interval")
    assert "noisy" not in above
    assert "noisy" in below.partition("measured")[0]
    assert "0 of 1 rows good, 1 noisy" in text


@pytest.mark.parametrize(
    ("others", "ranks", "processors", "bad"),
    [
        (0.2, 2, 2, False),
        (0.3, 2, 2, True),
        (6.0, 2, 8, False),
        (6.3, 2, 8, True),
        (0.3, 8, 2, True),
        (math.nan, 2, 2, False),
    ],
)
def test_load_is_what_takes_processors_that_ranks_needed(others, ranks, processors, bad):
    assert disturbs(others, ranks, processors) is bad


def test_load_counts_neither_this_process_nor_its_ranks(monkeypatch):
    seconds = {"busy": 100.0, "own": 3.0, "now": 50.0}
    ranks = {7: 5.0}
    monkeypatch.setattr(load, "_busy_s", lambda: seconds["busy"])
    monkeypatch.setattr(load, "_own_s", lambda: seconds["own"])
    monkeypatch.setattr(load, "_of", lambda _: dict(ranks))
    monkeypatch.setattr(load.time, "monotonic", lambda: seconds["now"])
    loads = Load(list)
    seconds["now"] += 0.1
    assert math.isnan(loads.others())
    seconds.update(now=52.0, busy=106.0, own=4.0)
    ranks |= {7: 6.5, 8: 1.5}  # one has begun meanwhile
    assert loads.others() == pytest.approx((6.0 - 1.0 - 1.5 - 1.5) / 2)


def test_load_sees_another_program():
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        mine, theirs = Load(lambda: [program.pid]), Load(list)
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            os.sched_yield()
        difference = theirs.others() - mine.others()
    finally:
        program.kill()
        program.wait()
    assert difference > 0.01  # however many others there are
