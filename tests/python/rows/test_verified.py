"""`verified`: three values without a truth, what ranks' answers come to, and who says that rows were not checked."""

import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.loggp import read_curves
from gasmeter.loggp.fitting import fit_curves
from gasmeter.measuring.self_overhead import SelfOverhead, self_overhead_line
from gasmeter.measuring.verification import Verification, joined, verification_of
from gasmeter.rows.formats import csv_cell, json_value
from gasmeter.rows.jumps import jump_lines
from gasmeter.rows.verified import Verified, data_line
from gasmeter.stores.store import open_result

TRUE, FALSE, NOT_CHECKED = Verified.TRUE, Verified.FALSE, Verified.NOT_CHECKED
RIGHT = {"verified": "true", "errors": "0", "checked": "8", "silent": "0"}
IDLE = RIGHT | {"checked": "0"}


def test_its_truth_cannot_be_asked():
    for verified in Verified:
        with pytest.raises(TypeError, match=r"compare it, for instance with `is Verified\.TRUE`"):
            bool(verified)
    with pytest.raises(TypeError, match="no truth value"):
        all([TRUE, TRUE])


def test_it_equals_what_files_hold_and_nothing_else():
    assert [json_value(entry) for entry in Verified] == [True, False, "not_checked"]
    assert [csv_cell(entry) for entry in Verified] == ["true", "false", "not_checked"]
    assert [Verified.of(csv_cell(entry)) for entry in Verified] == list(Verified)
    assert [Verified.of(json_value(entry)) for entry in Verified] == list(Verified)
    assert [entry == True for entry in Verified] == [True, False, False]  # noqa: E712
    assert [entry == False for entry in Verified] == [False, True, False]  # noqa: E712
    assert NOT_CHECKED == "not_checked"
    with pytest.raises(ValueError, match="verified is 'maybe'; allowed: true, false, not_checked"):
        Verified.of("maybe")


@pytest.mark.parametrize(
    ("replies", "verified", "silent"),
    [
        ([RIGHT, RIGHT], TRUE, 0),
        ([RIGHT, IDLE], TRUE, 0),  # by its own word this rank has nothing to compare
        ([IDLE, IDLE], NOT_CHECKED, 0),
        ([RIGHT, IDLE | {"silent": "1"}], NOT_CHECKED, 1),
        ([RIGHT, {}], NOT_CHECKED, 1),
        ([{}, RIGHT], NOT_CHECKED, 1),
        ([RIGHT, {"errors": "0", "checked": "8"}], NOT_CHECKED, 1),
        ([RIGHT, RIGHT | {"verified": "false", "errors": "3"}], FALSE, 0),
        ([{}, RIGHT | {"verified": "false", "errors": "3"}], FALSE, 1),
        ([{"verified": True, "errors": 0, "checked": 8, "silent": 0}], TRUE, 0),
        ([{"verified": True, "errors": 0, "checked": 8, "silent": 2}], NOT_CHECKED, 2),
    ],
)
def test_a_job_is_verified_if_every_rank_that_has_something_to_compare_says_so(replies, verified, silent):
    result = verification_of(replies)
    assert (result.verified, result.silent) == (verified, silent)


def test_several_runs_are_as_good_as_the_worst():
    right, unchecked, wrong = (Verification(entry, 1, 8) for entry in (TRUE, NOT_CHECKED, FALSE))
    assert joined([]).verified is NOT_CHECKED
    assert joined([right, right]) == Verification(TRUE, 2, 16)
    assert joined([right, unchecked]).verified is NOT_CHECKED
    assert joined([unchecked, wrong, right]).verified is FALSE


def silence(machine, word):
    """Let rank 1 of every job answer the command `verify` by something else."""
    start = machine.start_pool

    def start_pool(ranks, binary=None):
        pool = start(ranks, binary)
        other = pool._other
        pool._other = lambda fields: word if fields["verb"] == "verify" else other(fields)
        return pool

    machine.start_pool = start_pool
    return start_pool


def test_a_rank_that_says_nothing_leaves_its_row_unchecked_and_is_named(machine, monkeypatch):
    monkeypatch.setattr("gasmeter.measuring.sessions._start_pool", silence(machine, {}))
    done = CliRunner().invoke(
        cli, ["measure", "ping-pong", "--conduit", "smp", "--op", "put", "--sizes", "8", "--format", "csv"]
    )
    assert done.exit_code == 0, done.output
    assert ",not_checked," in done.stdout
    assert "1 of 2 ranks kept silent about their data; the rows say not_checked" in done.stderr


def test_frames_have_three_values_too():
    result = gm.measure("ping-pong", conduit="ideal", op="put,call", sizes="8", iterations=2)
    frame = result.frame()
    assert frame["verified"].dtype == "boolean"
    assert list(frame[frame["verified"]]["op"]) == ["put"]
    assert not frame["verified"].fillna(False).all()
    assert (result.verified, result.unchecked) == (True, 1)
    assert [row["verified"] for row in result.rows] == [TRUE, NOT_CHECKED]


def test_a_line_on_points_counts_what_was_not_checked():
    assert data_line([TRUE, TRUE]) == "data verified"
    assert data_line([TRUE, NOT_CHECKED]) == "data verified, 1 of 2 points not checked"
    assert data_line([NOT_CHECKED]) == "data not checked"
    assert data_line([TRUE, FALSE, NOT_CHECKED]) == "1 of 3 points NOT verified"


def test_a_fit_says_how_many_rows_were_not_checked(tmp_path):
    gm.measure("loggp", conduit="ideal", op="am-medium", sizes="8,64,512,1K", iterations=2, out=tmp_path)
    path = tmp_path / "results.csv"
    assert not any("not checked" in line for line in fit_curves(read_curves(path)[0], draws=100).notes)
    path.write_text(path.read_text().replace(",true,", ",not_checked,", 1))
    (curves,) = read_curves(path)
    assert curves.unchecked == 1
    assert fit_curves(curves, draws=100).notes[0] == "1 of 16 rows were not checked: their data may be wrong"


def test_a_search_for_jumps_says_at_how_many_sizes_data_were_not_checked(machine, monkeypatch):
    monkeypatch.setattr("gasmeter.measuring.sessions._start_pool", silence(machine, {}))
    result = gm.measure("ping-pong", conduit="smp", op="put", sizes="8,16,32,64", bisect="20%", time=0.01)
    assert jump_lines(result.bisected) == ["no jump of more than 20 %; data not checked at 4 sizes"]


def test_the_smallest_latency_says_that_its_data_were_not_checked(machine, monkeypatch):
    monkeypatch.setattr("gasmeter.measuring.sessions._start_pool", silence(machine, {}))
    result = gm.measure("ping-pong", conduit="smp", op="put", sizes=8, iterations=10)
    latencies = {"block_ns": 40.0, "operation_ns": 1.4}
    assert SelfOverhead(**latencies)
    line = self_overhead_line(result.records, [{"host": {"self_overhead": latencies}}])
    assert "(ping-pong put 8 B on smp, data not checked, blocks of 10)" in line


def test_a_journal_keeps_the_three_values(tmp_path):
    gm.measure("ping-pong", conduit="ideal", op="put,call", sizes="8", iterations=2, out=tmp_path)
    entries = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [row["verified"] for entry in entries for row in entry["rows"]] == [True, "not_checked"]
    assert [row["verified"] for row in open_result(tmp_path).rows] == [TRUE, NOT_CHECKED]


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_kernels_say_which_ranks_have_nothing_to_compare(ranks):
    for kernel, settings in (
        ("ping-pong", {"op": "put,get,am-short,am-medium,am-long"}),
        ("flood", {"op": "put,get,am-short,am-medium,am-long"}),
        ("one-way", {"op": "put"}),
        ("local-completion", {}),
        ("vis", {"op": "strided-put,indexed-get"}),
        ("fetch-add", {"op": "latency,hot-spot"}),
        ("shared-access", {"op": "all"}),
        ("stressmark", {"op": "all"}),
        ("random-access", {"sizes": 64}),
    ):
        result = gm.measure(kernel, conduit="extoll", ranks=ranks, iterations=4, **{"sizes": 8, **settings})
        assert {row["verified"] for row in result.rows} == {TRUE}, (kernel, result.notes)
