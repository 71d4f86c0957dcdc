"""Dead and slow links: in tables behind the others, in pictures marked and explained."""

import numpy as np
import pandas as pd
import pytest

import gasmeter as gm
from gasmeter.rows.links import LINK_COLUMNS, unpack, whole_table

pytest.importorskip("gasmeter._core")


def marked(figure, name):
    """How many links are marked so in each map."""
    return [
        sum(len(collection.get_paths()) for collection in axes.collections if collection.get_label() == name)
        for axes in figure.axes[:-1]
    ]


def explained(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def on_fabric(topology, ranks):
    return gm.measure("simulator", op="random-put", conduit="raw@fabric", topology=topology, ranks=ranks,
                      iterations=20, progress=False)  # fmt: skip


@pytest.mark.parametrize(
    ("topology", "ranks"),
    [("ring:5", 5), ("mesh2d:4x4", 16), ("torus3d:3x3x3", 27), ("fat-tree:4x2", 16), ("fat-tree:2x3", 8)],
)
def test_dead_and_slow_links_are_marked_and_explained(topology, ranks):
    dead, slow = {"fat-tree:4x2": ("16-20", "17-21"), "fat-tree:2x3": ("8-12", "0-8")}.get(topology, ("0-1", "1-2"))
    healthy = on_fabric(topology, ranks)
    figure = on_fabric(f"{topology}/dead:{dead}/slow:{slow}x2.5", ranks).plot_links()
    maps = sum(1 for axes in figure.axes if "share" in axes.get_title() + axes.get_title(loc="left"))
    assert sum(marked(figure, "dead")) == 2 * maps  # either direction
    assert sum(marked(figure, "slow")) == 2 * maps
    crosses = [line for axes in figure.axes[:-1] for line in axes.lines if line.get_marker() == "x"]
    assert sum(len(line.get_xdata()) for line in crosses) == 2 * maps
    assert explained(figure) == ["dead", "slow: bytes take 2.5 times as long"]
    assert f"of {len(healthy.links()) - 2} idle" in " ".join(figure._supxlabel.get_text().split())
    figure.savefig("/dev/null", format="png", dpi=20)
    whole = healthy.plot_links()
    assert explained(whole) == []
    assert sum(marked(whole, "dead") + marked(whole, "slow")) == 0


def test_a_dead_link_is_marked_where_it_was():
    figure = on_fabric("mesh2d:4x4/dead:5-9/slow:0-1x2/slow:1-2x10", 16).plot_links()
    (results,) = [each for each in figure.axes[0].collections if each.get_label() == "dead"]
    middles = sorted(path.vertices.mean(axis=0).tolist() for path in results.get_paths())
    # From (1, 1) to (1, 2) and back, on either side of the middle.
    assert all(1.2 < y < 1.8 for _, y in middles)
    assert middles[0][0] < 1 < middles[1][0]
    assert explained(figure)[1] == "slow: bytes take 2 to 10 times as long"


def test_a_table_with_dead_links_has_them_behind_the_others():
    (packed,) = on_fabric("mesh2d:2x2/dead:0-1/slow:1-3x4", 4).link_tables()
    plain, whole = unpack(packed), whole_table(packed)
    assert len(whole) == len(plain) + 2
    pd.testing.assert_frame_equal(whole[list(LINK_COLUMNS)].head(len(plain)), plain)
    assert whole.tail(2)[["vertex", "to", "port_name", "packets"]].to_numpy().tolist() == [
        [0, 1, "+x", 0], [1, 0, "-x", 0],
    ]  # fmt: skip
    times = {(int(a), int(b)): t for a, b, t in zip(whole["vertex"], whole["to"], whole["times"], strict=True)}
    assert times == {(0, 1): np.inf, (1, 0): np.inf, (1, 3): 4, (3, 1): 4, (0, 2): 1, (2, 0): 1, (2, 3): 1, (3, 2): 1}
