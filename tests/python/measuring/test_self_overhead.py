"""Cost of the tool itself: measured in empty blocks, shown in one line of summary, page and `doctor`."""

import importlib.util
import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli
from gasmeter.diagnosis import doctor
from gasmeter.errors import UsageError
from gasmeter.measuring import self_overhead
from gasmeter.measuring.self_overhead import SelfOverhead, self_overhead_line

READING_NS, EMPTY_NS, PUT_NS = 40.0, 1.4, 2.0 + 8 / 50  # times of the fake machine


@pytest.fixture
def exact(machine):
    machine.noise, machine.reading_ns = 0.0, READING_NS
    return machine


def puts(out, **settings):
    return gm.measure("ping-pong", op="put", conduit="smp", sizes=8, iterations=10, progress=False, out=out, **settings)


def test_a_block_of_one_operation_tells_the_clock_from_the_loop(exact):
    overhead = SelfOverhead.measured(exact.start_pool(2))
    assert overhead.block_ns == pytest.approx(READING_NS)
    assert overhead.operation_ns == pytest.approx(EMPTY_NS)
    assert exact.blocks == 2 * 25
    assert not exact.pools[0].sessions


def test_a_host_that_has_no_time_is_asked_three_times(exact, monkeypatch):
    monkeypatch.setattr(self_overhead, "_LONGEST_S", 0.0)
    SelfOverhead.measured(exact.start_pool(2))
    assert exact.blocks == 2 * 3


def test_summary_and_page_say_its_share_of_the_smallest_latency(exact, tmp_path):
    result = puts(tmp_path)
    (facts,) = [run["host"]["self_overhead"] for run in json.loads((tmp_path / "run.json").read_text())["runs"]]
    assert facts == pytest.approx({"block_ns": READING_NS, "operation_ns": EMPTY_NS})
    share = (EMPTY_NS + READING_NS / 10) / PUT_NS
    line = self_overhead_line(result.records, result.runs)
    assert line == (
        "self-overhead: begin and end of a block 40 ns (reading the clock), an empty operation of its loop 1.4 ns at"
        f" most; together at most {share:.2g} times the smallest latency, 2.16 ns (ping-pong put 8 B on smp, blocks of"
        " 10);"
        " not in it: what the loop keeps in caches, ranks that begin late, polls, other programs"
    )
    assert line in (tmp_path / "summary.md").read_text()
    assert line in (tmp_path / "report.html").read_text()
    stored = gm.open_result(tmp_path)
    assert self_overhead_line(stored.records, stored.runs) == line


def test_long_blocks_share_their_begin_and_end(exact, tmp_path):
    gm.measure("ping-pong", op="am-short", conduit="smp", iterations=4000, progress=False, out=tmp_path)
    share = 100 * (EMPTY_NS + READING_NS / 4000) / 140
    assert f"together at most {share:.2g} % of the smallest round trip, 140 ns" in (tmp_path / "summary.md").read_text()


def test_virtual_time_has_none(exact, tmp_path):
    gm.measure("ping-pong", op="put", conduit="ideal", sizes=8, progress=False, out=tmp_path)
    assert not exact.pools
    for name in ("summary.md", "report.html"):
        text = (tmp_path / name).read_text().replace("&#39;", "'")
        assert "self-overhead: none, since the tool's own work takes no virtual time" in text
    assert "self_overhead" not in json.loads((tmp_path / "run.json").read_text())["runs"][0]["host"]


def test_measured_beside_modelled_says_so_of_either(exact, tmp_path):
    gm.measure("ping-pong", op="put", conduit="smp,ideal", sizes=8, progress=False, out=tmp_path)
    text = (tmp_path / "summary.md").read_text()
    assert "the smallest latency, 2.16 ns (ping-pong put 8 B on smp" in text
    assert "modelled figures have none of it" in text


def test_a_run_without_workers_for_it_has_no_line(exact, tmp_path, monkeypatch):
    def refuse(pool):
        raise UsageError("no such kernel")

    monkeypatch.setattr(SelfOverhead, "measured", refuse)
    result = puts(tmp_path)
    assert result.rows
    assert "self-overhead" not in (tmp_path / "summary.md").read_text()
    (finding,) = doctor._self_overhead()
    assert (finding.state, finding.summary) == ("warning", "not measured: no such kernel")


def test_nothing_is_asked_without_a_folder(exact):
    puts(None)
    assert all(not pool.sessions for pool in exact.pools)
    before = exact.blocks
    puts(None)
    assert exact.blocks == 2 * before  # no blocks beside those of the point


def test_doctor_tells_it(exact):
    (finding,) = doctor._self_overhead()
    assert finding.value == pytest.approx({"block_ns": READING_NS, "operation_ns": EMPTY_NS})
    assert finding.summary.startswith(
        "begin and end of a block 40 ns (reading the clock), an empty operation of its loop"
    )
    assert finding.summary.endswith("; in virtual time nothing")
    assert exact.pools[0].closed


@pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")
def test_it_is_measured_on_real_ranks(tmp_path):
    words = ("measure", "ping-pong", "--op", "put", "--conduit", "smp", "--sizes", "8", "--time", "5ms", "--out")
    done = CliRunner().invoke(cli, [*words, str(tmp_path)])
    assert done.exit_code == 0, done.output
    facts = json.loads((tmp_path / "run.json").read_text())["runs"][0]["host"]["self_overhead"]
    assert 0 < facts["operation_ns"] < 1e6
    assert facts["block_ns"] >= 0
    assert "self-overhead: begin and end of a block" in (tmp_path / "summary.md").read_text()
