"""The site: links of repository files turned into links between pages, and links that lead nowhere found."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    for name in ("README.md", "docs/tour.md", "docs/generated/old.md", "cpp/core/README.md", "cpp/core/a.hpp",
                 "experiments/x.py", "results/run/summary.md", "results/README.md", "build/README.md"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return loaded(ROOT / "docs" / "extension" / "links.py").Tree(tmp_path, "docs", "docs/generated/folders")


def test_pages_are_those_that_people_wrote(tree):
    assert [str(path) for path in tree.files] == ["README.md", "cpp/core/README.md", "results/README.md"]


@pytest.mark.parametrize(
    ("page", "text", "meant"),
    [
        ("tour", "[a](../README.md#five)", "[a](/generated/folders/README.md#five)"),
        ("tour", "[a](../cpp/core)", "[a](/generated/folders/cpp/core/README.md)"),
        ("tour", "[a](../experiments), [b](https://x.y)", "a, [b](https://x.y)"),
        ("tour", "![a](../cpp/core/a.hpp) [b](#here)", "![a](../cpp/core/a.hpp) [b](#here)"),
        ("generated/folders/README", "[a](docs/tour.md)", "[a](/tour.md)"),
        ("generated/folders/cpp/core/README", "[a](a.hpp)", "[a](path:../../../../../cpp/core/a.hpp)"),
        ("tour", "[a](../results/run/summary.md)", "[a](path:../results/run/summary.md)"),
        ("tour", "```{note}\n[a](../README.md)\n```", "```{note}\n[a](/generated/folders/README.md)\n```"),
        ("generated/folders/README", "```cpp\n[a](docs/tour.md)\n```", "```cpp\n[a](docs/tour.md)\n```"),
        ("generated/machines/x", "[a](docs/tour.md)", "[a](docs/tour.md)"),
    ],
)
def test_a_link_leads_to_the_page_of_its_file(tree, page, text, meant):
    assert tree.turned(text, page) == meant


@pytest.fixture(scope="module")
def site():
    return loaded(ROOT / "tests" / "checks" / "site.py")


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ('<a href="b.html#there">b</a>', []),
        ('<a href="https://x.y/z">b</a>', []),
        ('<a href="c.html">b</a>', ["a.html: c.html leads nowhere"]),
        ('<a href="b.html#nowhere">b</a>', ["a.html: b.html#nowhere leads to no place of that page"]),
        ('<img src="p.png">', ["a.html: p.png leads nowhere"]),
        ('<script src="//cdn.x/y.js"></script>', ["a.html: is made of //cdn.x/y.js, which lies on another host"]),
    ],
)
def test_links_that_lead_nowhere_are_found(site, tmp_path, link, message):
    (tmp_path / "a.html").write_text(link)
    (tmp_path / "b.html").write_text('<p id="there">b</p>')
    assert list(site.problems(tmp_path)) == message


def test_a_folder_without_pages_is_no_site(site, tmp_path):
    assert list(site.problems(tmp_path)) == [f"{tmp_path}: no pages"]
