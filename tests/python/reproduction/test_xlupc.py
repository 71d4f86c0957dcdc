"""Runs of the XLUPC paper, and the rows that its statements need; without core and conduits."""

import csv
import dataclasses
import importlib.util
import itertools
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from gasmeter.catalogue import catalogue, declared
from gasmeter.machines.hardware import facts
from gasmeter.papers import xlupc
from gasmeter.papers.registry import PAPERS
from gasmeter.papers.xlupc import XLUPC
from gasmeter.reproduction.judge import facets
from gasmeter.reproduction.plan.figure import RANKS, SIZE, describe
from gasmeter.verdicts.claims import RESULT, claims
from gasmeter.verdicts.expressions import NotThere
from gasmeter.verdicts.predicates import predicates
from gasmeter.verdicts.quantities import quantities
from gasmeter.verdicts.series import COUNTER, pick
from statements import (
    EFFORTS,
    carried_by,
    drawn,
    each_reading,
    figure_of,
    full,
    line_values,
    lines_of,
    quick,
    readings_of,
    run_with,
)

HERE = importlib.util.find_spec("gasmeter._core") is not None
KERNELS = {"shared-access", "stressmark"}
NEEDS_KERNELS = pytest.mark.skipif(
    not HERE or not KERNELS.issubset(catalogue().kernels),
    reason="needs the kernels of shared data",
)

PUBLISHED = Path(__file__).parents[3] / "results" / "xlupc"
LINES = lines_of(XLUPC)
CARRIED = carried_by(XLUPC)
READINGS = readings_of(XLUPC)
EACH_READING = each_reading(READINGS)
AS_GIVEN = "up to 512 blades, as given"


def as_given(reading):
    """Return whether it rests on jobs that are too large for draws."""
    return reading.name.endswith(", as given")


# Options of the kernels and their defaults, as the module's table has them.
SHARED = {"cache": "on", "capacity": "100", "replacement": "lru", "pinning": "everything", "chunk": "131072",
          "copy_limit": "8192", "near": "direct", "warm": "true"}  # fmt: skip
DEFAULTS = {
    "shared-access": {**SHARED, "objects": "1"},
    "stressmark": {
        **SHARED, "cached_puts": "true", "chains": "all", "window": "1", "words": "8192", "distance": "10",
        "rows": "40", "columns": "1024", "bits": "8", "bytes": "32768", "width": "4",
    },
    "ping-pong": {},
}  # fmt: skip
OF_CONDUITS = {"progress"}
COUNTED = {"lookups", "hits", "misses", "entries", "pins", "remote_accesses", "local_accesses", "waits",
           "seeded_lookups", "seeded_hits"}  # fmt: skip


def test_each_statement_has_one_figure_and_one_predicate():
    assert len(CARRIED) == len(set(CARRIED)) == 44
    assert set(CARRIED) == {claim.id for claim in claims("xlupc", kind=RESULT)}
    assert all(predicates()[claim].readings for claim in CARRIED)
    assert [claim for claim in CARRIED if predicates()[claim].withheld] == ["xlupc-pin-chunks-similar"]
    assert len({predicates()[claim].on for claim in CARRIED}) == 44


def test_no_two_lines_are_one_to_predicates():
    lines = {line for entry in XLUPC.figures for line in entry.lines}
    assert len(lines) == len(LINES) == sum(len(entry.lines) for entry in XLUPC.figures)
    every = {line for entry in XLUPC.figures for line in (*entry.lines, *entry.beside)}
    assert len({(describe(line), line.metric) for line in every}) == len(every)
    for figure in XLUPC.figures:
        assert not set(figure.beside) & set(figure.lines), figure.number


@EACH_READING
def test_statements_are_read_from_their_figure_and_those_run_with_it(claim, reading):
    lines = {name: pick(key, LINES) for name, key in reading.series.items()}
    assert None not in lines.values()
    assert not reading.optional
    assert {LINES[line] for line in lines.values()} <= {
        line for other in run_with(XLUPC, claim) for line in other.lines
    }


def test_every_line_is_read_but_one_share_that_is_shown():
    read = {LINES[pick(key, LINES)] for _, reading in READINGS for key in reading.series.values()}
    assert {line.label for line in set(LINES.values()) - read} == {
        f"Neighborhood on GM, with the cache, 4 entries, {counted}" for counted in ("lookups", "hits")
    }


@EACH_READING
def test_a_mechanism_is_taken_away_from_a_line_that_the_statement_reads(claim, reading):
    mechanisms = {mechanism.name: set(mechanism.lines) for mechanism in XLUPC.without}
    if reading.ablation:
        assert {LINES[pick(key, LINES)] for key in reading.series.values()} & mechanisms[reading.ablation]


def test_every_mechanism_is_named_and_has_lines_of_figures():
    named = {reading.ablation for _, reading in READINGS if reading.ablation}
    assert named == {entry.name for entry in XLUPC.without}
    for mechanism in XLUPC.without:
        assert set(mechanism.lines) <= set(LINES.values()), mechanism.name


def test_every_cause_is_read_from_a_run_without_it():
    causes = {
        "fig6-cause-mid": lambda line: "host.copy_bandwidth" in dict(line.overrides),
        "fig6-put-cause": lambda line: "adapter.rdma_latency" in dict(line.overrides),
        "fig9-field-cause": lambda line: dict(line.options).get("progress") == "interrupt",
        "fig9-lapi-field-cause": lambda line: dict(line.options).get("progress") == "poll",
        "pointer-gated": lambda line: "link.latency" in dict(line.overrides),
        "hybrid-4x": lambda line: dict(line.options).get("chains") == "1",
    }
    assert {claim.removeprefix("xlupc-") for claim in CARRIED if "cause" in claim} < set(causes)
    for claim, lacks in causes.items():
        lines = {
            LINES[pick(key, LINES)]
            for reading in predicates()[f"xlupc-{claim}"].readings
            for key in reading.series.values()
        }
        assert any(map(lacks, lines)), claim


def test_programs_are_compared_that_are_the_same_or_differ_by_the_papers_words(monkeypatch):
    """With the options of the table in place of kernels and machines that are not there."""

    def options(installed):
        return [SimpleNamespace(name=name, default=default) for name, default in installed.items()]

    standing_in = SimpleNamespace(
        kernel=lambda name: SimpleNamespace(name=name, ops=(), options=options(DEFAULTS[name])),
        conduit=lambda _name, _kernel: SimpleNamespace(options=options({"node_local": "loop"})),
    )
    numbers = [SimpleNamespace(key=key) for mechanism in XLUPC.without for key, _ in mechanism.machine]
    monkeypatch.setattr(facets, "catalogue", lambda: standing_in)
    monkeypatch.setattr(facets, "machine", lambda _name: SimpleNamespace(numbers=numbers))
    facets.check_predicates(XLUPC, predicates())


def test_every_option_of_a_line_is_in_the_table_of_defaults():
    table = set(re.findall(r"`(\w+)`", "".join(line for line in xlupc.__doc__.splitlines() if line.startswith("| `"))))
    assert table == {*itertools.chain.from_iterable(DEFAULTS.values()), *OF_CONDUITS}
    for figure in XLUPC.figures:
        for line in (*figure.lines, *figure.beside):
            assert {name for name, _ in line.options} <= {*DEFAULTS[line.kernel], *OF_CONDUITS}, line.label


def test_every_counter_of_a_line_is_told():
    for name in COUNTED:
        assert f"`{name}`" in xlupc.__doc__
    for line in LINES.values():
        assert line.metric in {"latency", "round_trip"} or line.metric.removeprefix(COUNTER) in COUNTED, line.label


def test_what_programs_count_is_witnessed_and_what_is_timed_is_drawn():
    for line in LINES.values():
        assert line.counted == (line.metric.startswith(COUNTER) and line.metric != f"{COUNTER}waits"), line.label
        if line.kernel == "stressmark" and line.op in {"neighborhood", "field"} and not line.counted:
            assert line.drawn_to == 128, line.label
        else:
            assert line.drawn_to == math.inf, line.label


@NEEDS_KERNELS
def test_every_line_asks_for_what_there_is():
    for figure in XLUPC.figures:
        for line in (*figure.lines, *figure.beside):
            kernel = catalogue().kernel(line.kernel)
            (op,) = [op for op in kernel.ops if op.name == line.op]
            assert line.metric in {metric.name for metric in op.metrics} or line.metric.removeprefix(COUNTER) in (
                declared().counters
            ), line.label
            for option in kernel.options:
                if option.name in DEFAULTS[line.kernel]:
                    assert option.default == DEFAULTS[line.kernel][option.name], option.name


def test_the_paper_is_known_by_name_and_published():
    assert PAPERS["xlupc"] is XLUPC
    with (PUBLISHED / "claims.csv").open() as file:
        assert {row["id"] for row in csv.DictReader(file)} == set(CARRIED)


@EACH_READING
@pytest.mark.parametrize("effort_of", EFFORTS)
def test_every_quantity_is_there_in_full_quickly_and_on_draws(claim, reading, effort_of):
    if (effort_of is drawn and as_given(reading)) or (effort_of is quick and reading.name == AS_GIVEN):
        with pytest.raises(NotThere):
            quantities(reading, line_values(XLUPC, effort_of))
        return
    values = quantities(reading, line_values(XLUPC, effort_of))
    assert len(values) == len(reading.every_condition)
    assert all(math.isfinite(value) or "first_below" in str(reading.conditions[0].quantity.text) for value in values)


@EACH_READING
def test_a_value_as_given_and_one_on_a_draw_are_made_of_the_same_points(claim, reading):
    if not as_given(reading):
        assert quantities(reading, line_values(XLUPC, full)) == pytest.approx(
            quantities(reading, line_values(XLUPC, drawn))
        )


def test_the_largest_jobs_are_run_and_never_the_primary_reading():
    large = [(claim, number) for claim in CARRIED for number, reading in enumerate(predicates()[claim].readings)
             if as_given(reading)]  # fmt: skip
    assert [claim.removeprefix("xlupc-") for claim, _ in large] == [
        "fig8-pointer", "fig8-neigh", "fig8-classes", "fig8-grow", "fig8-field", "pc-pinned-table", "fig9-gm-pointer",
        "fig9-gm-update", "fig9-gm-neigh", "fig9-gm-field", "fig9-gm-pointer-share", "abs-mn", "fig9-lapi-others",
        "fig9-lapi-field", "fig9-field-contrast", "abs-p5", "cache100-gain",
    ]  # fmt: skip
    assert 0 not in {number for _, number in large}
    assert max(figure_of(XLUPC, "8a").full.xs) == max(figure_of(XLUPC, "9a").full.xs) == 2048


def test_every_reading_is_one_of_a_kind_and_says_which_words_it_rests_on():
    for claim in CARRIED:
        readings = predicates()[claim].readings
        assert len({(str(entry.conditions), str(entry.series)) for entry in readings}) == len(readings), claim
        for reading in readings:
            assert len(reading.quote.split()) >= 7, claim


def test_a_quick_run_and_draws_have_points_of_the_full_one():
    for figure in XLUPC.figures:
        assert set(figure.quick.xs) <= set(figure.full.xs), figure.number
        assert set(figure.full.drawn) <= set(figure.full.xs), figure.number
        assert figure.quick.xs, figure.number


def test_no_line_can_come_to_nothing():
    """Accesses inside a node make no lookup, and four times zero lookups give no share."""
    for figure in XLUPC.figures:
        if any(line.metric.startswith(COUNTER) for line in figure.lines):
            least = {"gm": 8, "lapi": 32}
            assert all(min(figure.full.xs) >= least[line.conduit] for line in figure.lines), figure.number
            assert not any(line.metric == f"{COUNTER}misses" for line in figure.lines)


def test_threads_share_nodes_but_in_microbenchmarks():
    for figure in XLUPC.figures:
        marks = all(line.kernel == "stressmark" for line in figure.lines)
        together = (marks or figure.number in {"9-micro", "9-waits", "blade"}) and figure.number != "9-spread"
        assert figure.placements == (("fill",) if together else ("one-per-node",)), figure.number
        assert figure.axis == (RANKS if marks or figure.number in {"9-micro", "9-waits"} else SIZE), figure.number


def test_figures_have_the_papers_points():
    assert (
        figure_of(XLUPC, "6").full.xs == figure_of(XLUPC, "6-put").full.xs == tuple(1 << power for power in range(23))
    )
    assert figure_of(XLUPC, "9a").full.xs == (4, 8, 16, 32, 64, 128, 256, 448, 512, 1024, 2048)
    assert figure_of(XLUPC, "9b").full.xs[0] == 16
    assert figure_of(XLUPC, "9b").full.xs[-1] == 448 == 28 * 16
    capacities = {
        dict(line.options)["capacity"] for line in (*figure_of(XLUPC, "8a").lines, *figure_of(XLUPC, "8b").lines)
    }
    assert capacities == {"4", "10", "30", "100", "unlimited"}
    for number in ("9a", "9b"):
        assert {line.op for line in figure_of(XLUPC, number).lines} == {"pointer", "update", "neighborhood", "field"}
        assert all(line.options[0] in {("cache", "on"), ("cache", "off")} for line in figure_of(XLUPC, number).lines)


def test_puts_go_by_the_cache_in_no_stressmark_on_lapi():
    for line in LINES.values():
        if line.kernel == "stressmark":
            assert (dict(line.options).get("cached_puts") == "false") == (line.conduit == "lapi"), line.label


def test_no_value_of_a_result_is_among_facts_and_options():
    """Ranges of results are no ranges of facts; sizes and counts of programs stand in no result."""
    words = {f"{claim.value} {claim.unit}" for claim in claims("xlupc", kind=RESULT)}
    begin = ("hw.hps.", "hw.js21.", "hw.power5.", "hw.gm.", "xlupc-hw-")
    judged_world = {f"{fact.value} {fact.unit}" for fact in facts().values() if fact.id.startswith(begin)}
    assert not words & judged_world
    assert not {claim.id for claim in claims("xlupc", kind=RESULT)} & set(facts())
    tainted = {fact.id for fact in facts().values() for claim in fact.tainted_by if claim.startswith("xlupc-")}
    assert tainted == {"hw.hps.rdma-versus-packet-mode-latency", "hw.hps.extra-latency-of-rdma-mode"}


# ---- readings tell worlds apart: each number by hand


def world(**lines):
    """Give the lines that a reading names made-up values, the same at each of its points or by x."""

    def judged(claim, number=0):
        reading = predicates()[f"xlupc-{claim}"].readings[number]
        points = {x for entry in reading.every_condition for x in entry.over}
        named = {
            pick(key, LINES): {x: lines[name](x) for x in points} if callable(lines[name])
            else dict.fromkeys(points, lines[name])
            for name, key in reading.series.items()
        }  # fmt: skip
        values = quantities(reading, named)
        return all(condition.holds_for(value) for condition, value in zip(reading.conditions, values, strict=False))

    return judged


def by_size(short, medium, long=1.0):
    """Return the time of a GET with the cache, as a share of the time without."""
    return lambda x: short if x <= 1024 else medium if x <= 16384 else long


def test_gains_are_shares_of_the_time_without_the_cache():
    judged_world = world(g_on=by_size(0.7, 0.6), g_off=1.0, l_on=by_size(0.84, 0.6), l_off=1.0)
    for claim in ("fig6-get-small-gm", "fig6-get-small-lapi", "fig6-get-mid", "fig6-mid-gt-small", "fig7-order"):
        assert judged_world(claim), claim
    assert judged_world("fig6-get-small-gm", 1)
    assert not world(g_on=lambda x: 0.6 if x == 1 else 0.7, g_off=1.0)("fig6-get-small-gm", 1)
    assert not world(g_on=0.84, g_off=1.0)("fig6-get-small-gm")
    assert not world(l_on=0.7, l_off=1.0)("fig6-get-small-lapi")
    assert not world(g_on=0.6, g_off=1.0, l_on=0.7, l_off=1.0)("fig6-get-mid")
    assert not world(g_on=by_size(0.7, 0.6), g_off=1.0, l_on=by_size(0.6, 0.7), l_off=1.0)("fig6-mid-gt-small")
    assert not world(g_on=lambda x: 1.0 if x == 8 else 0.7, g_off=1.0, l_on=0.8, l_off=1.0)("fig7-order")
    for limit, number in (("32", 1), ("4", 2)):
        same = {f"{on}{limit}_on": 0.6 for on in "gl"} | {f"{off}{limit}_off": 1.0 for off in "gl"}
        assert world(**same)("fig6-get-mid", number)


def test_very_short_messages_gain_most_in_the_introduction_alone():
    assert not world(g_on=by_size(0.7, 0.6), g_off=1.0, l_on=by_size(0.84, 0.6), l_off=1.0)("intro-short")
    assert world(g_on=by_size(0.6, 0.7), g_off=1.0, l_on=by_size(0.6, 0.7), l_off=1.0)("intro-short")
    assert world(g_on=by_size(0.7, 0.6), g_off=1.0, l_on=by_size(0.84, 0.6), l_off=1.0)("intro-short", 1)
    assert not world(g_on=1.0, g_off=1.0, l_on=0.8, l_off=1.0)("intro-short", 1)


def fading(at):
    """A gain that is 40 % below a size and nothing from there on."""
    return lambda x: 0.6 if x < at else 1.0


def test_gains_fade_where_bandwidth_is_what_counts():
    assert world(l_on=fading(2 << 20), l_off=1.0)("fig6-lapi-fade")
    assert world(l_on=fading(2 << 20), l_off=1.0)("fig6-lapi-fade", 1)
    assert not world(l_on=fading(512 << 10), l_off=1.0)("fig6-lapi-fade")
    assert not world(l_on=0.6, l_off=1.0)("fig6-lapi-fade")
    assert not world(l_on=lambda x: 1.0 if x == 2 << 20 else 0.6, l_off=1.0)("fig6-lapi-fade")  # comes again
    both = {"g_off": 1.0, "l_off": 1.0}
    assert world(g_on=fading(256 << 10), l_on=fading(2 << 20), **both)("fig6-gm-fade")
    assert world(g_on=fading(1 << 20), l_on=fading(2 << 20), **both)("fig6-gm-fade", 1)
    assert not world(g_on=fading(2 << 20), l_on=fading(2 << 20), **both)("fig6-gm-fade")
    assert not world(g_on=0.6, l_on=0.6, **both)("fig6-gm-fade")
    assert world(g_on=0.98, l_on=1.0, **both)("fig6-large")
    assert not world(g_on=0.9, l_on=1.0, **both)("fig6-large")
    assert world(g_on=fading(65536), l_on=fading(65536), **both)("fig6-large", 1)
    assert not world(g_on=lambda x: 0.5 if x > 65536 else 0.6, l_on=1.0, **both)("fig6-large", 1)


def test_a_fixed_time_is_saved():
    assert world(g_off=12e3, g_on=7e3, l_off=9e3, l_on=5e3)("fig6-saving")
    assert world(g_off=12e3, g_on=7e3, l_off=9e3, l_on=5e3)("fig6-saving", 1)
    assert not world(g_off=8e3, g_on=7e3, l_off=9e3, l_on=5e3)("fig6-saving")
    assert not world(g_off=30e3, g_on=10e3, l_off=9e3, l_on=1e3)("fig6-saving", 1)
    assert world(g_on=7e3, l_on=5e3)("hw-rtt")
    assert not world(g_on=11e3, l_on=5e3)("hw-rtt")
    assert not world(g_trip=12e3, l_trip=7e3)("hw-rtt", 1)
    assert world(g_trip=12e3, l_trip=7e3)("hw-rtt", 2)


def test_puts_gain_nothing_on_gm_and_lose_on_lapi():
    assert world(gput_on=0.97, gput_off=1.0)("fig6-put-gm")
    assert not world(gput_on=lambda x: 0.9 if x == 8 else 1.0, gput_off=1.0)("fig6-put-gm")
    assert world(gput_on=lambda x: 0.9 if x == 8 else 1.0, gput_off=1.0)("fig6-put-gm", 1)
    slow = {"lput_on": lambda x: 3.0 if x <= 1024 else 1.0, "lput_off": 1.0}
    assert world(**slow)("fig6-put-lapi")
    assert world(**slow)("fig6-put-lapi", 1)
    assert not world(lput_on=1.5, lput_off=1.0)("fig6-put-lapi")
    assert not world(lput_on=lambda x: 3.0 if x > 1024 else 0.9, lput_off=1.0)("fig6-put-lapi")
    cause = {**slow, "lput_fast": 1.2, "lput_unhandled": 0.98}
    assert world(**cause)("fig6-put-cause")
    assert world(**cause)("fig6-put-cause", 1)
    assert not world(**{**cause, "lput_fast": 2.5})("fig6-put-cause")
    assert not world(**{**cause, "lput_fast": 2.5})("fig6-put-cause", 1)
    assert not world(**{**cause, "lput_unhandled": 0.8})("fig6-put-cause")
    assert not world(**{**cause, "lput_on": 1.2})("fig6-put-cause")  # nothing to explain
    assert not world(**{**cause, "lput_on": 0.9})("fig6-put-cause", 1)


def test_copies_are_the_cause_if_medium_sizes_gain_no_more_without_them():
    free = {"gfree_on": 0.8, "gfree_off": 1.0, "lfree_on": 0.8, "lfree_off": 1.0}
    growing = {"g_off": lambda x: 1.0 + x / 8192, "l_off": lambda x: 1.0 + x / 8192}
    assert world(**free, **growing)("fig6-cause-mid")
    assert not world(**free, g_off=1.1, l_off=1.1)("fig6-cause-mid")
    assert not world(**{**free, "gfree_on": by_size(0.8, 0.7)}, **growing)("fig6-cause-mid")
    more = {f"{network}32free_off": 1.0 for network in "gl"}
    assert world(**more, g32_off=growing["g_off"], l32_off=growing["l_off"])("fig6-cause-mid", 1)
    assert not world(**more, g32_off=1.1, l32_off=1.1)("fig6-cause-mid", 1)


def cached(op, hits):
    """Shares of hits by capacity, of 100 lookups."""
    return {f"{op}l{name}": 100.0 for name in hits} | {
        f"{op}h{name}": (lambda x, share=share: 100.0 * share(x)) if callable(share) else 100.0 * share
        for name, share in hits.items()
    }


def of_capacity(entries):
    """Accesses go to each of the other blades alike."""
    return lambda ranks: min(1.0, entries / (ranks / 4 - 1))


def test_hits_fall_sooner_with_a_smaller_cache():
    capacities = {
        "4": of_capacity(4),
        "10": of_capacity(10),
        "30": of_capacity(30),
        "100": of_capacity(100),
        "all": 1.0,
    }
    for number, op in enumerate(("p", "p1", "p")):
        assert world(**cached(op, capacities))("fig8-pointer", number)
        assert not world(**cached(op, dict.fromkeys(capacities, 1.0)))("fig8-pointer", number)
        assert not world(**cached(op, {**capacities, "30": of_capacity(4)}))("fig8-pointer", number)
        assert not world(**cached(op, {**capacities, "4": lambda x: 0.5 if x < 64 else 0.8}))("fig8-pointer", number)
    steady = {"4": 0.9, "10": 0.99, "30": 0.99, "100": 1.0, "all": 1.0}
    for number in (0, 2):
        assert world(**cached("n", steady), n_entries=150.0)("fig8-neigh", number)
        assert not world(**cached("n", steady), n_entries=1500.0)("fig8-neigh", number)
        assert not world(**cached("n", {**steady, "10": of_capacity(10)}), n_entries=150.0)("fig8-neigh", number)
    assert world(**cached("n1", steady))("fig8-neigh", 1)
    assert not world(**cached("n1", {**steady, "4": of_capacity(4)}))("fig8-neigh", 1)


def test_entries_grow_where_accesses_go_anywhere():
    looked = {"plall": 100.0, "u_lookups": 100.0, "nlall": 100.0, "f_lookups": 100.0}
    values = {**looked, "p_entries": lambda x: 25.0 * x, "u_entries": lambda x: 25.0 * x, "n_entries": 150.0,
            "f_entries": 150.0}  # fmt: skip
    for claim in ("fig8-classes", "fig8-grow", "fig8-field"):
        for number in (0, 1):
            assert world(**values)(claim, number), claim
            assert not world(**{**values, "u_entries": 100.0, "f_entries": lambda x: 25.0 * x})(claim, number), claim
    assert not world(**{**values, "u_entries": lambda x: 25.0 * min(x, 128)})("fig8-grow")
    assert world(**looked, f_pins=300.0, n_pins=200.0)("pc-pinned-table")
    assert not world(**looked, f_pins=300.0, n_pins=1100.0)("pc-pinned-table")


def marks(network, **gains):
    """Run times by what is gained."""
    return {f"{network}{op}_off": 1.0 for op in gains} | {
        f"{network}{op}_on": (lambda x, gain=gain: 1 - gain(x)) if callable(gain) else 1 - gain
        for op, gain in gains.items()
    }


TOLD = marks("g", p=0.5, u=0.15, n=0.15, f=0.38)
ON_LAPI = marks("l", p=0.4, u=0.2, n=0.1, f=0.01)


def test_stressmarks_gain_as_told_at_every_number_of_threads():
    for claim, gain, usual in (
        ("pointer", "p", 0.5),
        ("update", "u", 0.15),
        ("neigh", "n", 0.15),
        ("field", "f", 0.38),
    ):
        for number in (0, 2):
            assert world(**TOLD)(f"fig9-gm-{claim}", number)
            assert not world(**marks("g", **{gain: 0.02}))(f"fig9-gm-{claim}", number)
            once = marks("g", **{gain: lambda x, usual=usual: 0.9 if x == 128 else usual})
            assert not world(**once)(f"fig9-gm-{claim}", number)
    for claim, name, gain in (("pointer", "wide", 0.5), ("update", "wider", 0.15), ("neigh", "thin", 0.15),
                              ("field", "glong", 0.38)):  # fmt: skip
        assert world(**{f"{name}_off": 1.0, f"{name}_on": 1 - gain})(f"fig9-gm-{claim}", 1)
        assert not world(**{f"{name}_off": 1.0, f"{name}_on": 1.0})(f"fig9-gm-{claim}", 1)
    assert world(**ON_LAPI)("fig9-lapi-field")
    assert not world(**marks("l", f=0.1))("fig9-lapi-field")
    assert world(llong_on=1.0, llong_off=1.0)("fig9-lapi-field", 1)
    assert world(**TOLD, **ON_LAPI)("fig9-lapi-others")
    assert world(**TOLD, **ON_LAPI)("fig9-lapi-others", 1)
    assert not world(**TOLD, **{**ON_LAPI, **marks("l", u=0.5)})("fig9-lapi-others")
    assert world(**TOLD, **ON_LAPI)("fig9-field-contrast")
    assert not world(**{**TOLD, **marks("g", f=0.1)}, **ON_LAPI)("fig9-field-contrast")
    assert world(glong_on=0.6, glong_off=1.0, llong_on=1.0, llong_off=1.0)("fig9-field-contrast", 1)


def test_the_most_that_is_gained_is_a_mean_or_one_number():
    assert world(**{**TOLD, **marks("g", p=lambda x: 0.58 if x == 128 else 0.4)})("abs-mn")
    assert not world(**{**TOLD, **marks("g", p=lambda x: 0.58 if x == 128 else 0.4)})("abs-mn", 1)
    assert not world(**{**TOLD, **marks("g", p=0.6)})("abs-mn")
    assert world(**{**ON_LAPI, **marks("l", p=0.3)})("abs-p5")
    assert world(**{**ON_LAPI, **marks("l", p=0.3)})("abs-p5", 1)
    assert not world(**ON_LAPI)("abs-p5")
    assert world(**TOLD, **ON_LAPI)("cache100-gain")
    assert world(**TOLD)("cache100-gain", 1)
    assert not world(**{**TOLD, **marks("g", p=0.05)}, **ON_LAPI)("cache100-gain")
    rising = marks("g", p=lambda x: 0.5 * (1 - 4 / x))
    assert world(**rising)("fig9-gm-pointer-share")
    assert world(**rising)("fig9-gm-pointer-share", 1)
    assert not world(**marks("g", p=lambda x: 0.5 - x / 1000))("fig9-gm-pointer-share")
    assert not world(**marks("g", p=0.5))("fig9-gm-pointer-share")


def test_stressmarks_are_held_against_one_threads_accesses():
    values = {"get_off": 1.0, "get_on": 0.7, "put_off": 1.0, "put_on": 1.0}
    assert world(**TOLD, **values)("hybrid-order")
    assert world(**TOLD, **values)("hybrid-order", 1)
    assert not world(**marks("g", p=0.25), **values)("hybrid-order")
    assert not world(**marks("g", p=lambda x: 0.5 if x == 128 else 0.25), **values)("hybrid-order", 1)
    assert world(**TOLD, **values)("fig9-gm-update-micro")
    assert not world(**marks("g", u=0.35), **values)("fig9-gm-update-micro")
    assert not world(**marks("g", u=-0.05), **values)("fig9-gm-update-micro")
    assert world(wider_on=0.8, wider_off=1.0, **values)("fig9-gm-update-micro", 1)
    assert world(**TOLD, **values)("fig9-gm-neigh-micro")
    assert not world(**marks("g", n=0.4), **values)("fig9-gm-neigh-micro")
    assert not world(**marks("g", n=-0.1), **values)("fig9-gm-neigh-micro")
    assert world(thin_on=0.8, thin_off=1.0, **values)("fig9-gm-neigh-micro", 1)


def test_a_shared_card_saves_more_of_its_time():
    alone = {"alone_off": 10.0, "alone_on": 7.0}
    for number in (0, 1):
        assert world(gp_off=30.0, gp_on=20.0, **alone)("hybrid-4x", number)
        assert not world(gp_off=10.0, gp_on=8.0, **alone)("hybrid-4x", number)
        assert not world(gp_off=40.0, gp_on=20.0, **alone)("hybrid-4x", number)
    assert not world(gp_off=lambda x: 40.0 if x == 128 else 30.0, gp_on=20.0, **alone)("hybrid-4x", 1)
    spread = {"spread_off": 1.0, "spread_on": 0.86}
    assert world(**TOLD, **spread)("fig9-gm-update-nocont")
    assert not world(**{**TOLD, **marks("g", u=0.2)}, **spread)("fig9-gm-update-nocont")
    by_blades = {"spread_off": 1.0, "spread_on": lambda x: 1 - x / 100, **marks("g", u=lambda x: x / 400)}
    assert world(**by_blades)("fig9-gm-update-nocont")  # 8 blades against 8


def test_waits_for_who_computes_are_the_cause_if_little_is_gained_where_computing_is_interrupted():
    judged_world = {
        **TOLD,
        "interrupted_off": 1.0,
        "interrupted_on": 0.95,
        "g_waits": 400.0,
        "g_remote": 10.0,
        "get_off": 12.0,
    }
    assert world(**judged_world)("fig9-field-cause")
    assert world(**judged_world)("fig9-field-cause", 1)
    assert not world(**{**judged_world, "interrupted_on": 0.7})("fig9-field-cause")
    assert not world(**{**judged_world, **marks("g", f=0.1)})("fig9-field-cause")
    assert not world(**{**judged_world, "g_waits": 150.0})("fig9-field-cause")
    assert not world(**{**judged_world, "g_waits": 150.0})("fig9-field-cause", 1)
    lapi = {"l_waits": 150.0, "l_remote": 10.0, "lget_off": 12.0, "l_local": 1000.0}
    assert world(**lapi)("fig9-lapi-field-cause")
    assert not world(**{**lapi, "l_waits": 300.0})("fig9-lapi-field-cause")
    assert not world(**{**lapi, "l_local": 50.0})("fig9-lapi-field-cause")
    polled = {**ON_LAPI, "polled_off": 1.0, "polled_on": 0.7}
    assert world(**polled)("fig9-lapi-field-cause", 1)
    assert not world(**{**polled, "polled_on": 0.99})("fig9-lapi-field-cause", 1)
    assert not world(**{**polled, **marks("l", f=0.3)})("fig9-lapi-field-cause", 1)


def test_pointer_is_gated_by_what_goes_with_latencies():
    assert world(at_once=1.0, gp_on=10.0)("pointer-gated")
    assert not world(at_once=3.0, gp_on=10.0)("pointer-gated")
    assert world(unheld=9.8, gp_on=10.0)("pointer-gated", 1)
    assert not world(unheld=9.0, gp_on=10.0)("pointer-gated", 1)


def test_pieces_are_held_against_everything_by_what_they_gain():
    for network, number, judged_world in (("g", 0, TOLD), ("l", 1, ON_LAPI)):
        chunks = {f"{network}{op}_chunks": judged_world[f"{network}{op}_on"] + 0.03 for op in "punf"}
        assert world(**judged_world, **chunks)("pin-chunks-similar", number)
        assert not world(**judged_world, **{**chunks, f"{network}n_chunks": 1.0})("pin-chunks-similar", number)


def test_a_miss_costs_a_little_of_the_whole():
    for on, off, number in (("miss", "off", 0), ("many_on", "many_off", 1)):

        def missing(share, on=on, off=off):
            names = ("g_", "l_") if on == "miss" else ("g", "l")
            return world(**{f"{name}{off}": 1.0 for name in names}, **{f"{name}{on}": share for name in names})

        assert missing(1.015)("miss-typ", number)
        assert missing(1.015)("miss-max", number)
        assert not missing(1.0)("miss-typ", number)
        assert not missing(1.03)("miss-typ", number)
        assert not missing(lambda x: 1.03 if x == 1 << 20 else 1.01)("miss-max", number)
        assert not missing(0.99)("miss-max", number)


def test_nothing_is_gained_within_a_blade():
    near_by = {"gnear_on": 1.0, "gnear_off": 1.0}
    assert world(**near_by)("shared-node")
    assert not world(**{**near_by, "gnear_on": lambda x: 0.95 if x == 8 else 1.0})("shared-node")
    assert world(**marks("g", p=0.0))("shared-node", 1)
    assert not world(**marks("g", p=0.3))("shared-node", 1)
    assert world(**near_by, lnear_on=1.0, lnear_off=1.0)("shared-node", 2)
    assert not world(**near_by, lnear_on=0.9, lnear_off=1.0)("shared-node", 2)


def test_a_line_that_forgets_what_it_is_asked_for_is_missed():
    """A planted fault: Figure 8 without its capacities has no line that its statements read."""
    small = next(line for line in figure_of(XLUPC, "8a").lines if ("capacity", "4") in line.options)
    lost = dataclasses.replace(small, options=tuple(pair for pair in small.options if pair[0] != "capacity"))
    others = [key for key in LINES if key != small.key]
    key = next(
        key for key in predicates()["xlupc-fig8-pointer"].readings[0].series.values() if pick(key, LINES) == small.key
    )
    assert pick(key, [*others, lost.key]) is None
