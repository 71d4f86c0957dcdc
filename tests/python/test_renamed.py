"""Renamed parameters and commands: the old name does the same, and its user gets a note of one line."""

import warnings

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli, judge, reproduce
from gasmeter.sweeps.series import Series as Within

POINT = {"kernel": "ping-pong", "op": "put", "conduit": "ideal"}


@pytest.mark.parametrize(
    ("old", "new", "value", "field"),
    [
        ("size", "sizes", "8,64", (8, 64)),
        ("reference", "against", "raw@ideal", "raw@ideal"),
        ("seeds", "seed", (1, 2), (1, 2)),
    ],
)
@pytest.mark.parametrize("made", [gm.Series, lambda **given: gm.Experiment(name="e", **given).series[0]])
def test_fields_of_a_series_have_the_names_of_measure(made, old, new, value, field):
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now; the old name still works") as told:
        before = made(**POINT, **{old: value})
    assert len(told) == 1
    assert told[0].filename == __file__
    after = made(**POINT, **{new: value})
    assert before == after
    assert getattr(after, old) == field


def test_quick_fields_have_them_too():
    with pytest.warns(DeprecationWarning, match="size is called sizes now"):
        before = gm.Series(**POINT, quick={"size": "8"})
    assert before == gm.Series(**POINT, quick={"sizes": "8"})
    assert before.quickened().size == (8,)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_both_names_are_one_too_many():
    with pytest.raises(gm.UsageError, match="sizes is given twice, as size too; allowed: once"):
        gm.Series(**POINT, size=8, sizes=16)


def test_a_series_is_replaced_by_either_name():
    series = gm.Series(**POINT, sizes=8, seed=3)
    assert series.replaced({"sizes": 16}) == series.replaced({"size": 16}) == gm.Series(**POINT, sizes=16, seed=3)


def test_modules_of_gasmeter_are_not_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec("Series(kernel='barrier', conduit='ideal', seeds=2)", {"__name__": "gasmeter.any", "Series": Within})


def called(*arguments, env=None):
    found = CliRunner().invoke(
        cli, ["measure", "barrier", "--conduit", "ideal", "--format", "csv", *arguments], env=env
    )
    assert found.exit_code == 0, found.output
    return found


def test_iters_is_iterations():
    new, old = called("--iterations", "3"), called("--iters", "3")
    assert new.stderr == ""
    assert old.stdout == new.stdout
    assert old.stderr == "--iters is called --iterations now; the old name still works\n"


def test_the_old_variable_works_where_the_new_one_is_not_set():
    old = called(env={"GASMETER_MEASURE_ITERS": "3"})
    assert old.stdout == called("--iterations", "3").stdout
    assert old.stderr == "GASMETER_MEASURE_ITERS is called GASMETER_MEASURE_ITERATIONS now; the old name still works\n"
    assert called(env={"GASMETER_MEASURE_ITERATIONS": "3", "GASMETER_MEASURE_ITERS": "4"}).stderr == ""


def test_an_option_is_given_by_one_name():
    found = CliRunner().invoke(cli, ["measure", "barrier", "--conduit", "ideal", "--iters", "3", "--iterations", "3"])
    assert found.exit_code == 2
    assert found.stderr == "Error: --iterations is given twice, as --iters too; allowed: once\n"


def test_help_shows_the_new_name_alone():
    text = CliRunner().invoke(cli, ["measure", "--help"]).stdout
    assert "--iterations N" in text
    assert "--iters" not in text


def test_axes_of_set_have_the_same_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.py").write_text(
        "import gasmeter as gm\n"
        "experiment = gm.Experiment(name='e', kernel='ping-pong', op='put', conduit='ideal', sizes=8)\n"
    )
    new, old = (
        CliRunner().invoke(cli, ["run", "e.py", "--dry-run", "--set", f"{name}=16"]) for name in ("sizes", "size")
    )
    assert "16 B" in new.stdout
    assert (old.stdout, new.stderr) == (new.stdout, "")
    assert old.stderr == "axis size of --set is called sizes now; the old name still works\n"


HARDWARE = "gasmeter check-machine is called gasmeter hardware now; the old name still works\n"
FROM = "gasmeter judge is called gasmeter reproduce --from now; the old name still works\n"


def run(*words, env=None):
    return CliRunner().invoke(cli, list(map(str, words)), env=env)


def test_check_machine_is_hardware():
    new, old = run("hardware", "extoll", "--format", "json"), run("check-machine", "extoll", "--format", "json")
    assert new.exit_code == old.exit_code == 0
    assert new.stdout == old.stdout != ""
    assert (new.stderr, old.stderr) == ("", HARDWARE)
    assert run("check-machine", "extoll", env={"GASMETER_CHECK_MACHINE_FORMAT": "json"}).stdout == new.stdout
    assert run("hardware", "extoll", env={"GASMETER_HARDWARE_FORMAT": "json"}).stdout == new.stdout


@pytest.mark.parametrize("words", [(), ("--format", "csv"), ("--out", "again")])
def test_judge_is_reproduce_from(words, monkeypatch):
    given = []

    def judge_folder(*arguments):
        given.append(arguments)
        return 1

    for module in (reproduce, judge):
        monkeypatch.setattr(module, "judge_folder", judge_folder)
    new, old = run("reproduce", "--from", "folder", *words), run("judge", "folder", *words)
    assert new.exit_code == old.exit_code == 1
    assert (new.stderr, old.stderr) == ("", FROM)
    assert given[0] == given[1]


def test_both_names_refuse_a_folder_alike(tmp_path):
    new, old = run("reproduce", "--from", tmp_path), run("judge", tmp_path)
    assert new.exit_code == old.exit_code == 2
    assert old.stderr == FROM + new.stderr


def test_old_commands_still_have_help():
    for name, line in (("check-machine", HARDWARE), ("judge", FROM)):
        done = run(name, "--help")
        assert (done.exit_code, done.stderr) == (0, line)
        assert done.stdout.startswith(f"Usage: gasmeter {name}")
