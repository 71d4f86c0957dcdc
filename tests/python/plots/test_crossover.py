"""Crossover of two ways of moving pieces, and its map."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from gasmeter.errors import UsageError
from gasmeter.plots.crossover import crossings, draw_crossover
from gasmeter.plots.style import Chart


def test_lines_cross_on_a_logarithmic_axis():
    assert crossings([16, 64, 256], [0.5, -0.5, -0.9]) == [32]
    assert crossings([16, 64], [0.3, 0.1]) == []
    assert crossings([1, 4, 16, 64], [-1, 1, math.nan, -1]) == pytest.approx([2, 16])


def comparisons(noise=2.0):
    """Packing gains up to 64 B on one network, and up to 1 KiB on the other, give or take a factor `noise`."""
    return pd.DataFrame(
        {
            "conduit": conduit,
            "kind": kind,
            "size_bytes": size,
            "options": f"mechanism=pack;piece={piece}" if piece != 8 else "mechanism=pack",
            "value": edge / piece - 1,
            "ci_low": edge / piece / (noise if kind == "measured" else 1) - 1,
            "ci_high": edge / piece * (noise if kind == "measured" else 1) - 1,
            "reference": "mechanism=pieces",
        }
        for conduit, kind, edge in (("ibv", "modelled", 64), ("udp", "measured", 1024))
        for size in (4096, 65536)
        for piece in (8, 32, 128, 512, 2048)
    )


def test_map_has_a_panel_per_conduit_and_its_line_where_both_are_equal():
    rows = comparisons()
    figure = draw_crossover(Chart(rows, rows, "A map", ""))
    panels = [axes for axes in figure.axes if axes.get_xlabel() == "Piece"]
    assert [axes.get_title() for axes in panels] == ["ibv (modelled)", "udp (measured)"]
    line = max(panels[0].lines, key=lambda line: len(line.get_xdata()) if line.get_marker() == "o" else 0)
    assert list(line.get_xdata()) == pytest.approx([1.5, 1.5])  # 64 B: between 32 and 128
    assert len(panels[0].lines) == 1  # modelled: no interval
    (bar, *_) = [line for line in panels[1].lines if line.get_marker() != "o"]
    assert list(bar.get_xdata()) == pytest.approx([3, 4])  # 512 B to 2 KiB
    assert [text.get_text() for text in panels[0].get_legend().get_texts()] == ["both equal", "its 95 % interval"]
    figure.canvas.draw()


def test_an_interval_without_an_end_on_the_map_goes_to_its_edge():
    rows = comparisons(noise=1000.0)
    panel = draw_crossover(Chart(rows, rows, "A map", "")).axes[1]
    bars = [line for line in panel.lines if line.get_marker() != "o"]
    assert [list(bar.get_xdata()) for bar in bars] == [[-0.5, 4.5]] * 2


def test_nothing_to_compare_is_refused():
    empty = comparisons().iloc[:0]
    with pytest.raises(UsageError, match="nothing to draw as crossover"):
        draw_crossover(Chart(empty, empty, "", ""))
