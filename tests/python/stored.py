"""Stores that tests change behind gasmeter's back."""

import json

from gasmeter.stores.files import digests
from gasmeter.stores.journal import read_journal, sealed_line


def edit_run(place, change):
    path = place / "run.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_journal(place, change):
    """Change what the groups of a store say, as if its run had found that."""
    path = place / "journal.jsonl"
    entries = read_journal(path)
    for entry in entries:
        change(entry)
    path.write_bytes(b"".join(map(sealed_line, entries)))
    reseal(place)


def reseal(place):
    """Let run.json name the files as they are now."""
    edit_run(place, lambda run: run.update(files=digests(place, run["files"])))


def edit_rows(place, change):
    """Change the text of a published store's results.csv, as if its run had written that."""
    path = place / "results.csv"
    path.write_text(change(path.read_text()))
    reseal(place)


def age(place):
    """Make a store one of schema 1: no digests, and none in the lines of its journal."""
    edit_run(place, lambda run: (run.pop("files", None), run.update(schema=1)))
    path = place / "journal.jsonl"
    if path.exists():
        path.write_text("".join(json.dumps(entry) + "\n" for entry in read_journal(path)))
