"""The help screen of `gasmeter`: one line a command, in sections; docs/shell.md repeats the lines."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.cli.commands import OLD_NAMES, SECTIONS, TABLE

PAGE = Path(__file__).resolve().parents[3] / "docs" / "shell.md"
LONGEST = 60


def screen(width):
    done = CliRunner().invoke(cli, ["--help"], terminal_width=width)
    assert done.exit_code == 0
    return done.stdout.splitlines()


def test_every_line_fits_80_columns():
    lines = screen(80)
    begin = lines.index(f"{next(iter(SECTIONS))}:")
    end = next(number for number, line in enumerate(lines) if line.strip().startswith("Completion"))
    assert max(map(len, lines[begin:end])) <= 80
    expected = [
        line
        for section, places in SECTIONS.items()
        for line in (f"{section}:", *(f"  {name:9}  {place.summary}" for name, place in places.items()), "")
    ]
    assert [line.strip() for line in lines[begin:end]] == [line.strip() for line in expected]


def test_each_command_has_one_short_line():
    assert sum(len(places) for places in SECTIONS.values()) == len(TABLE)
    for name, place in TABLE.items():
        assert 0 < len(place.summary) <= LONGEST, name
        assert not place.summary.endswith(".")
    assert len({place.summary for place in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize("old", OLD_NAMES)
def test_old_names_are_not_shown(old):
    assert old not in "\n".join(screen(80)).split()
    assert old not in list(cli.commands)


def test_the_page_lists_the_same_commands():
    listed = re.findall(r"^\| (.*) \| `gasmeter ([a-z-]+)` \| (.*) \|$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    expected = []
    for section, places in SECTIONS.items():
        expected += [(section, name, place.summary) for name, place in places.items()]
    assert listed == expected
