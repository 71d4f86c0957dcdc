"""What a reader meets on each page, at three widths, in a headless browser."""

import pytest

import gasmeter as gm
from browser import CHROMIUM, seen
from gasmeter.dashboard import write_dashboard
from gasmeter.dashboard.synthetic import Plan, write_history
from gasmeter.reproduction import report
from invented import made

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
SCREEN = 844
THEMES = pytest.mark.parametrize("dark", [False, True])


def holds(found, first, *, dark=False):
    """What is asked of every page: nothing wider than the screen, nothing faint, what came out on the first screen."""
    for width, page in found.items():
        assert page["dark"] is dark
        assert page["overflow"] <= 0, width
        assert page["faint"] == [], width
        assert page["unscoped"] == 0
        assert page["doubled"] == []
        assert 0 < page["bottoms"][first] <= SCREEN, width


@THEMES
def test_a_report_says_on_its_first_screen_what_came_out(machine, tmp_path, dark):
    page = tmp_path / "report.html"
    page.write_text(report.report_html(made(failing=("card-latency",))), encoding="utf-8")
    row = "#statements ~ table tbody tr"
    tag = f'{row} td[data-label="verdict"] .tag'
    found = seen(page, tmp_path / "browser", ".lead", ".verdicts", tag, f"{row} th a", dark=dark)
    holds(found, ".lead", dark=dark)
    holds(found, ".verdicts", dark=dark)
    assert found[390]["sideways"] == []  # tables become a card for each row
    narrow = found[390]["bottoms"]  # a card for each statement, its verdict above all else
    assert narrow[tag] < narrow[f"{row} th a"]


@THEMES
def test_the_page_of_a_run_says_what_came_out(machine, tmp_path, dark):
    sweep = gm.Experiment(name="sweep", kernel="ping-pong", conduit="smp", op="put", sizes="8:128", against="raw@shm")
    sweep.run(tmp_path / "out")
    found = seen(tmp_path / "out" / "report.html", tmp_path / "browser", ".lead", ".picture img", dark=dark)
    holds(found, ".lead", dark=dark)
    assert "10 points: 10 measured." in found[1440]["text"]
    assert found[1440]["bottoms"][".picture img"] > 0


@THEMES
def test_the_tables_of_a_run_fit_its_page(tmp_path, dark):
    modelled = {"conduit": "extoll", "topology": "mesh2d:4x4", "ranks": 16}
    what_if = [gm.machine("extoll").with_(link_bandwidth="2 GB/s"), "extoll"]
    sweep = gm.Experiment(name="hot", kernel="fetch-add", op="hot-spot", iterations=20, machine=what_if, **modelled)
    sweep.run(tmp_path / "out")
    found = seen(tmp_path / "out" / "report.html", tmp_path / "browser", ".lead", "#links ~ * td", dark=dark)
    holds(found, ".lead", dark=dark)
    for width, page in found.items():
        assert page["sideways"] == [], width
        assert page["bottoms"]["#links ~ * td"] > 0
        for told in ("node 4", "node 0", "waits for, most likely", "longest wait", "link.bandwidth"):
            assert told in page["text"], width


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of a history with two steps, and of a run that nothing can be compared with."""
    folder = tmp_path_factory.mktemp("site")
    write_history(folder / "stores", Plan(20, 48, steps={1: [(9, 1.2)], 5: [(14, 0.8)]}, outliers=0.0, blocks=0))
    write_history(folder / "once", Plan(1, 48, blocks=0))
    address = "https://example.org/code/commit/{revision}"
    for name in ("stores", "once"):
        write_dashboard([folder / name], folder / f"site-{name}", commit_url=address)
    return folder


@THEMES
def test_a_dashboard_begins_with_its_steps(site, tmp_path, dark):
    found = seen(site / "site-stores" / "index.html", tmp_path, ".headline", ".card .head", dark=dark)
    holds(found, ".headline", dark=dark)
    holds(found, ".card .head", dark=dark)
    text = found[390]["text"]
    assert "2 steps since 2024-01-01, 1 for the worse and 1 for the better; none in the last run." in text
    assert text.index("Steps (2 series)") < text.index("8 B: ping-pong put") < text.index("Histories without a step")
    assert "95 % interval" in text


def test_series_of_one_run_are_curves_over_sizes(site, tmp_path):
    found = seen(site / "site-once" / "index.html", tmp_path, ".headline", ".card svg .curve")
    holds(found, ".headline")
    assert "One run: nothing to compare it with." in found[390]["text"]
    assert "8 B to 64 B: flood put" in found[390]["text"]
    assert found[390]["bottoms"][".card svg .curve"] > 0


def test_a_run_has_a_page_with_its_steps_and_its_commit(site, tmp_path):
    link = 'a[href^="https://example.org/code/commit/"]'
    found = seen(site / "site-stores" / "index.html", tmp_path, ".headline", link, at="#/run/9")
    holds(found, ".headline")
    assert "1 series steps in this run." in found[390]["text"]
    assert "What it came to (48 series)" in found[390]["text"]
    assert found[390]["bottoms"][link] > 0
