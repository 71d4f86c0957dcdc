import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gasmeter.cli import app
from gasmeter.dashboard import history, read_history, write_dashboard
from gasmeter.dashboard.packing import pack_column, pack_integers, quantum, unpack_integers
from gasmeter.dashboard.site import ASSETS, series_id
from gasmeter.dashboard.steps import confirmed_steps, exact_steps
from gasmeter.errors import UsageError
from gasmeter.stores.files import digests
from gasmeter.stores.pictures import verify_picture
from invented_histories import Plan, write_history

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


def script(path):
    """Return the arguments of the one call a data file consists of."""
    text = path.read_text()
    match = re.fullmatch(r"Gasmeter\.\w+\((.*)\);\n", text, re.DOTALL)
    return json.loads(f"[{match[1]}]")


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    write_history(folder, Plan(40, 12, steps={1: [(20, 1.2)], 8: [(11, 1.000_1)]}, outliers=0.0))
    return folder


# columns


@given(st.lists(st.integers(-(2**51), 2**51), max_size=40))
def test_integers_come_back(values):
    assert unpack_integers(pack_integers(np.array(values, dtype=np.int64))) == values


def test_a_constant_column_is_one_number_and_modelled_picoseconds_are_exact():
    values = np.array([1234.567, 1234.568, 1234.567])
    unit = quantum(values, exact=True)
    assert unit <= 0.001
    counts = unpack_integers(pack_column(values, unit))
    assert counts[1] - counts[0] == round(0.001 / unit)
    assert [count * unit for count in counts] == pytest.approx(list(values), rel=1e-13)
    assert pack_column(np.full(9, 7.0), 1.0) == 7
    assert pack_column(np.array([np.nan, np.nan]), 1.0) == 0


def test_measured_numbers_keep_five_digits():
    values = np.array([270.123456, 271.5, 280.25])
    unit = quantum(values, exact=False)
    counts = unpack_integers(pack_column(values, unit))
    assert [count * unit for count in counts] == pytest.approx(list(values), rel=1e-4)


# steps


def test_planted_steps_are_found_where_they_are():
    rng = np.random.default_rng(3)
    values = 100 * np.exp(0.01 * rng.normal(size=300))
    values[120:] *= 1.04
    values[220:] *= 0.93
    steps = confirmed_steps(values.tolist())
    assert len(steps) == 2
    assert abs(steps[0] - 120) <= 2
    assert abs(steps[1] - 220) <= 2


@pytest.mark.parametrize("values", [[1.0, 2.0, 9.0], [0.0] * 20, [-0.1, 0.1] * 10, []])
def test_short_histories_and_those_without_ratios_have_no_steps(values):
    assert confirmed_steps(values) == []


def test_a_picosecond_is_a_step_where_there_is_no_noise():
    assert exact_steps([5.0, 5.0, 5.001, 5.001, 5.0]) == [2, 4]


# histories


def test_runs_are_ordered_by_date_and_series_by_what_they_are(stores):
    history = read_history([stores])
    assert len(history.runs) == 40
    assert [run.started for run in history.runs] == sorted(run.started for run in history.runs)
    assert len(history.series) == 12
    assert {tuple(series.at) for series in history.series} == {tuple(range(40))}
    assert [run.name for run in read_history([stores / "run-0003", stores / "run-0001", stores]).runs][:2] == [
        "run-0000", "run-0001",
    ]  # fmt: skip


def test_measured_rows_of_different_machines_are_different_series(tmp_path):
    write_history(tmp_path, Plan(4, 12, hosts=2, blocks=0))
    kinds = [series.fields["kind"] for series in read_history([tmp_path]).series]
    assert kinds.count("measured") == 16  # 8 on either
    assert kinds.count("modelled") == 4  # the same everywhere


def test_a_cut_off_line_is_left_out_and_told(tmp_path):
    (store,) = write_history(tmp_path, Plan(1, 4))
    path = store / "results.csv"
    path.write_text(path.read_text()[:-30])
    history = read_history([tmp_path])
    assert len(history.series) == 3
    assert "cut off" in history.notes[0]


def test_draws_of_a_machine_are_left_out_and_told(tmp_path):
    (store,) = write_history(tmp_path, Plan(1, 4))
    path = store / "results.csv"
    head, *lines = path.read_text().splitlines()
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    for row, machine in zip(rows, ("extoll", "extoll+draw=3", "extoll+null=3@7", "extoll+link.buffer=3"), strict=True):
        row["machine"] = machine
    path.write_text("\n".join([head, *(",".join(row.values()) for row in rows), ""]))
    history = read_history([tmp_path])
    assert {series.fields["machine"] for series in history.series} == {"extoll", "extoll+link.buffer=3"}
    assert history.notes == [f"{store}: 2 rows on draws of machines' estimates are left out"]


def test_damage_in_the_middle_is_named_with_its_line(tmp_path):
    (store,) = write_history(tmp_path, Plan(1, 4))
    path = store / "results.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2][:40], *lines[3:]]) + "\n")
    with pytest.raises(UsageError, match=r"results\.csv:3: \d+ cells instead of 33"):
        read_history([tmp_path])


def test_older_schemas_are_read_and_newer_ones_refused_by_name(tmp_path):
    (store,) = write_history(tmp_path, Plan(1, 4))
    path = store / "results.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    gone = rows[0].index("placement")
    path.write_text("".join(",".join(cells[:gone] + cells[gone + 1 :]) + "\n" for cells in rows))
    history = read_history([tmp_path])
    assert [series.fields["placement"] for series in history.series] == [""] * 4
    facts = json.loads((store / "run.json").read_text())
    (store / "run.json").write_text(json.dumps({**facts, "schema": 3}))
    with pytest.raises(UsageError, match="has schema 3, from a newer gasmeter; allowed: 1 to 2"):
        read_history([tmp_path])


def test_rows_that_are_not_what_the_run_wrote_are_refused(tmp_path):
    (store,) = write_history(tmp_path, Plan(1, 4))
    facts = json.loads((store / "run.json").read_text())
    (store / "run.json").write_text(json.dumps({**facts, "files": digests(store, ["results.csv", "samples.parquet"])}))
    assert len(read_history([tmp_path]).series) == 4
    path = store / "results.csv"
    path.write_text(path.read_text().replace(",2,", ",3,", 1))
    with pytest.raises(UsageError, match=r"results\.csv has changed"):
        read_history([tmp_path])


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 1', '{"state": "complete"}'])
def test_a_damaged_run_json_is_one_line(tmp_path, content):
    (store,) = write_history(tmp_path, Plan(1, 2))
    (store / "run.json").write_text(content)
    with pytest.raises(UsageError, match=r"is not a run\.json of gasmeter"):
        read_history([tmp_path])


def test_empty_places_are_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no store"):
        read_history([tmp_path])
    with pytest.raises(UsageError, match="is no folder"):
        read_history([tmp_path / "none"])
    (store,) = write_history(tmp_path, Plan(1, 2))
    (store / "results.csv").write_text((store / "results.csv").read_text().splitlines()[0] + "\n")
    with pytest.raises(UsageError, match="no rows in"):
        read_history([tmp_path])


# pages


def test_a_site_holds_every_run_of_every_series(stores, tmp_path):
    site = write_dashboard([stores], tmp_path / "site")
    assert (site.runs, site.series, site.notes) == (40, 12, ())
    assert all((site.folder / name).stat().st_size for name in ASSETS)
    (index,) = script(site.folder / "data" / "index.js")
    history = read_history([stores])
    steps = {}
    for series, entry in zip(history.series, index["series"], strict=True):
        assert [index["words"][word] for word in entry["is"]] == list(series.fields.values())
        name, columns = script(site.folder / "data" / "series" / f"{entry['id']}.js")
        assert name == series_id(series)
        counts = columns["value"]
        counts = [counts] * 40 if isinstance(counts, int) else unpack_integers(counts)
        assert [count * columns["unit"] for count in counts] == pytest.approx(list(series.numbers["value"]), rel=1e-4)
        assert set(map(int, columns["samples"])) >= set(range(30, 40))
        if entry["steps"]:
            steps[series.fields["op"], series.fields["kind"]] = entry["steps"]
    assert steps[("put", "measured")] == [20]
    assert steps[("am-short", "modelled")] == [11]


def test_the_first_page_says_what_it_is_and_whether_its_data_are_the_same(stores, tmp_path):
    site = write_dashboard([stores], tmp_path / "site")
    page = site.folder / "index.html"
    origin = verify_picture(page)
    assert origin.same, origin.text
    days = [run.started[:10] for run in read_history([stores]).runs]
    sentence = (
        f"is a dashboard of {site.series} series in {site.runs} runs of {days[0]} to {days[-1]}, drawn by revision "
    )
    assert sentence in origin.text
    assert "the digest of data is the same" in origin.text
    assert "\n" not in origin.text
    data_file = next((site.folder / "data" / "series").iterdir())
    data_file.write_text(data_file.read_text() + " ")
    origin = verify_picture(page)
    assert not origin.same
    assert "; data changed (" in origin.text
    assert "; data not there: `gasmeter verify index.html FOLDER`" in verify_picture(page, [tmp_path]).text


def test_another_way_to_find_steps_can_be_handed_in(stores, tmp_path):
    seen = []
    write_dashboard([stores], tmp_path / "site", find_steps=lambda values: seen.append(len(values)) or [5])
    (index,) = script(tmp_path / "site" / "data" / "index.js")
    assert seen == [40] * 8  # measured series only
    assert sum(entry["steps"] == [5] for entry in index["series"]) == 8


def test_nan_and_unverified_rows_are_gaps_not_numbers(tmp_path):
    stores = write_history(tmp_path / "stores", Plan(12, 1))
    path = stores[4] / "results.csv"
    head, line = path.read_text().splitlines()
    cells = dict(zip(head.split(","), line.split(","), strict=True))
    cells |= {"value": "", "ci_low": "", "ci_high": "", "verified": "false"}
    path.write_text(f"{head}\n{','.join(cells.values())}\n")
    write_dashboard([tmp_path / "stores"], tmp_path / "site")
    (index,) = script(tmp_path / "site" / "data" / "index.js")
    assert index["series"][0]["unverified"] == 1
    assert "NaN" not in (tmp_path / "site" / "data" / "index.js").read_text()
    _, columns = script(next((tmp_path / "site" / "data" / "series").iterdir()))
    assert unpack_integers(columns["flags"])[4] & 0b1101 == 0b1100  # flags: not verified, no value, no interval


def test_a_site_is_replaced_and_nothing_else_is(stores, tmp_path):
    site = tmp_path / "site"
    write_dashboard([stores / "run-0000"], site)
    before = {path.name for path in site.rglob("*")}
    write_dashboard([stores / "run-0001"], site)
    assert {path.name for path in site.rglob("*")} == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match="no dashboard"):
        write_dashboard([stores], tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_unreadable_samples_cost_the_samples_only(tmp_path):
    (store,) = write_history(tmp_path / "stores", Plan(1, 2))
    (store / "samples.parquet").write_bytes(b"PAR1 torn")
    site = write_dashboard([tmp_path / "stores"], tmp_path / "site")
    assert "samples cannot be read" in site.notes[0]


def test_the_command_writes_a_site(stores, tmp_path, capsys):
    assert app.cli.main(["dashboard", str(stores), "--out", str(tmp_path / "s")], standalone_mode=False) == 0
    output = capsys.readouterr()
    assert output.out.strip() == str(tmp_path / "s" / "index.html")
    assert "12 series in 40 runs" in output.err
    assert app.cli.main(["dashboard", str(tmp_path / "no"), "--out", str(tmp_path / "t")], standalone_mode=False) == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_pages_load_nothing_from_elsewhere():
    page = Path(history.__file__).parent / "page"
    text = "".join((page / name).read_text() for name in ASSETS)
    assert set(re.findall(r"https?://[\w./]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "fetch(" not in text
    assert "innerHTML" not in text


def dumped(address, folder, width):
    """Return the document after its scripts have run, from disk."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}",
         "--virtual-time-budget=4000", f"--window-size={width},1200", "--dump-dom", address],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_draws_the_pages_from_disk(stores, tmp_path):
    site = write_dashboard([stores], tmp_path / "site")
    page = f"file://{site.folder}/index.html"
    overview = dumped(page, tmp_path / "profile", 390)
    assert overview.count('class="card"') == 12
    assert overview.index("Measured") < overview.index("Modelled")
    assert re.search(r"\+(19|20)\.\d % worse", overview)
    stepped = next(entry for entry in script(site.folder / "data" / "index.js")[0]["series"] if entry["steps"] == [20])
    detail = dumped(f"{page}#/series/{stepped['id']}/run/20", tmp_path / "profile", 1280)
    assert "Run of 2024-01-16" in detail
    assert "Fictional CPU A" in detail
    assert "12 blocks in the order measured" in detail
    assert "worse" in detail


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_single_run_is_drawn_with_its_interval_and_the_state_of_its_host(tmp_path):
    (store,) = write_history(tmp_path / "stores", Plan(1, 1))
    with_counters(store)
    site = write_dashboard([tmp_path / "stores"], tmp_path / "site")
    (series,) = script(site.folder / "data" / "index.js")[0]["series"]
    detail = dumped(f"file://{site.folder}/index.html#/series/{series['id']}", tmp_path / "profile", 390)
    history, host = re.findall(r"<svg.*?</svg>", detail, re.DOTALL)[:2]
    assert history.count('class="whisker"') == 1
    assert history.index('class="picked"') < history.index('class="dot"')  # or the line would hide it
    assert host.count('class="dot"') == 1
    assert "One run: nothing to compare it with." in detail
    assert "2 per operation, 4,000 in all" in detail


def with_counters(store):
    """Give the first point of a store counters; return its run_id."""
    head, first = (store / "results.csv").read_text().splitlines()[:2]
    point = dict(zip(head.split(","), first.split(","), strict=True))["run_id"]
    (store / "counters.csv").write_text(
        f"run_id,counter,value,per_operation\n{point},messages,4000,2.0\n{point},stalls,12,\n{point},drops,0,0.0\n"
    )
    return point


def test_counters_of_a_point_stand_with_its_run(tmp_path):
    (store,) = write_history(tmp_path / "stores", Plan(1, 2))
    with_counters(store)
    site = write_dashboard([tmp_path / "stores"], tmp_path / "site")
    assert not site.notes
    messages = [script(path)[1]["counters"] for path in sorted((site.folder / "data" / "series").iterdir())]
    assert sorted(messages, key=len) == [{}, {"0": {"messages": [4000, 2.0], "stalls": [12, None]}}]


def test_unreadable_counters_cost_the_counters_only(tmp_path):
    (store,) = write_history(tmp_path / "stores", Plan(1, 2))
    (store / "counters.csv").write_text("run_id,counter,value\nx,messages,many\n")
    site = write_dashboard([tmp_path / "stores"], tmp_path / "site")
    assert site.series == 2
    assert "counters cannot be read" in site.notes[0]
