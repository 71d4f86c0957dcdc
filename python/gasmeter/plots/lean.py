"""Vector pictures as small as they look: no more digits than an eye can see, no names that nothing refers to."""

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
_PAIRS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}  # of numbers, by command; matplotlib writes absolute ones
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
    """Return a vector picture in fewer bytes: nobody sees the difference.

    Parameters
    ----------
    picture : bytes
        SVG as matplotlib writes it.

    Returns
    -------
    bytes
        The same picture, in ASCII: places are rounded to a hundredth of a point; comments, metadata, space between
        elements, groups without meaning and names that nothing refers to are gone.
    """
    root = ElementTree.fromstring(picture)  # drops comments
    names = iter(_names())
    used = dict.fromkeys(name for element in root.iter() for name in _referred(element))
    short = {name: next(names) for name in used}
    _tidy(root, short)
    _share_styles(root, names)
    # Names as they are written, since ElementTree would invent prefixes.
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for name in [name for name in element.attrib if name.startswith(_XLINK)]:
            element.attrib[f"xlink:{name.removeprefix(_XLINK)}"] = element.attrib.pop(name)
    root.attrib = {"xmlns": _SVG[1:-1], "xmlns:xlink": _XLINK[1:-1], **root.attrib}
    return ElementTree.tostring(root).replace(b" />", b"/>")  # no such text: its > would be escaped


def data_uri(picture: bytes) -> str:
    """Return a lean vector picture as an address that holds all of it.

    Parameters
    ----------
    picture : bytes
        As `lean` returns it.

    Returns
    -------
    str
        Percent-encoded where it must be, which is shorter than base64; between double quotes nothing has to be escaped.
    """
    text = picture.decode("ascii")
    return f"data:image/svg+xml,{quote(text if chr(39) in text else text.replace(chr(34), chr(39)), safe=_UNQUOTED)}"


def _names() -> Iterator[str]:
    """Give names, the shortest first."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_letters, repeat=length))


def _referred(element: ElementTree.Element) -> Iterator[str]:
    """Give the names of other elements that one refers to."""
    for name, value in element.attrib.items():
        if name == f"{_XLINK}href" or "url(" in value:
            yield from _REFERENCE.findall(value)


def _tidy(element: ElementTree.Element, short: dict[str, str]) -> None:
    """Round and rename in an element and all below it, and take out what means nothing."""
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
                lambda found: found[0].replace(found[1], short.get(found[1], found[1])), value
            )
        elif name in _PLACES:
            element.attrib[name] = _NUMBER.sub(lambda found: _rounded(float(found[0])), value)
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
    """Write a style once that many elements have, fills and letters apart: those differ most."""
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
    """Return what of an element's style others may have, too."""
    parts = [part for part in element.get("style", "").split(";") if part and not part.startswith(_OWN)]
    if element.tag == f"{_SVG}text":
        return ""
    return ";".join([*parts, *(f"clip-path:{clip}" for clip in [element.get("clip-path")] if clip)])


def _move(element: ElementTree.Element) -> None:
    """Round where an element is moved to; of a letter to the right alone, which is shorter to say."""
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
    """Round an outline, as it is if it has arcs; a letter's is thousands high, and drawn at a few points."""
    tokens = _TOKEN.findall(element.attrib["d"])
    if any(token.isalpha() and token not in {*_PAIRS, "z"} for token in tokens):
        return
    if element.get("transform") == _OF_LETTERS:
        element.attrib |= {"d": _path(tokens, _COARSER, 1), "transform": _OF_LEAN_LETTERS}
    else:
        element.attrib["d"] = _path(tokens, 1.0, _WHOLE)


def _moved(found: re.Match[str]) -> str:
    return " ".join(_rounded(float(number)) for number in found[0].replace(",", " ").split())


def _rounded(value: float) -> str:
    return _written(round(value * _WHOLE), _WHOLE)


def _written(parts: int, whole: int) -> str:
    """Return so many hundredths, or wholes, as short as they can be written."""
    sign, (full, rest) = "-" if parts < 0 else "", divmod(abs(parts), whole)
    after = f"{rest:0{_DIGITS}d}".rstrip("0") if rest else ""
    return f"{sign}{full or ('' if after else 0)}{'.' if after else ''}{after}"


def _path(tokens: Sequence[str], factor: float, whole: int) -> str:
    """Return a path by its steps, rounded where they lead to, so that no error adds up."""
    text = before = command = ""
    here = start = (0, 0)
    at = 0
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at].upper()
            at += 1
        count = 2 * _PAIRS[command]
        numbers = [round(factor * float(token) * whole) for token in tokens[at : at + count]]
        at += count
        letter, steps = _step(command, numbers, here)
        here = (numbers[-2], numbers[-1]) if numbers else start
        start = here if command == "M" else start
        text += _joined("" if letter == before and letter != "M" else letter, [_written(one, whole) for one in steps])
        before = letter
        command = "L" if command == "M" else command  # what follows without a letter
    return text


def _step(command: str, numbers: Sequence[int], here: tuple[int, int]) -> tuple[str, list[int]]:
    """Return a command and its numbers, from where the last one has led to."""
    if command in {"M", "Z"}:
        return ("M" if command == "M" else "z"), list(numbers)
    steps = [number - here[at % 2] for at, number in enumerate(numbers)]
    if command == "L" and 0 in steps:
        return ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
    return command.lower(), steps


def _joined(letter: str, numbers: Sequence[str]) -> str:
    text = letter
    for at, number in enumerate(numbers):
        text += number if number.startswith("-") or (letter and at == 0) else f",{number}"
    return text
