"""Examples of the API run: those of docstrings and those of docs/api.md; every public name has one."""

import doctest
import inspect
import os
import re
from pathlib import Path

import numpy as np
import pytest

import gasmeter as gm

API = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
GLOBALS = {"__name__": "__main__", "gm": gm, "np": np, "os": os, "Path": Path}  # programs are sent as a script's are
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(name):
    """The examples of a name: of its docstring and its methods', or on the page."""
    value = getattr(gm, name)
    documented = inspect.isclass(value) or inspect.isfunction(value)
    tests = doctest.DocTestFinder().find(value, name, module=False, globs=GLOBALS) if documented else []
    shown = [block for block in re.findall(r"^```python\n(.*?)^```", API, re.M | re.S) if f"gm.{name}" in block]
    parser = doctest.DocTestParser()
    tests += [parser.get_doctest(block, GLOBALS, f"docs/api.md {name}", "docs/api.md", 0) for block in shown]
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", gm.__all__)
def test_the_examples_of_a_name_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    tests = examples(name)
    assert tests, f"{name} has no example: in its docstring, or docs/api.md"
    assert not [example.source for test in tests for example in test.examples if doctest.SKIP in example.options]
    output = []
    for test in tests:
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=output.append)
    assert "".join(output) == ""


def test_the_page_names_every_public_name():
    shown = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (?:gasmeter\.)?(\w+)$", API, re.M))
    assert shown == set(gm.__all__)
