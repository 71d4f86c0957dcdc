"""Links that hold packets up: against tables that a hand can count, and ranks that all turn to node 0."""

import numpy as np
import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter import catalogue
from gasmeter.cli import cli
from gasmeter.plots.link_switches import places_of
from gasmeter.plots.links import draw_links
from gasmeter.rows.back_pressure import WORST_HEADS, BackPressure, back_pressure
from gasmeter.rows.links import busiest, pack, unpack
from gasmeter.units import format_quantity

pytest.importorskip("gasmeter._core")

ROUNDS = 50
# On a 4x4 mesh packets go along x, then y. Each of the other 15 nodes sends node 0 one packet a round. The three
# packets of node 0's row come by node 1, the twelve others by node 4. Eight of these twelve come by node 8, and four of
# these eight by node 12. Replies go back along x first: the twelve replies to other columns than 0 leave by node 1.
TO_NODE_0 = {(1, 0): 3, (2, 1): 2, (3, 2): 1, (4, 0): 12, (8, 4): 8, (12, 8): 4, (5, 4): 3, (9, 8): 3, (13, 12): 3,
             (0, 1): 12, (1, 2): 8, (2, 3): 4, (0, 4): 3, (4, 8): 2, (8, 12): 1, (1, 5): 3, (3, 7): 3}  # fmt: skip


def fetch_adds(topology="mesh2d:4x4", ranks=16, op="fetch-add", out=None):
    return gm.measure("simulator", op=op, conduit="raw@fabric", topology=topology, ranks=ranks, iterations=ROUNDS,
                      progress=False, out=out)  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    catalogue.catalogue.cache_clear()
    folder = tmp_path_factory.mktemp("stored") / "run"
    fetch_adds(out=folder)
    return folder


@pytest.fixture(scope="module")
def table(stored):
    (packed,) = gm.open_result(stored).link_tables()
    return packed


def carried(packed):
    pressure = back_pressure(packed)
    return {
        (int(begin), int(end)): int(n)
        for begin, end, n in zip(pressure.begin, pressure.end, pressure.packets, strict=True)
    }


def disagreements(packed):
    seen = carried(packed)
    return {way: seen[way] for way, each in TO_NODE_0.items() if seen[way] != each * ROUNDS}


def test_links_carry_what_a_hand_counts(table):
    assert disagreements(table) == {}


def test_links_whose_ends_are_swapped_are_found(table):
    frame = unpack(table)
    swapped = {name: frame[name].to_numpy() for name in frame}
    swapped["vertex"], swapped["to"] = swapped["to"], swapped["vertex"]
    planted = dict(table) | {name: pack_of(swapped, table)[name] for name in ("vertex", "to")}
    assert disagreements(planted)
    assert back_pressure(planted).sentence() != back_pressure(table).sentence()
    assert back_pressure(planted).lines()[0][:2] == back_pressure(table).lines()[0][1::-1]


def pack_of(columns, packed):
    class Point:
        id = packed["run_id"]

    for name in ("kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size_bytes"):
        setattr(Point, name, packed[name])
    return pack(Point, columns)


def test_the_last_links_towards_node_0_hold_packets_up(table):
    pressure = back_pressure(table)
    by_way = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(pressure.begin, pressure.end, strict=True))}
    towards = [by_way[way] for way in ((12, 8), (8, 4), (4, 0))]
    # Ever more of them, the nearer: where four come together, eight, twelve.
    counts = [int(pressure.blocked[link]) for link in towards]
    assert 0 < counts[0] < counts[1] < counts[2]
    assert not pressure.blocked[by_way[15, 14]]  # one packet at a time, of rank 15 alone
    assert {(4, 0), (8, 4)} <= {(int(pressure.begin[i]), int(pressure.end[i])) for i in pressure.worst(3)}
    assert pressure.behind(by_way[8, 4]) == by_way[4, 0]
    assert pressure.lines()[0][2] in {"+x", "-y"}


def invented(links, nodes=16, axes=None):
    """Links as (from, to, packets, blocked, busy, wait)."""
    begin, end, packets, blocked, busy, wait = (np.array(column) for column in zip(*links, strict=True))
    ports = ["up 0"] * len(links)
    return BackPressure(begin, end, packets, blocked, busy, wait * 1.0, ports, nodes,
                        np.zeros(len(links), int) if axes is None else np.array(axes),
                        np.ones(len(links)))  # fmt: skip


QUEUE = [(3, 2, 10, 2, 0.2, 5), (2, 1, 20, 8, 0.5, 40), (1, 0, 40, 0, 0.98, 1500), (0, 1, 40, 0, 0.1, 0)]


def test_a_queue_is_followed_to_the_link_that_is_not_blocked():
    pressure = invented(QUEUE)
    assert pressure.sentence() == (
        "Links into node 1 hold up 80% of all blocked packets (8 of 10); the queue most likely begins at"
        " node 1 → node 0 (busy 98%, waited for up to 1.5 µs)."
    )
    assert pressure.lines() == [
        ["node 2", "node 1", "up 0", "20", "50%", "40%", "40 ns", "node 1 → node 0"],
        ["node 3", "node 2", "up 0", "10", "20%", "20%", "5 ns", "node 2 → node 1"],
        ["node 1", "node 0", "up 0", "40", "98%", "0%", "1.5 µs", ""],
    ]
    assert len(WORST_HEADS) == len(pressure.lines()[0])
    swapped = [(end, begin, *rest) for begin, end, *rest in QUEUE]
    assert invented(swapped).sentence() != pressure.sentence()


def test_where_nothing_goes_on_the_node_itself_is_slow():
    pressure = invented([(1, 0, 40, 30, 0.3, 7), (0, 1, 40, 0, 0.1, 3)])
    assert pressure.sentence() == (
        "Links into node 0 hold up 100% of all blocked packets (30 of 30); the queue begins at node 0 itself, where"
        " buffers come back later than packets come."
    )
    assert pressure.lines()[0][-1] == "node 0 itself"


def test_no_way_goes_back_to_an_earlier_axis():
    links = [(4, 0, 10, 9, 0.3, 7), (0, 1, 10, 5, 0.5, 90)]
    assert invented(links, axes=[1, 0]).behind(0) == -1
    assert invented(links, axes=[0, 1]).behind(0) == 1


def test_a_ring_of_blocked_links_ends():
    around = [(0, 1, 9, 3, 0.9, 5), (1, 2, 9, 3, 0.9, 5), (2, 0, 9, 3, 0.9, 5)]
    assert (
        invented(around)
        .sentence()
        .endswith(
            "; the queue most likely goes around, through node 0 → node 1 (busy 90%, waited for up to 5 ns), and begins"
            " nowhere."
        )
    )


def test_on_a_one_way_ring_that_is_full_the_queue_begins_nowhere():
    (packed,) = fetch_adds("oneway-ring:8", ranks=8).link_tables()
    assert (back_pressure(packed).blocked > 0).all()
    assert "most likely goes around, through node 0 → node 1" in back_pressure(packed).sentence()


@pytest.mark.parametrize(
    ("topology", "ranks"), [("oneway-torus2d:4x2", 8), ("torus2d:8x2", 16), ("torus2d:2x8", 16), ("mesh2d:4x4", 16)]
)
def test_what_stands_in_a_picture_is_inside_it(topology, ranks):
    result = fetch_adds(topology, ranks)
    figure = result.plot_links()
    figure.draw_without_rendering()
    for axes in figure.axes[:2]:
        title = axes._left_title.get_window_extent()
        assert figure.bbox.x0 <= title.x0
        assert title.x1 <= figure.bbox.x1
        inches = axes.get_window_extent().width / figure.dpi
        assert inches / (axes.get_xlim()[1] - axes.get_xlim()[0]) > 0.5  # inches of a link: its label has room


def test_no_line_hides_a_link_of_many():
    (packed,) = fetch_adds("crossbar:512", ranks=16).link_tables()
    figure = draw_links(packed)
    for axes in figure.axes[:2]:
        assert axes.collections[-1].get_linewidth() == [0.0]
        assert axes.spines["left"].get_position() == ("outward", 3)
    assert "mean of all links below 1%" in " ".join("\n".join(text.get_text() for text in figure.texts).split())


def test_what_did_not_wait_is_said():
    assert invented([(0, 1, 0, 0, 0.0, 0)]).sentence() == "No link carried a packet."
    assert invented([(0, 1, 5, 0, 0.1, 0)]).sentence().startswith("No packet waited")
    assert invented([(0, 1, 5, 0, 0.1, 0)]).lines() == []
    sentence = invented([(0, 20, 5, 0, 0.5, 2000)]).sentence()
    assert sentence == (
        "No packet found a buffer full; the longest wait was for node 0 → switch 20 (busy 50%, waited for up to 2 µs)."
    )


@pytest.mark.parametrize(
    ("topology", "ranks"),
    [("crossbar:8", 8), ("fat-tree:4x2", 16), ("fat-tree:8x3", 512), ("dragonfly:9x4x2", 72), ("xc:3x2x5", 60)],
)
def test_every_link_of_switches_has_a_place_of_its_own(topology, ranks):
    result = gm.measure("simulator", op="random-put", conduit="raw@fabric", topology=topology, ranks=ranks,
                        iterations=4, progress=False)  # fmt: skip
    pressure = back_pressure(result.link_tables()[0])
    (rows, columns), names, switches = places_of(pressure)
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == len(pressure.begin)
    assert max(columns) < len(names)
    entry = [int(v) for v in np.where(pressure.begin >= pressure.nodes, pressure.begin, pressure.end)]
    assert len(switches) == 1 or [switches[row] for row in rows] == entry
    result.plot_links().savefig("/dev/null", format="png", dpi=20)


def test_a_picture_has_a_map_of_what_was_blocked_beside_that_of_what_was_busy(stored, table):
    figure = gm.open_result(stored).plot_links()
    titles = [axes.get_title(loc="left") for axes in figure.axes[:2]]
    assert [title.partition(":")[0] for title in titles] == ["busy", "blocked"]
    words = [text.get_text() for text in figure.axes[1].texts if "ns" in text.get_text()]
    pressure = back_pressure(table)
    assert len(words) == len(pressure.worst(10))
    assert words[0] == format_quantity(float(pressure.wait_ns[pressure.worst(1)[0]]), "ns")
    assert pressure.sentence().split(";")[0] in " ".join(figure._supxlabel.get_text().split())


def call(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_the_command_shows_the_table_and_draws(stored, table, tmp_path):
    pressure = back_pressure(table)
    shown = call("links", stored, "--plot", tmp_path / "links.svg")
    assert shown.exit_code == 0, shown.output
    assert pressure.sentence() in shown.stdout
    assert sum("node " in line and " ns" in line for line in shown.stdout.splitlines()) == len(pressure.lines())
    assert (tmp_path / "links.svg").read_text().startswith("<?xml")
    assert len(call("links", stored, "--all").stdout.splitlines()) > len(shown.stdout.splitlines())
    assert call("links", stored, "--point", table["run_id"]).stdout == shown.stdout
    wrong = call("links", stored, "--point", "x")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "unknown point with links 'x'" in wrong.stderr
    for name in ("summary.md", "report.html"):
        text = (stored / name).read_text()
        assert pressure.sentence().split(" of all")[0] in text
        assert "waits for, most likely" in text


def test_a_store_without_its_journal_has_its_links(stored, table, tmp_path):
    for name in ("run.json", "results.csv", "samples.parquet", "links.parquet", "counters.csv", "summary.md"):
        if (stored / name).exists():
            (tmp_path / name).write_bytes((stored / name).read_bytes())
    kept = gm.open_result(tmp_path)
    assert back_pressure(busiest(kept.link_tables())).lines() == back_pressure(table).lines()
    assert {key: value for key, value in kept.link_tables()[0].items() if key in ("run_id", "ranks", "topology")} == {
        key: table[key] for key in ("run_id", "ranks", "topology")
    }


def test_counters_come_with_links():
    shown = call("measure", "simulator", "--op", "fetch-add", "--conduit", "raw@fabric", "--topology", "mesh2d:4x4",
                 "--ranks", 16, "--iterations", 20, "--counters", "--format", "csv")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    assert "links of simulator fetch-add on raw@fabric" in shown.stderr
    assert "links of" not in shown.stdout
    assert "Links into node" in shown.stderr
