"""Outputs of other tools, damaged at random: rows that can be, or one clear refusal."""

import itertools
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
SAID = ("op", "size_bytes", "metric", "value")
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


CHANGES = (cut, without_line, line_again, other_cell, blank_cell, with_another, doubled, windows, marked)
NUMBERS = st.integers(0, 10**6)


@settings(max_examples=60)
@given(
    changes=st.lists(st.tuples(st.sampled_from(CHANGES), NUMBERS, NUMBERS), max_size=3),
    stated=st.sampled_from([{}, {"op": "named", "size": 64}]),
)
@pytest.mark.parametrize("form", SAMPLES)
def test_a_damaged_output_is_rows_or_one_refusal(form, changes, stated):
    text = SAMPLES[form]
    for change, at, other in changes:
        text = change(text, at, other) if text.strip() else text
    refusal = ""
    try:
        record = read_record(form, text, "out.txt", **stated)
    except UsageError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("out.txt")
        assert "\n" not in refusal
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


@pytest.mark.parametrize("form", SAMPLES)
def test_lines_that_are_lost_make_no_other_values(form):
    def rows_of(text):
        try:
            record = read_record(form, text, "out.txt")
        except UsageError:
            return set()
        return {tuple(row[name] for name in SAID) for row in record.rows if not math.isnan(row["value"])}

    lines = SAMPLES[form].splitlines(keepends=True)
    whole = rows_of(SAMPLES[form])
    assert whole
    for at in range(len(lines)):
        assert rows_of("".join(lines[:at])) <= whole
        assert rows_of("".join(lines[at:])) <= whole
    for first, second in itertools.combinations_with_replacement(range(len(lines)), 2):
        kept = (line for at, line in enumerate(lines) if at not in {first, second})
        assert rows_of("".join(kept)) <= whole, f"lines {first} and {second} lost"
