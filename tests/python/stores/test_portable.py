"""Stores are published: nothing in them says where on a machine somebody's files lie."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.stores.portable import portable

EXPERIMENT = """
import gasmeter as gm
experiment = gm.Experiment(name="s", kernel="ping-pong", conduit="smp", op="put", sizes="8", time_s=0.05)
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    for name in ("home/me", "home/me/work", "data"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home/me"))
    monkeypatch.chdir(tmp_path / "home/me/work")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("TOP/home/me/work/out/s", "out/s"),
        ("TOP/home/me/work", "."),
        ("TOP/home/me/work/", "."),
        ("TOP/home/me/worker/x", "~/worker/x"),
        ("TOP/home/me", "~"),
        ("TOP/home/me/a b/x", "~/a b/x"),
        ("gasmeter run TOP/home/me/e.py --out TOP/data/store", "gasmeter run ~/e.py --out store"),
        ("gasmeter run --out=TOP/data/store/plots x", "gasmeter run --out=store/plots x"),
        ("the earlier run is kept in TOP/data/store.1", "the earlier run is kept in …/store.1"),
        ("gasmeter compare '/opt/venv a/bin/python' HEAD", "gasmeter compare '…/venv a/bin/python' HEAD"),
        ("-O3 -I/usr/include/x -fmap=/a/b=/c/d", "-O3 -I…/x -fmap=…/b=…/d"),
        ("/a/b:/c/d", "…/b:…/d"),
        ("625 MB/s, B/s, 1 / s, latency / reference - 1", "625 MB/s, B/s, 1 / s, latency / reference - 1"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("/dev/shm holds 1 GiB", "/dev/shm holds 1 GiB"),
        ("experiments/x.py ../up ./here ~/there", "experiments/x.py ../up ./here ~/there"),
    ],
)
def test_a_path_is_told_without_its_place(places, given, kept):
    store = places / "data/store"
    text = portable(given.replace("TOP", str(places)), store)
    assert text == kept
    assert portable(text, store) == kept  # text of a resumed run


def test_everything_is_looked_at(places):
    content = {"a": [1, None, {"b": f"{places}/data/store"}], "c": (Path(f"{places}/data/x"), True)}
    assert portable(content, places / "data/store") == {"a": [1, None, {"b": "store"}], "c": ["…/x", True]}


def test_the_root_is_no_base(monkeypatch, tmp_path):
    monkeypatch.chdir("/")
    monkeypatch.setenv("HOME", "/")
    assert portable("/etc/x/y", tmp_path / "s") == "…/y"


@pytest.mark.parametrize("words", [[], ["--resume"], ["--quick"]], ids=" ".join)
def test_a_store_holds_no_absolute_path(machine, places, words, monkeypatch):
    script, store = places / "data/s.py", places / "data/store"
    script.write_text(EXPERIMENT)
    arguments = ["run", str(script), "--out", str(store)]
    for more in ([], words):
        monkeypatch.setattr("sys.argv", [str(places / "home/me/bin/gasmeter"), *arguments, *more])
        assert CliRunner().invoke(cli, [*arguments, *more]).exit_code == 0
    for name in ("run.json", "summary.md"):
        text = (store / name).read_text()
        assert str(places) not in text
        assert not re.search(r"(?<![\w./~…])/(?!dev/|proc/|sys/)\w+/", text), text
    run = json.loads((store / "run.json").read_text())["runs"][-1]
    assert run["command"].startswith("gasmeter run …/s.py --out store")
    assert run["options"]["folder"]["value"] == "store"
