"""Outputs of other tools, damaged at random: rows that can be, or one clear refusal."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_tools import SAMPLES

from gasmeter.errors import UsageError
from gasmeter.exchange.importing import read_record
from gasmeter.rows.formats import to_csv

WORDS = (
    "",
    "nan",
    "-inf",
    "-",
    "N/A",
    "1e999",
    "-0.0",
    "9" * 25,
    "1_000",
    "0x1f",
    "\u0663",
    "\xb2",
    "Fail",
    "2.5k",
    "#",
    "\x1b[0m",
)
IDENTITY = ("op", "conduit", "ranks", "size_bytes", "options", "metric")


def cut(text, at, _):
    return text[: at % (len(text) + 1)]


def without_line(text, at, _):
    lines = text.splitlines(keepends=True)
    del lines[at % len(lines) : at % len(lines) + 1]
    return "".join(lines)


def line_again(text, at, to):
    lines = text.splitlines(keepends=True)
    lines.insert(to % (len(lines) + 1), lines[at % len(lines)])
    return "".join(lines)


def other_cell(text, at, which):
    cells = text.split(" ")
    words = [number for number, cell in enumerate(cells) if cell.strip()]
    cells[words[at % len(words)]] = WORDS[which % len(WORDS)]
    return " ".join(cells)


def blank_cell(text, at, _):
    cells = text.split(" ")
    words = [number for number, cell in enumerate(cells) if cell.strip()]
    cell = cells[words[at % len(words)]]
    cells[words[at % len(words)]] = "".join(letter if letter == "\n" else " " for letter in cell)
    return " ".join(cells)


def with_another(text, _, which):
    return text + list(SAMPLES.values())[which % len(SAMPLES)]


def doubled(text, *_):
    return text + text


def windows(text, *_):
    return text.replace("\n", "\r\n")


def marked(text, *_):
    return "\ufeff" + text


def lines_cut(text, at, _):
    lines = text.splitlines(keepends=True)
    return "".join(lines[: at % (len(lines) + 1)])


LOSSES = (lines_cut, without_line, windows, marked)
CHANGES = (cut, line_again, other_cell, blank_cell, with_another, doubled, *LOSSES)
NUMBERS = st.integers(0, 10**6)


def some(changes):
    return st.lists(st.tuples(st.sampled_from(changes), NUMBERS, NUMBERS), max_size=3)


def read(form, changes=(), **stated):
    """Return what a damaged output is read as, or the refusal."""
    text = SAMPLES[form]
    for change, at, other in changes:
        text = change(text, at, other) if text.strip() else text
    try:
        return read_record(form, text, "out.txt", **stated)
    except UsageError as error:
        return str(error)


@settings(max_examples=60)
@given(changes=some(CHANGES), stated=st.sampled_from([{}, {"op": "named", "size": 64}]))
@pytest.mark.parametrize("form", SAMPLES)
def test_a_damaged_output_is_rows_or_one_refusal(form, changes, stated):
    record = read(form, changes, **stated)
    if isinstance(record, str):
        assert record.startswith("out.txt")
        assert "\n" not in record
        return
    assert len({tuple(row[name] for name in IDENTITY) for row in record.rows}) == len(record.rows) > 0
    for row in record.rows:
        assert math.isnan(row["value"]) or (math.isfinite(row["value"]) and row["value"] >= 0)
        assert row["op"]
        assert 0 <= row["size_bytes"] < 2**63
        assert 1 <= row["ranks"] < 2**63
        assert 0 <= row["n"] < 2**63
    lost = {row["size_bytes"] for row in record.rows if math.isnan(row["value"])}
    assert len(lost) <= sum("has no value" in note for note in record.notes)
    assert all("\n" not in note for note in [*record.notes, *record.errors])
    assert to_csv(record.rows)


@settings(max_examples=60)
@given(changes=some(LOSSES))
@pytest.mark.parametrize("form", SAMPLES)
def test_lines_that_are_lost_make_no_other_values(form, changes):
    def said(record):
        return {tuple(row[name] for name in ("op", "size_bytes", "metric", "value")) for row in record.rows}

    whole = said(read(form))
    record = read(form, changes)
    assert isinstance(record, str) or {row for row in said(record) if not math.isnan(row[-1])} <= whole
