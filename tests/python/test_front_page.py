"""README's picture, README's sentences about speed and the tables of speed.md agree with rows; its size is bounded."""

import collections
import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def program(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "checks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def front_page():
    yield program("front_page")
    del sys.modules["front_page"]


@pytest.fixture(scope="module")
def rows(front_page):
    return front_page.drawn()


@pytest.fixture
def copied(front_page, rows, monkeypatch, tmp_path):
    """A page with one block, and the picture's rows, in a folder of their own."""
    (tmp_path / "page.md").write_text("before\n<!-- rows: speed -->\n1.20\n<!-- end -->\nafter\n")
    monkeypatch.setattr(front_page, "ROOT", tmp_path)
    monkeypatch.setattr(front_page, "PAGES", ("page.md",))
    monkeypatch.setattr(front_page, "PICTURE", "picture.png")
    monkeypatch.setattr(front_page, "BLOCKS", {"speed": lambda: "1.20\n"})
    monkeypatch.setattr(front_page, "drawn", lambda: rows)
    front_page.draw(rows)
    return tmp_path


def test_a_page_that_says_what_the_rows_say_is_current(front_page, copied, capsys):
    assert front_page.main([]) == 0
    assert "as the rows" in capsys.readouterr().out


def test_a_figure_that_somebody_wrote_by_hand_is_found_and_put_right(front_page, copied, capsys):
    page = copied / "page.md"
    page.write_text(page.read_text().replace("1.20", "1.10"))
    assert front_page.main([]) == 1
    assert "page.md: is not what results/ says" in capsys.readouterr().out
    assert front_page.main(["--write"]) == 0
    assert page.read_text() == "before\n<!-- rows: speed -->\n1.20\n<!-- end -->\nafter\n"


@pytest.mark.parametrize("column", ["value", "kind"])
def test_a_picture_of_other_rows_is_found(front_page, copied, rows, monkeypatch, column):
    other = rows.copy()
    other[column] = other[column].to_numpy()[::-1]
    monkeypatch.setattr(front_page, "drawn", lambda: other)
    assert list(front_page.stale(write=False)) == ["picture.png"]


def test_a_picture_shows_both_kinds_and_rows_that_can_be_relied_on(rows):
    assert set(rows["kind"]) == {"measured", "modelled"}
    assert set(rows["state"]) == {"good"}
    assert rows["semantics"].nunique() == 1


def test_no_block_of_a_page_is_without_a_program(front_page):

    named = {name for page in front_page.PAGES for name in re.findall("rows: (\\w+) -->", (ROOT / page).read_text())}
    assert named == set(front_page.BLOCKS)


def test_readme_shows_its_two_commands_first_and_every_page_has_some():
    readme_commands = program("readme_commands")
    shown = [readme_commands.commands((ROOT / page).read_text()) for page in readme_commands.PAGES]
    assert shown[0][:2] == [
        "pip install . && gasmeter run experiments/first_look.py --out out/first_look", "tests/run.sh",
    ]  # fmt: skip
    assert len(shown[0]) == 9
    assert all(shown)


def test_readme_fits_two_screens_and_begins_with_one_short_sentence():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 80
    assert [line for line in lines if len(line) > 100] == []
    first, *_ = "\n".join(lines[2:]).partition("\n\n")
    assert first.endswith(".")
    assert first.count(". ") == 0
    assert len(first.split()) <= 25


def test_no_two_commands_of_pages_write_to_one_folder():
    readme_commands = program("readme_commands")
    shown = [line for page in readme_commands.PAGES for line in readme_commands.commands((ROOT / page).read_text())]
    folders = re.findall(r"--out (\S+)", " ".join(shown))
    assert len(folders) > 10
    assert [name for name, times in collections.Counter(folders).items() if times > 1] == []


def test_all_commands_that_fail_are_told(tmp_path, capfd):
    readme_commands = program("readme_commands")
    assert readme_commands.run(["true", "exit 3", "touch after", "false"], tmp_path, dict(os.environ)) == 1
    output = capfd.readouterr()
    assert "2 of 4 commands passed" in output.out
    assert [line.partition(": ")[2] for line in output.err.splitlines()[-2:]] == ["exit status 3 of: exit 3",
                                                                              "exit status 1 of: false"]  # fmt: skip
    assert (tmp_path / "after").exists()
