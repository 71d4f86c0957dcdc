"""Metadata of pictures and pages about their source: PNG text, SVG metadata, HTML meta."""

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
    """Return the key of a row for pictures: its point, metric and reference, without line breaks."""
    return f"{row['run_id']} {row['metric']} {row['reference']}".strip()


def row_mark(row: Row) -> str:
    """Return a row's name for pictures: `row_key`, ``#`` and hexadecimal digits of its hash."""
    return f"{row_key(row)}#{hashlib.sha256(csv_lines([row]).encode()).hexdigest()[:_SHORT]}"


def rows_digest(rows: Sequence[Row]) -> str:
    """Return the hexadecimal hash of rows, independent of their order."""
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
    """Return the metadata of a picture: experiment, start, revision, build, number and digest of its rows.

    Few rows are named each if `named`; otherwise `rows` are all rows of the run. `records` name the build.
    """
    points = {row["run_id"] for row in rows}
    builds = {
        (entry.revision, entry.build)
        for entry in records
        if entry.build and any(row["run_id"] in points for row in entry.rows)
    }
    if not builds:
        build_facts = library.this_build()
        builds = {(str(build_facts["revision"]), str(build_facts["digest"]))}
    measured = any(row["kind"] != "modelled" for row in rows)
    facts: dict[str, Any] = {
        "schema": _SCHEMA,
        "experiment": name,
        # Modelled results are the same bytes whenever they are drawn.
        "started": [str(run["started"]) for run in runs if run.get("started")] if measured else [],
        "revision": ", ".join(sorted({revision for revision, _ in builds if revision})),
        "build": ", ".join(sorted({build for _, build in builds})),
        "rows": len(rows),
        "digest": rows_digest(rows),
    }
    return facts | ({"named": sorted(map(row_mark, rows))} if named else {})


def made_facts(what: str, beside: Sequence[Path] = ()) -> dict[str, Any]:
    """Return the metadata of a picture or page that does not show rows of a single run.

    They hold `what` it is (read behind "is"), revision and build that drew it, and digests of the existing files and
    folders `beside` it. Raises OSError if one of these cannot be read.
    """
    build = library.this_build()
    return {
        "schema": _SCHEMA,
        "is": what,
        "revision": str(build["revision"]),
        "build": str(build["digest"]),
        "beside": {path.name: content_digest(path) for path in beside},
    }


def content_digest(path: Path) -> str:
    """Return the hexadecimal hash of a file, or of a folder's files with names; OSError if one is unreadable."""
    whole = hashlib.sha256()
    if not path.is_dir():
        whole.update(path.read_bytes())
        return whole.hexdigest()[:_DIGITS]
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        name, content = file.relative_to(path).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{name} {content}\n".encode())
    return whole.hexdigest()[:_DIGITS]


def embedded(content: bytes, ending: str, facts: Mapping[str, Any]) -> bytes:
    """Return a whole picture or page with metadata embedded; its looks stay the same."""
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
    """Return the metadata of a PNG, SVG or HTML file; None without any.

    Metadata of `made_facts` have a key ``is``. Raises UsageError if the file cannot be read, is none of these, is cut
    off, or has damaged metadata.
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
        fault = f"schema {facts.get('schema')}" if not wrong else f"no {', '.join(wrong)}"
        raise UsageError(f"{path}: what it says of its rows has {fault}; allowed: schema {_SCHEMA}", str(path))
    return facts


def _text_in(content: bytes) -> str | None:
    """Return the metadata text of a file, empty without one; None for other files."""
    if content.startswith(_PNG_START):
        from PIL import Image  # noqa: PLC0415 - loaded for pictures alone

        with Image.open(io.BytesIO(content)) as image:
            image.load()  # read all of it: the text stands in front of the picture, so that only this detects a cut
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
    """Parser of a page's metadata."""

    said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "meta" and named.get("name") == _NAME:
            self.said = self.said or (named.get("content") or "")
