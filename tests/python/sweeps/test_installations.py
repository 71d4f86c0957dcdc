import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from fakes import ModelJob
from gasmeter.cli import cli, main
from gasmeter.measuring.sessions import machine_values
from gasmeter.stores.store import read_run
from gasmeter.sweeps.installations import machine_of
from gasmeter.sweeps.point import Point


def experiment(**settings):
    return gm.Experiment(
        **{"name": "what-if", "kernel": "ping-pong", "conduit": "extoll", "op": "put", "sizes": "8", **settings}
    )


def columns(points):
    return [(point.machine, point.topology) for point in points]


@pytest.mark.usefixtures("machine")
def test_a_modelled_conduit_runs_on_its_networks_own_machine():
    (point,) = experiment().points()
    assert columns([point]) == [("extoll", "mesh3d:4x4x4")]
    assert point.machine_digest == gm.machine("extoll").digest
    assert machine_of(point) == gm.machine("extoll")
    (toy,) = experiment(conduit="ideal").points()
    assert columns([toy]) == [("ideal", "")]


@pytest.mark.usefixtures("machine")
def test_real_points_have_no_machine_and_keep_their_names():
    (point,) = experiment(conduit="smp").points()
    assert columns([point]) == [("", "")]
    assert Point(kernel="ping-pong", op="put", conduit="smp", size_bytes=8).id == "ef9654bad9a22222"
    assert machine_of(point) is None
    assert machine_values(point) == {}


@pytest.mark.usefixtures("machine")
def test_machine_and_topology_are_axes():
    wide = gm.machine("extoll").with_(link_bandwidth="1.25 GB/s")
    points = experiment(machine=("extoll", wide), topology="mesh3d:4x4x4,torus3d:4x4x4").points()
    assert columns(points) == [
        ("extoll", "mesh3d:4x4x4"),
        ("extoll", "torus3d:4x4x4"),
        ("extoll+link.bandwidth=1.25 GB/s", "mesh3d:4x4x4"),
        ("extoll+link.bandwidth=1.25 GB/s", "torus3d:4x4x4"),
    ]
    assert len({point.id for point in points}) == 4
    assert machine_values(points[3]) == wide.with_(topology="torus3d:4x4x4").values() | {"placement": "one-per-node"}
    assert points[3].describe() == (
        "ping-pong put 8 B on extoll, 2 ranks, extoll+link.bandwidth=1.25 GB/s, torus3d:4x4x4, 1 hop"
    )


@pytest.mark.usefixtures("machine")
def test_a_machine_given_as_a_value_brings_its_topology():
    (point,) = experiment(machine=gm.machine("extoll").with_(topology="torus3d:8x8x1")).points()
    assert columns([point]) == [("extoll", "torus3d:8x8x1")]


@pytest.mark.usefixtures("machine")
def test_another_spelling_of_a_number_is_the_same_point():
    first, second = (
        experiment(machine=f"extoll+link.bandwidth={text}").points()[0].id for text in ("1.25GB/s", "1250 MB/s")
    )
    assert first == second


@pytest.mark.usefixtures("machine")
def test_a_machine_applies_to_the_conduits_it_fits():
    points = experiment(conduit="smp,ideal,extoll", machine="extoll+link.header=8 B").points()
    assert [point.machine for point in points] == ["", "ideal", "extoll+link.header=8 B"]


@pytest.mark.usefixtures("machine")
def test_axes_are_replaced_from_the_command_line():
    points = experiment().points(replace={"machine": "extoll+link.header=8 B", "topology": "torus3d:4x4x4"})
    assert columns(points) == [("extoll+link.header=8 B", "torus3d:4x4x4")]


def test_a_what_if_is_compared_with_the_machine_as_it_is(machine, monkeypatch, tmp_path):
    ModelJob.machines.clear()
    result = experiment(
        machine=("extoll", "extoll+link.bandwidth=1.25 GB/s"), against={"machine": "extoll"}, sizes="8,64"
    ).run(tmp_path)
    rows = [row for row in result.rows if row["metric"] == "overhead"]
    assert {row["machine"] for row in rows} == {"extoll+link.bandwidth=1.25 GB/s"}
    assert {row["reference"] for row in rows} == {"machine=extoll"}
    assert [values["link.bandwidth"] for values in ModelJob.machines] == [625e6, 1.25e9] * 2
    assert all(values["topology"] == "mesh3d:4x4x4" for values in ModelJob.machines)
    stored = read_run(tmp_path)["runs"][0]["machines"]
    assert [entry["label"] for entry in stored] == ["extoll", "extoll+link.bandwidth=1.25 GB/s"]
    assert stored[0] == gm.machine("extoll").facts()
    assert stored[1]["parameters"]["link.bandwidth"]["origin"] == "override"
    assert stored[1]["digest"] == gm.machine("extoll").with_(link_bandwidth="1.25 GB/s").digest
    assert "| extoll | extoll+link.bandwidth=1.25 GB/s | mesh3d:4x4x4 |" in (tmp_path / "summary.md").read_text()


@pytest.mark.usefixtures("machine")
def test_placement_is_an_axis_that_reaches_the_core():
    points = experiment(placement="round-robin,list:0,3,fill", conduit="extoll,ideal").points()
    assert [(point.conduit, point.placement, point.nodes) for point in points] == [
        ("extoll", "round-robin", 2), ("extoll", "list:0,3", 2), ("extoll", "fill", 1), ("ideal", "", 1),
    ]  # fmt: skip
    assert machine_values(points[0])["placement"] == "round-robin"
    assert "placement" not in machine_values(points[3])
    (point,) = experiment().points(replace={"placement": "list: 0,63"})
    assert point.placement == "list:0,63"
    assert point.describe().endswith("mesh3d:4x4x4, list:0,63, 9 hops")


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"placement": "round-robbin"}, "unknown placement 'round-robbin'; did you mean 'round-robin'? allowed: fill"),
        ({"placement": "list:0,x"}, "'x' is not the number of a node"),
        ({"placement": "list:0,1,2"}, "names the nodes of 3 ranks, but there are 2 ranks"),
        ({"placement": "list:0,64"}, "no node 64 on mesh3d:4x4x4 of machine extoll; allowed: 0 to 63"),
        ({"placement": "list:" + ",".join(["5"] * 17), "ranks": 17}, "puts 17 ranks on node 5; allowed: 16"),
        ({"placement": "one-per-node", "ranks": 65}, "65 ranks do not fit on mesh3d:4x4x4 of machine extoll: 64 nodes"),
        (
            {"topology": "torus3d:2x1x1", "ranks": 33},
            "do not fit on torus3d:2x1x1 of machine extoll: 2 nodes, 16 ranks",
        ),
        (
            {"placement": "fill", "conduit": "smp"},
            "smp has no topology; allowed: conduits on a machine with one, aries, raw@aries, ",
        ),
        ({"topology": "mesh3d:4x4"}, "mesh3d takes 3 numbers"),
        ({"machine": "extoll+topology=tours3d:4x4x4"}, "unknown topology 'tours3d'; did you mean 'torus3d'?"),
        ({"machine": "extoll+link.bandwidth=1.25"}, "'1.25' has no unit; allowed: a bandwidth"),
        ({"machine": "extoll+link.bandwidth=1.25 us"}, "has unit 'us'; allowed: a bandwidth"),
        ({"machine": "extoll+link.bandwith=1 GB/s"}, "'link.bandwith'; did you mean 'link.bandwidth'?"),
        ({"machine": "extoll+wide"}, "'wide' is not key=value"),
    ],
)
def test_what_does_not_fit_is_one_line_before_anything_runs(settings, message):
    with pytest.raises(gm.UsageError) as caught:
        experiment(**settings).points()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("machine")
def test_machines_and_topologies_are_listed():
    run = CliRunner()
    entries = json.loads(run.invoke(cli, ["list", "machines", "--json"]).stdout)
    assert [entry["name"] for entry in entries] == [
        "aries",
        "aries-cori1",
        "aries-cori2",
        "ethernet",
        "ethernet-10g",
        "extoll",
        "fabric",
        "gm",
        "gm-marenostrum",
        "ibv",
        "ideal",
        "ipoib",
        "lapi",
        "portals",
        "portals-catamount",
        "sci",
    ]
    for entry in entries:
        result = gm.machine(entry["name"])
        assert (entry["digest"], entry["network"]) == (result.digest, result.network)
        numbers = {number["name"]: number for number in entry["parameters"]}
        assert {key: number["value"] for key, number in numbers.items()} == result.values()
        assert all({"unit", "kind", "source", "confidence", "hardware", "summary"} <= set(n) for n in numbers.values())
    text = run.invoke(cli, ["list", "machines"]).stdout
    assert [line.split()[0] for line in text.splitlines()[1:-1]] == [entry["name"] for entry in entries]
    text = run.invoke(cli, ["list", "machines", "extoll"]).stdout
    assert "ideal" not in text
    assert "    link.latency = 0.27 us (250 ns to 350 ns)  one hop: router and wire\n      low confidence: esti" in text
    assert "    link.bandwidth = 625 MB/s  one link, in one direction\n      high confidence: seed: extoll" in text
    assert "  torus3d  torus3d:4x4x4  a box" in run.invoke(cli, ["list", "topologies"]).stdout
    text = run.invoke(cli, ["list", "topologies", "torus3d"]).stdout
    assert "example: torus3d:4x4x4" in text


@pytest.mark.usefixtures("machine")
def test_the_command_line_takes_machine_and_topology(monkeypatch):
    arguments = ["measure", "ping-pong", "--conduit", "extoll", "--op", "put", "--sizes", "8", "--format", "json"]
    what_if = ["--machine", "extoll+link.bandwidth=1.25 GB/s", "--topology", "torus3d:4x4x4"]
    result = CliRunner().invoke(cli, [*arguments, *what_if, "--placement", "one-per-node"])
    (row,) = json.loads(result.stdout)
    assert (row["machine"], row["topology"]) == ("extoll+link.bandwidth=1.25 GB/s", "torus3d:4x4x4")
    assert (row["placement"], row["nodes"]) == ("one-per-node", 2)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "arguments",
    [
        "--conduit extoll --topology mesh3d:4x4",
        "--conduit extoll --topology tours3d:4x4x4",
        "--conduit extoll --topology torus3d:0x4x4",
        "--conduit extoll --topology torus3d:1x1x1 --ranks 17",
        "--conduit extoll --machine extoll+link.bandwidth=1.25",
        "--conduit extoll --placement nowhere",
        "--conduit smp --placement fill",
    ],
)
def test_a_wrong_installation_is_status_2_and_one_line(monkeypatch, capsys, arguments):
    monkeypatch.setattr("sys.argv", ["gasmeter", "measure", "ping-pong", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
