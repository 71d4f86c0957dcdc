"""Build the site of docs/ with warnings as errors and follow every link of its pages.

    python tests/checks/site.py [FOLDER]      # build/site

A link has to lead to a file of the site, and to an anchor of that file if it names one. Styles, scripts and pictures
come from the site itself, never from another host. Needs gasmeter and its extra `docs`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """Names on a page: its anchors, its links, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.parts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the names in an element."""
        named = {key: value for key, value in attrs if value}
        self.places |= {named[key] for key in ("id", "name") if key in named}
        if "href" in named:
            (self.parts if tag == "link" else self.links).append(named["href"])
        if "src" in named:
            self.parts.append(named["src"])


def problems(folder: Path) -> Iterator[str]:
    """Yield the faults of the pages in a folder, one line each.

    Parameters
    ----------
    folder : Path
        Of the site.

    Yields
    ------
    str
        The page and the link.
    """
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder}: no pages"
    for path, page in pages.items():
        shown = path.relative_to(folder.resolve())
        for part in page.parts:
            if urlsplit(part).netloc:
                yield f"{shown}: is made of {part}, which lies on another host"
        for link in [*page.links, *page.parts]:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{shown}: {link} leads nowhere"
            elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].places:
                yield f"{shown}: {link} leads to no place of that page"


def main(arguments: list[str]) -> int:
    """Build the site and follow its links; return the exit status."""
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(ROOT / "docs"), str(folder)]
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        return status
    broken = list(problems(folder))
    for line in broken:
        print(line, file=sys.stderr)
    print(f"{folder}: {len(list(folder.rglob('*.html')))} pages, {len(broken)} links lead nowhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
