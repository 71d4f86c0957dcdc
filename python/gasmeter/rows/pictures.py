"""What a picture or page says of what it was made from, in its metadata: PNG text, SVG metadata, HTML meta."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import struct
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from gasmeter import library
from gasmeter.errors import UsageError
from gasmeter.rows.formats import csv_lines
from gasmeter.rows.record import Record, Row

__all__ = [
    "ENDINGS",
    "content_digest",
    "embedded",
    "made_facts",
    "picture_facts",
    "read_facts",
    "row_key",
    "row_mark",
    "rows_digest",
]

ENDINGS = (".png", ".svg", ".html")
_NAME, _SCHEMA = "gasmeter", 1
_DIGITS, _SHORT = 32, 8
_NEEDED = {"schema": int, "experiment": str, "revision": str, "rows": int, "digest": str, "started": list}
_NEEDED_WITHOUT_ROWS = {"schema": int, "is": str, "revision": str, "beside": dict}
_PNG_START, _PNG_HEAD = b"\x89PNG\r\n\x1a\n", 33


def row_key(row: Row) -> str:
    """Return what names a row of a run, for pictures: its point, metric and reference.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        Without line breaks.
    """
    return f"{row['run_id']} {row['metric']} {row['reference']}".strip()


def row_mark(row: Row) -> str:
    """Return a row's name with a few digits of its hash.

    Parameters
    ----------
    row : dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        `row_key`, ``#`` and hexadecimal digits.
    """
    return f"{row_key(row)}#{hashlib.sha256(csv_lines([row]).encode()).hexdigest()[:_SHORT]}"


def rows_digest(rows: Sequence[Row]) -> str:
    """Return the hash of rows, whatever their order.

    Parameters
    ----------
    rows : sequence of dict
        By the names of `gasmeter.rows.record.COLUMNS`.

    Returns
    -------
    str
        Hexadecimal digits.
    """
    lines = sorted(csv_lines(rows).splitlines(keepends=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:_DIGITS]


def picture_facts(
    name: str,
    rows: Sequence[Row],
    *,
    records: Sequence[Record] = (),
    runs: Sequence[Mapping[str, Any]] = (),
    named: bool = True,
) -> dict[str, Any]:
    """Return what a picture's metadata say.

    Parameters
    ----------
    name : str
        Of the experiment.
    rows : sequence of dict
        The rows drawn, as results.csv has them.
    records : sequence of Record, optional
        What the rows are from: they name the build.
    runs : sequence of mapping, optional
        As run.json has them.
    named : bool, default True
        Whether it names each row; without, `rows` are all of the run.

    Returns
    -------
    dict
        JSON: experiment, when its runs started if anything was measured, revision and build, number of rows, their
        digest, and, of few rows, their names.
    """
    points = {row["run_id"] for row in rows}
    builds = {
        (entry.revision, entry.build)
        for entry in records
        if entry.build and any(row["run_id"] in points for row in entry.rows)
    }
    if not builds:
        own = library.this_build()
        builds = {(str(own["revision"]), str(own["digest"]))}
    measured = any(row["kind"] != "modelled" for row in rows)
    facts: dict[str, Any] = {
        "schema": _SCHEMA,
        "experiment": name,
        # What is modelled is the same to the byte whenever it is drawn.
        "started": [str(run["started"]) for run in runs if run.get("started")] if measured else [],
        "revision": ", ".join(sorted({revision for revision, _ in builds if revision})),
        "build": ", ".join(sorted({build for _, build in builds})),
        "rows": len(rows),
        "digest": rows_digest(rows),
    }
    return facts | ({"named": sorted(map(row_mark, rows))} if named else {})


def made_facts(what: str, beside: Sequence[Path] = ()) -> dict[str, Any]:
    """Return what the metadata say of a picture or page that is not made of the rows of one run.

    Parameters
    ----------
    what : str
        What it is, to be read behind "is": for instance ``a dashboard of 3 series in 2 runs``.
    beside : sequence of Path, optional
        Files and folders in its own folder that hold what it shows; they are there already.

    Returns
    -------
    dict
        JSON: what it is, revision and build that drew it, and the digests of what lies beside it, by name.

    Raises
    ------
    OSError
        If one of these cannot be read.
    """
    own = library.this_build()
    return {
        "schema": _SCHEMA,
        "is": what,
        "revision": str(own["revision"]),
        "build": str(own["digest"]),
        "beside": {path.name: content_digest(path) for path in beside},
    }


def content_digest(path: Path) -> str:
    """Return the hash of a file, or of all files in a folder with their names.

    Parameters
    ----------
    path : Path
        Either.

    Returns
    -------
    str
        Hexadecimal digits.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    whole = hashlib.sha256()
    if not path.is_dir():
        whole.update(path.read_bytes())
        return whole.hexdigest()[:_DIGITS]
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        name, content = file.relative_to(path).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{name} {content}\n".encode())
    return whole.hexdigest()[:_DIGITS]


def embedded(content: bytes, ending: str, facts: Mapping[str, Any]) -> bytes:
    """Return a picture or page with what it says of its rows.

    Parameters
    ----------
    content : bytes
        The whole file.
    ending : {"png", "svg", "html"}
        What it is.
    facts : mapping
        As `picture_facts` or `made_facts` returns them; empty for none.

    Returns
    -------
    bytes
        Looks the same.
    """
    if not facts:
        return content
    text = json.dumps(facts, sort_keys=True)
    if ending == "png":
        from PIL import PngImagePlugin  # noqa: PLC0415 - most runs draw nothing

        chunk = io.BytesIO()
        PngImagePlugin.putchunk(chunk, b"tEXt", f"{_NAME}\0{text}".encode("latin-1"))
        return content[:_PNG_HEAD] + chunk.getvalue() + content[_PNG_HEAD:]
    if ending == "svg":
        place = re.search(rb"<svg\b[^>]*>", content)
        added = f'<metadata id="{_NAME}">{html.escape(text, quote=False)}</metadata>'
    else:
        place = re.search(rb"<head\b[^>]*>", content)
        added = f'<meta name="{_NAME}" content="{html.escape(text)}">'
    if place is None:
        return content
    return content[: place.end()] + added.encode() + content[place.end() :]


def read_facts(path: Path) -> dict[str, Any] | None:
    """Return what a picture or page says of its rows.

    Parameters
    ----------
    path : Path
        PNG, SVG or HTML.

    Returns
    -------
    dict or None
        As `picture_facts`, or as `made_facts` where there is a key ``is``; None if it says nothing.

    Raises
    ------
    UsageError
        If the file cannot be read, is none of these, is cut off, or what it says is damaged.
    """
    allowed = f"allowed: a picture or page of gasmeter ({', '.join(ENDINGS)})"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; {allowed}", str(path)) from error
    try:
        text = _text_in(content)
    except (ElementTree.ParseError, OSError, SyntaxError, ValueError, struct.error) as error:
        raise UsageError(
            f"{path} is cut off or damaged ({str(error).splitlines()[0]}); {allowed}", str(path)
        ) from error
    if text is None:
        raise UsageError(f"{path} is no PNG, SVG or HTML file; {allowed}", str(path))
    if not text:
        return None
    try:
        facts = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}: what it says of its rows is damaged ({error})", str(path)) from error
    needed = _NEEDED_WITHOUT_ROWS if "is" in facts else _NEEDED
    wrong = [name for name, kind in needed.items() if not isinstance(facts.get(name), kind)]
    if wrong or facts["schema"] != _SCHEMA:
        said = f"schema {facts.get('schema')}" if not wrong else f"no {', '.join(wrong)}"
        raise UsageError(f"{path}: what it says of its rows has {said}; allowed: schema {_SCHEMA}", str(path))
    return facts


def _text_in(content: bytes) -> str | None:
    """Return the text that stands in a file, empty if there is none; None if it is no picture and no page."""
    if content.startswith(_PNG_START):
        from PIL import Image  # noqa: PLC0415 - loaded for pictures alone

        with Image.open(io.BytesIO(content)) as image:
            image.load()  # all of it: the text stands before the picture, a cut behind it
            return str(image.info.get(_NAME, ""))
    start = content[:4096].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        if not content.rstrip().lower().endswith(b"</html>"):
            raise ValueError("no </html> at its end")
        page = _Meta()
        page.feed(content.decode("utf-8"))
        return page.said
    if b"<svg" in start:
        root = ElementTree.fromstring(content)
        entries = (entry for entry in root if entry.tag.rpartition("}")[2] == "metadata" and entry.get("id") == _NAME)
        return next((entry.text or "" for entry in entries), "")
    return None


class _Meta(HTMLParser):
    """Finds what a page says of its rows."""

    said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "meta" and named.get("name") == _NAME:
            self.said = self.said or (named.get("content") or "")
