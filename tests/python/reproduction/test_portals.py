"""Runs of the Portals paper, and the rows that its statements need; without a core."""

import dataclasses
import math

import pytest

from gasmeter.papers import portals
from gasmeter.papers.portals import PORTALS
from gasmeter.papers.registry import figures_of
from gasmeter.reproduction.plan.figure import RANKS, SIZE, Extra, describe
from gasmeter.verdicts.claims import RESULT, claims
from gasmeter.verdicts.expressions import NotThere
from gasmeter.verdicts.predicates import predicates
from gasmeter.verdicts.quantities import quantities
from gasmeter.verdicts.series import pick
from statements import (
    EFFORTS,
    carried_by,
    carrier_of,
    drawn,
    each_reading,
    figure_of,
    full,
    line_values,
    lines_of,
    readings_of,
)

LINES = lines_of(PORTALS)
CARRIED = carried_by(PORTALS)
READINGS = readings_of(PORTALS)
EACH_READING = each_reading(READINGS)


def test_each_statement_has_one_figure_and_one_predicate():
    assert len(CARRIED) == len(set(CARRIED)) == 30
    assert set(CARRIED) == {claim.id for claim in claims("portals", kind=RESULT)}
    assert all(predicates()[claim].readings for claim in CARRIED)
    assert [claim for claim in CARRIED if predicates()[claim].withheld] == ["portals-firehose-converge"]


def test_no_two_lines_are_one_to_predicates():
    lines = {line for entry in PORTALS.figures for line in entry.lines}
    assert len(lines) == len(LINES)
    every = {line for entry in PORTALS.figures for line in (*entry.lines, *entry.beside)}
    assert len({(describe(line), line.metric) for line in every}) == len(every)
    for figure in PORTALS.figures:
        assert not set(figure.beside) & set(figure.lines), figure.number


@EACH_READING
def test_statements_are_read_from_their_figure_and_those_run_with_it(claim, reading):
    near = {line for other in figures_of(PORTALS, [carrier_of(PORTALS, claim).number]) for line in other.lines}
    lines = {name: pick(key, LINES) for name, key in reading.series.items()}
    assert None not in lines.values()
    assert {LINES[line] for line in lines.values()} <= near


@EACH_READING
def test_a_mechanism_is_taken_away_from_a_line_that_the_statement_reads(claim, reading):
    mechanisms = {mechanism.name: set(mechanism.lines) for mechanism in PORTALS.without}
    if reading.ablation:
        assert {LINES[pick(key, LINES)] for key in reading.series.values()} & mechanisms[reading.ablation]


@EACH_READING
@pytest.mark.parametrize("effort_of", EFFORTS)
def test_every_quantity_is_there_in_full_quickly_and_on_draws(claim, reading, effort_of):
    values = quantities(reading, line_values(PORTALS, effort_of))
    assert len(values) == len(reading.every_condition)
    assert all(math.isfinite(value) for value in values)


@EACH_READING
def test_a_value_as_given_and_one_on_a_draw_are_made_of_the_same_points(claim, reading):
    assert quantities(reading, line_values(PORTALS, full)) == pytest.approx(
        quantities(reading, line_values(PORTALS, drawn))
    )


def test_a_point_that_is_not_run_is_missed():
    reading = predicates()["portals-fig2-ratio"].readings[0]
    short = {key: {x: y for x, y in curve.items() if x != 8} for key, curve in line_values(PORTALS, full).items()}
    with pytest.raises(NotThere):
        quantities(reading, short)


def test_every_reading_is_one_of_a_kind_and_says_which_words_it_rests_on():
    for claim in claims("portals", kind=RESULT):
        readings = predicates()[claim.id].readings
        assert len({(str(entry.conditions), str(entry.series)) for entry in readings}) == len(readings), claim.id
        for reading in readings:
            assert len(reading.quote.split()) >= 5, claim.id


def test_what_is_compared_is_the_mpi_conduit_of_then():
    for figure in PORTALS.figures:
        for line in (*figure.lines, *figure.beside):
            assert ("protocol", "ammpi") in line.options or line.conduit != "mpi@portals", line.label


def test_a_quick_run_and_draws_have_points_of_the_full_one():
    for figure in PORTALS.figures:
        if figure.lines:
            assert set(figure.quick.xs) <= set(figure.full.xs), figure.number
            assert set(figure.full.drawn) <= set(figure.full.xs), figure.number
            assert figure.quick.xs


def test_no_conduit_is_asked_for_more_than_it_carries():
    for figure in PORTALS.figures:
        for effort in (figure.full, figure.quick):
            for line in (*figure.lines, *figure.beside):
                sizes = effort.xs if figure.axis == SIZE else (line.size,)
                assert line.op != "am-medium" or max(sizes) <= 1024, (figure.number, line.label)


def test_ranks_have_a_node_each():
    for figure in PORTALS.figures:
        for line in (*figure.lines, *figure.beside):
            most = max(figure.full.xs) if figure.axis == RANKS else line.ranks
            nodes = math.prod(map(int, line.topology.partition(":")[2].split("x"))) if line.topology else 2
            assert most <= nodes, (figure.number, line.label)


def test_figures_that_the_paper_draws_alike_have_each_others_scale_and_sizes():
    for first, second in (("2", "4"), ("3", "5")):
        assert figure_of(PORTALS, first).scale_of == second
        assert figure_of(PORTALS, second).scale_of == first
        assert figure_of(PORTALS, first).full.xs == figure_of(PORTALS, second).full.xs


def test_drawings_and_tables_come_from_traces_of_what_the_figures_run(monkeypatch):
    asked = []

    def traced(title, what, *, options, **settings):
        asked.append((what, settings["conduit"], settings["machine"], settings["sizes"], dict(options)))
        return Extra(title, ("phase", "step"), [])

    monkeypatch.setattr(portals, "step_table", traced)
    drawn = [figure for figure in PORTALS.figures if figure.extras and figure.number not in {"table-1", "sources"}]
    titles = [extra.title for drawing in drawn for extra in drawing.extras(None, drawing)]
    assert len(titles) == len(set(titles)) == len(asked) == 11
    assert {machine for _, _, machine, _, _ in asked} == {"portals"}
    for what, conduit, _, size, options in asked:
        assert ("protocol" in options) == (conduit == "mpi@portals"), (what, conduit)
        assert (options.get("local") is None) == (conduit == "raw@mpi@portals"), (what, conduit)
        assert (size is None) == (what == "am-short")
    outside = [options for _, _, _, _, options in asked if options.get("local") == "outside"]
    assert [options.get("registration", "firehose") for options in outside] == ["tmpmd", "tmpmd", "firehose"]


# ---- readings tell worlds apart: each number by hand


def world(**lines):
    """Give the lines that a reading names made-up values, the same at each of its points or by x."""

    def values_of(reading):
        points = {x for entry in reading.every_condition for x in entry.over}
        return {
            key: {x: lines[name](x) for x in points} if callable(lines[name]) else dict.fromkeys(points, lines[name])
            for name, key in reading.series.items()
        }

    def judged(claim, number=0):
        reading = predicates()[claim].readings[number]
        named = {pick(key, LINES): values for key, values in values_of(reading).items()}
        own_quantities = quantities(reading, named)
        return all(
            condition.holds_for(value) for condition, value in zip(reading.conditions, own_quantities, strict=False)
        )

    return judged


def above(x, low, high):
    return low if x <= 16 else high


def test_a_step_of_5_per_cent_in_both_lower_lines_is_one():
    steps = world(portals=lambda x: above(x, 10.0, 10.6), ack=lambda x: above(x, 14.0, 15.0), mpi=20.0)
    assert steps("portals-fig2-disc16")
    assert steps("portals-fig2-flat16")
    assert steps("portals-fig2-mpi-nodisc")
    assert not world(portals=lambda x: above(x, 10.0, 10.6), ack=14.0)("portals-fig2-disc16")
    slope = world(portals=lambda x: 10 + x / 32, ack=lambda x: 10 + x / 32)  # 0.5 above 16, and 0.25 from 8 to 16
    assert not slope("portals-fig2-disc16")
    assert not world(mpi=lambda x: above(x, 20.0, 20.5), portals=10.0, ack=14.0)("portals-fig2-mpi-nodisc")
    assert not world(portals=lambda x: 10 + x / 32, ack=14.0)("portals-fig2-flat16")


def test_the_most_has_to_be_gained_at_8_KiB():
    def gaining(most_at, most=1.085):
        return world(tmpmd=1.0, firehose=lambda x: most if x == most_at else 1.03)

    assert gaining(8192)("portals-fig5-peak")
    assert not gaining(16384)("portals-fig5-peak")
    assert not gaining(8192, 1.2)("portals-fig5-peak")
    assert gaining(8192)("portals-fig5-range")
    assert gaining(512)("portals-fig5-asym")
    assert gaining(8192)("portals-fig5-order")
    assert not world(tmpmd=1.0, firehose=lambda x: 0.9 if x == 512 else 1.03)("portals-fig5-order")


def test_time_saved_grows_with_the_pages_of_an_md():
    def saving(page):
        return world(firehose=lambda x: x / (1e-6 + x / 2e9), tmpmd=lambda x: x / (2e-6 + page(x) + x / 2e9))

    assert saving(lambda x: x / 4096 * 1e-7)("portals-fig5-absolute")
    assert not saving(lambda x: 4096 / x * 1e-7)("portals-fig5-absolute")


def test_memory_of_static_credits_grows_by_as_much_for_each_peer():
    assert world(held=lambda ranks: 1e6 + 9216 * ranks)("portals-static-memory")
    assert not world(held=lambda ranks: 1e6 + 9216 * ranks)("portals-static-memory", 1)  # mostly what all have
    assert not world(held=lambda ranks: 1e6 + 9216 * ranks**0.5)("portals-static-memory")
    lent = world(held=lambda ranks: 1e6 + 9216 * ranks, lent=lambda ranks: 1e6 + 3072 * ranks)
    assert lent("portals-dyncredit-memory")
    assert lent("portals-dyncredit-memory", 1)
    assert not world(held=lambda ranks: 1e6 + 9216 * ranks, lent=lambda ranks: 1e6 + 6144 * ranks)(
        "portals-dyncredit-memory"
    )


def test_copies_are_the_cause_if_free_ones_close_the_gap():
    open_gap = {"many": 2e9, "mpi_many": 1e9, "many_copies": 2e9}
    assert world(**open_gap, mpi_many_copies=1.8e9)("portals-fig3-cause")
    assert world(**open_gap, mpi_many_copies=1.8e9)("portals-fig3-cause", 1)
    assert not world(**open_gap, mpi_many_copies=1.2e9)("portals-fig3-cause")
    assert not world(**open_gap, mpi_many_copies=1.2e9)("portals-fig3-cause", 1)


def test_dynamic_credits_reach_what_many_static_ones_do():
    assert world(dynamic=0.95, static=lambda credits: 1.0 if credits == 64 else 0.4)("portals-dyncredit-burst")
    assert not world(dynamic=0.5, static=lambda credits: 1.0 if credits == 64 else 0.4)("portals-dyncredit-burst")


def test_a_line_that_forgets_what_it_is_asked_for_is_missed():
    """A planted fault: TMPMD without its option is no line that the statements of Figure 5 read."""
    tmpmd = next(line for line in figure_of(PORTALS, "5").lines if line.label == "TMPMD")
    lost = dataclasses.replace(tmpmd, options=tuple(pair for pair in tmpmd.options if pair[0] != "registration"))
    others = [key for key in LINES if key != tmpmd.key]
    key = predicates()["portals-fig5-peak"].readings[0].series["tmpmd"]
    assert pick(key, [*others, lost.key]) is None
