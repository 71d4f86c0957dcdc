"""Generate the pages of the site that docs/ does not hold.

The extension writes `generated` before Sphinx reads: every machine, the catalogue, and the READMEs of folders. Links of
the repository lead to files; the extension turns each into a link to the page of that file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extension import catalogue, folders, machines
from extension.links import Tree

__all__ = ["setup"]

GENERATED = "generated"


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to write and when to turn links."""
    source = Path(app.srcdir)
    tree = Tree(source.parent, source.name, f"{source.name}/{GENERATED}/folders")

    def write(_: Sphinx) -> None:
        pages = {**machines.pages(), **catalogue.pages(), **folders.pages(tree)}
        write_pages(source / GENERATED, pages)

    def turn(_: Sphinx, name: str, text: list[str]) -> None:
        text[0] = tree.turned(text[0], name)

    app.connect("builder-inited", write)
    app.connect("source-read", turn)
    return {"parallel_read_safe": True}


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Write pages that have changed, so that others are not read again, and remove those of an earlier build.

    Parameters
    ----------
    folder : Path
        Where they go.
    pages : dict of str to str
        Text, by path below the folder without ending.
    """
    meant = {folder / f"{name}.md": text for name, text in pages.items()}
    for old in set(folder.rglob("*.md")) - set(meant):
        old.unlink()
    for path, text in meant.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
