"""Runs of the SCI paper, and its tables; only tests that ask for the core use it."""

import importlib.util
import math
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import gasmeter as gm
from gasmeter.papers import sci
from gasmeter.papers.registry import figures_of
from gasmeter.papers.sci import SCI
from gasmeter.reproduction.plan.figure import SIZE
from gasmeter.verdicts.claims import RESULT, claims
from gasmeter.verdicts.predicates import predicates
from gasmeter.verdicts.series import pick

ROOT = Path(__file__).resolve().parents[3]
MACHINE = ROOT / "python" / "gasmeter" / "machines" / "sci.toml"
LINES = {line.key: line for figure in SCI.figures for line in figure.lines}
NEEDS_CORE = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")


def figure(number):
    return next(figure for figure in SCI.figures if figure.number == number)


def test_each_statement_has_one_figure_and_one_predicate():
    carried = [claim for figure in SCI.figures for claim in figure.claims]
    assert len(carried) == len(set(carried)) == 27
    assert set(carried) == {claim.id for claim in claims("sci", kind=RESULT)}
    assert all(predicates()[claim].readings for claim in carried)  # none is undecidable, none withheld


def test_statements_are_read_from_their_figure_and_those_run_with_it():
    for figure in SCI.figures:
        near = {line for other in figures_of(SCI, [figure.number]) for line in other.lines}
        for claim in figure.claims:
            for reading in predicates()[claim].readings:
                lines = {name: pick(key, LINES) for name, key in reading.series.items()}
                assert None not in lines.values(), (claim, reading.name)
                assert {LINES[line] for line in lines.values()} <= near, (claim, reading.name)


def test_a_mechanism_is_taken_away_from_a_line_that_the_statement_reads():
    mechanisms = {mechanism.name: set(mechanism.lines) for mechanism in SCI.without}
    for claim in (claim for figure in SCI.figures for claim in figure.claims):
        for reading in predicates()[claim].readings:
            if reading.ablation:
                entry = {LINES[pick(key, LINES)] for key in reading.series.values()}
                assert entry & mechanisms[reading.ablation], (claim, reading.name)


def test_every_reading_is_one_of_a_kind_and_says_which_words_it_rests_on():
    for claim in claims("sci", kind=RESULT):
        readings = predicates()[claim.id].readings
        assert len({(str(entry.conditions), str(entry.series)) for entry in readings}) == len(readings), claim.id
        for reading in readings:
            assert len(reading.quote.split()) >= 5, claim.id


def test_no_conduit_is_asked_for_more_than_it_carries():
    most = {
        ("mpi@sci", "am-long"): 65000,
        ("gm", "am-long"): 61440,
        ("sci", "am-medium"): 2048,
        ("sci", "am-long"): 512 << 10,
    }
    for figure in SCI.figures:
        for effort in (figure.full, figure.quick):
            for line in (*figure.lines, *figure.beside):
                sizes = effort.xs if figure.axis == SIZE else (line.size,)
                assert max(sizes) <= most.get((line.conduit, line.op), math.inf), (figure.number, line.label)
            assert set(effort.drawn) <= set(effort.xs)


def test_a_quick_run_has_every_figure_and_every_point_that_a_statement_names():
    for entry in SCI.figures:
        assert set(entry.quick.xs) <= {*entry.full.xs, 16, 128, 131072}
        assert entry.quick.xs
    for number in ("8-large", "7-large"):
        assert 131072 in figure(number).quick.xs
        assert 131072 in figure(number).full.drawn
    assert 65000 in figure("8").quick.xs
    assert 65000 in figure("8").full.drawn


def test_the_memory_of_all_ranks_is_what_one_holds_times_their_number(monkeypatch):
    asked = []

    def reserved(conduit, options, ranks):
        asked.append((conduit, dict(options)))
        return [1000.0 * count for count in ranks]

    monkeypatch.setattr(sci, "_reserved", reserved)
    polls = figure("polls")
    run = SimpleNamespace(plan=SimpleNamespace(effort=lambda bytes_held: bytes_held.full))
    memory, together = sci._memory(run, polls)
    assert memory.heads == together.heads == ("conduit", *(f"{x} ranks" for x in polls.full.xs))
    for line, all_of_them in zip(memory.rows, together.rows, strict=True):
        assert line[0] == all_of_them[0]
        assert line[1:] == tuple(str(1000 * x) for x in polls.full.xs)
        assert all_of_them[1:] == tuple(str(1000 * x * x) for x in polls.full.xs)
    schemes = [options["queues"] for conduit, options in asked if conduit == "sci"]
    assert schemes == ["paired", "ibel", "ibel-split"]


@NEEDS_CORE
def test_command_segments_grow_with_ranks():
    """Two slots for requests and two for replies of each peer, each of a header and the largest Medium: 2124 B then."""
    scheme = {"queues": "paired", "big_area": "on"}
    two, four, eight = sci._reserved("sci", scheme, [2, 4, 8])
    assert eight - four == pytest.approx(2 * (four - two))
    assert 4 * 2124 <= (four - two) / 2 <= 4 * 2200


# ---- the machine


def numbers():
    def walk(prefix, entry):
        if "value" in entry:
            yield prefix, entry
        else:
            for name, inner in entry.items():
                yield from walk(f"{prefix}.{name}" if prefix else name, inner)

    content = tomllib.loads(MACHINE.read_text(encoding="utf-8"))
    return dict(walk("", {key: value for key, value in content.items() if isinstance(value, dict)}))


@NEEDS_CORE
def test_estimates_stand_in_the_middle_of_their_ranges():
    machine = gm.machine("sci")
    assert {number.key for number in machine.estimates()} == {key for key, entry in numbers().items() if "low" in entry}
    for number in machine.estimates():
        low, high = number.ends()
        middle = math.sqrt(low * high) if high > 4 * low or number.key in {"link.buffer", "mpi.inline"} else None
        expected = (low + high) / 2 if middle is None else middle
        assert number.value == pytest.approx(expected, rel=0.02), number.key


def test_every_number_says_where_it_comes_from():
    for key, number in numbers().items():
        assert number["source"].startswith(("seed: sci", "estimate:", "recalled", "PCI")), key
        assert number.get("hardware") or number["source"].startswith("estimate:"), key
        assert ("low" in number) == ("high" in number)
