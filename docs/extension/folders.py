"""A page for every Markdown file of the repository outside docs/: folder READMEs, hand calculations, results."""

from __future__ import annotations

from pathlib import PurePosixPath

from extension.links import Tree

__all__ = ["pages"]

_GROUPS = {
    "The core in C++": ("cpp",),
    "The package": ("python",),
    "Results": ("results",),
    "Tests": ("tests",),
}


def pages(tree: Tree) -> dict[str, str]:
    """Return the files' texts, and a page that lists them.

    Parameters
    ----------
    tree : Tree
        The repository.

    Returns
    -------
    dict of str to str
        Markdown by name below ``generated``.
    """
    shown = {f"folders/{path.with_suffix('')}": _text(tree, path) for path in tree.files}
    parts = [
        "# The folders of the source",
        "Read the README of each folder of the repository, before you change something there.",
    ]
    top = [path for path in tree.files if len(path.parts) == 1]
    parts.append(_contents("The repository", top))
    parts += [
        _contents(title, [path for path in tree.files if len(path.parts) > 1 and path.parts[0] in places])
        for title, places in _GROUPS.items()
    ]
    return {**shown, "folders": "\n\n".join(parts) + "\n"}


def _text(tree: Tree, path: PurePosixPath) -> str:
    return (tree.root / path).read_text(encoding="utf-8")


def _contents(title: str, paths: list[PurePosixPath]) -> str:
    entries = "\n".join(f"{_name(path)} </generated/folders/{path.with_suffix('')}>" for path in paths)
    return f"## {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```"


def _name(path: PurePosixPath) -> str:
    return str(path.parent) if path.stem == "README" and len(path.parts) > 1 else str(path)
