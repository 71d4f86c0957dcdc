"""Pictures that say which rows they were made from, and what `gasmeter verify` says of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.errors import UsageError
from gasmeter.rows.pictures import embedded, made_facts, picture_facts, read_facts
from gasmeter.stores.pictures import verify_picture

pytestmark = pytest.mark.usefixtures("machine")

FORMATS = ("png", "svg", "html")


def run(folder):
    series = gm.Series(kernel="flood", op="put", sizes="8:1K", conduit="smp", against="raw@shm")
    return gm.Experiment(name="pictured", title="Pictured", series=(series,)).run(folder)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "out")
    return tmp_path / "out"


def page(store, path):
    """A page of all rows of a run."""
    result = gm.open_result(store)
    facts = picture_facts(result.name, result.rows, records=result.records, runs=result.runs, named=False)
    path.write_bytes(
        embedded(b"<!doctype html>\n<html><head><title>x</title></head><body>1</body></html>\n", "html", facts)
    )
    return path


def picture(store, ending):
    return page(store, store / "page.html") if ending == "html" else store / "plots" / f"bandwidth.{ending}"


def edit(store, number, column, value):
    """Change a cell of results.csv."""
    lines = (store / "results.csv").read_text().splitlines()
    head, cells = lines[0].split(","), lines[number].split(",")
    at = head.index(column) - len(head)  # from the right: semantics has commas
    cells[at] = value
    lines[number] = ",".join(cells)
    (store / "results.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_picture_names_its_run_revision_and_digest(store, ending):
    facts = read_facts(picture(store, ending))
    run = json.loads((store / "run.json").read_text())
    assert facts["experiment"] == "pictured"
    assert facts["started"] == [run["runs"][0]["started"]]
    assert facts["revision"] == run["builds"][0]["revision"]
    assert facts["build"] == run["builds"][0]["digest"]
    assert len(facts["digest"]) == 32


@pytest.mark.parametrize("ending", FORMATS)
def test_the_rows_of_a_picture_are_found_around_it(store, ending):
    origin = verify_picture(picture(store, ending))
    assert origin.same, origin.text
    assert "rows of pictured, revision" in origin.text
    assert "the rows' digest is the same" in origin.text
    assert "\n" not in origin.text


@pytest.mark.parametrize("ending", FORMATS)
def test_a_row_that_was_changed_is_named(store, ending):
    path = picture(store, ending)
    edit(store, 1, "value", "123.0")
    origin = verify_picture(path)
    assert not origin.same
    assert ("1 row changed: " in origin.text) == (ending != "html")
    assert ("another digest" in origin.text) == (ending == "html")


def test_the_page_of_a_run_rests_on_all_its_rows(store):
    origin = verify_picture(store / "report.html")
    assert origin.same, origin.text
    assert f"made from {len(gm.open_result(store).rows)} rows of pictured, revision" in origin.text
    edit(store, 2, "n", "3")
    assert not verify_picture(store / "report.html").same


def test_what_has_no_rows_says_what_it_is_in_one_line(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(embedded(b"<!doctype html><html><head></head></html>", "html", made_facts("a page of nothing")))
    done = CliRunner().invoke(cli, ["verify", str(path)])
    assert done.exit_code == 1
    assert done.output.startswith(f"{path} is a page of nothing, drawn by revision ")
    assert done.output.endswith("; no rows of a run to look for\n")
    assert len(done.output.splitlines()) == 1
    done = CliRunner().invoke(cli, ["verify", str(path), "nowhere"])
    assert done.exit_code == 2
    assert "nowhere is no folder" in done.stderr


def test_a_row_that_is_gone_is_named(store):
    lines = (store / "results.csv").read_text().splitlines()
    (store / "results.csv").write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    origin = verify_picture(picture(store, "png"))
    assert not origin.same
    assert "1 row not there: " in origin.text


def test_a_digest_that_does_not_fit_its_rows_is_no_proof(store):
    path = picture(store, "svg")
    digest = read_facts(path)["digest"]
    path.write_bytes(path.read_bytes().replace(digest.encode(), b"0" * 32))
    assert not verify_picture(path).same


def test_the_order_of_rows_and_other_rows_do_not_matter(store):
    lines = (store / "results.csv").read_text().splitlines()
    (store / "results.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    assert verify_picture(picture(store, "png")).same


def test_another_run_of_the_same_name_is_not_the_one(store, tmp_path, machine):
    path = shutil.copy(picture(store, "png"), tmp_path / "alone.png")
    machine.probe_ns = lambda _: 222.0
    run(tmp_path / "again")
    assert not verify_picture(path, [tmp_path / "again"]).same
    assert verify_picture(path, [tmp_path]).same  # the right one is among those below


def test_a_run_that_is_not_there(store, tmp_path):
    path = shutil.copy(picture(store, "png"), tmp_path / "alone.png")
    shutil.rmtree(store)
    origin = verify_picture(path, [tmp_path])
    assert not origin.same
    assert "no run of that name in" in origin.text


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_is_cut_off(store, ending):
    path = picture(store, ending)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(UsageError, match="is cut off or damaged"):
        verify_picture(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"a text\n", "is no PNG, SVG or HTML file"),
        ("empty.png", b"", "is no PNG, SVG or HTML file"),
        ("missing.png", None, "cannot be read: No such file"),
        ("folder.png", ..., "cannot be read: Is a directory"),
        ("bare.svg", b'<svg><metadata id="gasmeter">{</metadata></svg>', "is damaged"),
        ("old.svg", b'<svg><metadata id="gasmeter">{}</metadata></svg>', "has no schema"),
        ("part.svg", b'<svg><metadata id="gasmeter">{"is": "x"}</metadata></svg>', "has no schema, revision, beside"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    if content is ...:
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    done = CliRunner().invoke(cli, ["verify", str(path)])
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_picture_that_says_nothing_is_one_line(tmp_path):
    Image.new("RGB", (8, 8)).save(tmp_path / "plain.png")
    done = CliRunner().invoke(cli, ["verify", str(tmp_path / "plain.png")])
    assert done.exit_code == 1
    assert "says nothing of its rows" in done.output
    assert len(done.output.splitlines()) == 1


def test_the_command_says_it_in_one_line(store):
    done = CliRunner().invoke(cli, ["verify", str(picture(store, "png")), str(store)])
    assert done.exit_code == 0, done.output
    assert "made from" in done.output
    assert len(done.output.splitlines()) == 1
    done = CliRunner().invoke(cli, ["verify", str(picture(store, "png")), "nowhere"])
    assert done.exit_code == 2
    assert "nowhere is no folder" in done.stderr


def test_no_path_of_this_machine_stands_in_a_picture(store):
    for ending in ("png", "svg"):
        assert str(Path.home()).encode() not in picture(store, ending).read_bytes()
        assert b"/tmp" not in picture(store, ending).read_bytes()
