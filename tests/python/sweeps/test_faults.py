"""Slow nodes, slow and dead links of modelled networks: what they change, what they leave, and that rows say so."""

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.catalogue import topology
from gasmeter.cli import cli
from gasmeter.sweeps.distance import hops_between

pytest.importorskip("gasmeter._core")
pytestmark = pytest.mark.timeout(240)
# Conduits of every network that has nodes, on topologies that its machine takes.
WHERE = {
    "extoll": "mesh3d:4x4x4", "sci": "oneway-torus2d:4x4", "portals": "torus3d:3x3x3", "aries": "xc:1x1x4",
    "gm": "fat-tree:4x2", "ibv": "fat-tree:4x2", "lapi": "fat-tree:4x2", "udp@ethernet": "crossbar:4",
    "udp@ibv": "fat-tree:4x2", "mpi@extoll": "mesh2d:4x4", "mpi@portals": "torus3d:3x3x3",
    "mpi@aries": "xc:1x1x4", "raw@extoll": "mesh2d:4x4", "raw@ibv": "fat-tree:4x2",
}  # fmt: skip
# Raw programs that carry more than what is short are not among these.
PUTS = {conduit: where for conduit, where in WHERE.items() if not conduit.startswith("raw")}


def latency(conduit, where, size=8, **settings):
    settings = {"op": "put", "iterations": 3} | settings
    frame = gm.measure("ping-pong", conduit=conduit, sizes=size, topology=where, **settings).frame()
    assert set(frame["topology"]) == {where}
    return frame["value"].iloc[0]


@pytest.mark.parametrize(("conduit", "where"), WHERE.items(), ids=WHERE)
def test_a_slow_node_slows_every_network_to_the_same_time_however_it_is_reckoned(conduit, where):
    op = "am-short" if conduit.startswith("raw") else "put"
    healthy = latency(conduit, where, op=op)
    slow = latency(conduit, f"{where}/slow:0x4", op=op)
    assert healthy < slow < 4 * healthy * 1.5
    assert latency(conduit, f"{where}/slow:0x4", op=op, options={"sync": "strict"}) == slow
    assert latency(conduit, f"{where}/slow:3x4", op=op) == healthy  # no rank is there
    assert latency(conduit, f"{where}/slow:0x1", op=op) == healthy


@pytest.mark.parametrize(("conduit", "where"), PUTS.items(), ids=PUTS)
def test_a_slow_link_slows_what_passes_it_alone(conduit, where):
    # Between nodes 0 and 1, or, of a network of switches, the link of node 0.
    a, b = {"xc": (0, 16), "fat-tree": (0, 16), "crossbar": (0, 4)}.get(where.partition(":")[0], (0, 1))
    healthy = latency(conduit, where, 4096)
    slow = latency(conduit, f"{where}/slow:{a}-{b}x20", 4096)
    assert slow > healthy * 1.2
    assert latency(conduit, f"{where}/slow:{a}-{b}x20", 4096, options={"sync": "strict"}) == slow


def test_a_way_round_a_dead_link_takes_what_as_many_links_take():
    # 0 and 1 are neighbours; round the link between them there are three, as from end to end of a line of four.
    assert latency("extoll", "mesh2d:2x2/dead:0-1") == latency("extoll", "mesh2d:4x1", placement="list:0,3")
    assert latency("extoll", "ring:8/dead:0-1") == latency("extoll", "mesh2d:8x1", placement="list:0,7")
    # The other ways of a tree are as long.
    tree = {"placement": "list:0,15"}
    assert latency("gm", "fat-tree:4x2/dead:16-23", **tree) == latency("gm", "fat-tree:4x2", **tree)


def test_rows_and_tables_count_the_hops_of_the_new_way():
    assert hops_between("mesh2d:2x2", "one-per-node", 2, 2).near == 1
    assert hops_between("mesh2d:2x2/dead:0-1", "one-per-node", 2, 2).near == 3
    arguments = ["measure", "ping-pong", "--conduit", "extoll", "--op", "am-short", "--topology", "ring:8/dead:1-0"]
    message = CliRunner().invoke(cli, arguments)
    assert message.exit_code == 0, message.output
    assert "topology ring:8/dead:0-1, placement one-per-node, 7 hops" in message.output


def test_a_sweep_over_faults_keeps_its_rows_apart(tmp_path):
    faults = ["torus2d:4x4", "torus2d:4x4/dead:0-1", "torus2d:4x4/slow:0-1x10", "torus2d:4x4/slow:5x4"]
    settings = {"conduit": "extoll", "ranks": 16, "sizes": "16K"}
    result = gm.measure("random-access", topology=faults, out=tmp_path / "run", **settings)
    gups = result.frame().query("metric == 'gups'").set_index("topology")["value"]
    assert list(gups.index) == faults
    assert gups[faults[0]] > gups[faults[1]]
    assert gups[faults[0]] > gups[faults[3]]
    assert result.frame()["verified"].all()
    links = result.links()["topology"].value_counts()
    assert links[faults[0]] == links[faults[2]] == 64
    assert links[faults[1]] == 62
    shown = CliRunner().invoke(cli, ["links", str(tmp_path / "run"), "--plot", str(tmp_path / "links.svg")])
    assert shown.exit_code == 0, shown.output
    assert "torus2d:4x4" in shown.output


def test_threads_come_to_the_same_times_with_faults():
    where = "torus2d:4x4/dead:0-1/slow:2-3x3/slow:5x2.5"
    settings = {"conduit": "extoll", "ranks": 16, "sizes": "16K", "topology": where}
    entry, two, strict = (
        gm.measure("random-access", options=options, **settings).frame()["value"].tolist()
        for options in ({}, {"threads": 2}, {"sync": "strict"})
    )
    assert entry == two == strict


def test_what_a_program_computes_takes_longer_on_a_slow_node_and_what_it_sleeps_does_not():
    def program(ep):
        yield ep.barrier()
        start = ep.now_ns()
        yield ep.compute(1000)
        computed = ep.now_ns()
        yield ep.sleep(1000)
        return computed - start, ep.now_ns() - computed

    times = gm.launch(program, conduit="extoll", ranks=2, topology="mesh2d:2x1/slow:1x2.5", placement="one-per-node")
    assert times == [(1000, 1000), (2500, 1000)]


def test_a_recorded_run_with_slow_parts_is_not_written_for_simgrid(tmp_path):
    arguments = ["simulator", "--conduit", "raw@fabric", "--ranks", "8", "--out", str(tmp_path / "replay")]
    for fault, status in (("slow:0x2", 2), ("slow:0-1x2", 2), ("dead:0-1", 0)):
        message = CliRunner().invoke(cli, ["export", "simgrid", *arguments, "--topology", f"torus3d:2x2x2/{fault}"])
        assert message.exit_code == status, message.output
        assert ("knows neither slow nodes nor slow links; allowed: dead links" in message.output) == (status == 2)


def test_a_topology_says_what_its_faults_leave():
    shape = topology("mesh2d:4x4/dead:1-0")
    assert (shape["name"], shape["channels"], shape["terminals"]) == ("mesh2d:4x4/dead:0-1", 2, 16)
    assert shape["mean_hops"] > topology("mesh2d:4x4")["mean_hops"]
