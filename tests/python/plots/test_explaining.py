"""Pictures that explain themselves: constants below the title, scaled units, one colour for each conduit, words."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

import gasmeter as gm
from gasmeter.papers.registry import PAPERS
from gasmeter.plots.palette import CONDUITS, line_style, of_conduit, ordered
from gasmeter.plots.style import subtitle
from gasmeter.reproduction.report.looks import looks
from gasmeter.rows.direction import compared_metric
from gasmeter.rows.table import format_value
from gasmeter.units import format_quantity, scale_of

machine = pytest.mark.usefixtures("machine")


def below_title(figure):
    """The texts of a picture's head, by their sizes: the subtitle is the one that is neither title nor label."""
    box = figure.legends[0].get_children()[0]
    return box.get_children()[1].get_text()


@machine
def test_what_is_the_same_stands_below_the_title_and_what_varies_in_the_legend():
    figure = gm.measure("ping-pong", conduit="smp", op="put,get", sizes="8:1K", ranks="2", against="raw@shm").plot()
    text = below_title(figure)
    assert text.startswith("ping-pong \N{MIDDLE DOT} ")
    assert "2 ranks" in text
    assert "host " in text
    assert "20" in text.rpartition(" ")[2]  # the day
    labels = {label.get_text() for label in figure.legends[0].get_texts()}
    assert labels == {"put smp", "get smp", "put raw@shm", "get raw@shm"}


@machine
def test_a_modelled_picture_names_machine_and_topology_and_no_host():
    figure = gm.measure("ping-pong", conduit="extoll", op="put", sizes="8:1K").plot()
    text = below_title(figure)
    assert "machine extoll" in text
    assert "one-per-node" in text
    assert "host" not in text


def test_a_subtitle_has_two_lines_of_whole_parts():
    parts = [f"part {number}" for number in range(60)]
    text = subtitle(parts, 6.3)
    assert len(text.splitlines()) == 2
    assert text.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert all(part.strip() in {*parts, "\N{HORIZONTAL ELLIPSIS}"} for line in text.splitlines()
               for part in line.split("\N{MIDDLE DOT}"))  # fmt: skip
    assert subtitle(["one"], 6.3) == "one"
    assert subtitle([], 6.3) == ""


@machine
def test_the_subtitle_meets_no_other_text():
    result = gm.measure("ping-pong", conduit="smp", op="put,get", sizes="8:1K", against="raw@shm")
    figure = result.plot()
    FigureCanvasAgg(figure).draw()
    box = figure.legends[0].get_children()[0]
    spans = [child.get_window_extent(figure.canvas.get_renderer()) for child in box.get_children()]
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in itertools.pairwise(spans))


def test_axes_and_tables_scale_alike():
    for value, unit in ((14550.0, "ns"), (1e5, "ns"), (2.5e9, "B/s"), (3e6, "1/s"), (5e-4, "GUP/s"), (0.3, "ns")):
        factor, name = scale_of(value, unit)
        assert format_quantity(value, unit) == f"{value / factor:.4g} {name}"
    assert scale_of(1e5, "ns") == (1e3, "µs")


@machine
def test_ticks_have_no_long_numbers(machine):
    result = gm.measure("flood", conduit="smp", op="put", sizes="8:4M")
    figure = result.plot("bandwidth")
    FigureCanvasAgg(figure).draw()
    texts = [label.get_text() for label in figure.axes[0].get_yticklabels(which="both") if label.get_text()]
    assert texts
    assert all(len(text.split()[0]) <= 4 and "e" not in text.split()[0] for text in texts)


@machine
def test_bandwidths_compare_as_factors_and_times_as_overheads():
    fast = gm.measure("flood", conduit="smp", op="put", sizes="8:1K", against="raw@shm")
    lower = fast.plot("bandwidth").axes[1]
    assert lower.get_ylabel() == "Bandwidth over\nthat of raw@shm\nabove 1 x: faster"
    rows = [row for row in fast.rows if row["metric"] == "overhead"]
    drawn = next(line for line in lower.get_lines() if len(line.get_xdata()) > 2)
    assert list(drawn.get_ydata()) == pytest.approx([row["value"] + 1 for row in rows])
    assert all(format_value(row).endswith(" x") for row in rows)
    late = gm.measure("ping-pong", conduit="smp", op="put", sizes="8:1K", against="raw@shm")
    assert late.plot("latency").axes[1].get_ylabel().startswith("Overhead over\nraw@shm (%)")
    assert all(format_value(row).endswith(" %") for row in late.rows if row["metric"] == "overhead")


@machine
def test_a_picture_compares_what_it_shows():
    """The first metric of an operation is compared: no picture of another metric shows it."""
    result = gm.measure("ping-pong", conduit="smp", op="put", sizes="8:64", against="raw@shm")
    rows = [row for row in result.rows if row["metric"] == "overhead"]
    assert {compared_metric(row) for row in rows} == {"latency"}
    for row in rows:
        row["semantics"] = "bandwidth / reference - 1, paired blocks"
    assert len(result.plot("latency").axes) == 1


# ---- colours


def seen_by(colour, kind):
    """A colour in linear light as those see it who lack a kind of cone (Machado, Oliveira and Fernandes, 2009)."""
    linear = np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)])
    matrices = {
        "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        "all": np.eye(3),
    }
    return np.clip(np.array(matrices[kind]) @ linear, 0, 1)


def apart(first, other, kind):
    """Distance in CIE L*a*b*."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    labs = []
    for colour in (first, other):
        x, y, z = np.cbrt(to_xyz @ seen_by(colour, kind) / np.array([0.9505, 1.0, 1.089]))
        labs.append(np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)]))
    return float(np.linalg.norm(labs[0] - labs[1]))


@pytest.mark.parametrize("paper", list(PAPERS.values()), ids=list(PAPERS))
@pytest.mark.parametrize("kind", ["all", "deutan", "protan"])
def test_conduits_that_meet_are_told_apart_by_everybody(paper, kind):
    for figure in paper.figures:
        conduits = {line.conduit for line in (*figure.lines, *figure.beside)}
        for conduit, other in itertools.combinations(sorted(conduits), 2):
            dashes = line_style(conduit, modelled=False) != line_style(other, modelled=False)
            enough = 10 if dashes else 18
            assert apart(of_conduit(conduit), of_conduit(other), kind) > enough, (figure.number, conduit, other)


def test_a_conduit_has_one_colour_in_every_paper():
    seen = {}
    for paper in PAPERS.values():
        for line, look in looks(paper).items():
            seen.setdefault(line.conduit, set()).add(look.colour)
    for conduit, colours in seen.items():
        assert of_conduit(conduit) in colours


def test_raw_programs_are_lighter_relatives_and_visible_on_white():
    for conduit in CONDUITS:
        raw = "raw@shm" if conduit == "smp" else "raw@ethernet" if conduit == "udp@ethernet" else f"raw@{conduit}"
        colour, relative = to_rgb(of_conduit(conduit)), to_rgb(of_conduit(raw))
        assert all(b >= a for a, b in zip(colour, relative, strict=True)), conduit
        assert apart(of_conduit(raw), "#ffffff", "all") > 25, conduit
        assert line_style(raw, modelled=False) != "-"


def test_an_ordered_palette_goes_from_dark_to_light():
    lightness = [seen_by(colour, "all") @ np.array([0.2126, 0.7152, 0.0722]) for colour in ordered(6)]
    assert lightness == sorted(lightness)
    assert len(set(ordered(6))) == 6
