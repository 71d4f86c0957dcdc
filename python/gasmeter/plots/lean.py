"""Vector pictures as small as they look: no invisible digits, no unused names."""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import quote
from xml.etree import ElementTree

__all__ = ["data_uri", "lean"]

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_DIGITS = 2
_WHOLE = 10**_DIGITS
_SHORT = 8  # a class of a shorter style would be longer
_PAIRS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}  # numbers by command; matplotlib writes absolute ones
_TOKEN = re.compile(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"(?:url\()?#([^)\s]+)\)?")
_PLACES = ("x", "y", "width", "height")
_OF_LETTERS, _OF_LEAN_LETTERS, _COARSER = "scale(0.015625)", "scale(.125)", 0.125
_UNQUOTED = "'!$()*+,-./:;=?@[]^_`{|}~ <>"
_LETTERS = "font-family:DejaVu Sans,Verdana,sans-serif"
_FAMILY = re.compile(r"font-family:[^;]*;?")
_UPRIGHT = re.compile(r"rotate\(-?0 [^)]*\)")
_OWN = ("fill:", "font-size:", "text-anchor:")


def lean(picture: bytes) -> bytes:
    """Return matplotlib's SVG in fewer bytes, in ASCII and without a visible change.

    Coordinates are rounded to a hundredth of a point. Comments, metadata, space between elements, groups without
    meaning and unused names are removed.
    """
    root = ElementTree.fromstring(picture)  # drops comments
    names = iter(_names())
    used = dict.fromkeys(name for element in root.iter() for name in _referred(element))
    short = {name: next(names) for name in used}
    _tidy(root, short)
    _share_styles(root, names)
    # Keep names as written, since ElementTree would invent prefixes.
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for name in [name for name in element.attrib if name.startswith(_XLINK)]:
            element.attrib[f"xlink:{name.removeprefix(_XLINK)}"] = element.attrib.pop(name)
    root.attrib = {"xmlns": _SVG[1:-1], "xmlns:xlink": _XLINK[1:-1], **root.attrib}
    return ElementTree.tostring(root).replace(b" />", b"/>")  # no text contains this: its > would be escaped


def data_uri(picture: bytes) -> str:
    """Return a lean SVG as a percent-encoded data URI, shorter than base64; markup must only escape ``'``."""
    text = picture.decode("ascii")
    return f"data:image/svg+xml,{quote(text if chr(39) in text else text.replace(chr(34), chr(39)), safe=_UNQUOTED)}"


def _names() -> Iterator[str]:
    """Yield names, the shortest first."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_letters, repeat=length))


def _referred(element: ElementTree.Element) -> Iterator[str]:
    """Yield the names of other elements that one refers to."""
    for name, value in element.attrib.items():
        if name == f"{_XLINK}href" or "url(" in value:
            yield from _REFERENCE.findall(value)


def _tidy(element: ElementTree.Element, short: dict[str, str]) -> None:
    """Round and rename in an element and all below it, and remove everything without meaning."""
    for name, value in list(element.attrib.items()):
        if name == "id":
            if value in short:
                element.attrib[name] = short[value]
            else:
                del element.attrib[name]
        elif name == "style":
            element.attrib[name] = re.sub(r"\s*([:;,])\s*", r"\1", value).strip(";")
        elif name == f"{_XLINK}href" or "url(" in value:
            element.attrib[name] = _REFERENCE.sub(
                lambda match: match[0].replace(match[1], short.get(match[1], match[1])), value
            )
        elif name in _PLACES:
            element.attrib[name] = _NUMBER.sub(lambda match: _rounded(float(match[0])), value)
    if "d" in element.attrib:
        _outline(element)
    if "transform" in element.attrib:
        _move(element)
    if element.text and not element.text.strip():
        element.text = None
    kept: list[ElementTree.Element] = []
    for child in element:
        child.tail = None
        _tidy(child, short)
        plain = child.tag in {f"{_SVG}g", f"{_SVG}defs"}
        if child.tag == f"{_SVG}metadata" or (plain and len(child) == 0):
            continue
        kept += list(child) if child.tag == f"{_SVG}g" and not child.attrib else [child]
    element[:] = kept


def _share_styles(root: ElementTree.Element, names: Iterator[str]) -> None:
    """Write a style that several elements share once. Fills and letters stay apart, since they differ most."""
    counts = Counter(style for element in root.iter() if len(style := _shared(element)) > _SHORT)
    classes = {style: next(names) for style, count in counts.items() if count > 1}
    lettered = False
    for element in root.iter():
        text = element.get("style", "")
        if element.tag == f"{_SVG}text":
            lettered = True
            text = _FAMILY.sub("", text).strip(";")
        name = classes.get(_shared(element))
        if name:
            element.attrib["class"] = name
            element.attrib.pop("clip-path", None)
            text = ";".join(part for part in text.split(";") if part.startswith(_OWN))
        if text:
            element.attrib["style"] = text
        else:
            element.attrib.pop("style", None)
    sheet = root.find(f".//{_SVG}style")
    if sheet is not None:
        rules = [f".{name}{{{style}}}" for style, name in classes.items()]
        sheet.text = "".join([sheet.text or "", *rules, f"text{{{_LETTERS}}}" if lettered else ""])


def _shared(element: ElementTree.Element) -> str:
    """Return the part of an element's style that other elements may share."""
    parts = [part for part in element.get("style", "").split(";") if part and not part.startswith(_OWN)]
    if element.tag == f"{_SVG}text":
        return ""
    return ";".join([*parts, *(f"clip-path:{clip}" for clip in [element.get("clip-path")] if clip)])


def _move(element: ElementTree.Element) -> None:
    """Round a move; one to the right alone has a shorter form."""
    transform = element.attrib["transform"]
    alone = re.fullmatch(r"translate\(([-+.\de]+)[ ,]0\)", transform)
    if alone and element.tag == f"{_SVG}use" and "x" not in element.attrib:
        del element.attrib["transform"]
        element.attrib["x"] = _rounded(float(alone[1]))
    else:
        text = re.sub(r"(?<=translate\()[^)]*", _moved, _UPRIGHT.sub("", transform)).strip()
        if text:
            rounded = _NUMBER.sub(lambda found: _rounded(float(found[0])), text)
            element.attrib["transform"] = rounded if "rotate" in text else text
        else:
            del element.attrib["transform"]


def _outline(element: ElementTree.Element) -> None:
    """Round an outline without arcs; a letter's outline is thousands high and drawn at a few points."""
    tokens = _TOKEN.findall(element.attrib["d"])
    if any(token.isalpha() and token not in {*_PAIRS, "z"} for token in tokens):
        return
    if element.get("transform") == _OF_LETTERS:
        element.attrib |= {"d": _path(tokens, _COARSER, 1), "transform": _OF_LEAN_LETTERS}
    else:
        element.attrib["d"] = _path(tokens, 1.0, _WHOLE)


def _moved(match: re.Match[str]) -> str:
    return " ".join(_rounded(float(number)) for number in match[0].replace(",", " ").split())


def _rounded(value: float) -> str:
    return _written(round(value * _WHOLE), _WHOLE)


def _written(parts: int, whole: int) -> str:
    """Return so many hundredths, or wholes, in the shortest text."""
    sign, (full, rest) = "-" if parts < 0 else "", divmod(abs(parts), whole)
    after = f"{rest:0{_DIGITS}d}".rstrip("0") if rest else ""
    return f"{sign}{full or ('' if after else 0)}{'.' if after else ''}{after}"


def _path(tokens: Sequence[str], factor: float, whole: int) -> str:
    """Return a path by its steps, rounded at their ends, so that no error adds up."""
    text = before = command = ""
    position = start = (0, 0)
    at = 0
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at].upper()
            at += 1
        count = 2 * _PAIRS[command]
        numbers = [round(factor * float(token) * whole) for token in tokens[at : at + count]]
        at += count
        letter, steps = _step(command, numbers, position)
        position = (numbers[-2], numbers[-1]) if numbers else start
        start = position if command == "M" else start
        text += _joined(
            "" if letter == before and letter != "M" else letter, [_written(number, whole) for number in steps]
        )
        before = letter
        command = "L" if command == "M" else command  # implied command of the next numbers
    return text


def _step(command: str, numbers: Sequence[int], position: tuple[int, int]) -> tuple[str, list[int]]:
    """Return a command and its numbers, relative to the end of the last one."""
    if command in {"M", "Z"}:
        return ("M" if command == "M" else "z"), list(numbers)
    steps = [number - position[at % 2] for at, number in enumerate(numbers)]
    if command == "L" and 0 in steps:
        return ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
    return command.lower(), steps


def _joined(letter: str, numbers: Sequence[str]) -> str:
    text = letter
    for at, number in enumerate(numbers):
        text += number if number.startswith("-") or (letter and at == 0) else f",{number}"
    return text
