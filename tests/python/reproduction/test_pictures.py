"""Pictures of reproduced figures, and their bands, of an invented paper: nothing here was run."""

import dataclasses
import io
import itertools
import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from gasmeter.papers.extoll import EXTOLL
from gasmeter.papers.registry import PAPERS
from gasmeter.plots.style import Drawing, styled
from gasmeter.reproduction.plan.figure import Derived, Effort
from gasmeter.reproduction.report import marks
from gasmeter.reproduction.report.bands import band, bands, derived_bands, derived_values
from gasmeter.reproduction.report.digitised import Points
from gasmeter.reproduction.report.drawing import Picture, draw_figure
from gasmeter.reproduction.report.looks import looks
from gasmeter.reproduction.report.panel_axes import Across, draw_panel, runs_of, scale_panel
from gasmeter.reproduction.report.panels import MOST_LINES, panels_of, quantity_of
from gasmeter.reproduction.report.scales import Scale, log_ticks, scale_for
from gasmeter.verdicts.expressions import Expression
from invented import (
    AS_TABLE,
    BARE,
    BY_OPTION,
    BY_RANKS,
    COUNTED,
    GET,
    HERE,
    MIXED,
    PAPER,
    PUT,
    RATE,
    RATIO,
    RAW,
    WITHIN,
    made,
    value_of,
)


@pytest.fixture
def core(machine):
    """The catalogue without the compiled core."""
    return machine


def panels(reproduced, figure):
    return panels_of(reproduced, figure, looks(reproduced.plan.paper))


# ---- bands


def test_a_band_is_where_90_percent_of_the_draws_of_a_placement_lie(core):
    reproduced = made(draws=200)
    median, low, high = band(reproduced, RATE, "fill", 8)  # draws 0, 2, 4, …: factors 1.01, 1.03, … 2.99
    assert (median, low, high) == pytest.approx((8.8e-3 * 2.0, 8.8e-3 * 1.1, 8.8e-3 * 2.9), rel=2e-3)
    assert band(reproduced, RATE, "round-robin", 8)[0] == pytest.approx(8e-3 * 2.01, rel=2e-3)
    assert band(reproduced, RATE, "fill", 16) is None
    assert bands(reproduced, HERE, "one-per-node") == {}


@pytest.mark.parametrize(
    ("drawn", "runs"),
    [((1, 2, 4, 8), [[1, 2, 4, 8]]), ((1, 8), [[1], [8]]), ((1, 2, 8), [[1, 2], [8]]), ((2,), [[2]]), ((), [])],
)
def test_a_band_is_filled_between_neighbours_alone(drawn, runs):
    assert runs_of([1, 2, 4, 8], dict.fromkeys(drawn)) == runs


def test_draws_that_a_machine_refuses_are_in_no_band(core):
    reproduced = made(draws=10)
    whole = band(reproduced, PUT, "one-per-node", 8)
    reproduced.seen.refused = {f"draw {number}": "why" for number in range(5)}
    assert band(reproduced, PUT, "one-per-node", 8)[1] > whole[0]


def test_the_prior_makes_the_band_where_the_check_rows_leave_too_few_draws(core):
    reproduced = made(draws=10)
    tables = reproduced.gathered.tables
    tables["prior", "prior 0", "one-per-node"] = {PUT: {8: 7e9}}
    assert band(reproduced, PUT, "one-per-node", 8)[0] < 2e9
    asked = []
    reproduced.seen.choice.worth = lambda machines: asked.append(machines) or 19.9
    assert band(reproduced, PUT, "one-per-node", 8) == (7e9, 7e9, 7e9)
    assert asked == [("extoll",)]


def test_the_band_of_a_ratio_is_made_of_each_draws_own_lines(core):
    """All lines of a draw are faster alike: their ratio never moves, however wide both bands are."""
    reproduced = made(draws=50)
    assert band(reproduced, GET, "one-per-node", 1)[2] > 1.4 * band(reproduced, GET, "one-per-node", 1)[1]
    assert derived_bands(reproduced, RATIO, "one-per-node")[1] == pytest.approx((1.5, 1.5, 1.5))
    assert derived_values(reproduced, RATIO, "one-per-node") == pytest.approx({1: 1.5, 2: 1.5, 3: 1.5})
    assert derived_values(reproduced, RATIO, "elsewhere") == {}


# ---- looks and panels


@pytest.mark.parametrize("paper", list(PAPERS.values()), ids=list(PAPERS))
def test_a_conduit_has_one_colour_and_a_line_one_look(paper):
    look = looks(paper)
    for figure in paper.figures:
        entry = [look[line] for line in figure.lines]
        assert len({(item.colour, item.marker) for item in entry}) == len(entry), figure.number
        plain = {line.conduit: look[line].colour for line in reversed(figure.lines)}
        assert len(set(plain.values())) == len(plain), figure.number


def test_lines_of_one_label_look_the_same():
    look = looks(EXTOLL)
    velo = [entry for line, entry in look.items() if line.label == "VELO"]
    assert len(velo) == 3
    assert len(set(velo)) == 1


def test_an_option_is_an_axis_with_words_at_its_ticks(core):
    reproduced = made()
    top, below = panels(reproduced, BY_OPTION)
    assert (top.label, below.label) == ("Bandwidth (MB/s)", "Ratio (x)")
    assert top.curves[0].values["one-per-node"] == pytest.approx({1: 1001, 2: 1002, 3: 1003})
    drawing = draw_figure(reproduced, BY_OPTION).drawing
    assert [tick.get_text() for tick in drawing.axes[0].get_xticklabels()] == ["off", "auto", "on"]
    assert drawing.axes[0].get_xlabel() == "Rma"
    assert drawing.axes[0].get_yscale() == "linear"


def test_published_numbers_are_drawn_where_their_unit_is(core):
    reproduced = made()
    top, below = panels(reproduced, BY_OPTION)
    assert [(mark.low, mark.high, mark.label) for mark in top.marks] == [
        (1200, 1900, "published: 1.2 to 1.9 GB/s")  # on an axis in MB/s
    ]
    assert below.marks == ()  # 53 % is no factor
    percent = dataclasses.replace(RATIO, formula=Expression("100 * (get / put - 1)"), unit="%")
    figure = dataclasses.replace(BY_OPTION, derived=(percent,))
    paper = dataclasses.replace(PAPER, figures=(figure,))
    reproduced = made(paper)
    top, below = panels(reproduced, figure)
    assert [(mark.low, mark.high, mark.label) for mark in below.marks] == [(53, 53, "published: up to 53 %")]
    legend = [
        text.get_text() for legend in draw_figure(reproduced, figure).drawing.legends for text in legend.get_texts()
    ]
    assert "published: up to 53 %" in legend
    assert legend[:3] == ["put", "get", "published: 1.2 to 1.9 GB/s"]
    for axes, (mark,) in zip(draw_figure(reproduced, figure).drawing.axes, (top.marks, below.marks), strict=True):
        hollow = {
            line.get_label(): set(line.get_ydata()) for line in axes.lines if line.get_markerfacecolor() == "white"
        }
        assert {label: {y for y in ys if not math.isnan(y)} for label, ys in hollow.items()} == {
            mark.label: {mark.low, mark.high}
        }
    assert marks.marks(reproduced.judged, AS_TABLE, "MB/s") == []
    reproduced.judged = []  # an installation without published values
    assert all(not panel.marks for panel in panels(reproduced, figure))


def test_a_number_whose_own_reproduction_lies_elsewhere_is_not_drawn(core):
    [stated] = [entry for entry in made().judged if entry.claim.unit == "GB/s"]
    restated = dataclasses.replace(
        stated, predicate=dataclasses.replace(stated.predicate, unit="GB/s"),
        readings=(dataclasses.replace(WITHIN, value=1.5),),
    )  # fmt: skip
    assert [mark.low for mark in marks.marks([restated], BY_OPTION, "MB/s", [1400, 1600])] == [1200]
    assert marks.marks([restated], BY_OPTION, "MB/s", [2900, 3000]) == []  # a ratio the other way round, for instance
    assert marks.marks([restated], BY_OPTION, "MB/s", [700, 800]) == []
    assert [mark.low for mark in marks.marks([stated], BY_OPTION, "MB/s", [700, 800])] == [
        1200
    ]  # the other value is unknown


def test_a_number_bears_the_label_of_the_one_curve_that_it_is_stated_of_and_stands_where_that_is(core):
    label_y, unit = "Gain", "%"
    made_of = tuple(
        Derived(f"gain {at}", Expression("100 * (get / put - 1)"), (("get", GET), ("put", PUT)), label_y, unit)
        for at in range(MOST_LINES)
    )
    other = Derived("gain of none", Expression("100 * one"), (("one", PUT),), label_y, unit)
    figure = dataclasses.replace(BY_OPTION, derived=(*made_of, other))
    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)))
    [stated] = [entry for entry in reproduced.judged if entry.claim.unit == "%"]

    def drawn(**series):
        readings = tuple(dataclasses.replace(reading, series=series) for reading in stated.predicate.readings)
        entry = dataclasses.replace(stated, predicate=dataclasses.replace(stated.predicate, readings=readings))
        reproduced.judged = [entry]
        return [[mark.label for mark in panel.marks] for panel in panels(reproduced, figure) if panel.derived]

    assert drawn(only=PUT.key) == [[], ["gain of none, published: up to 53 %"]]
    assert drawn(one=GET.key) == [["published: up to 53 %"], ["published: up to 53 %"]]  # a number of no curve
    assert drawn(one=GET.key, other=PUT.key) == [["published: up to 53 %"]] * 2  # a number of several curves
    figure = dataclasses.replace(figure, derived=(other,))
    assert drawn(only=PUT.key) == [["published: up to 53 %"]]  # nothing else is there to be meant


def drawn_alone(of):
    """Draw the first curve of an invented panel with every value changed by `of`: the axes."""
    figure = dataclasses.replace(BY_OPTION, derived=())
    [panel] = panels(made(), figure)
    curve = panel.curves[0]
    values = {place: {x: of(y) for x, y in value.items()} for place, value in curve.values.items()}
    changed = dataclasses.replace(panel, marks=(), curves=(dataclasses.replace(curve, bands={}, values=values),))
    axes = Figure().subplots()
    draw_panel(axes, changed, Across(figure, [1, 2, 3], dict.fromkeys([1, 2, 3], "rma=on")), "one-per-node")
    scale_panel([axes], changed)
    FigureCanvasAgg(axes.figure).draw()
    return axes


def test_large_numbers_have_a_prefix_at_the_axis(core):
    assert {text.get_text() for text in drawn_alone(lambda y: 1e5 * y).get_yticklabels()} > {"20M", "40M"}


def test_a_flat_line_is_not_cut_at_the_upper_edge_of_an_axis_from_0(core):
    axes = drawn_alone(lambda y: 1000 + y / 1000)
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 1.04 * axes.dataLim.y1


def test_a_number_of_what_is_made_of_lines_is_not_drawn_among_them(core):
    added = dataclasses.replace(RATIO, formula=Expression("get - put"), unit="GB/s", label_y="Added")
    figure = dataclasses.replace(BY_OPTION, derived=(added,))
    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)))
    top, below = panels(reproduced, figure)
    assert top.marks == ()
    assert [mark.label for mark in below.marks] == ["published: 1.2 to 1.9 GB/s"]


def test_what_lines_are_held_against_is_drawn_behind_them(core):
    perfect = Derived("perfect", Expression("x * at(rate, 8) / 8"), (("rate", RATE),), "Rate", "1/s", behind=True)
    figure = dataclasses.replace(BY_RANKS, derived=(perfect,))
    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)))
    (panel,) = panels(reproduced, figure)
    values = panel.curves[0].values["fill"]
    assert panel.behind_label == "perfect"
    assert panel.scale == "log"
    assert panel.behind[0].values["fill"] == pytest.approx({x: values[8] * x / 8 for x in values})
    plain = dataclasses.replace(figure, derived=())
    (before,) = panels(made(dataclasses.replace(PAPER, figures=(plain,))), plain)
    assert before.behind == ()


def test_only_a_figure_with_claims_says_that_its_lines_are_judged(core):
    figure = dataclasses.replace(BY_OPTION, lines=BY_OPTION.lines[:1], beside=BY_OPTION.lines[1:], derived=())
    for claims, titles in ((figure.claims, ["judged", "beside, not judged"]), ((), ["", "beside"])):
        with_claims = dataclasses.replace(figure, claims=claims)
        assert [
            panel.title for panel in panels(made(dataclasses.replace(PAPER, figures=(with_claims,))), with_claims)
        ] == titles


def test_modelled_lines_are_dashed_only_beside_measured_ones(core):
    reproduced = made()
    assert not any(curve.dashed for panel in panels(reproduced, BY_OPTION) for curve in panel.curves)
    judged, beside = panels(reproduced, MIXED)
    assert [(curve.label, curve.dashed) for curve in judged.curves] == [
        ("put (modelled)", True),
        ("card (modelled)", True),
    ]
    assert [(curve.label, curve.dashed) for curve in beside.curves] == [("memory (measured here)", False)]
    assert judged.scale == "log"
    assert beside.behind == ()  # modelled lines are no context of measured ones


def test_a_counter_is_shown_per_operation(core):
    quantity = quantity_of(COUNTED)
    assert (quantity.label, quantity.unit, quantity.scale) == ("Messages per operation, all ranks", "1", 1.0)


def test_a_counter_of_time_is_shown_in_milliseconds(core):
    quantity = quantity_of(dataclasses.replace(COUNTED, metric="counter:waits"))
    assert (quantity.label, quantity.unit, quantity.shown) == ("Waits per operation, all ranks", "ns", "ms")
    assert 4e7 * quantity.scale == pytest.approx(40)


def test_lines_may_be_drawn_in_what_is_made_of_them_alone(core):
    figure = dataclasses.replace(MIXED, lines=(GET, PUT), beside=(), derived=(RATIO,))
    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)), judged={})
    assert [panel.label for panel in panels(reproduced, figure)] == ["Bandwidth (MB/s)", "Ratio (x)"]
    only = dataclasses.replace(figure, only_derived=True)
    assert [panel.label for panel in panels(reproduced, only)] == ["Ratio (x)"]


def test_bands_are_named_below_a_picture_that_has_some(core):
    def below(draws):
        reproduced = made(draws=draws)
        return " ".join(text.get_text() for text in draw_figure(reproduced, BY_RANKS).drawing.texts)

    assert "shaded" in below(10)
    assert "shaded" not in below(0)


def crowd(count, **more):
    lines = tuple(
        dataclasses.replace(PUT, label=f"line {number}", options=(("n", str(number)),)) for number in range(count)
    )
    return dataclasses.replace(MIXED, lines=lines, beside=(), **more)


@pytest.mark.parametrize(("count", "sizes"), [(3, [3]), (4, [2, 2]), (5, [3, 2]), (7, [3, 3, 1])])
def test_curves_that_coincide_stand_three_to_a_panel(core, count, sizes):
    figure = crowd(count)
    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)), judged={})
    assert [len(panel.curves) for panel in panels(reproduced, figure)] == sizes
    assert max(sizes) <= MOST_LINES


def test_four_curves_that_are_apart_share_a_panel(core):
    def apart(line, x, placement="", factor=1.0):
        return 10.0 ** int(line.label[-1]) * x * factor * 1e6

    reproduced = made(dataclasses.replace(PAPER, figures=(crowd(4),)), judged={}, value=apart)
    assert [len(panel.curves) for panel in panels(reproduced, crowd(4))] == [4]


def test_a_figure_shows_its_own_x_alone_though_another_runs_more_of_a_line(core):
    wide = dataclasses.replace(MIXED, number="e", full=Effort((8, 64, 4096, 65536), 10), claims=())
    reproduced = made(dataclasses.replace(PAPER, figures=(MIXED, wide)))
    (curve, *_) = panels(reproduced, MIXED)[0].curves
    assert sorted(curve.values["one-per-node"]) == [8, 64, 4096]
    assert sorted(curve.bands["one-per-node"]) == [8, 64, 4096]
    assert [tick.get_text() for tick in draw_figure(reproduced, wide).drawing.axes[0].get_xticklabels()] == [
        "8",
        "64",
        "4K",
        "64K",
    ]


def test_both_placements_share_a_scale_that_holds_both(core):
    reproduced = made(draws=200)
    drawing = draw_figure(reproduced, BY_RANKS).drawing
    first, second = drawing.axes
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[0] == 0
    assert first.get_ylim()[1] >= max(bands(reproduced, BARE, "fill")[8][2], 0.03)  # the published value is in sight
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["placement fill", "placement round-robin"]


@pytest.mark.parametrize(("figure", "kind"), [(BY_OPTION, "linear"), (MIXED, "log")], ids=["linear", "log"])
def test_figures_that_a_paper_draws_alike_stand_on_one_scale(core, figure, kind):
    def invented(line, x, placement="", factor=1.0):
        return 1e9 * (3 * factor if line == RAW else x**0.5)

    def ends(*scale_of):
        pair = tuple(
            dataclasses.replace(figure, number=number, lines=(line,), beside=(), claims=(), derived=(), scale_of=other)
            for number, line, other in zip("xy", (PUT, RAW), scale_of, strict=True)
        )
        reproduced = made(dataclasses.replace(PAPER, figures=pair), value=invented, judged={})
        axes = [draw_figure(reproduced, figure).drawing.axes[0] for figure in pair]
        shown = [y for axis in axes for line in axis.lines for y in line.get_ydata()]
        return [(axis.get_yscale(), axis.get_ylim(), list(axis.get_yticks())) for axis in axes], (
            min(shown),
            max(shown),
        )

    apart, alike = ends("", "")[0], ends("y", "x")[0]
    assert apart[0] != apart[1]
    assert alike[0] == alike[1]
    scale, (bottom, top), _ = alike[0]
    assert scale == kind
    least, most = ends("", "")[1]
    assert bottom <= least < most <= top
    assert ends("y", "")[0][1] == apart[1]


def test_a_figure_stands_alone_where_the_one_that_it_is_like_was_not_run(core):
    alone = dataclasses.replace(MIXED, claims=(), scale_of="z")
    reproduced = made(dataclasses.replace(PAPER, figures=(alone,)), judged={})
    assert draw_figure(reproduced, alone) is not None


# ---- scales


def test_what_is_0_or_less_never_stands_on_a_logarithmic_axis():
    assert scale_for("log", (1, 2)) == Scale("log")
    assert scale_for("log", (0, 2)).kind == scale_for("log", (1, 2), around=(-1,)).kind == "linear"
    assert scale_for("linear", (1, 1000)) == Scale()
    assert scale_for("span", (1, 39)) == Scale()
    assert scale_for("span", (1, 41)) == Scale("log")
    assert scale_for("span", (1, 41), around=(1e-9,)) == Scale("log")
    assert scale_for("span", (0.3, 27), around=(-6, 33)) == Scale()
    assert scale_for("span", (), around=(-1,)) == scale_for("log", (0, 0)) == Scale()
    assert scale_for("span", (math.nan, 1, 41), around=(math.nan,)) == Scale("log")


def test_where_a_linear_axis_hides_half_of_the_numbers_both_sides_of_0_are_logarithmic():
    crushed = scale_for("span", (-3, -4, 3, 5, 9, 1000))
    assert crushed == Scale("symlog", 1.0)
    assert crushed.says == "log beyond ±1"
    assert scale_for("log", (0, 0.02, 0.05, 7), around=(-0.03,)) == Scale("symlog", 0.01)
    assert scale_for("span", (-3, 300, 500, 900, 1000)) == Scale()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1.8, 23, [2, 5, 10, 20]),
        (1.9, 8.3, [2, 3, 4, 6, 8]),
        (1100, 4100, [1200, 1500, 2000, 2500, 3000, 4000]),
        (8.9, 12.2, [9, 10, 11, 12]),
        (0.5, 2e5, [1, 10, 100, 1e3, 1e4, 1e5]),
    ],
)
def test_a_logarithmic_axis_has_four_ticks_or_more(low, high, ticks):
    assert list(log_ticks(low, high)) == pytest.approx(ticks)


def over_the_card(core, value):
    """Return the panel of an overhead and its axes: of an invented paper whose draws make the conduit faster."""
    lines = (("put", PUT), ("card", RAW))
    overhead = Derived("put over card", Expression("100 * (put / card - 1)"), lines, "Overhead", "%")
    figure = dataclasses.replace(MIXED, derived=(overhead,), claims=())

    def invented(line, x, placement="", factor=1.0):
        return 1e9 * value(x, factor) if line == PUT else 1e9

    reproduced = made(dataclasses.replace(PAPER, figures=(figure,)), value=invented, judged={})
    drawing = draw_figure(reproduced, figure).drawing
    return panels(reproduced, figure)[-1], drawing, drawing.axes[-1]


def test_a_band_that_reaches_below_0_is_drawn_whole(core):
    panel, _, axes = over_the_card(core, lambda x, factor: 1.004 + x / 10_000 - (factor - 1))
    curve = panel.curves[0]
    assert max(curve.values["one-per-node"].values()) > 40 * min(curve.values["one-per-node"].values()) > 0
    lowest = min(low for _, low, _ in curve.bands["one-per-node"].values())
    assert lowest == pytest.approx(100 * (1.0048 - 0.1 - 1))  # value of the tenth draw
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] < lowest
    assert axes.get_ylabel() == "Overhead (%)"
    assert any(list(line.get_ydata()) == [0, 0] for line in axes.lines)


def test_decades_of_which_some_are_negative_have_a_scale_that_says_so(core):
    _, drawing, axes = over_the_card(core, lambda x, factor: {8: 0.98, 64: 1.02}.get(x, 50.0) * (2 - factor))
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylabel() == "Overhead (%), log beyond ±1"
    FigureCanvasAgg(drawing).draw()
    assert [label.get_text() for label in axes.get_yticklabels()][-4:] == ["1", "10", "100", "1000"]
    with styled():
        assert overlaps(drawing) == ([], [])


def test_decades_above_0_have_a_logarithmic_scale_that_says_so(core):
    _, _, axes = over_the_card(core, lambda x, factor: 1 + x / 1000)
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "Overhead (%), log"


def test_a_readers_own_points_may_be_0(core):
    reproduced = made()
    by_eye = Points("c", "by eye", ((8, 0.0), (64, 3.0)))
    first = draw_figure(reproduced, MIXED, [by_eye]).drawing.axes[0]
    assert first.get_yscale() == "linear"
    assert first.get_ylim()[0] == 0
    assert draw_figure(reproduced, MIXED).drawing.axes[0].get_yscale() == "log"


def texts_of(drawing):
    """Return every text that is drawn: not those of ticks beyond the ends of their axis."""
    yield from drawing.texts
    for legend in drawing.legends:
        yield from (legend.get_title(), *legend.get_texts())
    for axes in drawing.axes:
        yield from (axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)


def overlaps(drawing):
    """Return pairs of texts of a drawing that lie on each other, and texts that leave it."""
    FigureCanvasAgg(drawing).draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(drawing) if text.get_text().strip()]
    pairs = [(entry, two) for (entry, a), (two, b) in itertools.combinations(boxes, 2) if a.overlaps(b)]
    width, height = drawing.bbox.width, drawing.bbox.height
    left = [text for text, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]
    return pairs, left


@pytest.mark.parametrize(
    "paper",
    [PAPER, *(entry if entry is EXTOLL else pytest.param(entry, marks=pytest.mark.slow) for entry in PAPERS.values())],
    ids=lambda paper: paper.name,
)
def test_no_text_of_a_picture_meets_another(core, paper):
    def invented(line, x, placement="", factor=1.0):
        return (4e6 + 100 * x if line.metric == "round_trip" else 1e-4 * x) * factor * (1 + len(line.label) / 50)

    reproduced = made(paper, value=value_of if paper is PAPER else invented)
    for figure in reproduced.plan.figures:
        picture = draw_figure(reproduced, figure)
        if picture is None:
            continue
        with styled():
            assert overlaps(picture.drawing) == ([], []), figure.number


def test_numbers_under_an_axis_stand_clear_of_each_other(core):
    figure = dataclasses.replace(BY_RANKS, full=Effort((1, *(1 << power for power in range(6, 14))), 16))
    drawing = Drawing(figsize=(3.6, 2))
    axes = drawing.add_axes((0.15, 0.2, 0.8, 0.7))
    xs = figure.full.xs
    Across(figure, xs, {x: str(x) for x in xs}).dress(axes)
    axes.set_xlim(-0.8, 13.8)
    FigureCanvasAgg(drawing).draw()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert 4 <= len(boxes) < len(xs)
    assert all(box.x1 + 2 * drawing.dpi / 72 < two.x0 for box, two in itertools.pairwise(boxes))


def test_a_picture_of_few_colours_has_them_all():
    """A bar of colours stays smooth: a palette chosen for its picture would make a dozen stripes of it."""
    drawing = Drawing(figsize=(2, 2))
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.imshow(np.linspace(0, 1, 256)[:, None], aspect="auto", cmap="magma")
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", dpi=110)
    whole = np.asarray(Image.open(buffer).convert("RGB")).astype(int)
    few = Image.open(io.BytesIO(Picture("links", "a", "Links", drawing, "png").content))
    assert few.mode == "P"
    assert np.abs(whole - np.asarray(few.convert("RGB"))).max() <= 0.5 * 255 / 20 + 1
    assert len(few.convert("RGB").getcolors()) >= 45


def test_a_picture_fits_a_phone(core):
    """Letters of 9 points on a picture as wide as a screen of 390 px, less its edges, are 8 px and more high."""
    reproduced = made()
    widths = {figure.number: draw_figure(reproduced, figure).drawing.get_figwidth() for figure in (BY_OPTION, BY_RANKS)}
    assert 9 * 350 / (72 * widths["a"]) > 8
    assert widths["a"] < widths["d"] < 2 * widths["a"]
