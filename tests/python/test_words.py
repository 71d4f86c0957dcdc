"""The check of words counts each kind that it names, and nothing beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "checks" / "words.py"
LONG = "The card " + "sends a packet and " * 8 + "stops."
PLAIN = {
    "core.hpp": '// Queue pairs by peer rank.\nint pairs = 1\'000;  // one rank sleeps\nauto text = "// Of a peer";\n',
    "page.md": "The card sends a packet. The peer answers.\n\n```\n" + LONG + "\n```\n",
    "run.py": '"""Run a sweep."""\n\n\ndef run(size):\n    """Run.\n\n    size : int\n        Bytes of it.\n    """\n',
    "cells.py": "# %% [markdown]\n# Each row is a block.\n",
    "CHANGELOG.md": LONG + "\n",
}


@pytest.fixture
def words(tmp_path):
    """Run the check over a repository that holds the plain files and some more."""

    def run(more, *arguments):
        for name, text in (PLAIN | more).items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        done = subprocess.run(
            [sys.executable, SCRIPT, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert not done.stderr
        return done.returncode, done.stdout

    return run


def test_plain_files_pass(words):
    status, output = words({})
    assert status == 0
    assert "openers without a subject: 0 of 5 " in output


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("bad.cpp", "// Of a peer: its slots.\n// More of it.\n", "openers without a subject: 1 of 6 "),
        ("bad.cpp", "int a;  // one that waits\n        // for a reply\n", "openers without a subject: 1 of 6 "),
        ("bad.cmake", "# What is built.\n", "openers without a subject: 1 of 6 "),
        ("bad.js", "// Where the run stands.\n", "openers without a subject: 1 of 6 "),
        ("bad.py", '"""Where the rows lie."""\n', "openers without a subject: 1 of 6 "),
        ("bad.py", 'SIZE = 8\n"""What a block holds."""\n', "openers without a subject: 1 of 6 "),
        ("bad.py", "# %% [markdown]\n# So it runs.\n", "openers without a subject: 1 of 6 "),
        (
            "bad.py",
            'def run(size):\n    """Run.\n\n    size : int\n        That.\n    """\n',
            "one-word parameter descriptions: 1 (0)",
        ),
        ("bad.md", f"- {LONG}\n", "sentences of more than 30 words in pages: 1 (0)"),
        ("bad.md", f"A packet leaves.\n{LONG}\n", "sentences of more than 30 words in pages: 1 (0)"),
        ("bad.py", "def run(known): pass\n", "known 250.0"),
        ("bad.py", 'print(f"{rows.found}")\n', "found 250.0"),
        ("bad.cpp", "int own = 0;  // slots of this rank\n", "own 250.0"),
    ],
)
def test_a_planted_word_breaks_its_limit(words, name, text, line):
    status, output = words({name: text})
    assert status == 1
    assert line in output


def test_the_places_of_a_kind_are_listed(words):
    assert words({"bad.py": "def run(known): pass\n"}, "--list", "names")[1].startswith("bad.py:1: known\n")
    assert words({"bad.md": LONG}, "--list", "sentences")[1].startswith("bad.md:1: 35 words: The card sends")
