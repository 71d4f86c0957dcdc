import re
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

import gasmeter as gm
from gasmeter.errors import UsageError
from gasmeter.plots import KINDS, draw, save_all
from gasmeter.plots.published import Overlay, draw_overlay

pytestmark = pytest.mark.usefixtures("machine")


def measured(**settings):
    return gm.measure(**{"kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8:1K", **settings})


def lines(axes):
    return [line for line in axes.get_lines() if len(line.get_xdata()) > 2]


def test_latency_has_the_overhead_underneath():
    upper, lower = measured(against="raw@shm").plot().axes
    assert upper.get_ylabel() == "Latency (ns)"
    assert lower.get_ylabel() == "Overhead over\nraw@shm (%)"
    assert lower.get_xlabel() == "Message size"
    assert len(lines(upper)) == 2
    assert upper.get_yscale() == "log"


def test_sizes_are_labelled_as_people_say_them():
    (axes,) = measured().plot().axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[0] == "8 B"
    assert "512 B" in labels or "1 KiB" in labels


def test_operations_without_a_size_stand_apart():
    (axes,) = gm.measure("ping-pong", conduit="smp", op="am-short,am-medium", sizes="8:1K").plot().axes
    assert axes.get_xticklabels()[0].get_text() == "no\npayload"


def test_intervals_are_bands():
    (axes,) = measured().plot().axes
    assert len(axes.collections) == 1


def test_modelled_lines_are_dashed_and_measured_ones_solid():
    upper = measured(conduit="ideal", against="smp").plot().axes[0]
    styles = {line.get_linestyle() for line in lines(upper)}
    assert styles == {"-", "--"}


def test_lines_say_their_kind_where_there_is_more_than_one():
    (axes,) = measured(conduit="smp,ideal").plot().axes
    assert legend(axes) == ["ideal (modelled)", "smp (measured)"]
    (axes,) = measured(conduit="smp,udp").plot().axes
    assert legend(axes) == ["smp", "udp"]


def legend(axes):
    return sorted(text.get_text() for text in axes.figure.legends[0].get_texts())


def test_published_curves_alone_are_hollow():
    errors = {("ours", "theirs"): {8: 10.0, 64: 10.0}}
    drawn = draw_overlay(Overlay("Title", "foot", "Latency", "µs", {"theirs": {8: 1.0, 64: 2.0}},
                                 {"ours": {8: 1.1, 64: 2.2}}, errors))  # fmt: skip
    curves, below = ([line for line in axes.get_lines() if line.get_marker() != "None"] for axes in drawn.axes)
    assert [line.get_markerfacecolor() for line in curves] == ["none", curves[1].get_color()]
    assert list(curves[0].get_ydata()) == [1.0, 2.0]
    assert [line.get_markerfacecolor() == line.get_color() for line in below] == [True]


def test_shared_cores_have_hollow_markers():
    result = gm.measure(
        "random-access", conduit="smp", sizes="4M", ranks="1,2,4", variant="all", against="raw@shm", time=0.05
    )
    (axes,) = result.plot("gups").axes
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 4
    assert all(list(line.get_xdata()) == [2.0] for line in hollow)
    assert axes.get_ylabel() == "Update rate (GUP/s)"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4"]


def test_bandwidth_is_drawn_in_gigabytes():
    (axes,) = measured(kernel="flood", op="put,get").plot("bandwidth").axes
    assert axes.get_ylabel() == "Bandwidth (GB/s)"


def test_things_of_one_size_have_a_row_each():
    (axes,) = measured(kernel="flood", op="put,get", sizes="1K").plot("bandwidth").axes
    assert axes.get_xlabel() == "Bandwidth (GB/s), measured"
    assert sorted(label.get_text() for label in axes.get_yticklabels()) == ["get", "put"]
    left, right = measured(op="put,get", conduit="ideal,smp", against="raw@shm", sizes="1K").plot().axes
    assert right.get_xlabel().replace("\n", " ") == "Overhead over raw@shm (%)"
    tags = {label.get_text().rpartition(" ")[2] for label in left.get_yticklabels()}
    assert tags == {"(measured)", "(modelled)"}


def test_long_names_of_rows_leave_what_stands_under_them_whole():
    common = {"kernel": "vis", "op": "strided-put", "conduit": "smp", "sizes": "64K"}
    levels = {"implementation": "gasnet1", "piece": (8, 64), "levels": (1, 32)}
    first = gm.Series(**common, options=levels, against="raw@shm")
    common["op"] = "indexed-put"
    second = gm.Series(**common, options={**levels, "implementation": "ex"}, against={"implementation": "gasnet1"})
    figure = gm.Experiment(name="names", series=(first, second)).run().plot("bandwidth")
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes:
        assert axes.xaxis.label.get_window_extent().width <= axes.get_window_extent().width


def test_a_long_legend_makes_room_for_itself():
    sizes = {"kernel": "flood", "sizes": "8:64", "ranks": "2"}
    few = gm.measure(**sizes, conduit="smp", op="put").plot("bandwidth")
    ranks = gm.measure("ping-pong", conduit="smp", op="put,get,am-medium", sizes="8:64", ranks="2,4,6,8,10,12")
    many = ranks.plot()
    assert many.get_figheight() > few.get_figheight()
    FigureCanvasAgg(many).draw()
    (axes,) = many.axes
    assert not many.legends[0].get_window_extent().overlaps(axes.get_tightbbox())
    assert axes.get_window_extent().height > 150


def test_lines_differ_without_colour():
    figure = gm.measure("ping-pong", conduit="smp", op="am-medium,put,get", sizes="8:1K", against="raw@shm").plot()
    looks = {(line.get_marker(), line.get_linewidth(), line.get_linestyle()) for line in lines(figure.axes[0])}
    assert len(looks) == 6
    for dashed in (True, False):
        greys = sorted(grey(line) for line in lines(figure.axes[0]) if (line.get_linestyle() != "-") == dashed)
        assert len(greys) == 3
        assert all(second - first > 0.05 for first, second in pairwise(greys))


def grey(line):
    return round(sum(a * b for a, b in zip(to_rgb(line.get_color()), (0.299, 0.587, 0.114), strict=True)), 3)


def test_the_line_underneath_says_what_disturbed_the_numbers(machine):
    machine.probe_ns = lambda now: 110.0 if now < 1001.0 else 540.0
    text = measured(against="raw@shm").plot().get_supxlabel()
    assert "measured" in text
    assert "110-540 ns (cores moved)" in text.replace("\n", " ")
    assert "data verified" in text
    assert re.search(r"[1-9]\d* of \d+ blocks dropped", text.replace("\n", " "))


def test_points_that_did_not_verify_are_not_drawn(machine):
    machine.unverified.add("get")
    (axes,) = measured(op="put,get").plot().axes
    assert len(lines(axes)) == 1


def test_there_must_be_something_to_draw(machine):
    with pytest.raises(UsageError, match="unknown plot 'pie'"):
        measured().plot("pie")
    with pytest.raises(UsageError, match="nothing to draw as gups: the rows hold latency"):
        measured().plot("gups")
    machine.unverified.add("put")
    with pytest.raises(UsageError, match="nothing to draw"):
        measured().plot()


def test_every_kind_is_saved_as_svg_and_png(tmp_path):
    result = gm.Experiment(
        name="all",
        series=(
            gm.Series(kernel="ping-pong", op="put", sizes="8:64", conduit="smp"),
            gm.Series(kernel="flood", op="put", sizes="8:64", conduit="smp"),
            gm.Series(kernel="random-access", sizes="64K", ranks=(1, 2), conduit="smp"),
        ),
    ).run()
    paths = save_all(result, tmp_path)
    kinds = [kind for kind in KINDS if kind != "crossover"]  # drawn where an experiment asks for it alone
    assert sorted(path.name for path in paths) == sorted(f"{kind}.{end}" for kind in kinds for end in ("svg", "png"))
    for path in paths:
        if path.suffix == ".svg":
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
        else:
            with Image.open(path) as image:
                assert min(image.size) > 600


def test_the_same_rows_make_the_same_svg(tmp_path):
    result = measured()
    first, second = (save_all(result, tmp_path / name)[0].read_bytes() for name in "ab")
    assert first == second


def test_drawing_leaves_the_callers_settings_alone():
    with mpl.rc_context({"font.size": 23}):
        draw(measured())
        assert mpl.rcParams["font.size"] == 23


def test_a_figure_shows_itself_in_a_notebook():
    assert measured().plot()._repr_png_().startswith(b"\x89PNG")


def test_text_does_not_overlap_or_leave_the_figure():
    figure = gm.Experiment(
        name="wide",
        title="A title that is a good deal longer than what fits into one line of a figure of this width, so it wraps",
        series=(
            gm.Series(kernel="ping-pong", op="am-short", conduit="smp", against="raw@shm"),
            gm.Series(
                kernel="ping-pong", op=("am-medium", "put", "get"), sizes="8:16K", conduit="smp", against="raw@shm"
            ),
        ),
    ).run().plot()  # fmt: skip
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    frame = figure.bbox
    boxes = [figure.legends[0].get_window_extent(renderer), *(axes.get_tightbbox(renderer) for axes in figure.axes)]
    assert not any(a.overlaps(b) for index, a in enumerate(boxes) for b in boxes[index + 1 :])
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and box.y1 <= frame.y1 + 1 for box in boxes)
    for axes in figure.axes:
        labels = [label.get_window_extent(renderer) for label in axes.get_xticklabels() if label.get_text()]
        assert not any(a.overlaps(b) for a, b in pairwise(labels))


def twice(**settings):
    """A sweep whose reference is measured once beside each of two ways of doing the same."""
    common = {"kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8:64", "against": "raw@shm", **settings}
    series = (gm.Series(**common), gm.Series(options={"threads": "true"}, **common))
    return gm.Experiment(name="twice", series=series)


def test_a_point_measured_for_two_comparisons_is_two_lines_that_nothing_joins(tmp_path):
    result = twice().run(tmp_path)
    rows = [row for row in result.rows if row["conduit"] == "raw@shm"]
    assert len(rows) == 8
    assert len({row["run_id"] for row in rows}) == 4
    assert len({row["value"] for row in rows}) == 8
    (tmp_path / "journal.jsonl").unlink()
    for kept in (result, gm.open_result(tmp_path)):
        figure = kept.plot("latency")
        drawn = lines(figure.axes[0])
        assert all(a < b for line in drawn for a, b in pairwise(line.get_xdata()))
        assert len(drawn) == 4
        labels = {text.get_text() for text in figure.legends[0].get_texts()}
        assert {"raw@shm beside smp", "raw@shm beside smp threads=true"} <= labels


def test_one_size_measured_for_two_comparisons_is_a_dot_for_each():
    figure = twice(sizes="8").run().plot("latency")
    values, overheads = figure.axes
    assert len(values.get_yticklabels()) == 4
    assert len([line for line in overheads.get_lines() if line.get_marker() != "None"]) == 2


def test_a_way_that_two_others_are_held_against_is_a_line_for_each():
    common = {"kernel": "shared-access", "op": "get", "conduit": "smp", "sizes": "8:64"}
    series = tuple(
        gm.Series(options={"near": "remote", "cache": ("on", other)}, against={"cache": other}, **common)
        for other in ("off", "known")
    )
    figure = gm.Experiment(name="held", series=series).run().plot("latency")
    values, overheads = figure.axes
    assert len(lines(values)) == 4
    assert len([line for line in overheads.get_lines() if line.get_marker() != "None"]) == 2


def test_what_virtual_time_gives_twice_is_one_line():
    common = {"kernel": "ping-pong", "op": "put", "sizes": "8:64", "against": "ideal"}
    series = (gm.Series(conduit="extoll", **common), gm.Series(conduit="extoll", options={"outstanding": 4}, **common))
    figure = gm.Experiment(name="virtual", series=series).run().plot("latency")
    assert len(lines(figure.axes[0])) == 3
