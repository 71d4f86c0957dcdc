"""Every recipe of docs/cookbook.md runs as it stands, in an empty folder, and has ten lines at most."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 10
RECIPES = re.split(r"^## ", (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8"), flags=re.M)[1:]


def blocks(recipe):
    spec = importlib.util.spec_from_file_location("readme_commands", ROOT / "tests" / "checks" / "readme_commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(language, text) for language in ("sh", "python") for text in module.blocks(recipe, language)]


def too_long(recipe):
    return sum(len(text.strip().splitlines()) for _, text in blocks(recipe)) > MOST_LINES


def title(recipe):
    return recipe.splitlines()[0]


def test_there_are_ten():
    assert len({title(recipe) for recipe in RECIPES}) == 10


@pytest.mark.parametrize("recipe", RECIPES, ids=title)
def test_a_recipe_runs_in_an_empty_folder(recipe, tmp_path):
    ((language, text),) = blocks(recipe)
    assert not too_long(recipe)
    (programs := tmp_path / "bin").mkdir()
    (programs / "gasmeter").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gasmeter "$@"\n')
    (programs / "gasmeter").chmod(0o755)
    (empty := tmp_path / "empty").mkdir()
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    command = ["bash", "-ec", text] if language == "sh" else [sys.executable, "-c", text]
    done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout or list(empty.iterdir())


def test_a_recipe_of_eleven_lines_is_too_long():
    assert too_long("```sh\n" + "true\n" * 11 + "```\n")
    assert not too_long("```sh\n" + "true\n" * 10 + "```\n")
