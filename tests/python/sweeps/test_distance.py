"""Default places of modelled ranks, and their distance in everything that is shown."""

import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.catalogue import catalogue
from gasmeter.cli import cli
from gasmeter.measuring.measurement import measurement
from gasmeter.sweeps.distance import distance, distances, hops_between
from gasmeter.trace.virtual import points_of

pytest.importorskip("gasmeter._core")
PLACED = (
    "extoll", "ibv", "gm", "mpi@extoll", "mpi@ibv", "udp@ethernet", "udp@ibv", "raw@extoll", "raw@ibv", "raw@gm",
)  # fmt: skip


def place(placement, ranks, nodes, topology="mesh3d:4x4x4"):
    return {"topology": topology, "placement": placement, "ranks": ranks, "nodes": nodes}


def points(kernel, **settings):
    return [point for group in measurement(kernel, **settings).groups() for point in group.points]


@pytest.mark.parametrize("conduit", PLACED)
def test_measure_run_and_trace_put_ranks_on_nodes_of_their_own(conduit):
    measured = points("ping-pong", conduit=conduit, op="put", sizes="8")
    run = gm.Experiment(name="x", kernel="ping-pong", conduit=conduit, op="put", sizes="8").points()
    traced = points_of("put", conduit=conduit, sizes="8")
    for (point,) in (measured, run, traced):
        assert (point.placement, point.nodes) == ("one-per-node", 2)


def test_every_kernel_but_that_of_the_simulation_does():
    for kernel in catalogue().kernels.values():
        on = {"conduit": "extoll"}
        if kernel.measures_simulation:
            on = {"conduit": f"raw@{kernel.raw[0]}", "machine": "fabric+ranks_per_node=4 ranks"}
        result = points(kernel.name, sizes=4096, ranks=2, **on)
        assert {point.placement for point in result} == {"fill" if kernel.measures_simulation else "one-per-node"}


def test_more_ranks_than_nodes_go_round():
    result = points("barrier", conduit="extoll", ranks="64,65")
    assert [(point.placement, point.nodes) for point in result] == [("one-per-node", 64), ("round-robin", 64)]


def test_what_is_measured_by_default_lies_between_nodes():
    def latency(**where):
        frame = gm.measure("ping-pong", conduit="extoll", op="put", sizes=8, iterations=5, **where).frame()
        return frame["value"].iloc[0]

    assert latency() == latency(placement="one-per-node") == latency(placement="list:0,1")
    # 3.11 us for 1.29: of an active message through memory 0.95 us are what software executes, which cards add to.
    assert latency() > 2 * latency(placement="fill")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (place("fill", 2, 1), "same node"),
        (place("fill", 16, 1), "same node"),
        (place("one-per-node", 2, 2), "1 hop"),
        (place("list:0,63", 2, 2), "9 hops"),
        (place("list:5,5", 2, 1), "same node"),
        (place("list:5,5,6", 3, 2), "same node to rank 1, 1 at most"),
        (place("one-per-node", 64, 64), "1 hop to rank 1, 9 at most"),
        (place("fill", 20, 2), "same node to rank 1, 1 at most"),
        (place("round-robin", 100, 64), "1 hop to rank 1, 9 at most"),
        (place("one-per-node", 9, 9, "crossbar:16"), "2 hops"),
        (place("one-per-node", 2, 2, "klein-bottle:4"), ""),
        (place("one-per-node", 1, 1), ""),
        (place("cpus 0 1", 2, 1, ""), ""),
        (place("", 2, 1), ""),
    ],
)
def test_a_distance_is_counted_in_links(where, message):
    assert distance(where) == message


def test_the_span_of_many_rows_is_one_phrase():
    near, far, away = place("fill", 2, 1), place("one-per-node", 2, 2), place("list:0,63", 2, 2)
    assert distances([near]) == "same node"
    assert distances([far, far]) == "1 hop"
    assert distances([far, away]) == "1 to 9 hops"
    assert distances([away, near, place("", 2, 1, "")]) == "same node, 9 hops"
    assert distances([place("", 2, 1, "")]) == ""
    assert hops_between("ring:8", "one-per-node", 8, 8) == (1, 4)


@pytest.mark.parametrize(("placement", "label"), [("fill", "same node"), ("one-per-node", "1 hop")])
def test_tables_plots_and_notebooks_say_it(placement, label):
    words = ["measure", "ping-pong", "--conduit", "extoll", "--op", "put", "--sizes", "8,64", "--placement", placement]
    table = CliRunner().invoke(cli, words).stdout.splitlines()
    assert f", {label}, " in table[0]  # the label of both rows
    assert len([line for line in table if line.lstrip().startswith(("8 B", "64 B"))]) == 2
    assert f"modelled · {label} · data verified" in table[-1]
    result = gm.measure("ping-pong", conduit="extoll", op="put", sizes="8,64", iterations=5, placement=placement)
    assert f"modelled · {label} · " in result._repr_html_()
    assert any(label in text.get_text() for text in result.plot().texts)
    (traced, *_) = CliRunner().invoke(cli, ["trace", "put", *words[2:4], *words[6:]]).stdout.split("\n\n")
    assert f", {label} (modelled)" in traced.splitlines()[0]


def test_the_placement_is_in_the_rows():
    words = ["measure", "barrier", "--conduit", "extoll", "--ranks", "4", "--iterations", "3", "--format", "json"]
    rows = json.loads(CliRunner().invoke(cli, words).stdout)
    assert [row["metric"] for row in rows] == ["latency", "reserved_bytes"]
    assert all((row["placement"], row["nodes"]) == ("one-per-node", 4) for row in rows)
