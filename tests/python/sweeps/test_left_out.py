"""Points that cannot be measured are left out of a sweep, and a full disk keeps nothing from being printed."""

import csv
import errno
import io
import json
import os

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.errors import EnvironmentLacks, ResourceError, UsageError
from gasmeter.measuring.execution import Run, execute
from gasmeter.stores import files, journal, store

CONDUITS = "ideal,extoll,sci,portals,aries,gm,lapi,ibv,mpi@extoll"
SWEEP = ("measure", "ping-pong", "--op", "am-medium", "--sizes", "8,8K", "--iterations", "2", "--format", "csv")


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def rows_of(done):
    return [(row["conduit"], row["size_bytes"]) for row in csv.DictReader(io.StringIO(done.stdout))]


@pytest.mark.parametrize("against", [(), ("--against", "raw@extoll")])
def test_one_impossible_point_is_left_out_of_a_sweep_over_nine_conduits(against):
    done = run(*SWEEP, "--conduit", CONDUITS, *against)
    assert done.exit_code == 2
    assert {("extoll", "8192"), ("sci", "8"), ("portals", "8"), ("gm", "8192")} <= set(rows_of(done))
    assert not {("sci", "8192"), ("portals", "8192"), ("ideal", "8192")} & set(rows_of(done))
    (line,) = [line for line in done.stderr.splitlines() if "8 KiB on sci" in line]
    assert line.startswith("left out: ping-pong am-medium 8 KiB on sci, 2 ranks")
    assert "size 8192 B exceeds the largest Medium payload of 2048 B" in line
    assert f"5 of {20 if against else 18} points left out" in done.stderr


def test_a_reason_that_names_its_point_is_told_with_the_name_once():
    done = run(
        "measure", "collective", "--op", "gather", "--conduit", "ideal", "--ranks", "16", "--sizes", "8,1M",
        "--iterations", "1000", "--max-time", "100ms",
    )  # fmt: skip
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("left out")]
    assert "collective gather 1 MiB on ideal" in line
    assert line.count("collective gather") == 1


def test_the_store_of_such_a_sweep_is_complete_and_says_what_is_not_in_it(tmp_path):
    done = run(*SWEEP, "--conduit", "ideal,extoll", "--out", str(tmp_path / "x"))
    assert done.exit_code == 2
    facts = json.loads((tmp_path / "x" / "run.json").read_text())
    assert facts["state"] == "complete"
    assert "1 of 4 points left out" in facts["notes"]
    assert any("8 KiB on ideal" in line for line in facts["notes"])
    assert "8 KiB on ideal" in (tmp_path / "x" / "summary.md").read_text()
    assert gm.check(tmp_path / "x", baseline=tmp_path / "x").summary() == "passed: 3 same"


def test_where_every_point_is_impossible_there_is_one_line():
    done = run(*SWEEP[:5], "8K,16K", *SWEEP[6:], "--conduit", "ideal,sci")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    with pytest.raises(UsageError, match="largest Medium"):
        gm.measure("ping-pong", op="am-medium", conduit="ideal", sizes="8K")


def test_from_python_the_result_says_what_was_refused():
    result = gm.measure("ping-pong", op="am-medium", conduit="ideal,extoll", sizes="8K", iterations=2)
    assert [row["conduit"] for row in result.rows] == ["extoll"]
    (refusal,) = result.refusals
    assert isinstance(refusal, UsageError)
    assert "largest Medium payload of 4096 B" in str(refusal)


def test_an_experiment_ends_with_the_status_of_the_refusal(machine, tmp_path):
    path = tmp_path / "ours.py"
    path.write_text(
        "import gasmeter as gm\n"
        "ours = gm.Experiment(name='ours', series=[gm.Series(kernel='ping-pong', conduit='smp', op='am-medium',"
        " sizes='8,128K', time_s=0.01)])\n"
    )
    done = run("run", str(path), "--out", str(tmp_path / "out"))
    assert done.exit_code == 2, done.output
    assert "1 of 2 points left out" in done.stderr
    assert "report.html" in done.stdout


def test_what_this_computer_lacks_is_left_out_with_status_three(machine, monkeypatch):
    start = machine.start_pool

    def start_pool(ranks, binary=None):
        if ranks == 4:
            raise EnvironmentLacks("4 ranks do not fit here")
        return start(ranks, binary)

    monkeypatch.setattr("gasmeter.measuring.sessions._start_pool", start_pool)
    done = run(*SWEEP[:3], "put", "--sizes", "8", "--format", "csv", "--conduit", "smp", "--ranks", "2,4")
    assert done.exit_code == 3, done.output
    assert rows_of(done) == [("smp", "8")]
    assert "left out: ping-pong put 8 B on smp, 4 ranks: 4 ranks do not fit here" in done.stderr


def test_callers_that_make_their_own_of_the_rows_are_told_at_once():
    from gasmeter.measuring.measurement import measurement

    with pytest.raises(UsageError, match="largest Medium"):
        execute(
            measurement("ping-pong", op="am-medium", conduit="ideal,extoll", sizes="8K", iterations=2), Run(bare=True)
        )


def fill(monkeypatch, writes):
    """Let a disk have room for so many writes."""
    left = [writes]

    def write_all(handle, data):
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        real(handle, data)

    real = files.write_all
    for module in (files, journal, store):
        monkeypatch.setattr(module, "write_all", write_all)


@pytest.mark.parametrize("writes", range(9))
def test_measure_prints_what_it_measured_though_the_disk_is_full(machine, tmp_path, monkeypatch, writes):
    fill(monkeypatch, writes)
    arguments = (*SWEEP[:3], "put", "--sizes", "8,64", "--time", "10ms", "--format", "csv", "--conduit", "smp")
    done = run(*arguments, "--out", str(tmp_path / "x"))
    assert done.exit_code == 3, done.output
    assert rows_of(done) == [("smp", "8"), ("smp", "64")]
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: cannot write ")
    assert "No space left on device" in line


def test_from_python_and_in_a_sweep_a_full_disk_ends_it(machine, tmp_path, monkeypatch):
    fill(monkeypatch, 3)
    with pytest.raises(ResourceError, match="No space left"):
        gm.measure("ping-pong", op="put", conduit="smp", sizes="8,64", time=0.01, out=tmp_path / "x")
