"""Tables and lines as wide as the terminal, what all rows agree in above them, verdicts in colour there alone."""

import sys

import pytest

from gasmeter.rendering.terminal import coloured, folded, painted, table_text, wrapped
from gasmeter.rows.formats import render
from gasmeter.rows.record import COLUMNS
from gasmeter.rows.verified import Verified

BASE = dict.fromkeys(COLUMNS, "") | {
    "kernel": "ping-pong", "op": "put", "conduit": "extoll", "network": "extoll", "machine": "extoll",
    "kind": "modelled", "topology": "mesh3d:4x4x4", "placement": "fill", "ranks": 4, "nodes": 2, "size_bytes": 8,
    "metric": "latency", "unit": "ns", "value": 1316.0, "ci_low": 1300.0, "ci_high": 1330.0, "p99": 1500.0, "n": 6,
    "verified": True, "oversubscribed": False, "semantics": "the initiator's wait returned", "state": "good",
}  # fmt: skip


@pytest.fixture(autouse=True)
def rows_without_routes(monkeypatch):
    monkeypatch.setattr("gasmeter.rows.record.distance", lambda row: "1 hop to rank 1, 9 at most")


def rows(**changed):
    count = max(map(len, changed.values()))
    return [BASE | {name: values[i % len(values)] for name, values in changed.items()} for i in range(count)]


@pytest.mark.parametrize("columns", [80, 100, 132])
def test_a_table_of_everything_that_varies_fits(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = render(
        rows(
            op=["put", "get", "am-medium"], conduit=["extoll", "mpi@extoll"], size_bytes=[8, 4096],
            machine=["extoll", "extoll+link.bandwidth=1.25 GB/s+host.poll_miss=5 ns"],
            topology=["mesh3d:4x4x4", "dragonfly:9x4x2"], options=["", "local=4KiB;order=random"],
        ),
        "table", title="A title of many words that says what the table is for and is longer than a line of a terminal",
        footer=["", "a line below the table that is longer than the narrowest of the terminals tried here"],
    )  # fmt: skip
    assert max(map(len, text.splitlines())) <= columns
    flat = "".join(text.split())
    assert "1.316µs" in flat
    assert "dragonfly:9" in text


def test_no_figure_is_broken_where_there_is_no_room(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    two = rows(op=["put", "get"], ranks=[2, 4], value=[1316.0, 950.0], ci_low=[1300.0, 900.0], ci_high=[1330.0, 999.5])
    text = render(two, "table")
    assert "1.316 µs   1.3 … 1.33 µs" in text
    assert "900 … 999.5 ns" in text


def test_what_is_wider_than_the_terminal_in_any_case_has_its_words_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    two = rows(kernel=["random-access", "ping-pong"], op=["strided-put", "am-medium"], ranks=[2, 4], ci_low=[1e3, 9e2])
    text = render(two, "table")
    assert "random-access" in text
    assert "strided-put" in text


def test_what_all_rows_agree_in_stands_above(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    title, _, heads, _, *lines = render(rows(size_bytes=[8, 64]), "table", title="ping-pong").splitlines()
    assert title == (
        "ping-pong put on extoll, topology mesh3d:4x4x4, placement fill, 1 hop to rank 1, 9 at most, 4 ranks, latency,"
        " modelled, 1.3 … 1.33 µs, 6 blocks".replace(" 1.3 … 1.33 µs,", " 95 % interval 1.3 … 1.33 µs,")
    )
    assert heads.split() == ["size", "median"]
    assert [line.split()[0] for line in lines] == ["8", "64"]


def test_places_are_columns_of_their_own(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    changed = rows(conduit=["extoll", "mpi@extoll"], machine=["extoll", "extoll+draw=1"], placement=["fill", "x"],
                   topology=["ring:8", "ring:9"])  # fmt: skip
    heads = render(changed, "table").splitlines()[2].split()
    assert heads == ["conduit", "machine", "topology", "placement", "median"]
    separate = rows(conduit=["extoll", "ibv"], network=["extoll", "ibv"], machine=["extoll", "ibv"])
    assert "machine" not in render(separate, "table")


def test_a_single_one_is_no_plural(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert "1 rank, " in render(rows(size_bytes=[8, 64], ranks=[1]), "table").splitlines()[0]


def test_p99_and_semantics_come_with_long_alone():
    short = render(rows(size_bytes=[8, 64], p99=[1500.0, 1600.0]), "table")
    long = render(rows(size_bytes=[8, 64], p99=[1500.0, 1600.0]), "table", every=True)
    assert "P99" not in short
    assert "wait returned" not in short
    assert "P99" in long
    assert "1.6 µs" in long
    assert "wait returned" in " ".join(long.split())


@pytest.mark.parametrize("state", ["noisy", "moved", "load"])
def test_a_warning_stays_beside_its_figure(state):
    lines = render(rows(size_bytes=[8, 64], state=[state], verified=[Verified.FALSE]), "table").splitlines()
    assert sum(state in line and "NOT VERIFIED" in line for line in lines) == 2


@pytest.mark.parametrize("form", ["csv", "json", "osu"])
def test_other_forms_have_neither_colour_nor_more_columns(form):
    some = rows(size_bytes=[8, 64])
    assert render(some, form, every=True, colour=True) == render(some, form)


def test_no_rows_are_a_table_without_any():
    assert "median" in render([], "table", title="nothing")


def test_verdicts_have_colours_and_nothing_else_has():
    lines = [["a", "within"], ["b", "outside"], ["c", "depends"], ["d", "1.04x slower"], ["within", "x"]]
    text = table_text(("claim", "verdict"), lines, verdicts={"verdict"}, colour=True)
    assert "\x1b[32mwithin" in text
    assert "\x1b[1;31moutside" in text
    assert "\x1b[33mdepends" in text
    assert "\x1b[1;31m1.04x slower" in text
    assert text.count("\x1b[32m") == 1
    assert "\x1b" not in table_text(("claim", "verdict"), lines, verdicts={"verdict"})
    assert painted("FAILED: 3 slower", colour=True).startswith("\x1b[31m\x1b[1mFAILED")
    assert painted("as given: outside", colour=True) != painted("as given: outside", colour=False)
    assert painted("anything", colour=True) == "anything"


class Terminal:
    def __init__(self, stream, is_one):
        self.stream, self.is_one = stream, is_one

    def isatty(self):
        return self.is_one

    def __getattr__(self, name):
        return getattr(self.stream, name)


@pytest.mark.parametrize(
    ("is_one", "variables", "expected"),
    [(True, {}, True), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False), (False, {}, False)],
)
def test_colours_are_for_a_terminal_that_has_them(monkeypatch, is_one, variables, expected):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout, is_one))
    assert coloured() is expected


def test_lines_are_broken_between_words_and_begin_further_in(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    first, *others = wrapped("  op   one two-three four five six seven eight nine ten", 4).splitlines()
    assert first.startswith("  op   one two-three")
    assert others
    assert all(line.startswith(" " * 6) for line in others)
    long = "https://" + "x" * 60
    assert long in wrapped(f"see {long}").splitlines()[-1]


def test_columns_without_text_are_left_out_and_not_told():
    notes, heads, lines = folded(("a", "b", "c", "d"), [["1", "", "x", "-"], ["2", "", "x", "-"]], {"c": "of {}"})
    assert (notes, heads, lines) == (["of x"], ["a"], [["1"], ["2"]])


@pytest.mark.parametrize("columns", range(60, 110))
def test_no_width_of_the_terminal_loses_a_character(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    heads = ("from", "to", "port", "packets", "busy", "blocked", "longest wait", "waits for, most likely")
    lines = [
        [f"switch {120 + n}", "switch 120", f"backplane {n}", "2,360", "13%", "95%", "298 ns", "switch 120 → node 0"]
        for n in range(3)
    ]
    text = table_text(heads, lines, whole={"packets", "busy", "blocked", "longest wait"})
    assert sorted("".join(text.split()).replace("─", "")) == sorted(
        "".join("".join(cells) for cells in [heads, *lines]).replace(" ", "")
    )
