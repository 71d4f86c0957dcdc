import math

import pandas as pd
import pytest

import gasmeter as gm
from gasmeter.measuring.summary import summarise_run
from gasmeter.rows.record import COLUMNS, Record
from gasmeter.stores.moved import MOVED_COLUMNS, MOVED_HEADS, moved_lines
from gasmeter.stores.result import Result

AS_IT_IS = "mesh3d:4x4x4"


def row(machine, value, *, topology=AS_IT_IS, metric="latency", unit="ns", **others):
    base = dict.fromkeys(COLUMNS, "") | {"kernel": "ping-pong", "op": "put", "conduit": "extoll", "kind": "modelled"}
    numbers = {"ranks": 2, "size_bytes": 8, "seed": 1, "repetition": 0, "nodes": 1, "n": 6, "host_state_ns": math.nan}
    interval = {"ci_low": value, "ci_high": value, "min": value, "p50": value, "p99": value}
    told = {"machine": machine, "topology": topology, "placement": "fill", "metric": metric, "unit": unit}
    told |= {"value": value, "label": "predicted", "verified": True, "oversubscribed": False}
    return base | numbers | interval | told | {"run_id": f"{machine} {topology}"} | others


def result(*rows):
    return Result([Record("group", rows=list(rows))], name="what-if")


def test_the_largest_effect_comes_first_whichever_way_it_went():
    table = result(
        row("extoll", 1000.0),
        row("extoll+link.bandwidth=1.25 GB/s", 900.0),
        row("extoll", 3000.0, topology="torus3d:4x4x4"),
        row("extoll+link.header=14 B", 500.0),
    ).moved()
    assert tuple(table.columns) == MOVED_COLUMNS
    assert list(table["what_if"]) == ["topology = torus3d:4x4x4", "link.header = 14 B", "link.bandwidth = 1.25 GB/s"]
    assert list(table["ratio"]) == [3.0, 0.5, 0.9]
    assert list(table["better"]) == [False, True, True]
    assert list(table["before"]) == [1000.0] * 3
    assert set(table["label"]) == {"predicted"}
    assert set(table["kind"]) == {"modelled"}


def test_more_is_better_of_rates():
    gups = {"metric": "gups", "unit": "GUP/s"}
    found = result(row("extoll", 0.1, **gups), row("extoll+velo.mailbox_slots=256", 0.08, **gups))
    assert list(found.moved()["better"]) == [False]
    (line,) = moved_lines(found)
    assert len(line) == len(MOVED_HEADS)
    assert line[-3:] == ["0.8", "worse", "modelled, predicted"]


def test_what_differs_within_the_scatter_of_blocks_is_called_so():
    rows = [row("extoll", 100.0, ci_low=80.0, ci_high=120.0), row("extoll+link.header=14 B", 90.0)]
    assert list(result(*rows).moved()["apart"]) == [False]
    assert moved_lines(result(*rows))[0][-2] == "within the scatter of blocks"


@pytest.mark.parametrize(("value", "shown"), [(99.0, "0.9900"), (100.0012, "1.000012"), (88.0, "0.88")])
def test_a_ratio_shows_that_something_moved(value, shown):
    assert moved_lines(result(row("extoll", 100.0), row("extoll+link.header=14 B", value)))[0][-3] == shown


def test_every_column_of_the_table_has_a_head():
    assert all(MOVED_HEADS)


def test_what_did_not_move_is_one_line():
    rows = [row("extoll", 5.0, size_bytes=size) for size in (8, 64)]
    rows += [row("extoll+link.header=14 B", 5.0, size_bytes=size) for size in (8, 64)]
    assert set(result(*rows).moved()["better"]) == {None}
    ((what, count, *_, ratio, verdict, label),) = moved_lines(result(*rows))
    assert (what, count, ratio, verdict) == ("link.header = 14 B", "all 2 figures", "1", "unmoved")
    assert label == "modelled, predicted"


def test_only_the_same_benchmark_is_compared():
    rows = [row("extoll", 5.0, size_bytes=8), row("extoll+link.header=14 B", 4.0, size_bytes=64)]
    assert result(*rows).moved().empty
    assert result(row("", 5.0)).moved().empty
    assert result().moved().empty


def test_placements_are_compared_with_their_own_and_with_the_first():
    table = result(
        row("extoll", 10.0),
        row("extoll", 20.0, placement="round-robin"),
        row("extoll+link.header=14 B", 5.0, placement="round-robin"),
    ).moved()
    assert dict(zip(table["what_if"], table["ratio"], strict=True)) == {
        "placement = round-robin": 2.0, "link.header = 14 B": 0.25,
    }  # fmt: skip


@pytest.mark.usefixtures("machine")
def test_the_summary_of_a_run_says_what_moved(tmp_path):
    experiment = gm.Experiment(
        name="wide", kernel="ping-pong", conduit="extoll", op="put", sizes="8",
        machine=("extoll", "extoll+link.bandwidth=1.25 GB/s"),
    )  # fmt: skip
    found = experiment.run(tmp_path)
    assert isinstance(found.moved(), pd.DataFrame)
    assert "## Effects of what-ifs" in (tmp_path / "summary.md").read_text()
    assert "link.bandwidth = 1.25 GB/s" in summarise_run(experiment, found)
    plain = gm.Experiment(name="plain", kernel="ping-pong", conduit="extoll", op="put", sizes="8")
    assert "Effects of what-ifs" not in summarise_run(plain, plain.run())
