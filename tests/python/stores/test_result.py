import math
import re

import pandas as pd
import pytest

import gasmeter as gm
from gasmeter.measuring.summary import digest, speed_lines, summarise_run
from gasmeter.rows.formats import csv_cell, json_value, render
from gasmeter.rows.record import COLUMNS, SAMPLE_COLUMNS

pytestmark = pytest.mark.usefixtures("machine")


def measured(**settings):
    return gm.measure(**{"kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8,64", **settings})


def test_a_frame_has_the_columns_in_order_and_typed():
    frame = measured(against="raw@shm").frame()
    assert tuple(frame.columns) == COLUMNS
    assert frame["value"].dtype == float
    assert frame["size_bytes"].dtype == "int64"
    assert frame["verified"].dtype == "boolean"


def test_samples_are_one_row_per_block():
    result = measured()
    samples = result.samples()
    assert tuple(samples.columns) == SAMPLE_COLUMNS
    assert len(samples) == sum(row["n"] for row in result.rows)
    first = samples[samples["run_id"] == result.rows[0]["run_id"]]
    assert first["value"].median() == pytest.approx(result.rows[0]["value"])


def test_an_empty_result_has_an_empty_frame():
    result = gm.Result([], name="empty")
    assert len(result.frame()) == len(result.samples()) == 0
    assert result.disturbance() == "no rows"
    assert "<table" in result._repr_html_()


def test_html_is_escaped_and_shows_what_disturbed_the_numbers():
    result = measured()
    result.title = "<b>bold</b>"
    page = result._repr_html_()
    assert "&lt;b&gt;bold" in page
    assert "core-to-core probe" in page


def test_not_verified_is_said_everywhere(machine):
    machine.unverified.add("put")
    result = measured()
    assert not result.verified
    assert "2 of 2 points NOT verified" in result.disturbance()
    assert "NOT VERIFIED" in render(result.rows, "table")
    assert "did not verify" in result._repr_html_()


def test_what_was_not_checked_is_said_everywhere():
    result = measured(op="put,call")
    assert result.verified
    assert list(result.frame()["verified"].isna()) == [False, False, True]
    assert "data verified, 1 of 3 points not checked" in result.disturbance()
    assert render(result.rows, "table").count("not checked") == 1
    assert [line.split(",")[COLUMNS.index("verified")] for line in render(result.rows, "csv").splitlines()[1:]] == [
        "true",
        "true",
        "not_checked",
    ]
    assert "data not checked" in measured(op="call").disturbance()


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (0.1, "0.1"), (math.nan, ""), (None, ""), (8, "8"), (1e-9, "1e-09"), ("a,b", "a,b")],
)
def test_csv_cells_read_back(value, text):
    assert csv_cell(value) == text


def test_json_has_no_nan():
    assert json_value({"a": [math.nan, 1.5, (math.inf,)], "b": True}) == {"a": [None, 1.5, [None]], "b": True}


def test_the_digest_shows_few_sizes_and_every_operation():
    result = measured(op="put,get", sizes="8:4M", against="raw@shm", time=0.02)
    heads, lines = digest(result)
    assert len(heads) == len(lines[0])
    assert len(lines) == 2 * 4 * 2
    assert {line[1] for line in lines} == {"put", "get"}


TARGET = gm.Target(line="put / copy", at_most=1.5)


def held_against(**settings):
    experiment = gm.Experiment(
        name="limits", kernel="ping-pong", op="put", sizes=8, conduit="smp", against="raw@shm",
        **{"target": TARGET, **settings},
    )  # fmt: skip
    return experiment, experiment.run()


def test_a_limit_that_holds_is_reached():
    (line,) = speed_lines(*held_against())
    assert line[0] == "put / copy (put 8 B)"
    assert line[1] == "1.16"
    assert line[3:] == ("≤ 1.5", "yes")


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (gm.Target(line="x", at_most=1.1), "no"),
        (gm.Target(line="x", at_least=1.1), "yes"),
        (gm.Target(line="x", at_least=1.5), "no"),
        (gm.Target(line="x"), "-"),
    ],
)
def test_a_limit_can_be_missed(target, verdict):
    assert speed_lines(*held_against(target=target))[0][4] == verdict


def test_a_limit_inside_the_interval_is_undecided(machine):
    machine.noise = 0.5
    assert speed_lines(*held_against(target=gm.Target(line="x", at_most=1.16)))[0][4] == "undecided"


def test_a_limit_can_be_one_of_the_figure_itself():
    target = gm.Target(line="Latency of a put", at_most=1.0, metric="latency")
    ((line, figure, _, limit, verdict),) = speed_lines(*held_against(target=target))
    assert line == "Latency of a put (put 8 B)"
    assert figure.endswith("ns")
    assert (limit, verdict) == ("≤ 1 ns", "no")


def test_series_that_differ_in_an_option_have_lines_of_their_own():
    settings = {"kernel": "ping-pong", "op": "put", "sizes": 8, "conduit": "smp", "against": "raw@shm"}
    experiment = gm.Experiment(
        name="two",
        series=(
            gm.Series(**settings, target=gm.Target(line="plain")),
            gm.Series(**settings, options={"threads": "true"}, target=gm.Target(line="other")),
        ),
    )
    lines = [line[0] for line in speed_lines(experiment, experiment.run())]
    assert len(lines) == len(set(lines))


def test_the_summary_says_what_was_asked_and_what_came_out():
    experiment, result = held_against(question="How much?", title="Puts")
    text = summarise_run(experiment, result)
    assert text.startswith("# Puts\n\nHow much?")
    assert "| put / copy (put 8 B) |" in text
    assert "core-to-core probe" in text
    result.complete = False
    assert "not complete" in summarise_run(experiment, result)


def test_results_can_be_joined_with_their_samples():
    result = measured()
    joined = result.frame().merge(result.samples(), on=["run_id", "metric"])
    assert isinstance(joined, pd.DataFrame)
    assert len(joined) == len(result.samples())


def test_no_number_is_cut_off_in_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = render(measured(against="raw@shm").rows, "table")
    assert "round_trip" in text or "latency" in text
    assert "raw@shm" in text
    assert text.count("…") == 6


def test_a_measurement_is_compared_with_what_differs(machine):
    frame = gm.measure("ping-pong", conduit="smp", op="put", sizes="8", against={"op": "get"}).frame()
    assert set(frame[frame["metric"] == "overhead"]["reference"]) == {"op=get"}
    assert set(frame["op"]) == {"put", "get"}


def test_a_result_says_in_one_line_what_it_is(machine):
    assert repr(measured(against="raw@shm")) == (
        "<Result measure: 6 rows of 4 points, measured, ping-pong put on raw@shm, smp, data verified>"
    )
    machine.unverified.add("put")
    assert "2 of 2 points NOT verified" in repr(measured())
    assert repr(gm.Result([], name="empty", complete=False)) == "<Result empty: no rows, not complete>"


def test_html_has_what_varies_in_columns_and_the_rest_in_the_caption():
    page = measured(against="raw@shm")._repr_html_()
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", page)
    assert heads == ["conduit", "size", "metric", "reference", "median", "95 % interval", "blocks"]
    caption = re.search(r"<caption[^>]*>([^<]*)</caption>", page)[1]
    assert {"kernel ping-pong", "op put", "kind measured", "ranks 2"} <= set(caption.split(" · "))
    assert len(re.findall(r"<tr>", page)) == 1 + 6
    alone = re.search(r"<caption[^>]*>([^<]*)</caption>", measured(sizes=8)._repr_html_())[1]
    assert {"size 8 B", "metric latency", "conduit smp"} <= set(alone.split(" · "))
