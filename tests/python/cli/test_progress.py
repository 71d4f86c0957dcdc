"""Lines of progress in the log of a long run."""

import math
import time

import gasmeter.cli.progress as shown
from gasmeter.measuring.execution import Progress


def lines_of(*messages, monkeypatch, capsys):
    monkeypatch.setattr(shown, "LINE_EVERY_S", 0.01)
    with shown.showing_progress() as tell:
        for progress in messages:
            tell(progress)
        time.sleep(0.1)
    return capsys.readouterr().err


def test_a_line_says_what_is_left_where_that_is_known(monkeypatch, capsys):
    text = lines_of(Progress(3, 12, 90.0, "flood put"), monkeypatch=monkeypatch, capsys=capsys)
    assert "3 of 12 points (25 %) after" in text
    assert ", about 1 min 30 s left; now flood put" in text


def test_nothing_is_left_of_what_nobody_knows(monkeypatch, capsys):
    text = lines_of(Progress(36, 36, math.nan, "planning"), monkeypatch=monkeypatch, capsys=capsys)
    assert "; now planning" in text
    assert "left" not in text
