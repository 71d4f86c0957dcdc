"""Vector pictures in fewer bytes, held against the pictures they are made of."""

import io
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from gasmeter.plots.lean import data_uri, lean
from gasmeter.plots.style import Drawing, styled

SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3, "H": 1, "V": 1, "Z": 0}


@pytest.fixture(scope="module")
def whole():
    """A picture with lines, bands, markers, curves, dashes, letters, a rotated label, two clipped axes."""
    with styled():
        drawing = Drawing(figsize=(4, 3))
        upper, lower = drawing.subplots(2, 1)
        upper.plot([1 / 3, 2, 5 / 7], [0.1, 1e-3, 7], marker="o", linestyle="--", label="µ < 'x' & \"y\"")
        upper.fill_between([0, 1, 2], [1, 2, 3], [2, 2.5, 9], alpha=0.1)
        lower.scatter([1, 2], [3, 4])
        lower.set_ylabel("rotated (%)")
        drawing.legend()
        buffer = io.BytesIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def walked(d):
    """Return where each command of a path leads to, absolute ones or steps."""
    x = y = start_x = start_y = 0.0
    places, last = [], ""
    tokens = re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", d)
    while tokens:
        letter = tokens.pop(0) if tokens[0].isalpha() else last
        kind, from_x, from_y = letter.upper(), *((x, y) if letter.islower() else (0.0, 0.0))
        if kind == "Z":
            x, y = start_x, start_y
        elif kind == "H":
            x = from_x + float(tokens.pop(0))
        elif kind == "V":
            y = from_y + float(tokens.pop(0))
        for _ in range(POINTS[kind] if kind in "MLQC" else 0):
            x, y = from_x + float(tokens.pop(0)), from_y + float(tokens.pop(0))
            places.append((x, y))
        if kind in "HVZ":
            places.append((x, y))
        if kind == "M":
            start_x, start_y = x, y
        last = {"M": "L", "m": "l"}.get(letter, letter)
    return places


def paths(picture):
    """Return the outlines of a picture in the order they stand, with the factor they are drawn at."""
    for element in ElementTree.fromstring(picture).iter(f"{SVG}path"):
        scale = re.fullmatch(r"scale\(([\d.]+)\)", element.get("transform", ""))
        yield walked(element.get("d", "")), float(scale[1]) if scale else 1.0


def test_no_outline_moves_by_more_than_an_eye_can_see(whole):
    pairs = list(zip(paths(whole), paths(lean(whole)), strict=True))
    assert len(pairs) > 30
    letters = 0
    for (before, factor), (after, other) in pairs:
        assert len(before) == len(after)
        letters += factor != 1
        for one, two in zip(before, after, strict=True):
            # Letters are drawn at 0.08 to 0.1 of this again.
            most = 0.0051 if factor == 1 else 0.063
            assert [factor * value for value in one] == pytest.approx([other * value for value in two], abs=most)
    assert letters > 10


def test_every_name_is_referred_to_and_every_reference_has_one(whole):
    root = ElementTree.fromstring(lean(whole))
    names = [element.get("id") for element in root.iter() if element.get("id")]
    referred = {element.get(HREF).removeprefix("#") for element in root.iter() if element.get(HREF)}
    referred |= {name for element in root.iter() for name in re.findall(r"#(\w+)\)", element.get("clip-path", ""))}
    referred |= set(re.findall(r"#(\w+)\)", root.find(f".//{SVG}style").text))
    assert len(names) == len(set(names))
    assert set(names) == referred


def drawn(picture):
    """Return what is drawn, in order: styles of outlines, and where what is used is put."""
    root = ElementTree.fromstring(picture)
    rules = dict(re.findall(r"\.(\w+)\{([^}]*)\}", root.find(f".//{SVG}style").text))
    for element in root.iter():
        moved = re.search(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)", element.get("transform", ""))
        x, y = float(element.get("x", 0)), float(element.get("y", 0))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag in {f"{SVG}path", f"{SVG}use", f"{SVG}rect"} or moved:
            turned = re.sub(r"translate\([^)]*\)|scale\(\.?[\d.]+\)", "", element.get("transform", "")).strip()
            text = f"{element.get('style', '')};{rules.get(element.get('class'), '')}"
            style = {part.strip().replace(" ", "") for part in text.split(";") if part.strip()}
            style = {part for part in style if not part.startswith("clip-path")}
            yield element.tag, x, y, turned, style


def test_all_stands_where_it_stood_and_looks_alike(whole):
    for one, two in zip(drawn(whole), drawn(lean(whole)), strict=True):
        assert one[0] == two[0]
        assert one[1:3] == pytest.approx(two[1:3], abs=0.0051)
        assert one[3:] == two[3:]


def test_a_picture_takes_less_than_half(whole):
    small = lean(whole)
    assert len(small) < 0.5 * len(whole)
    assert lean(whole) == small
    assert len(data_uri(small)) < 1.2 * len(small)
    for gone in (b"<!--", b"metadata", b"matplotlib", b"\n"):
        assert gone not in small


def test_an_outline_with_arcs_stays_as_it_is():
    arc = '<path d="M 0.123456 0 A 1 1 0 0 1 2.00001 2" transform="scale(0.015625)"/>'
    small = lean(f'<svg xmlns="{SVG[1:-1]}"><g>{arc}</g><g/></svg>'.encode())
    assert arc.encode() in small
    assert b"<g" not in small


def test_what_follows_a_closed_outline_begins_where_that_began():
    (path,) = paths(lean(f'<svg xmlns="{SVG[1:-1]}"><path d="M 1 1 L 3 1 3 2 z L 0.004 0.006"/></svg>'.encode()))
    places = [(1, 1), (3, 1), (3, 2), (1, 1), (0, 0.01)]
    assert [value for place in path[0] for value in place] == pytest.approx(
        [value for place in places for value in place]
    )


def test_an_address_holds_all_of_a_picture(whole):
    small = lean(whole)
    kind, _, text = data_uri(small).partition(",")
    assert kind == "data:image/svg+xml"
    assert not set(text) & set('"#&\n')
    assert ElementTree.canonicalize(unquote(text)) == ElementTree.canonicalize(small)
    quoted = small.replace(b"<defs>", b"<defs><title>it's</title>", 1)
    assert ElementTree.canonicalize(unquote(data_uri(quoted).partition(",")[2])) == ElementTree.canonicalize(quoted)
