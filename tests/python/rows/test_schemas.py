"""The JSON Schemas of rows and run.json: everything under results/ keeps to them, and what is wrong is red."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.cli.schema import SCHEMAS
from gasmeter.rows.formats import to_json
from gasmeter.rows.record import COLUMNS
from gasmeter.rows.state import STATES
from gasmeter.stores.files import read_content
from gasmeter.stores.store import open_result
from gasmeter.sweeps.point import NOT_CHECKED

ROOT = Path(__file__).resolve().parents[3]
STORES = sorted(path.parent for path in (ROOT / "results").glob("*/run.json*"))
LONG = {"aries", "extoll", "sci"}
SCHEMA = {name: json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")) for name in ("row", "run")}
ROW, RUN = (Draft202012Validator(SCHEMA[name]) for name in ("row", "run"))
TRUTHS = {"true": True, "false": False}
CROSSED = ["kind", "label", "metric", "unit", "reference", "machine"]  # columns that rules compare with each other


def types(name):
    """The JSON types of a column, as far as they tell how its cells are read."""
    kinds = SCHEMA["row"]["properties"][name].get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def cell(name, text):
    """A cell of results.csv as the value of a JSON row."""
    if name in {"oversubscribed", "verified"}:
        return TRUTHS.get(text, text)
    if types(name) & {"integer", "number"}:
        if text == "":
            return None
        try:
            return int(text) if "integer" in types(name) else float(text)
        except ValueError:
            return text
    return text


def telling(name, cells):
    """Return the cells of a column that decide: the ends of a range of numbers, otherwise each different cell."""
    unique = pd.Series(cells.unique())
    if not types(name) & {"integer", "number"}:
        return unique
    whole = unique.str.fullmatch(r"-?\d+") if "integer" in types(name) else unique != ""
    numbers = pd.to_numeric(unique.where(whole), errors="coerce").dropna()
    return [*unique.drop(numbers.index), *unique[[numbers.idxmin(), numbers.idxmax()] if len(numbers) else []]]


def wrong(frame):
    """Return the faults that the schema finds in rows, each different fault once.

    A rule concerns one column, or the columns of CROSSED together. So it is enough to check each different cell of a
    column against the column's rule, and one row of each combination of CROSSED against the whole schema.
    """
    lines = []
    for name in frame.columns:
        if name in SCHEMA["row"]["properties"]:
            validator = ROW.evolve(schema=SCHEMA["row"]["properties"][name])
            lines += [
                f"{name}: {error.message}"
                for text in telling(name, frame[name])
                for error in validator.iter_errors(cell(name, text))
            ]
    for _, row in frame.drop_duplicates(CROSSED).iterrows():
        lines += [error.message for error in ROW.iter_errors({name: cell(name, row[name]) for name in frame.columns})]
    return lines


def table(store):
    return pd.read_csv(io.BytesIO(read_content(store, "results.csv")), dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def some():
    return table(ROOT / "results" / "first_look")


@pytest.mark.parametrize("name", ["row", "run"])
def test_a_schema_is_one_of_its_draft_and_is_printed(name):
    Draft202012Validator.check_schema(SCHEMA[name])
    assert SCHEMA[name]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(CliRunner().invoke(cli, ["schema", name]).stdout) == SCHEMA[name]


# Tens of thousands of rows of one program: the quick tier has those of one reproduction.
@pytest.mark.parametrize(
    "store",
    [pytest.param(entry, id=entry.name, marks=[pytest.mark.slow] if entry.name in LONG else []) for entry in STORES],
)
def test_every_published_row_keeps_to_the_schema(store):
    rows = table(store)
    assert len(rows) > 10
    assert wrong(rows) == []


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
def test_every_published_run_keeps_to_the_schema(store):
    assert [error.message for error in RUN.iter_errors(json.loads(read_content(store, "run.json")))] == []


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("kind", "guessed", "'guessed' is not one of"), ("kind", "modelled", "'measured' is not one of"),
        ("label", "predicted", "'measured' was expected"), ("machine", "extoll", "'' was expected"),
        ("unit", "us", "was expected"), ("verified", "maybe", "'maybe' is not one of"),
        ("ranks", "0", "less than the minimum"), ("size_bytes", "-8", "less than the minimum"),
        ("run_id", "17", "does not match"), ("options", "loud", "does not match"),
        ("n", "", "is not of type 'integer'"), ("seed", "1.5", "is not of type 'integer'"),
        ("value", "fast", "is not of type 'number', 'null'"), ("host_state_ns", "-1", "less than the minimum"),
        ("state", "fine", "is not one of"), ("metric", "", "should be non-empty"),
    ],
)  # fmt: skip
def test_a_wrong_cell_in_the_last_row_is_found(some, column, text, message):
    planted = some.copy()
    planted.loc[planted.index[-1], column] = text
    assert any(message in line for line in wrong(planted))


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_that_is_missing_is_found(some, column):
    row = {name: cell(name, text) for name, text in some.iloc[0].items() if name != column}
    assert [error.message for error in ROW.iter_errors(row)] == [f"{column!r} is a required property"]


def test_a_column_too_many_is_found(some):
    row = {name: cell(name, text) for name, text in some.iloc[0].items()}
    assert [error.message for error in ROW.iter_errors(row)] == []
    assert "were unexpected" in str([error.message for error in ROW.iter_errors({**row, "remark": "", "mood": ""})])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 3}, "3 is not one of [1, 2]"), ({"state": "done"}, "'done' is not one of"),
        ({"runs": []}, "should be non-empty"),
        ({"files": {"results.csv": {"bytes": 1, "sha256": "0"}}}, "does not match"),
        ({"groups": -1}, "less than the minimum"), ({"runs": [{"started": "today"}]}, "does not match"),
    ],
)  # fmt: skip
def test_a_wrong_run_is_found(change, message):
    run = json.loads(read_content(ROOT / "results" / "first_look", "run.json"))
    assert any(message in error.message for error in RUN.iter_errors({**run, **change}))


def test_what_a_run_writes_and_prints_keeps_to_the_schemas(machine, tmp_path):
    gm.Experiment(
        name="small", series=[gm.Series(kernel="ping-pong", op="put", conduit="smp", sizes="8,64", time_s=0.01)]
    ).run(out=tmp_path / "small")
    result = open_result(tmp_path / "small")
    printed = json.loads(to_json(result.rows))
    assert printed
    assert [error.message for row in printed for error in ROW.iter_errors(row)] == []
    assert [e.message for e in RUN.iter_errors(json.loads((tmp_path / "small" / "run.json").read_text()))] == []
    assert wrong(table(tmp_path / "small")) == []


def test_the_schema_says_what_the_program_says():
    properties = SCHEMA["row"]["properties"]
    assert tuple(properties) == tuple(SCHEMA["row"]["required"]) == COLUMNS
    assert set(properties["state"]["enum"]) == {*STATES, ""}
    assert NOT_CHECKED in properties["verified"]["enum"]
    catalogued = json.loads((ROOT / "tests/python/data/catalogue.json").read_text())["metrics"]
    rows = {
        metric: rule["then"]["properties"]["unit"]["const"]
        for rule in SCHEMA["row"]["allOf"] for metric in rule["if"]["properties"].get("metric", {}).get("enum", ())
    }  # fmt: skip
    assert rows == {metric["name"]: metric["unit"] for metric in catalogued}
