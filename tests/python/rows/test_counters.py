"""Counters of conduits and devices: kept with each point, shown by the store and the command line."""

import importlib.util

import pandas as pd
import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.catalogue import declared
from gasmeter.cli import cli
from gasmeter.errors import UsageError
from gasmeter.rows.counters import COUNTER_COLUMNS
from gasmeter.stores.store import open_result
from stored import edit_journal

compiled = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")


def by_name(result):
    table = result.counters()
    return dict(zip(table["counter"], table["value"], strict=True))


def test_counters_are_those_of_the_measured_blocks_of_all_ranks(machine, tmp_path):
    result = gm.Experiment(name="c", kernel="ping-pong", conduit="udp", op="am-short", time_s=0.01).run(tmp_path)
    (point,) = {row["run_id"] for row in result.rows}
    table = result.counters(point)
    assert tuple(table.columns) == COUNTER_COLUMNS
    blocks = sum(len(columns["block"]) for columns in result.records[0].samples[:1])
    # The fake counts 10 a block on each of two ranks, and 7 retransmits before the first of them.
    assert by_name(result) == {"messages": 2 * 10 * blocks, "retransmits": 0}
    operations = sum(result.records[0].samples[0]["iterations"])
    assert table["operations"].tolist() == [operations, operations]
    assert table["per_operation"].tolist() == [20 * blocks / operations, 0]
    assert set(table["unit"]) == {"1"}
    read = pd.read_csv(tmp_path / "counters.csv", keep_default_na=False)
    assert tuple(read.columns) == COUNTER_COLUMNS
    assert read["value"].tolist() == table["value"].tolist()
    pd.testing.assert_frame_equal(open_result(tmp_path).counters(), table)


def test_modelled_points_are_counted_too(machine):
    result = gm.measure("ping-pong", conduit="ideal", op="am-short", iterations=100)
    operations = sum(result.records[0].samples[0]["iterations"])
    assert by_name(result) == {"messages": operations, "stalls": 0}


def test_where_nothing_counts_there_is_no_file(machine, tmp_path):
    result = gm.Experiment(name="c", kernel="ping-pong", conduit="smp", op="put", sizes="8").run(tmp_path)
    assert result.counters().empty
    assert not (tmp_path / "counters.csv").exists()


def test_a_worker_that_is_older_than_counters_measures_without_them(machine, monkeypatch):
    def unknown(self, fields):
        raise UsageError("command 'counters' is unknown; known: open, block, verify, close")

    monkeypatch.setattr("fakes.Pool._counters", unknown)
    result = gm.measure("ping-pong", conduit="udp", op="am-short", time=0.01)
    assert result.verified
    assert result.counters().empty


def test_journals_without_counters_are_read(machine, tmp_path):
    gm.Experiment(name="c", kernel="ping-pong", conduit="udp", op="am-short", time_s=0.01).run(tmp_path)
    edit_journal(tmp_path, lambda entry: entry.pop("counters"))
    assert open_result(tmp_path).counters().empty
    assert open_result(tmp_path).rows


def test_the_command_line_shows_them_below_the_table_or_on_standard_error(machine):
    line = ["measure", "ping-pong", "--conduit", "udp", "--op", "am-short", "--time", "10ms", "--counters"]
    shown = CliRunner().invoke(cli, line)
    assert shown.exit_code == 0
    assert "per operation" in shown.stdout
    assert "0 everywhere: retransmits" in shown.stdout
    rows = CliRunner().invoke(cli, [*line, "--format", "csv"])
    assert "per operation" not in rows.stdout
    assert "per operation" in rows.stderr
    none = CliRunner().invoke(cli, [*line[:3], "smp", *line[4:]])
    assert "counters: none" in none.stdout


@compiled
@pytest.mark.parametrize(
    ("conduit", "options", "positive"),
    [
        ("udp", {}, {"messages", "datagrams"}),
        ("udp", {"protocol": "amudp"}, {"messages", "datagrams"}),
        ("udp", {"loss": 0.05}, {"messages", "datagrams", "retransmits"}),
        ("smp", {}, {"ring_messages", "ring_bytes"}),
        ("smp", {"threads": "true"}, {"ring_messages", "ring_bytes"}),
        ("ideal", {}, {"messages", "packets", "packet_bytes"}),
        ("extoll", {}, {"messages", "packets"}),
        ("ibv", {}, {"messages", "commands"}),
        ("gm", {}, {"messages", "commands"}),
        ("udp@ethernet", {}, {"messages", "datagrams", "packets", "interrupts"}),
        ("mpi@extoll", {}, {"messages", "two_sided_messages", "packets"}),
    ],
)
def test_what_each_conduit_counts(conduit, options, positive):
    placement = "one-per-node" if conduit not in {"smp", "udp", "ideal"} else ""
    result = gm.measure("ping-pong", conduit=conduit, op="am-medium", sizes="64", iterations=200, options=options,
                        time=0.05, placement=placement)  # fmt: skip
    counters = by_name(result)
    assert set(counters) <= set(declared().counters)
    assert positive <= {name for name, times in counters.items() if times}
    # A round trip is a request and a reply of 64 bytes; little comes on top between blocks.
    per_operation = dict(zip(result.counters()["counter"], result.counters()["per_operation"], strict=True))
    if conduit == "smp":
        assert 2 <= per_operation["ring_messages"] < 2.2
        assert 2 * (64 + 8) <= per_operation["ring_bytes"] < 2 * 1.1 * (64 + 24)
        assert counters["ring_stalls"] == 0
        return
    assert 2 <= per_operation["messages"] < 2.2
    assert 128 <= per_operation["payload_bytes"] < 140


@compiled
def test_ranks_of_a_modelled_node_count_their_rings():
    result = gm.measure("ping-pong", conduit="extoll", op="am-short", iterations=50, placement="list:0,0",
                        options={"neighbourhood": "true"})  # fmt: skip
    counters = by_name(result)
    (operations,) = set(result.counters()["operations"])
    assert 2 * operations <= counters["ring_messages"] < 2.2 * operations + 40
    assert counters["messages"] < operations


@compiled
def test_a_full_ring_is_counted():
    # Handlers that spin for ten round trips: whoever sends is faster on any machine, and has more than a ring holds.
    slow = {"debug_spin": "10"}
    counters = by_name(gm.measure("flood", conduit="smp", op="am-short", iterations=200000, time=0.05, options=slow))
    assert counters["ring_stalls"] > 0


@compiled
def test_transfers_are_those_of_the_kernel_and_stalls_show_where_it_waits_for_room():
    result = gm.measure("flood", conduit="ibv", op="put", sizes="64K", iterations=100, placement="one-per-node")
    counters = by_name(result)
    (operations,) = set(result.counters()["operations"])
    assert counters["transfers"] == operations
    assert counters["payload_bytes"] == operations * 65536
    assert counters["stalls"] > 0
