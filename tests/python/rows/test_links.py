import json

import numpy as np
import pandas as pd
import pytest

import gasmeter as gm
from fakes import wires_of
from gasmeter.errors import UsageError
from gasmeter.rows import links
from gasmeter.rows.links import LINK_COLUMNS, port_names
from gasmeter.stores.store import open_result

pytestmark = pytest.mark.usefixtures("machine")


def experiment(**settings):
    return gm.Experiment(
        **{"name": "links", "kernel": "ping-pong", "conduit": "extoll", "op": "put", "sizes": "8", **settings}
    )


def test_a_point_on_a_network_with_links_keeps_their_table(tmp_path):
    result = experiment(topology="mesh2d:2x3", sizes="8,64").run(tmp_path)
    table = result.links()
    assert tuple(table.columns) == LINK_COLUMNS
    assert len(table) == 2 * len(list(wires_of("mesh2d:2x3")))
    assert set(table["run_id"]) == {row["run_id"] for row in result.rows}
    first = table[table["run_id"] == result.rows[0]["run_id"]]
    assert list(zip(first["vertex"], first["port"], first["to"], strict=True)) == list(wires_of("mesh2d:2x3"))
    assert list(first["port_name"][:3]) == ["+x", "+y", "-x"]
    assert set(table["topology"]) == {"mesh2d:2x3"}
    assert table["busy"].max() < 1
    assert len(result.links(result.rows[0]["run_id"])) == len(first)
    read = pd.read_parquet(tmp_path / "links.parquet")
    pd.testing.assert_frame_equal(read, table, check_dtype=False)
    pd.testing.assert_frame_equal(open_result(tmp_path).links(), table)
    assert (tmp_path / "plots" / "links.png").exists()


def test_a_resumed_run_keeps_the_tables_it_had(tmp_path):
    experiment(topology="mesh2d:2x2").run(tmp_path)
    result = experiment(topology="mesh2d:2x2,ring:4").resume(tmp_path)
    assert list(result.links()["topology"].unique()) == ["mesh2d:2x2", "ring:4"]
    assert len(pd.read_parquet(tmp_path / "links.parquet")) == 16


def test_networks_without_links_leave_no_file(tmp_path):
    result = experiment(conduit="ideal,smp").run(tmp_path)
    assert result.links().empty
    assert tuple(result.links().columns) == LINK_COLUMNS
    assert not (tmp_path / "links.parquet").exists()
    with pytest.raises(UsageError, match="no point ran on a modelled network with links"):
        result.plot_links()


def test_tables_beyond_the_bound_are_left_out_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setattr(links, "MOST_LINK_ROWS", 20)
    result = experiment(topology="mesh2d:3x3,mesh2d:2x2,ring:4").run(tmp_path)
    assert list(result.links()["topology"].unique()) == ["mesh2d:2x2", "ring:4"]
    assert sum("links of 1 points left out" in note for note in result.notes) == 1


def test_the_journal_holds_packed_tables(tmp_path):
    experiment(topology="mesh3d:8x8x8").run(tmp_path)
    (line,) = (tmp_path / "journal.jsonl").read_text().splitlines()
    (table,) = json.loads(line)["links"]
    assert table["rows"] == 2688
    assert len(json.dumps(table)) < 2688 * 20


@pytest.mark.parametrize("topology", ["ring:5", "mesh2d:3x2", "torus2d:4x4", "mesh3d:2x2x2", "torus3d:3x3x3"])
def test_every_link_of_a_grid_is_drawn_once_in_either_map(topology):
    result = experiment(topology=topology).run()
    figure = result.plot("links")
    painted = [
        collection for axes in figure.axes[:-1] for collection in axes.collections if collection.get_array() is not None
    ]
    shapes = sum(len(entry.get_paths()) for entry in painted)
    assert shapes == 2 * len(result.links())
    figure.savefig("/dev/null", format="png", dpi=20)
    title = figure.get_suptitle()
    assert all(word in title for word in ("ping-pong put", "extoll", topology, "2 ranks", "modelled"))
    titles = " ".join(" ".join(axes.get_title() + axes.get_title(loc="left") for axes in figure.axes).split())
    assert "busy: share of the time" in titles
    assert "blocked: share of packets that found no free buffer" in titles


def test_a_picture_shows_the_point_asked_for():
    result = experiment(topology="ring:4,mesh2d:2x2").run()
    second = next(row["run_id"] for row in result.rows if row["topology"] == "mesh2d:2x2")
    assert "mesh2d:2x2" in result.plot_links(second).get_suptitle()
    assert result.plot_links(second, title="mine").get_suptitle() == "mine"
    with pytest.raises(UsageError, match="unknown point with links 'x'"):
        result.plot_links("x")


def test_an_experiment_chooses_what_its_picture_shows(tmp_path):
    plots = (gm.Plot(kind="links", name="square", topology="mesh2d:2x2"), gm.Plot(kind="links", topology="mesh2d:9x9"))
    experiment(topology="ring:4,mesh2d:2x2", plots=plots).run(tmp_path)
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["square.png", "square.svg"]


def test_ports_of_switches_are_named_by_what_they_lead_to(monkeypatch):
    shapes = {
        "fat-tree:4x2": {"terminals": 16, "ports": ["up 0"], "extents": []},
        "fat-tree:4x2/slow:0-16x2": {"terminals": 16, "ports": ["up 0"], "extents": []},
        "dragonfly:9x4x2": {"terminals": 72, "ports": ["router"], "extents": []},
        "xc:2": {"terminals": 768, "ports": ["router"], "extents": []},
        "xc:3x2x5": {"terminals": 120, "ports": ["router"], "extents": []},
    }
    monkeypatch.setattr(links, "shape_of", shapes.__getitem__)
    names = port_names("fat-tree:4x2", np.array([0, 16, 16, 16]), np.array([0, 0, 3, 5]))
    assert names == ["up 0", "down 0", "down 3", "up 1"]
    assert port_names("fat-tree:4x2/slow:0-16x2", np.array([0, 16, 16, 16]), np.array([0, 0, 3, 5])) == names
    names = port_names("dragonfly:9x4x2", np.array([71, 72, 72, 72]), np.array([0, 1, 2, 5]))
    assert names == ["router", "terminal 1", "local 0", "global 0"]
    names = port_names("xc:2", np.array([767, 768, 768, 768, 768]), np.array([0, 3, 4, 19, 43]))
    assert names == ["router", "terminal 3", "backplane 0", "copper 0", "optical 9"]
    names = port_names("xc:3x2x5", np.array([120, 120, 120, 120]), np.array([7, 8, 10, 11]))
    assert names == ["backplane 3", "copper 0", "copper 2", "optical 0"]
