"""Texts of a reproduction, in its report and in the terminal, for an invented paper; nothing runs."""

import dataclasses
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from gasmeter.cli import reproduce as command
from gasmeter.functions.figures import Reproduced
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.plan.planning import Spot
from gasmeter.reproduction.report import claim_texts, marks
from gasmeter.reproduction.report.claims import claim_entry
from gasmeter.reproduction.report.conditions import Conditions
from gasmeter.reproduction.report.drawing import draw_figure
from gasmeter.reproduction.report.figures import values_of_figure
from gasmeter.reproduction.report.lead import figure_name, is_added, lead_sentences
from gasmeter.reproduction.report.looks import looks
from gasmeter.reproduction.report.page import report_html
from gasmeter.reproduction.report.panels import panels_of
from gasmeter.reproduction.report.writing import write_reproduction
from gasmeter.reproduction.run.timing import Stage, Took
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import read_predicates
from invented import AS_TABLE, BY_OPTION, BY_RANKS, CLAIMS, GET, JUDGED, MIXED, PREDICATES, made


@pytest.fixture
def core(machine):
    """The catalogue without the compiled core."""
    return machine


# ---- values


def test_a_table_is_named_by_its_number_alone():
    figures = [dataclasses.replace(AS_TABLE, number=number) for number in ("table-1", "b", "1")]
    assert [figure_name(figure) for figure in figures] == ["table 1", "table b", "figure 1"]
    assert ">Table b: A table by size</h2>" in report_html(made())
    assert figure_name(BY_OPTION) == "figure a"


def test_a_table_has_no_picture(core):
    reproduced = made()
    assert draw_figure(reproduced, AS_TABLE) is None
    table = values_of_figure(reproduced, AS_TABLE)
    assert [head["line"] for head in table["heads"]] == ["put", "messages of a put"]
    assert [head["unit"] for head in table["heads"]] == ["MB/s", ""]
    assert [row["line"] for row in table["rows"]] == ["8 B", "64 B", "4 KiB"]
    assert table["rows"][0]["cells"][0]["value"] == "1008"
    assert table["rows"][0]["cells"][0]["band"] == "1018 to 1109"  # 1.01 to 1.10 times 1008.008


def test_values_stand_in_the_published_unit_with_the_band_of_the_picture(core):
    reproduced = made()
    rows = values_of_figure(reproduced, BY_OPTION)["rows"]
    assert [(row["line"], row["unit"]) for row in rows] == [
        ("put", "GB/s"),
        ("get", "GB/s"),
        ("Ratio: get over put", "x"),
    ]
    assert rows[0]["cells"][0] == {"value": "1", "band": "1.01 to 1.1"}
    (curve, *_) = panels_of(reproduced, BY_OPTION, looks(reproduced.plan.paper))[0].curves
    assert [1e-3 * end for end in curve.bands["one-per-node"][1]][1:] == pytest.approx([1.01, 1.10], abs=0.01)
    measured = next(row for row in values_of_figure(reproduced, MIXED)["rows"] if row["kind"] == "measured")
    assert measured["line"] == "memory"


# ---- words


def entry(name, reproduced=None):
    return next(judgement for judgement in (reproduced or made()).judged if judgement.claim.id == name)


def test_what_came_out_is_said_in_the_published_unit(core):
    gain = entry("p-ratio")
    first, second = gain.readings
    reading = gain.predicate.readings
    assert marks.published_text(gain.claim) == "up to 53 %"
    assert claim_texts.reproduced_text(gain, first) == "53 %"
    assert claim_texts.band_text(gain, first) == "48 to 61 %"
    assert claim_texts.asked_text(gain, reading[0]) == "43 to 63 %"
    assert (
        claim_texts.reproduced_text(gain, second) == "153.2 %"
    )  # per cent already, as its tolerance says; up to 153 %
    assert claim_texts.asked_text(gain, reading[1]) == "100 to 153 %"
    order, rate = entry("p-order"), entry("p-rate")
    assert claim_texts.reproduced_text(order, order.judgement) == "1.25"
    assert claim_texts.asked_text(order, order.predicate.readings[0]) == "above 1"
    assert claim_texts.reproduced_text(rate, rate.judgement) == "0.0123 GUP/s"
    assert claim_texts.asked_text(rate, rate.predicate.readings[0]) == "above 0, at most 0.03 GUP/s"
    assert claim_texts.chance_text(first) == "0.97 (0.88)"
    assert claim_texts.chance_text(Judgement("not_run")) == ""
    assert claim_texts.verdict_text(Judgement("not_run")) == "not run"
    assert claim_texts.verdict_text(Judgement("not_run", value=1.2)) == "premise fails"
    assert marks.published_text(CLAIMS["p-order"]) == "conduit < card"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.25, "1.25"), (1.0036, "1.004"), (0.99996, "0.99996"), (1.0, "1"), (1 + 1e-9, "1"), (math.nan, "")],
)
def test_a_number_has_the_digits_that_tell_whether_it_is_what_was_asked(core, value, text):
    order = entry("p-order")  # above 1
    assert claim_texts.reproduced_text(order, dataclasses.replace(order.judgement, value=value)) == text


def test_a_range_may_stand_in_another_unit_than_the_predicates(core):
    claim = dataclasses.replace(CLAIMS["p-rate"], unit="us")
    predicate = dataclasses.replace(PREDICATES["p-rate"], unit="ns", readings=())
    judged = Judged(claim, predicate, BY_RANKS, (Judgement("no_band", value=1234.0),), "")
    assert claim_texts.reproduced_text(judged, judged.judgement) == "1.23 µs"


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
    sentence = claim_texts.worst(dataclasses.replace(entry("p-ratio"), readings=readings))
    assert (sentence.verdict if sentence else None) == worst


def test_the_score_counts_quantities_beside_the_null_models(core):
    first, second = claim_texts.score_sentences(made().judged)
    assert first.startswith("1 of 2 independent quantities is within the paper's statements; 0 are outside, 1 depends")
    assert second == "A control model with random software times: 0 of 4 within."
    assert claim_texts.score_line(made().judged) == (
        "score of independent quantities: 1 of 2 within, 0 outside, 1 open; a control model with random software times:"
        " 0 of 4"
    )
    without = [dataclasses.replace(judgement, null="") for judgement in made().judged]
    assert claim_texts.score_sentences(without)[1] == ""


def test_a_quick_look_says_what_holds_as_given(core):
    quick = [
        dataclasses.replace(judgement, readings=(Judgement("no_band", holds={"fill": flag, "other": True}),))
        for judgement, flag in zip(made().judged, (True, False, True, True), strict=True)
    ]
    assert (
        claim_texts.quick_text(quick)
        == "As given: 3 of 4 within, 0 outside, 1 by placement; without draws nothing is decided."
    )
    assert claim_texts.as_given(quick[1].judgement) == "holds on other only"
    assert claim_texts.as_given(Judgement("no_band", holds={"fill": False})) == "does not hold"
    assert claim_texts.as_given(Judgement("not_run")) == ""


# ---- the page


class Page(HTMLParser):
    """Links of a page, its text, and its table heads without a scope."""

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
    page = Page(report_html(made()))
    score, table = page.text.index("1 of 2 independent quantities"), page.text.index("Gets are <53 %> faster")
    assert page.text.index("A control model with random software times: 0 of 4") < table
    assert score < table < page.text.index("Figure a: Bandwidth by what a conduit is told")
    row = page.text[table:][:560]
    for words in (
        "up to 53 %",
        "53 %",
        "48 to 61 %",
        "0.97 (0.88)",
        "within",
        "The value must be 43 to 63 %.",
        'Primary reading: "all of it". Other reading: "in per cent" (outside).',
        "predicted",
        "extoll: host.lock (-0.71), placement (+0.40)",
    ):
        assert words in row
    for word in ("not converged", "not decidable", "depends"):
        assert word in page.text


def test_the_report_is_one_file_without_scripts(core):
    text = report_html(made(failing=("card-latency",)))
    page = Page(text)
    assert page.unscoped == 0
    assert "script" not in page.tags
    assert not re.search(r"https?://", text.replace("http://www.w3.org/", ""))  # names of XML, never fetched
    pictures = [source for source in page.sources if not source.startswith("#")]
    assert {source.split(",")[0] for source in pictures} == {"data:image/svg+xml"}
    for source in pictures:
        assert re.fullmatch(r"[ !#-%'-~]+", source), "an address has no double quote, no ampersand and ASCII alone"
        assert ElementTree.fromstring(unquote(source.partition(",")[2])).tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in text
    assert text.count('<figure class="picture" tabindex="0">') == len(pictures)  # a tap or a key enlarges it
    named = set(re.findall(r'id="([^"]+)"', text))
    assert {source[1:] for source in page.sources if source.startswith("#")} <= named


def test_seconds_are_told_of_every_stage(core):
    reproduction = made()
    object.__setattr__(reproduction, "took", [Took(stage, "some", 1.0) for stage in get_args(Stage)])
    written = report_html(reproduction)
    assert written.count(f"{100 / len(get_args(Stage)):.1f} %") == len(get_args(Stage))


def test_every_reading_stands_below_its_figure(core):
    words = Page(report_html(made())).text
    for reading in ("Primary reading: all of it", "Another reading: in per cent"):
        assert reading in words
    for entry in ("hasta un 53%", "largest of get / put - 1", "as frozen: [0.43,0.63]", "op: one reads", "a note",
                 "without its mechanism -20 % (distance from the nearer end of the required range; below 0: outside)",
                 "200 draws; check rows leave the equivalent of 150", "All words",
                 "(fingerprint of the rule)",
                 "converged: four times the work moves its values by 0.40 % at most", "Both rise.", "0123456789abcdef",
                 "Made by the paper", PREDICATES["p-ratio"].digest, "Citations",
                 "For the statements: nobody."):  # fmt: skip
        assert entry in words, entry


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (("within",), ""),
        (("outside", "within"), 'Primary reading: "0". Other reading: "1" (within).'),
        (
            ("within", "within", "not_converged"),
            'Primary reading: "0". Other readings: "1" (within); "2" (not converged).',
        ),
    ],
)
def test_a_sentence_names_every_reading_and_its_verdict(core, verdicts, sentence):
    readings = tuple(Judgement(verdict, str(number)) for number, verdict in enumerate(verdicts))
    assert claim_texts.other_readings(dataclasses.replace(entry("p-ratio"), readings=readings)) == sentence


def with_verdicts(*figures):
    """Return claims of the figures, each with its verdicts."""
    some = entry("p-ratio")
    return [
        dataclasses.replace(
            some, claim=dataclasses.replace(some.claim, figure=figure), readings=(Judgement(verdict, "all of it"),)
        )
        for figure, verdicts in figures
        for verdict in verdicts
    ]


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        (
            [("Fig. 1", ["within", "outside"]), ("Fig. 2", ["outside", "depends"]), ("Table 1", ["within", "depends"])],
            "Fig. 1 (1 of 2) and Table 1 (1 of 2) come out best, Fig. 2 (0 of 2) worst.",
        ),
        (
            [("Fig. 1", ["within"]), ("Fig. 2", ["outside"]), ("abstract", ["outside"])],
            "Fig. 1 (1 of 1) comes out best, Fig. 2 (0 of 1) worst.",
        ),
        (
            [("Fig. 1", ["within"]), ("Fig. 2", ["within", "outside"]), ("Figs. 3-4", ["outside", "outside"])],
            "Fig. 2 (1 of 2) comes out best, Figs. 3-4 (0 of 2) worst.",
        ),
        ([("Fig. 1", ["within"]), ("Fig. 2", ["within"])], "All figures come out alike: all of the decided statements"),
    ],
)
def test_the_lead_names_all_figures_with_the_best_and_the_worst_share(core, figures, sentence):
    assert sentence in " ".join(lead_sentences(with_verdicts(*figures)))


def test_the_lead_is_silent_on_a_single_figure(core):
    assert "comes out best" not in " ".join(lead_sentences(with_verdicts(("Fig. 1", ["within", "outside"]))))


def test_words_explain_each_verdict_on_the_page_and_no_other(core):
    meanings = dict(claim_texts.verdict_meanings(made().judged))
    assert list(meanings) == ["within", "outside", "depends", "not converged", "not decidable"]
    assert all(meaning.endswith(".") for meaning in meanings.values())
    text = report_html(made())
    assert all(f"<b>{word}</b>: {meaning}" in text for word, meaning in meanings.items())


def with_reading(judged, **changes):
    """Return a claim with its first reading alone, changed."""
    reading = dataclasses.replace(judged.predicate.readings[0], **changes)
    predicate = dataclasses.replace(judged.predicate, readings=(reading,))
    return dataclasses.replace(judged, predicate=predicate, readings=judged.readings[:1])


def test_a_number_without_a_condition_on_direction_has_no_verdict_on_it(core):
    reproduction = made()
    ratio = entry("p-ratio", reproduction)
    (condition,) = ratio.predicate.readings[0].conditions
    shown = [
        claim_entry(reproduction, with_reading(ratio, direction=direction), Conditions(reproduction))["direction_words"]
        for direction in (None, condition)
    ]
    assert shown == ["none", "within"]


def test_a_failing_premise_and_the_reason_of_no_verdict_stand_with_the_statement(core):
    reproduction = made()
    unmet = with_reading(entry("p-ratio", reproduction), needs="p-order")
    unmet = dataclasses.replace(unmet, readings=(dataclasses.replace(unmet.judgement, verdict="not_run"),))
    conditions = Conditions(reproduction)
    assert claim_entry(reproduction, unmet, conditions)["reason"] == 'Its premise does not hold: "The card is faster".'
    claim = dataclasses.replace(entry("p-most").claim, id="extoll-udp-unfit")
    opinion = dataclasses.replace(entry("p-most", reproduction), claim=claim)
    assert claim_entry(reproduction, opinion, conditions)["reason"].startswith("The statement is an opinion.")


def test_a_reading_names_the_only_points_that_count(core):
    reproduction = made()
    ratio = entry("p-ratio", reproduction)
    first = ratio.predicate.readings[0]
    xs = [ratio.figure.x_of(x, reproduction.plan.effort(ratio.figure)) for x in ratio.figure.full.xs]

    def judged_at(*over):
        (condition,) = first.conditions
        some = with_reading(ratio, conditions=(dataclasses.replace(condition, over=over),))
        return claim_entry(reproduction, some, Conditions(reproduction))["readings"][0]["judged_at"]

    assert len(xs) > 1
    assert judged_at() == judged_at(*xs) == judged_at("elsewhere") == ""
    assert judged_at(xs[0]) == "rma=off"


TWO_CONDITIONS = read_predicates(
    """
[p-order]
[[p-order.reading]]
name = "every size"
quote = "siempre"
rule = "largest of put / raw - 1"
tolerance = "at most 0, and most puts below 1"
quantity = "max(put / raw) - 1"
holds = [[-1, 0]]
and = [{ quantity = "at(put, 64) / 1e9", holds = [[0, 1.12]] }]
[p-order.reading.series]
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put", size = 4096 }
raw = { metric = "bandwidth", kernel = "ping-pong", conduit = "raw@extoll", op = "put" }
"""
)


def with_two_conditions(verdict):
    """Return a reproduction whose claim p-order has two conditions, and whose draws are cases of its plan."""
    reproduction = made()
    reproduction.seen.paper, reproduction.seen.gathered = reproduction.plan.paper, reproduction.gathered
    reproduction.seen.cases = reproduction.plan.cases
    reproduction.judged = [
        dataclasses.replace(
            judged, predicate=TWO_CONDITIONS["p-order"],
            readings=(dataclasses.replace(judged.judgement, verdict=verdict, value=-0.2),),
        ) if judged.claim.id == "p-order" else judged
        for judged in reproduction.judged
    ]  # fmt: skip
    return reproduction


def test_a_statement_of_several_conditions_names_the_one_that_fails(core):
    words = Page(report_html(with_two_conditions("depends"))).text
    assert "The value must be -100 to 0 %." in words
    sentence = "The other condition fails more often. The value must be 0 to 1.12. Reproduced: 1.06; it holds on"
    assert f"{sentence} 0.50 of the draws." in words  # 1.064 times 1.01 to 1.10
    assert "at(put, 64) / 1e9 Reproduced: 1.06, holds on 0.50 of the draws" in words
    assert "The other condition holds, too." in Page(report_html(with_two_conditions("within"))).text


def test_a_ratio_less_one_is_told_in_per_cent_whatever_unit_the_paper_has(core):
    order = next(judged for judged in with_two_conditions("within").judged if judged.claim.id == "p-order")
    ratio = dataclasses.replace(order, claim=dataclasses.replace(order.claim, value="1", unit="x"))
    assert claim_texts.reproduced_text(ratio, ratio.judgement) == "-20 %"
    for quantity in ("1 - max(put / raw)", "max((put - 1) / (raw - 1))", "max(put)"):
        reading = dataclasses.replace(
            order.predicate.readings[0],
            conditions=(dataclasses.replace(order.predicate.readings[0].conditions[0], quantity=Expression(quantity)),),
        )
        assert claim_texts.unit_of(ratio, reading) == (1.0, "x")


def test_equal_ends_are_told_once_and_zero_has_no_sign(core):
    order = entry("p-order")
    (condition,) = order.predicate.readings[0].conditions
    for interval, words in (((8.0, 8.0), "8"), ((-math.inf, -1e-9), "below 0")):
        reading = dataclasses.replace(
            order.predicate.readings[0], conditions=(dataclasses.replace(condition, holds=(interval,)),)
        )
        assert claim_texts.asked_text(order, reading) == words


def test_figures_that_the_paper_does_not_have_are_told_apart(core):
    text = report_html(made())
    assert "Not in the paper. gasmeter adds these figures" in text
    assert text.index('id="statements"') < text.index('id="added"') < text.index('id="figure-a"')
    numbers = ("4", "9a", "table-1", "4-cause", "buckets")
    added = [is_added(dataclasses.replace(BY_OPTION, number=number)) for number in numbers]
    assert added == [False, False, False, True, True]


def test_a_value_that_still_moves_is_told_with_the_reading(core):
    reproduced = made()
    reproduced.gathered.moves["one-per-node", Spot(GET, 3)] = 0.031
    words = Page(report_html(reproduced)).text
    assert (
        "not converged: four times the work moves its values by 3.10 % at most (ping-pong get on extoll, extoll at 3"
        in words
    )
    assert "3.10 % at rma=on no" in words


def test_check_rows_stand_in_a_table_and_beside_the_verdicts(core):
    words = Page(report_html(made(failing=("card-latency",)))).text
    assert words.count("Machine extoll contradicts a check row") == 3  # the claim that no number can decide has none
    assert "card-latency half round trip extoll at most 1.2 µs 1.33 µs 1.109 out high A. Card, 2009" in words
    assert "contradicts a check row" not in Page(report_html(made())).text


def test_a_report_hides_nothing_in_markup(core):
    reproduced = made()
    reproduced.plan.notes.append("<script>alert(1)</script>")
    text = report_html(reproduced)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "&lt;b&gt;" in text  # text of the paper's own table


def test_a_quick_report_decides_nothing(core):
    quick = {name: (dataclasses.replace(entry[0], verdict="no_band", p_prior=math.nan, low=math.nan, deciding=()),)
             for name, entry in JUDGED.items() if entry[0].draws}  # fmt: skip
    words = Page(report_html(made(quick=True, judged=quick))).text
    assert "As given: 3 of 3 within, 0 outside; without draws nothing is decided." in words
    assert "no band as given: holds" in words


def test_a_blind_run_has_a_report_without_claims(core):
    words = Page(report_html(made(judged={}))).text
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
    assert all(
        (tmp_path / "plots" / name).read_bytes() == (tmp_path / "again/plots" / name).read_bytes() for name in svg
    )


# ---- the terminal


@pytest.mark.parametrize("columns", [80, 132])
def test_the_table_fits_the_terminal(core, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    command._print(Reproduced(Path("out"), made(failing=("card-latency",))))
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("score")) <= columns
    assert any(line.startswith("score of independent quantities: 1 of 2 within") for line in lines)
    text = " ".join(lines)
    for words in (
        "p-ratio",
        "up to 53 %",
        "0.97 (0.88)",
        "within",
        "machine extoll as given does not meet card-latency",
    ):
        assert words in text
    assert "report.html" in lines[-1]


def test_a_quick_table_says_as_given(core, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "132")
    quick = {"p-ratio": (Judgement("no_band", "all of it", value=0.2, holds={"one-per-node": False}),)}
    command._print(Reproduced(Path("out"), made(quick=True, judged=quick)))
    text = capsys.readouterr().out
    assert "as given: outside" in text
    assert "20 %" in text
    assert text.endswith("As given: 0 of 1 within, 1 outside; without draws nothing is decided.\n")
    assert "score" not in text
