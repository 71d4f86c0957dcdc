"""Progress bars in notebooks and terminals, for long runs; no bar where output is piped."""

import io
import math
import sys

import pytest

from gasmeter.measuring import progress
from gasmeter.measuring.execution import Progress
from gasmeter.measuring.progress import told

LONG = [Progress(0, 4, math.nan, "planning"), Progress(1, 4, 75.0, "flood put"), Progress(4, 4, 0.0, "flood put")]
SHORT = [Progress(0, 2, 0.5, "barrier"), Progress(2, 2, 0.0, "barrier")]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Cell:
    """Handle that IPython's `display` returns, with everything shown in it."""

    def __init__(self):
        self.shown = []

    def display(self, bundle, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(bundle)
        return self

    def update(self, bundle, *, raw):
        assert raw
        self.shown.append(bundle)


def run(entries, asked=None):
    with told(asked) as tell:
        for entry in entries:
            if tell is not None:
                tell(entry)
        return tell


def test_nobody_is_shown_a_bar_where_output_is_piped(capsys):
    assert run(LONG) is None
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_for_what_takes_its_time(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(LONG)
    assert "1/4" in sys.stderr.getvalue()
    assert "about 1 min 15 s left" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(SHORT)
    assert sys.stderr.getvalue() == ""


def test_a_notebook_has_one_output_that_is_written_anew_and_empty_at_last(monkeypatch, capsys):
    display = pytest.importorskip("IPython.display")
    cell = Cell()
    monkeypatch.setattr(display, "display", cell.display)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    run(LONG)
    assert [set(entry) for entry in cell.shown] == [{"text/html", "text/plain"}] * 4
    assert "1/4 25 % about 1 min 15 s left flood put" in cell.shown[1]["text/plain"]
    assert cell.shown[-1] == {"text/html": "", "text/plain": ""}
    cell.shown.clear()
    run(SHORT)
    assert cell.shown == []
    assert capsys.readouterr() == ("", "")


def test_who_asks_for_none_or_brings_an_own_one_has_that(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert run(LONG, False) is None
    heard = []
    run(LONG, heard.append)
    assert heard == LONG
    assert sys.stderr.getvalue() == ""
