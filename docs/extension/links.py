"""Links of Markdown files: where they lead in the repository, and on the site."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

__all__ = ["Tree"]

_FENCE = re.compile(r"^\s*(```+|~~~+|:::+)(.*)")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_SKIPPED = {"build", "out"}


class Tree:
    """The repository's Markdown files and the pages of the site that show them.

    Parameters
    ----------
    root : Path
        Of the repository.
    sources : str
        Folder of the site's own pages, below the root.
    folders : str
        Where the pages of all other Markdown files go, below the root.
    """

    def __init__(self, root: Path, sources: str, folders: str) -> None:
        self.root, self._sources = root, sources
        self._below = PurePosixPath(folders).relative_to(sources)
        pages, written = self._markdown(), PurePosixPath(sources, self._below.parts[0])
        self.files = [path for path in pages if path.parts[0] != sources]
        sources_pages = [path for path in pages if path.parts[0] == sources and not path.is_relative_to(written)]
        self._names = {path: str(path.relative_to(sources).with_suffix("")) for path in sources_pages}
        self._names |= {path: self.page(path) for path in self.files}
        self._shown = {name: path for path, name in self._names.items()}

    def _markdown(self) -> list[PurePosixPath]:
        """Return READMEs and other pages for people; what a run has written is no page."""
        pages = (PurePosixPath(path.relative_to(self.root).as_posix()) for path in self.root.rglob("*.md"))
        return sorted(
            path
            for path in pages
            if not any(part.startswith(".") or part in _SKIPPED for part in path.parts[:-1])
            and not (path.parts[0] == "results" and len(path.parts) > 2)
        )

    def page(self, path: PurePosixPath) -> str:
        """Return the name of the page that shows a file from outside the site's folder.

        Parameters
        ----------
        path : PurePosixPath
            Of the file, below the root.

        Returns
        -------
        str
            As Sphinx names pages.
        """
        return str(self._below / path.with_suffix(""))

    def turned(self, text: str, name: str) -> str:
        """Return a page whose links lead to pages where there are some.

        Parameters
        ----------
        text : str
            Text of the page in Markdown.
        name : str
            Name of the page.

        Returns
        -------
        str
            The same, but for links into the repository: to a file that has a page they lead there, to other files they
            offer them, and to folders without a page they are words alone.
        """
        origin = self._shown.get(name)
        if origin is None:
            return text
        lines, fence, code = [], "", False
        for line in text.split("\n"):
            mark = _FENCE.match(line)
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
                code = not mark[2].startswith("{")  # text of directives is text
            lines.append(
                line if mark or (fence and code) else _LINK.sub(lambda match: self._link(match, origin, name), line)
            )
        return "\n".join(lines)

    def _link(self, match: re.Match[str], origin: PurePosixPath, name: str) -> str:
        picture, words, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or "://" in target:
            return match[0]
        meant = PurePosixPath(os.path.normpath(origin.parent / path))
        page = self._names.get(meant) or self._names.get(meant / "README.md")
        if page:
            return f"{picture}[{words}](/{page}.md{mark}{anchor})"
        if (self.root / meant).is_dir():
            return words
        folder = PurePosixPath(self._sources, name).parent
        file = os.path.relpath(self.root / meant, self.root / folder)
        return f"![{words}]({file})" if picture else f"[{words}](path:{file})"
