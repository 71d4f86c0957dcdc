"""Functions for a notebook: lists of everything that has a name, and the commands."""

import math
import sys

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli
from gasmeter.guard.reports import render_judgement

SERIES = gm.Series(kernel="ping-pong", conduit="ideal", op="put,get", sizes="8,64", iterations=5)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores") / "first"
    gm.Experiment(name="puts", series=(SERIES,)).run(folder)
    return folder


@pytest.mark.parametrize("listed", ["kernels", "conduits", "topologies"])
def test_what_exists_is_what_the_command_lists(listed):
    objects = getattr(gm, listed)()
    names = [line.split()[0] for line in CliRunner().invoke(cli, ["list", listed]).stdout.splitlines()[1:]
             if line[:3].strip() and "all about one" not in line]  # fmt: skip
    assert list(objects) == names
    assert all(objects[name].name == name for name in objects)


def test_an_entry_is_found_by_its_name_and_has_its_options_by_theirs():
    kernel = gm.kernels()["flood"]
    assert kernel.ops == ("am-short", "am-medium", "am-long", "put", "get")
    assert "update" in gm.kernels()["random-access"].ops
    assert gm.kernels()["random-access"].variants == ("am", "put-get", "direct")
    assert "raw@shm" in kernel.raw
    window = kernel.options["window"]
    assert (window.type, window.default, window.unit) == ("int", "0", "operations")
    assert "waited for" in window.help
    assert gm.conduits()["extoll"].kind == "modelled"
    assert gm.topologies()["torus3d"].link_classes == "x, y, z"


def test_a_name_that_does_not_exist_is_told_in_one_line():
    with pytest.raises(gm.UsageError, match="unknown kernel 'flod'; did you mean 'flood'") as caught:
        gm.kernels()["flod"]
    assert "\n" not in str(caught.value)
    assert gm.kernels().get("flod") is None
    assert "flod" not in gm.kernels()
    with pytest.raises(gm.UsageError, match="unknown option of kernel flood 'windw'; did you mean 'window'"):
        gm.kernels()["flood"].options["windw"]


def test_lists_print_a_line_for_each_entry_no_wider_than_the_terminal(monkeypatch):
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        for entry in (gm.kernels(), gm.conduits(), gm.topologies()):
            lines = repr(entry).splitlines()
            assert all(name in line for name, line in zip(entry, lines[2:], strict=True))
            assert len(lines) == 2 + len(entry)
            assert max(map(len, lines)) <= width
    options = gm.kernels()["flood"].options
    assert options["window"].help[-20:] in " ".join(repr(options).split())


def test_notebooks_have_tables_with_everything():
    page = gm.kernels()["flood"]._repr_html_()
    assert all(text in page for text in ("am-medium", "bandwidth", "B/s", "window", "operations"))
    assert gm.conduits()._repr_html_().count("<tr>") == 1 + len(gm.conduits())
    assert "cyclic | zipf | sweep" in page


def test_check_and_compare_are_the_commands(store, tmp_path):
    gm.Experiment(name="puts", series=(SERIES,)).run(tmp_path / "same")
    same = gm.check(tmp_path / "same", baseline=store)
    assert (same.status, same.failed) == (0, False)
    assert repr(same).endswith("passed: 4 same>")
    gm.Experiment(name="puts", series=(SERIES.replaced({"op": "put"}),)).run(tmp_path / "other")
    command = CliRunner().invoke(cli, ["compare", str(store), str(tmp_path / "same")])
    assert command.stdout == render_judgement(gm.compare(store, tmp_path / "same"), "table")
    missing = gm.compare(str(store), tmp_path / "other")
    assert missing.failed
    assert CliRunner().invoke(cli, ["check", "--baseline", str(store), str(tmp_path / "other")]).exit_code == 1
    with pytest.raises(gm.UsageError, match="'HEAD' is no store, the other is one; allowed: two stores or two builds"):
        gm.compare(store, "HEAD")


def test_trace_returns_what_its_command_prints(tmp_path):
    (traced,) = gm.trace("put", conduit="ideal", sizes=8, out=tmp_path / "steps")
    assert sum(step.ps for step in traced.shown.steps) == traced.shown.ps
    assert repr(traced).startswith("<Trace ping-pong put 8 B on ideal, 2 ranks (modelled): ")
    output = CliRunner().invoke(cli, ["trace", "put", "--conduit", "ideal", "--sizes", "8", "--long"]).stdout
    (_, *steps) = (tmp_path / "steps" / "table.txt").read_text().splitlines()
    assert "\n".join(filter(None, steps)) in "\n".join(filter(None, output.splitlines()))


def test_dashboard_writes_pages(store, tmp_path):
    site = gm.dashboard(store, tmp_path / "site", title="puts and gets")
    assert (site.folder / "index.html").exists()
    assert (site.runs, site.series) == (1, 4)
    assert gm.dashboard([store], tmp_path / "site").series == 4


def test_fit_takes_a_result_or_its_store(tmp_path):
    series = gm.Series(kernel="loggp", conduit="ideal", op="am-medium,am-long", sizes="8:512")
    result = gm.Experiment(name="fits", series=(series,)).run(tmp_path / "fits")
    by_result, by_store = gm.fit(result, op="am-long"), gm.fit(tmp_path / "fits", op="am-long")
    assert [repr(model) for model in by_result] == [repr(model) for model in by_store]
    assert len(by_result) == 1
    assert math.isfinite(by_result[0].parameters["G"].value)
    assert "am-long" in repr(by_result[0])
    with pytest.raises(gm.UsageError, match="nothing of put"):
        gm.fit(result, op="put")
    with pytest.raises(gm.UsageError, match="unknown model 'logp'; did you mean 'loggp'"):
        gm.fit(result, model="logp")


def test_reproduce_writes_what_its_command_writes(tmp_path):
    done = gm.reproduce("extoll", figures=8, quick=True, out=tmp_path / "figures")
    assert done.report.exists()
    assert done.result.verified
    assert repr(done).startswith("<Reproduced extoll: figures 8; As given: ")
    page = done._repr_html_()
    assert page.count("<tr>") == 1 + len(done.judged)
    assert all(judgement.claim.id in page for judgement in done.judged)
    with pytest.raises(gm.UsageError, match="unknown paper 'extol'; did you mean 'extoll'"):
        gm.reproduce("extol")
    with pytest.raises(gm.UsageError, match="figures '8,' has an empty name"):
        gm.reproduce("extoll", figures="8,")


def test_rooms_of_their_names_do_not_take_the_place_of_functions():
    import gasmeter.dashboard
    import gasmeter.trace

    assert callable(gm.trace)
    assert callable(gm.dashboard)
    assert sys.modules["gasmeter.trace"].Trace is gasmeter.trace.__globals__["Trace"]


def test_a_saved_result_is_a_run_folder(store, tmp_path):
    asked = {"conduit": "ideal", "op": ("put", "get"), "sizes": "8,64", "iterations": 5}
    result = gm.measure("ping-pong", **asked)
    folder = result.save(tmp_path / "saved")
    gm.measure("ping-pong", **asked, out=tmp_path / "written")
    names = [
        sorted(str(path.relative_to(place)) for path in place.rglob("*")) for place in (folder, tmp_path / "written")
    ]
    assert names[0] == names[1]
    assert {"results.csv", "samples.parquet", "run.json", "summary.md"} <= set(names[0])
    assert any(name.endswith(".svg") for name in names[0])
    assert (folder / "results.csv").read_bytes() == (tmp_path / "written" / "results.csv").read_bytes()
    assert gm.check(folder, baseline=tmp_path / "written").findings[0].verdict == "same"
    assert gm.dashboard(folder, tmp_path / "site").series == 4
    again = gm.open_result(folder).save(tmp_path / "again")
    assert (again / "results.csv").read_bytes() == (folder / "results.csv").read_bytes()
    assert gm.check(again, baseline=folder).status == 0
    with pytest.raises(gm.UsageError, match="'invented' does not say what it was measured with; allowed"):
        gm.Result([], name="invented").save(tmp_path / "none")
    with pytest.raises(gm.UsageError, match="holds experiment 'puts', not 'measure'"):
        result.save(store)


def test_measure_keeps_what_it_prints_with_out(tmp_path):
    words = ["measure", "barrier", "--conduit", "ideal", "--iterations", "5", "--format", "csv"]
    done = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "kept")])
    assert done.exit_code == 0
    assert (tmp_path / "kept" / "results.csv").read_text() == done.stdout
    assert '"origin": "command line"' in (tmp_path / "kept" / "run.json").read_text()
