"""Random use: how its cases are judged, and that a few of each kind end well (thousands: tests/random_use)."""

import sys
from pathlib import Path

import pytest

import gasmeter as gm

sys.path.insert(0, str(Path(__file__).parent.parent))

from random_use import cases, outcome


def raised(error):
    return outcome.of_exception(error).fault


def test_a_refusal_in_one_line_is_no_fault():
    assert raised(gm.UsageError("size 'x' is not a size; allowed: 8 or 8,64")) == ""


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (AttributeError("'int' object has no attribute 'items'"), "traceback"),
        (gm.Deadlock("sim: deadlock at 1.000 ns: nothing is under way"), "deadlock"),
        (gm.GasmeterError("first\nsecond"), "many-lines"),
        (gm.GasmeterError(""), "silent"),
        (gm.GasmeterError("x" * 1000), "long-line"),
        (gm.GasmeterError("event posted for -8446744071527321.-762 ns"), "suspicious"),
        (gm.GasmeterError("vector::_M_default_append"), "suspicious"),
    ],
)
def test_what_points_to_a_fault_is_one(error, fault):
    assert raised(error) == fault


def test_a_negative_time_in_a_table_is_a_fault():
    table = "experiment,metric,value,unit,verified\nmeasure,gap,-101,ns,true\n"
    assert outcome.of_command(0, None, table, "").fault == "impossible-value"


def test_an_unverified_row_is_a_fault():
    table = "experiment,metric,value,unit,verified\nmeasure,gap,101,ns,false\n"
    assert outcome.of_command(0, None, table, "").fault == "unverified"


def test_a_command_that_ends_without_results_is_a_fault():
    assert outcome.of_command(0, None, "", "note").fault == "no-results"
    assert outcome.of_command(2, None, "", "usage").fault == "no-error-line"
    assert outcome.of_command(4, None, "", "Error: broken").fault == "status-4"
    assert outcome.of_command(4, None, "", "Error: flood: not finished within its time limit of 1 s").fault == ""


def test_points_that_were_left_out_beside_results_are_no_fault():
    table = "experiment,metric,value,unit,verified\nmeasure,gap,101,ns,true\n"
    lines = "left out: 4 MiB: too large\n1 of 2 points left out\n"
    assert outcome.of_command(2, None, table, lines).fault == ""
    assert outcome.of_command(2, None, "", lines).fault == "no-error-line"


def test_the_same_number_draws_the_same_case():
    entry, again = (cases.case("commands", "ideal", 1, 3) for _ in range(2))
    assert entry.text == again.text
    assert entry.text != cases.case("commands", "ideal", 1, 4).text


@pytest.mark.parametrize(
    ("kind", "conduit", "count"),
    [("overrides", "", 60), ("calls", "", 30), ("programs", "ideal", 20), ("programs", "gm", 20)],
)
def test_cases_end_in_results_or_in_one_line(kind, conduit, count):
    drawn = [cases.case(kind, conduit, 11, number) for number in range(count)]
    ended = [(each.text, each.act()) for each in drawn]
    assert [(text, how) for text, how in ended if how.fault] == []
    assert any(not how.text for _, how in ended), "each was refused"
