"""Pictures, tables and words of a reproduction, of an invented paper: nothing here was run."""

import dataclasses
import itertools
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.text import Text

from gasmeter.cli import reproduce as command
from gasmeter.papers.extoll import EXTOLL
from gasmeter.reproduction import claim_texts, marks, report
from gasmeter.reproduction.bands import band, bands, derived_bands, derived_values
from gasmeter.reproduction.cases import RunCase
from gasmeter.reproduction.drawing import draw_figure
from gasmeter.reproduction.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper
from gasmeter.reproduction.gathering import Gathered
from gasmeter.reproduction.judged import Judged
from gasmeter.reproduction.looks import looks
from gasmeter.reproduction.panels import MOST_LINES, panels_of, quantity_of
from gasmeter.reproduction.planning import Plan, Spot
from gasmeter.reproduction.running import Reproduction
from gasmeter.reproduction.writing import write_reproduction
from gasmeter.stores.result import Result
from gasmeter.verdicts.claims import Claim
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import read_predicates

PUT = Line("put", "ping-pong", "extoll", "extoll", op="put", metric="bandwidth", size=4096)
GET = Line("get", "ping-pong", "extoll", "extoll", op="get", metric="bandwidth", size=4096)
RAW = Line("card", "ping-pong", "raw@extoll", "extoll", op="put", metric="bandwidth", size=4096)
HERE = Line("memory", "ping-pong", "smp", "", op="put", metric="bandwidth", size=4096)
COUNTED = Line("messages of a put", "ping-pong", "extoll", "extoll", op="put", metric="counter:messages")
RATE = Line("conduit", "random-access", "extoll", "extoll", "mesh3d:2x2x2")
BARE = Line("card", "random-access", "raw@extoll", "extoll", "mesh3d:2x2x2")
RATIO = Derived("get over put", Expression("get / put"), (("get", GET), ("put", PUT)), "Ratio", "x")
SHORT = Effort((8, 64, 4096), 10, 160)


def rows_of_nothing(reproduction, figure):
    return [Extra("Made by the paper", ("name", "value"), [(figure.number, "<b>")])]


BY_OPTION = Figure(
    "a", "Bandwidth by what a conduit is told", (PUT, GET), ("p-ratio", "p-most"), Effort(("off", "auto", "on"), 10, 40),
    Effort(("off", "on"), 10), axis="rma", derived=(RATIO,), says="Both rise.", extras=rows_of_nothing,
)  # fmt: skip
AS_TABLE = Figure("b", "A table by size", (PUT, COUNTED), (), SHORT, SHORT, axis=SIZE, table=True)
MIXED = Figure("c", "By size, with a measured line", (PUT, RAW), ("p-order",), SHORT, SHORT, axis=SIZE, beside=(HERE,))
BY_RANKS = Figure(
    "d", "By ranks, on two placements", (RATE, BARE), ("p-rate",), Effort((2, 4, 8), 10, 40), Effort((2, 4, 8), 10),
    placements=("fill", "round-robin"),
)  # fmt: skip
PAPER = Paper("invented", "An invented paper", "extoll", ("For the statements: nobody.",), (BY_OPTION, AS_TABLE, MIXED, BY_RANKS))

PREDICATES = read_predicates(
    """
[p-ratio]
on = "ratio"
[[p-ratio.reading]]
name = "all of it"
quote = "hasta un 53%"
rule = "largest of get / put - 1"
tolerance = "[0.43,0.63]"
quantity = "max(get / put) - 1"
holds = [[0.43, 0.63]]
[p-ratio.reading.series]
get = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "get" }
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[[p-ratio.reading]]
name = "in per cent"
quote = "un 53%"
rule = "100 * get / put"
tolerance = "[100,153] %"
quantity = "100 * max(get / put)"
holds = [[100, 153]]
differs = { op = "one reads" }
[p-ratio.reading.series]
get = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "get" }
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[p-most]
on = "most"
undecidable = "it has no number"
[p-order]
on = "order"
[[p-order.reading]]
name = "every size"
quote = "siempre"
rule = "smallest of put / raw"
tolerance = "above 1"
quantity = "min(put)"
holds = [[1.000000001, inf]]
[p-order.reading.series]
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[p-rate]
on = "rate"
unit = "GUP/s"
[[p-rate.reading]]
name = "top"
quote = "0,03"
rule = "largest rate"
tolerance = "(0,0.03] GUP/s"
quantity = "max(rate)"
holds = [[0.000000001, 0.03]]
[p-rate.reading.series]
rate = { metric = "gups", kernel = "random-access", conduit = "extoll" }
"""
)
CLAIMS = {
    "p-ratio": Claim("p-ratio", "invented", "Fig. a", "Gets are <53 %> faster", "53", "%", "<=", "result"),
    "p-most": Claim("p-most", "invented", "Fig. a", "Much is gained", "1.2..1.9", "GB/s", "between", "result"),
    "p-order": Claim("p-order", "invented", "Fig. c", "The card is faster", "conduit < card", "order", "ordering", "result"),
    "p-rate": Claim("p-rate", "invented", "Fig. d", "All stays low", "0.03", "GUP/s", "<=", "result"),
}
WITHIN = Judgement(
    "within", "all of it", "within", value=0.53, median=0.53, low=0.48, high=0.61, by_placement={"one-per-node": 0.53},
    holds={"one-per-node": True}, p_prior=0.88, p_conditioned=0.97, effective=150.0, draws=200, margin=-0.2,
    deciding=(("extoll: host.lock", -0.71), ("placement", 0.4)), notes=["a note"],
)  # fmt: skip
OTHER = dataclasses.replace(WITHIN, verdict="outside", reading="in per cent", value=153.2, low=150.0, high=160.0, notes=[])
JUDGED = {
    "p-ratio": (WITHIN, OTHER),
    "p-most": (Judgement("not_decidable", notes=["it has no number"]),),
    "p-order": (dataclasses.replace(WITHIN, verdict="not_converged", reading="every size", value=1.25, low=1.1, high=1.4),),
    "p-rate": (dataclasses.replace(WITHIN, verdict="depends", reading="top", value=0.0123, low=0.01, high=0.05),),
}
FAILED = {
    "machine": "extoll", "hardware": "card-latency", "parameter": "half round trip", "source": "A. Card, 2009",
    "confidence": "high", "kind": "at_most", "published": "1.2", "unit": "us", "modelled": 1.331, "ratio": 1.109,
    "holds": False, "note": "",
}  # fmt: skip


class Made(Reproduction):
    """What came out, made by hand: the parts that a run makes of its rows are given."""

    gathered = checks = seen = None


def value_of(line, x, placement="", factor=1.0):
    """Return an invented value, in the metric's own unit."""
    if line.metric == "gups":
        return 1e-3 * x * (1.2 if line == BARE else 1.0) * (1.1 if placement == "fill" else 1.0) * factor
    if line.metric.startswith("counter:"):
        return 2.0 * factor
    return (1e9 + 1e6 * x) * {"get": 1.5, "card": 1.25}.get(line.label, 1.0) * factor


def made(paper=PAPER, *, quick=False, draws=10, judged=JUDGED, value=value_of, failing=()):
    """Return a reproduction: each draw a factor on every line alike, 1.01 to 1 + draws/100."""
    figures = tuple(figure for figure in paper.figures if figure.lines)
    plan, gathered = Plan(paper, figures, quick), Gathered()
    for number in range(0 if quick else draws):
        plan.cases[f"draw {number}"] = RunCase("draw", number)
    for figure in figures:
        effort = plan.effort(figure)
        xs = [figure.x_of(x, effort) for x in effort.xs]
        for line, placement in itertools.product((*figure.lines, *figure.beside), figure.placements):
            role = "figure" if line in figure.lines else "beside"
            own = gathered.tables.setdefault((role, "as given", placement), {}).setdefault(line, {})
            own |= {x: value(line, x, placement) for x in xs}
            if line.machine:
                gathered.lengths |= {(placement, Spot(line, x)): 40 for x in xs}
                gathered.moves |= {(placement, Spot(line, x)): -0.004 for x in xs}
            for number in range(0 if quick or role == "beside" else draws):
                if figure.placements[number % len(figure.placements)] == placement:
                    table = gathered.tables.setdefault(("draw", f"draw {number}", placement), {})
                    drawn = {x: value(line, x, placement, 1 + (number + 1) / 100) for x in xs}
                    table[line] = {**table.get(line, {}), **drawn}
    found = Made(plan, Result([], name="", title="Figures of an invented paper"))
    found.gathered, found.seen = gathered, SimpleNamespace(refused={})
    rows = [{**FAILED}] if failing else []
    found.checks = SimpleNamespace(rows=lambda: rows, failing=lambda: {"extoll": list(failing)})
    found.method = "0123456789abcdef"
    owner = {claim: figure for figure in figures for claim in figure.claims}
    found.judged = [
        Judged(CLAIMS[name], PREDICATES[name], owner[name], own, "predicted" if own[0].draws else "", "outside")
        for name, own in judged.items() if name in owner
    ]  # fmt: skip
    return found


@pytest.fixture
def core(machine):
    """The catalogue without the compiled core."""
    return machine


def panels(found, figure):
    return panels_of(found, figure, looks(found.plan.paper))


# ---- bands


def test_a_band_is_where_90_percent_of_the_draws_of_a_placement_lie(core):
    found = made(draws=200)
    median, low, high = band(found, RATE, "fill", 8)  # draws 0, 2, 4, …: factors 1.01, 1.03, … 2.99
    assert (median, low, high) == pytest.approx((8.8e-3 * 2.0, 8.8e-3 * 1.1, 8.8e-3 * 2.9), rel=2e-3)
    assert band(found, RATE, "round-robin", 8)[0] == pytest.approx(8e-3 * 2.01, rel=2e-3)
    assert band(found, RATE, "fill", 16) is None
    assert bands(found, HERE, "one-per-node") == {}


def test_draws_that_a_machine_refuses_are_in_no_band(core):
    found = made(draws=10)
    whole = band(found, PUT, "one-per-node", 8)
    found.seen.refused = {f"draw {number}": "why" for number in range(5)}
    assert band(found, PUT, "one-per-node", 8)[1] > whole[0]


def test_the_band_of_a_ratio_is_made_of_each_draws_own_lines(core):
    """All lines of a draw are faster alike: their ratio never moves, however wide both bands are."""
    found = made(draws=50)
    assert band(found, GET, "one-per-node", 1)[2] > 1.4 * band(found, GET, "one-per-node", 1)[1]
    assert derived_bands(found, RATIO, "one-per-node")[1] == pytest.approx((1.5, 1.5, 1.5))
    assert derived_values(found, RATIO, "one-per-node") == pytest.approx({1: 1.5, 2: 1.5, 3: 1.5})
    assert derived_values(found, RATIO, "elsewhere") == {}


# ---- looks and panels


def test_a_conduit_has_one_colour_and_a_line_one_look():
    look = looks(EXTOLL)
    hue = {}
    for line, own in look.items():
        hue.setdefault(line.conduit, []).append(own)
    for figure in EXTOLL.figures:
        own = [look[line] for line in figure.lines]
        assert len({(one.colour, one.marker, one.filled) for one in own}) == len(own), figure.number
        plain = {line.conduit: look[line].colour for line in reversed(figure.lines)}
        assert len(set(plain.values())) == len(plain), figure.number
    velo = [own for line, own in look.items() if line.label == "VELO"]
    assert len(velo) == 3
    assert len(set(velo)) == 1


def test_an_option_is_an_axis_with_words_at_its_ticks(core):
    found = made()
    top, below = panels(found, BY_OPTION)
    assert (top.label, below.label) == ("Bandwidth (MB/s)", "Ratio (x)")
    assert top.curves[0].values["one-per-node"] == pytest.approx({1: 1001, 2: 1002, 3: 1003})
    drawing = draw_figure(found, BY_OPTION).drawing
    assert [tick.get_text() for tick in drawing.axes[0].get_xticklabels()] == ["off", "auto", "on"]
    assert drawing.axes[0].get_xlabel() == "Rma"
    assert drawing.axes[0].get_yscale() == "linear"


def test_published_numbers_are_drawn_where_their_unit_is(core):
    found = made()
    top, below = panels(found, BY_OPTION)
    assert [(mark.low, mark.high, mark.label) for mark in top.marks] == [
        (1200, 1900, "published: 1.2 to 1.9 GB/s")  # on an axis in MB/s
    ]
    assert below.marks == ()  # 53 % is no factor
    percent = dataclasses.replace(RATIO, formula=Expression("100 * (get / put - 1)"), unit="%")
    figure = dataclasses.replace(BY_OPTION, derived=(percent,))
    paper = dataclasses.replace(PAPER, figures=(figure,))
    found = made(paper)
    top, below = panels(found, figure)
    assert [(mark.low, mark.high, mark.label) for mark in below.marks] == [(53, 53, "published: up to 53 %")]
    legend = [text.get_text() for legend in draw_figure(found, figure).drawing.legends for text in legend.get_texts()]
    assert "published: up to 53 %" in legend
    assert legend[:3] == ["put", "get", "published: 1.2 to 1.9 GB/s"]
    assert marks.marks(found.judged, AS_TABLE, "MB/s") == []
    found.judged = []  # an installation without published values
    assert all(not panel.marks for panel in panels(found, figure))


def test_modelled_lines_are_dashed_only_beside_measured_ones(core):
    found = made()
    assert not any(curve.dashed for panel in panels(found, BY_OPTION) for curve in panel.curves)
    judged, beside = panels(found, MIXED)
    assert [(curve.label, curve.dashed) for curve in judged.curves] == [("put (modelled)", True), ("card (modelled)", True)]
    assert [(curve.label, curve.dashed) for curve in beside.curves] == [("memory (measured here)", False)]
    assert judged.logarithmic
    assert beside.behind == ()  # what is modelled is no context of what is measured


def test_a_counter_is_shown_per_operation(core):
    quantity = quantity_of(COUNTED)
    assert (quantity.label, quantity.unit, quantity.scale) == ("Messages per operation", "1", 1.0)


def crowd(count, **more):
    lines = tuple(dataclasses.replace(PUT, label=f"line {number}", options=(("n", str(number)),)) for number in range(count))
    return dataclasses.replace(MIXED, lines=lines, beside=(), **more)


@pytest.mark.parametrize(("count", "sizes"), [(3, [3]), (4, [2, 2]), (5, [3, 2]), (7, [3, 3, 1])])
def test_curves_that_coincide_stand_three_to_a_panel(core, count, sizes):
    figure = crowd(count)
    found = made(dataclasses.replace(PAPER, figures=(figure,)), judged={})
    assert [len(panel.curves) for panel in panels(found, figure)] == sizes
    assert max(sizes) <= MOST_LINES


def test_four_curves_that_are_apart_share_a_panel(core):
    def apart(line, x, placement="", factor=1.0):
        return 10.0 ** int(line.label[-1]) * x * factor * 1e6

    found = made(dataclasses.replace(PAPER, figures=(crowd(4),)), judged={}, value=apart)
    assert [len(panel.curves) for panel in panels(found, crowd(4))] == [4]


def test_a_figure_shows_its_own_x_alone_though_another_runs_more_of_a_line(core):
    wide = dataclasses.replace(MIXED, number="e", full=Effort((8, 64, 4096, 65536), 10), claims=())
    found = made(dataclasses.replace(PAPER, figures=(MIXED, wide)))
    (curve, *_) = panels(found, MIXED)[0].curves
    assert sorted(curve.values["one-per-node"]) == [8, 64, 4096]
    assert sorted(curve.bands["one-per-node"]) == [8, 64, 4096]
    assert [tick.get_text() for tick in draw_figure(found, wide).drawing.axes[0].get_xticklabels()] == ["8", "64", "4K", "64K"]


def test_both_placements_share_a_scale_that_holds_both(core):
    found = made(draws=200)
    drawing = draw_figure(found, BY_RANKS).drawing
    first, second = drawing.axes
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[0] == 0
    assert first.get_ylim()[1] >= max(bands(found, BARE, "fill")[8][2], 0.03)  # the published value is in sight
    assert [axes.get_title(loc="left") for axes in drawing.axes] == ["placement fill", "placement round-robin"]


def overlaps(drawing):
    """Return pairs of texts of a drawing that lie on each other, and texts that leave it."""
    drawing.canvas.draw()
    renderer = drawing.canvas.get_renderer()
    whole = drawing.bbox
    boxes = [
        (text.get_text(), text.get_window_extent(renderer)) for text in drawing.findobj(Text)
        if text.get_text().strip() and text.get_visible()
    ]  # fmt: skip
    boxes = [(text, box) for text, box in boxes if box.width > 0]
    found = [(one, two) for (one, a), (two, b) in itertools.combinations(boxes, 2) if a.overlaps(b)]
    inside = whole.x0, whole.y0, whole.x1, whole.y1
    left = [
        text for text, box in boxes
        if box.x0 < inside[0] or box.y0 < inside[1] or box.x1 > inside[2] or box.y1 > inside[3]
    ]  # fmt: skip
    return found, left


def test_no_text_of_a_picture_meets_another(core):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def invented(line, x, placement="", factor=1.0):
        return (4e6 + 100 * x if line.metric == "round_trip" else 1e-4 * x) * factor * (1 + len(line.label) / 50)

    for paper, value in ((PAPER, value_of), (EXTOLL, invented)):
        found = made(paper, value=value)
        for figure in found.plan.figures:
            picture = draw_figure(found, figure)
            if picture is None:
                continue
            FigureCanvasAgg(picture.drawing)
            pairs, left = overlaps(picture.drawing)
            # Tick labels just outside of an axis' limits are texts that are not drawn.
            assert not [pair for pair in pairs if not all(re.fullmatch(r"[\d.e+−-]*", text) for text in pair)], figure.number
            assert not [text for text in left if not re.fullmatch(r"[\d.e+−-]*", text)], figure.number


def test_a_table_has_no_picture(core):
    found = made()
    assert draw_figure(found, AS_TABLE) is None
    table = report.values_of_figure(found, AS_TABLE)
    assert [head["line"] for head in table["heads"]] == ["put", "messages of a put"]
    assert [head["unit"] for head in table["heads"]] == ["MB/s", ""]
    assert [row["line"] for row in table["rows"]] == ["8 B", "64 B", "4 KiB"]
    assert table["rows"][0]["cells"][0]["value"] == "1008"
    assert table["rows"][0]["cells"][0]["band"] == "1018 to 1108"


def test_values_stand_in_the_published_unit_with_the_band_of_the_picture(core):
    found = made()
    rows = report.values_of_figure(found, BY_OPTION)["rows"]
    assert [(row["line"], row["unit"]) for row in rows] == [("put", "GB/s"), ("get", "GB/s"), ("Ratio: get over put", "x")]
    assert rows[0]["cells"][0] == {"value": "1", "band": "1.01 to 1.1"}
    (curve, *_) = panels(found, BY_OPTION)[0].curves
    assert [1e-3 * end for end in curve.bands["one-per-node"][1]][1:] == pytest.approx([1.01, 1.10], abs=0.01)
    measured = next(row for row in report.values_of_figure(found, MIXED)["rows"] if row["kind"] == "measured")
    assert measured["line"] == "memory"


# ---- words


def entry(name, found=None):
    return next(one for one in (found or made()).judged if one.claim.id == name)


def test_what_came_out_is_said_in_the_published_unit(core):
    gain = entry("p-ratio")
    first, second = gain.readings
    reading = gain.predicate.readings
    assert marks.published_text(gain.claim) == "up to 53 %"
    assert claim_texts.reproduced_text(gain, first) == "53 %"
    assert claim_texts.band_text(gain, first) == "48 to 61 %"
    assert claim_texts.asked_text(gain, reading[0]) == "43 to 63 %"
    assert claim_texts.reproduced_text(gain, second) == "153 %"  # per cent already, as its tolerance says
    assert claim_texts.asked_text(gain, reading[1]) == "100 to 153 %"
    order, rate = entry("p-order"), entry("p-rate")
    assert claim_texts.reproduced_text(order, order.judgement) == "1.25"
    assert claim_texts.asked_text(order, order.predicate.readings[0]) == "above 1"
    assert claim_texts.reproduced_text(rate, rate.judgement) == "0.0123 GUP/s"
    assert claim_texts.asked_text(rate, rate.predicate.readings[0]) == "above 0, at most 0.03 GUP/s"
    assert claim_texts.chance_text(first) == "0.97 (0.88)"
    assert claim_texts.chance_text(Judgement("not_run")) == ""
    assert marks.published_text(CLAIMS["p-order"]) == "conduit < card"


def test_a_range_may_stand_in_another_unit_than_the_predicates(core):
    claim = dataclasses.replace(CLAIMS["p-rate"], unit="us")
    predicate = dataclasses.replace(PREDICATES["p-rate"], unit="ns", readings=())
    own = Judged(claim, predicate, BY_RANKS, (Judgement("no_band", value=1234.0),), "")
    assert claim_texts.reproduced_text(own, own.judgement) == "1.23 µs"


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        (("within",), None),
        (("within", "depends", "outside"), "outside"),
        (("outside", "within"), None),
        (("by_construction", "within"), None),
        (("within", "by_construction"), "by_construction"),
        (("depends", "not_converged"), None),
    ],
)
def test_the_worst_reading_is_told_where_it_is_worse(core, verdicts, worst):
    readings = tuple(Judgement(verdict, str(number)) for number, verdict in enumerate(verdicts))
    found = claim_texts.worst(dataclasses.replace(entry("p-ratio"), readings=readings))
    assert (found.verdict if found else None) == worst


def test_the_score_counts_quantities_beside_the_null_models(core):
    first, second = claim_texts.score_sentences(made().judged)
    assert first.startswith("1 of 2 independent quantities is within what the paper states; 0 are outside, 1 depends")
    assert second == "A model that knows nothing of its software: 0 of 4 within."
    assert claim_texts.score_line(made().judged) == (
        "score of independent quantities: 1 of 2 within, 0 outside, 1 open; a model that knows nothing of its software:"
        " 0 of 4"
    )
    without = [dataclasses.replace(one, null="") for one in made().judged]
    assert claim_texts.score_sentences(without)[1] == ""


def test_a_quick_look_says_what_holds_as_given(core):
    quick = [
        dataclasses.replace(one, readings=(Judgement("no_band", holds={"fill": flag, "other": True}),))
        for one, flag in zip(made().judged, (True, False, True, True), strict=True)
    ]
    assert claim_texts.quick_text(quick) == "As given 3 of 4 statements hold; without draws nothing is decided."
    assert claim_texts.as_given(quick[1].judgement) == "holds on other only"
    assert claim_texts.as_given(Judgement("no_band", holds={"fill": False})) == "does not hold"
    assert claim_texts.as_given(Judgement("not_run")) == ""


# ---- the page


class Page(HTMLParser):
    """What a page refers to, its text, its heads of tables without a scope."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.words, self.unscoped, self.tags = [], [], 0, []
        self.feed(text)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in {"src", "href"}]
        self.unscoped += tag == "th" and "scope" not in dict(attrs)

    def handle_data(self, data):
        if "style" not in self.tags[-1:]:
            self.words.append(data)


def test_the_report_begins_with_what_came_out(core):
    page = Page(report.report_html(made()))
    score, table = page.text.index("1 of 2 independent quantities"), page.text.index("Gets are <53 %> faster")
    assert page.text.index("A model that knows nothing of its software: 0 of 4") < table
    assert score < table < page.text.index("Bandwidth by what a conduit is told")
    row = page.text[table:][:400]
    for words in ("up to 53 %", "53 %", "48 to 61 %", "0.97 (0.88)", "within", "worst: outside, read as: in per cent",
                  "predicted", "extoll: host.lock (-0.71), placement (+0.40)"):  # fmt: skip
        assert words in row
    for word in ("not converged", "not decidable", "depends"):
        assert word in page.text


def test_the_report_is_one_file_without_scripts(core):
    text = report.report_html(made(failing=("card-latency",)))
    page = Page(text)
    assert page.unscoped == 0
    assert "script" not in page.tags
    assert not re.search(r"https?://", text)
    assert {source.split(",")[0] for source in page.sources if not source.startswith("#")} == {"data:image/svg+xml;base64"}
    assert "prefers-color-scheme: dark" in text
    named = set(re.findall(r'id="([^"]+)"', text))
    assert {source[1:] for source in page.sources if source.startswith("#")} <= named


def test_every_reading_stands_below_its_figure(core):
    words = Page(report.report_html(made())).text
    for reading in ("Primary reading: all of it", "Another reading: in per cent"):
        assert reading in words
    for said in ("hasta un 53%", "largest of get / put - 1", "as frozen: [0.43,0.63]", "op: one reads", "a note",
                 "margin without its mechanism -20 %", "200 draws, chosen from 150 draws' worth",
                 "converged: four times the work moves its values by 0.40% at most", "Both rise.", "0123456789abcdef",
                 "Made by the paper", PREDICATES["p-ratio"].digest, "What to cite", "For the statements: nobody."):  # fmt: skip
        assert said in words, said


def test_a_value_that_still_moves_is_told_with_the_reading(core):
    found = made()
    found.gathered.moves["one-per-node", Spot(GET, 3)] = 0.031
    words = Page(report.report_html(found)).text
    assert "not converged: four times the work moves its values by 3.10% at most (ping-pong get on extoll, extoll at 3" in words
    assert "3.10% at rma=on no" in words


def test_check_rows_stand_in_a_table_and_beside_the_verdicts(core):
    words = Page(report.report_html(made(failing=("card-latency",)))).text
    assert words.count("machine extoll fails a check row") == 3  # not of the claim that no number could decide
    assert "card-latency half round trip extoll at most 1.2 us 1.33 us 1.109 out high A. Card, 2009" in words
    assert "fails a check row" not in Page(report.report_html(made())).text


def test_a_report_hides_nothing_in_markup(core):
    found = made()
    found.plan.notes.append("<script>alert(1)</script>")
    text = report.report_html(found)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;" in text  # of the paper's own table


def test_a_quick_report_decides_nothing(core):
    quick = {name: (dataclasses.replace(own[0], verdict="no_band", p_prior=math.nan, low=math.nan, deciding=()),)
             for name, own in JUDGED.items() if own[0].draws}  # fmt: skip
    words = Page(report.report_html(made(quick=True, judged=quick))).text
    assert "As given 3 of 3 statements hold; without draws nothing is decided." in words
    assert "no band as given: holds" in words


def test_a_blind_run_has_a_report_without_claims(core):
    words = Page(report.report_html(made(judged={}))).text
    assert "independent quantities" not in words
    assert "published:" not in words
    assert "By ranks, on two placements" in words


def test_all_is_written_to_the_folder(core, tmp_path):
    written = write_reproduction(made(), tmp_path)
    names = {path.name for path in written}
    assert {"claims.csv", "report.html"} < names
    assert {f"figure_{number}.{ending}" for number in "acd" for ending in ("svg", "png")} <= names
    assert "figure_b.svg" not in names
    assert all(path.exists() for path in written)
    again = write_reproduction(made(), tmp_path / "again")
    svg = [path.name for path in again if path.suffix == ".svg"]
    assert all((tmp_path / "plots" / name).read_bytes() == (tmp_path / "again/plots" / name).read_bytes() for name in svg)


# ---- the terminal


@pytest.mark.parametrize("columns", [80, 132])
def test_the_table_fits_the_terminal(core, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    command._print(made(failing=("card-latency",)), Path("out"))
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("score")) <= columns
    assert any(line.startswith("score of independent quantities: 1 of 2 within") for line in lines)
    text = " ".join(lines)
    for words in ("p-ratio", "up to 53 %", "0.97 (0.88)", "within", "machine extoll as given does not meet card-latency"):
        assert words in text
    assert "report.html" in lines[-1]


def test_a_quick_table_says_as_given(core, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "132")
    quick = {"p-ratio": (Judgement("no_band", "all of it", value=0.2, holds={"one-per-node": False}),)}
    command._print(made(quick=True, judged=quick), Path("out"))
    text = capsys.readouterr().out
    assert "as given: does not hold" in text
    assert "20 %" in text
    assert "As given 0 of 1 statements hold" in text
    assert "score" not in text
