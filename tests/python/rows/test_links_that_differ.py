"""Classes of links and one-way rings, as the use of links shows them."""

import pytest

import gasmeter as gm
from gasmeter.catalogue import topologies
from gasmeter.errors import UsageError

pytest.importorskip("gasmeter._core")


def lines(topology, **options):
    return gm.Experiment(
        name="links",
        kernel="simulator",
        conduit="raw@fabric",
        op="ping-pong",
        topology=topology,
        iterations=50,
        **options,
    )


def test_all_links_of_a_one_way_ring_carry_what_two_ranks_say(tmp_path):
    table = lines("oneway-ring:8").run(tmp_path).links()
    first = table[table["run_id"] == table["run_id"].iloc[0]]
    assert list(first["port_name"]) == ["+x"] * 8
    assert list(first["to"]) == [1, 2, 3, 4, 5, 6, 7, 0]
    # 50 times a put of 88 B there and one back, each acknowledged by 24 B: a link has each of them, or its echo.
    assert set(first["packets"]) == {50 * 4}
    assert set(first["bytes"]) == {50 * (88 + 24 + 8 + 8)}
    assert (tmp_path / "plots" / "links.png").exists()


def test_every_topology_tells_the_classes_of_its_links():
    classes = {entry["name"]: entry["link_classes"] for entry in topologies()}
    assert classes["oneway-torus2d"] == "x, y"
    assert classes["fat-tree"] == "terminal, level-1, level-2"
    assert classes["dragonfly"] == "terminal, local, global"
    assert classes["xc"] == "terminal, backplane, copper, optical"


def test_links_of_a_class_take_as_long_as_the_options_say(tmp_path):
    plain, slow = (
        lines("mesh2d:1x2", options=options).run(tmp_path / name).links()
        for name, options in (("plain", {}), ("slow", {"link_class": "y", "class_bandwidth": "10 MB/s"}))
    )
    assert slow["busy"].max() > 4 * plain["busy"].max()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_puts_choose_their_ways_where_links_are_busy(tmp_path, threads):
    busy, minimal = (
        gm.Experiment(
            name="links",
            kernel="simulator",
            conduit="raw@fabric",
            op="random-put",
            topology="xc:3x2x2",
            ranks=48,
            iterations=240,
            options={**options, "threads": threads},
        )
        .run(tmp_path / name)
        .links()
        for name, options in (("adaptive", {"routing": "adaptive"}), ("minimal", {}))
    )
    assert set(busy["port_name"].str.split().str[0]) == {"router", "terminal", "backplane", "copper", "optical"}
    # Each run draws the targets of its puts anew, and a few stay at home. So only puts that leave their block are
    # compared. Puts that make a detour cross chassis of a group that is neither theirs nor their target's.
    for frame in (busy, minimal):
        frame["of"] = frame["port_name"].str.split().str[0]
    busy, minimal = (frame.groupby("of")["packets"].sum().astype(float) for frame in (busy, minimal))
    assert busy["terminal"] == pytest.approx(minimal["terminal"], rel=0.03)
    assert busy["copper"] / busy["terminal"] > 1.08 * minimal["copper"] / minimal["terminal"]


@pytest.mark.parametrize(
    ("topology", "options", "error"),
    [
        ("mesh2d:2x2", {"link_class": "global"}, "mesh2d:2x2 has no links of class `global`; its classes are x, y"),
        ("mesh2d:2x2", {"link_class": "w"}, "option link_class='w' of conduit raw@fabric is not allowed"),
        ("mesh2d:2x2", {"class_latency": "3"}, "say which with link_class"),
        ("mesh2d:2x2", {"link_class": "x", "class_buffer": "-1"}, "option 'class_buffer=-1': allowed are 0..65535"),
        ("xc:3x2x2", {"link_class": "local"}, "no links of class `local`; its classes are terminal, backplane, copper"),
        ("mesh2d:2x2", {"routing": "adaptive"}, "routing=adaptive': on mesh2d:2x2 there is one way each; take xc:G"),
        ("oneway-ring:4", {"echo": "0"}, r"the links of oneway-ring:4 go one way, .*; take ring:4"),
    ],
)  # fmt: skip
def test_links_that_cannot_be_are_refused_in_one_line(tmp_path, topology, options, error):
    with pytest.raises(UsageError, match=error) as caught:
        lines(topology, options=options).run(tmp_path)
    assert "\n" not in str(caught.value)


def test_messages_on_aries_choose_their_ways_where_links_are_busy(tmp_path):
    adaptive, minimal = (
        gm.Experiment(
            name="links", kernel="random-access", variant="am", conduit="aries", topology="xc:1x1x3", ranks=12,
            sizes="64K", placement="one-per-node", options={"routing": routing},
        ).run(tmp_path / routing).frame()
        for routing in ("adaptive", "minimal")
    )  # fmt: skip
    assert adaptive["verified"].all()
    assert (adaptive.set_index("metric")["value"] != minimal.set_index("metric")["value"]).any()
    with pytest.raises(UsageError, match="routing=adaptive': on mesh2d:2x2 there is one way each; take xc:G"):
        gm.measure("ping-pong", op="put", conduit="aries", topology="mesh2d:2x2", options={"routing": "adaptive"})


def test_a_network_that_uses_links_both_ways_has_no_one_way_ring(tmp_path):
    with pytest.raises(UsageError, match=r"the links of oneway-torus2d:2x2 go one way, .*; take torus2d:2x2"):
        gm.Experiment(
            name="links", kernel="ping-pong", conduit="extoll", op="put", sizes="8", topology="oneway-torus2d:2x2"
        ).run(tmp_path)
