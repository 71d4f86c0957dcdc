"""Pages as a reader meets them, at three widths, in a headless browser."""

import json
import re

import pytest

import gasmeter as gm
from browser import CHROMIUM, seen
from gasmeter.checking import hold
from gasmeter.checking.writing import write_held
from gasmeter.dashboard import write_dashboard
from gasmeter.reproduction.report.page import report_html
from invented import made
from invented_hardware import measured
from invented_histories import Plan, write_history

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
SCREEN = 844
CARD = "table.cards tbody tr"
CARDS_UP_TO = 66 * 16  # px: 66rem of cards.css
THEMES = pytest.mark.parametrize("dark", [False, True])


def holds(screens, first, *, dark=False):
    """Check a page: the outcome on the first screen, nothing faint, nothing wider than the screen.

    A table becomes a card for each row on a narrow screen.
    """
    for width, page in screens.items():
        assert page["dark"] is dark
        assert page["overflow"] <= 0, width
        assert page["faint"] == [], width
        assert page["sideways"] == [], width
        assert page["cards"] == ["table" if width > CARDS_UP_TO else "block"] * page["tables"], width
        assert page["unlabelled"] == [], width  # a card says whose each of its values is
        assert page["crowded"] == [], width  # no label of a picture over another
        assert page["unscoped"] == 0
        assert page["doubled"] == []
        assert 0 < page["bottoms"][first] <= SCREEN, width


@THEMES
def test_a_report_says_on_its_first_screen_what_came_out(machine, tmp_path, dark):
    page = tmp_path / "report.html"
    page.write_text(report_html(made(failing=("card-latency",))), encoding="utf-8")
    row = "#statements ~ table tbody tr"
    tag = f'{row} td[data-label="verdict"] .tag'
    screens = seen(page, tmp_path / "browser", ".lead", ".verdicts", tag, f"{row} th a", dark=dark)
    holds(screens, ".lead", dark=dark)
    holds(screens, ".verdicts", dark=dark)
    narrow = screens[390]["bottoms"]  # a card for each statement, its verdict above all else
    assert narrow[tag] < narrow[f"{row} th a"]


@THEMES
def test_the_page_of_a_run_says_what_came_out(machine, tmp_path, dark):
    sweep = gm.Experiment(name="sweep", kernel="ping-pong", conduit="smp", op="put", sizes="8:128", against="raw@shm")
    sweep.run(tmp_path / "out")
    screens = seen(tmp_path / "out" / "report.html", tmp_path / "browser", ".lead", ".picture img", dark=dark)
    holds(screens, ".lead", dark=dark)
    assert "10 points: 10 measured." in screens[1440]["text"]
    assert screens[1440]["bottoms"][".picture img"] > 0


@THEMES
def test_the_tables_of_a_run_fit_its_page(tmp_path, dark):
    modelled = {"conduit": "extoll", "topology": "mesh2d:4x4", "ranks": 16}
    what_if = [gm.machine("extoll").with_(link_bandwidth="2 GB/s"), "extoll"]
    sweep = gm.Experiment(name="hot", kernel="fetch-add", op="hot-spot", iterations=20, machine=what_if, **modelled)
    sweep.run(tmp_path / "out")
    screens = seen(tmp_path / "out" / "report.html", tmp_path / "browser", ".lead", "#links ~ * td", dark=dark)
    holds(screens, ".lead", dark=dark)
    for width, page in screens.items():
        assert page["bottoms"]["#links ~ * td"] > 0
        for entry in ("node 4", "node 0", "waits for, most likely", "longest wait", "link.bandwidth"):
            assert entry in page["text"], width


@THEMES
def test_a_machine_beside_measured_hardware_says_first_what_came_out(machine, monkeypatch, tmp_path, dark):
    measured(monkeypatch, machine)
    write_held(hold("extoll", tmp_path / "out"), tmp_path / "out")
    screens = seen(tmp_path / "out" / "index.html", tmp_path / "browser", ".lead", "#checks ~ table td", dark=dark)
    holds(screens, ".lead", dark=dark)
    for page in screens.values():
        assert "0 of 1 check rows are in." in page["text"]
        assert "lets expect: 5 % (high), 10 % (medium), 25 % (low)." in page["text"]
        assert page["bottoms"]["#checks ~ table td"] > 0


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Sites: a history with three steps, one of them exact; a run without another; one of uneven sizes."""
    folder = tmp_path_factory.mktemp("site")
    steps = {1: [(9, 1.2)], 5: [(14, 0.8)], 8: [(11, 1.000_1)]}
    write_history(folder / "stores", Plan(20, 48, steps=steps, outliers=0.0, blocks=0))
    write_history(folder / "once", Plan(1, 48, blocks=0))
    (uneven,) = write_history(folder / "uneven", Plan(1, 48, blocks=0))
    rows = (uneven / "results.csv").read_text()
    (uneven / "results.csv").write_text(re.sub(r",(16|32|64),", lambda size: f",{64 * int(size[1])},", rows))
    address = "https://example.org/code/commit/{revision}"
    for name in ("stores", "once", "uneven"):
        write_dashboard([folder / name], folder / f"site-{name}", commit_url=address)
    return folder


@THEMES
def test_a_dashboard_begins_with_its_steps(site, tmp_path, dark):
    screens = seen(site / "site-stores" / "index.html", tmp_path, ".headline", ".card .head", dark=dark)
    holds(screens, ".headline", dark=dark)
    holds(screens, ".card .head", dark=dark)
    text = screens[390]["text"]
    assert "3 steps since 2024-01-01, 2 for the worse and 1 for the better; none in the last run." in text
    assert text.index("Steps (3 series)") < text.index("8 B: ping-pong put") < text.index("Histories without a step")
    assert "95 % interval" in text


def test_series_of_one_run_are_curves_over_sizes(site, tmp_path):
    screens = seen(site / "site-once" / "index.html", tmp_path, ".headline", ".card svg .curve")
    holds(screens, ".headline")
    assert "One run: nothing to compare it with." in screens[390]["text"]
    assert "8 B to 64 B: flood put" in screens[390]["text"]
    assert screens[390]["bottoms"][".card svg .curve"] > 0


def listed(site):
    """Return what the index of a site says of its series."""
    text = (site / "data" / "index.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Gasmeter.index(").removesuffix(");\n"))["series"]


@THEMES
def test_steps_of_a_series_are_a_card_each_on_a_phone(site, tmp_path, dark):
    stepped = [entry["id"] for entry in listed(site / "site-stores") if entry["steps"]]
    assert len(stepped) == 3
    for series_id in stepped:
        screens = seen(site / "site-stores" / "index.html", tmp_path, "h2", CARD, dark=dark, at=f"#/series/{series_id}")
        holds(screens, "h2", dark=dark)
        assert all(page["bottoms"][CARD] > 0 for page in screens.values())


def test_sizes_that_stand_close_have_room_below_their_curve(site, tmp_path):
    screens = seen(site / "site-uneven" / "index.html", tmp_path, ".headline", ".card svg .curve")
    holds(screens, ".headline")
    assert "8 B to 4 KiB: flood put" in screens[390]["text"]
    assert screens[390]["bottoms"][".card svg .curve"] > 0


def test_values_of_a_curve_are_a_card_each_on_a_phone(site, tmp_path):
    first = listed(site / "site-once")[0]
    screens = seen(site / "site-once" / "index.html", tmp_path, "h2", CARD, at=f"#/sizes/{first['id']}")
    holds(screens, "h2")
    assert all(page["bottoms"][CARD] > 0 for page in screens.values())


def test_a_run_has_a_page_with_its_steps_and_its_commit(site, tmp_path):
    link = 'a[href^="https://example.org/code/commit/"]'
    screens = seen(site / "site-stores" / "index.html", tmp_path, ".headline", link, at="#/run/9")
    holds(screens, ".headline")
    assert "1 series steps in this run." in screens[390]["text"]
    assert "What it came to (48 series)" in screens[390]["text"]
    assert screens[390]["bottoms"][link] > 0
