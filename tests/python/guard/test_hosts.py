"""Remarks of a check on hosts with different settings, and on stolen time."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from gasmeter.cli.app import cli
from gasmeter.measuring.execution import Run, execute
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.series import Series
from stored import edit_run

CALM = {
    "governor": "performance",
    "boost": False,
    "smt": False,
    "aslr": 0,
    "huge_pages": "madvise",
    "steal_share": 0.01,
}
LINE = "hosts are set differently"


@pytest.fixture
def stores(machine, tmp_path):
    """Two stores of one host, and what changes the facts of one."""

    def made(conduit="smp"):
        machine.noise = 0.004
        series = Series(kernel="ping-pong", conduit=conduit, op="put", sizes="8", time_s=0.01, max_time_s=0.1)
        places = [tmp_path / name for name in "ab"]
        for place in places:
            execute(Experiment(name="suite", series=(series,)), Run(out=place, starts=10, bare=True))
            say(place, **CALM)
        return places

    return made


def say(place, **facts):
    edit_run(place, lambda run: run["runs"][-1]["host"].update(facts))


def check(stores, *more):
    done = CliRunner().invoke(cli, ["check", "--baseline", *map(str, stores), *more])
    return done.exit_code, done.stdout


def test_hosts_that_are_alike_are_not_mentioned(stores):
    status, text = check(stores())
    assert (status, LINE in text, "hypervisor" in text) == (0, False, False)


@pytest.mark.parametrize(
    ("facts", "remark"),
    [
        ({"governor": "powersave"}, "governor: performance, powersave"),
        ({"boost": True}, "boost: off, on"),
        ({"smt": True}, "SMT: off, on"),
        ({"aslr": 2}, "ASLR: off, on"),
        ({"huge_pages": "always"}, "huge pages: madvise, always"),
        ({"governor": "powersave", "boost": True}, "governor: performance, powersave; boost: off, on"),
    ],
)
def test_a_setting_that_differs_is_told_in_one_line_and_moves_no_verdict(stores, facts, remark):
    places = stores()
    before, _ = check(places)
    say(places[1], **facts)
    status, text = check(places)
    assert status == before == 0
    assert text.count(f"{LINE} ({remark})") == 1
    assert check(places[::-1])[1].count(LINE) == 1


def test_what_a_store_does_not_say_is_no_difference(stores):
    places = stores()
    say(places[1], governor=None)
    edit_run(places[1], lambda run: run["runs"][-1]["host"].pop("boost"))
    assert LINE not in check(places)[1]


def test_other_processors_are_told_where_one_insists(stores):
    places = stores()
    say(places[1], usable_cpus=[5])
    assert check(places)[0] == 2
    assert ", [5])" in check(places, "--any-machine")[1]


def test_stolen_time_is_told_above_one_percent(stores):
    places = stores()
    say(places[1], steal_share=0.034)
    status, text = check(places)
    assert status == 0
    assert text.count(f"a hypervisor took 3.4 % of the processors' time from a run of {places[1]}") == 1


def test_virtual_time_is_the_same_however_a_host_is_set(stores):
    places = stores("ideal")
    say(places[1], governor="powersave", steal_share=0.5)
    status, text = check(places)
    assert (status, LINE in text, "hypervisor" in text) == (0, False, False)


def test_every_format_says_it(stores, tmp_path):
    places = stores()
    say(places[1], governor="powersave")
    words = [word for form in ("markdown", "junit", "json") for word in ("--report", f"{form}={tmp_path / form}")]
    assert LINE in check(places, *words)[1]
    assert LINE in (tmp_path / "markdown").read_text()
    assert any(LINE in (entry.text or "") for entry in ET.parse(tmp_path / "junit").iter("system-out"))
    assert any(note.startswith(LINE) for note in json.loads((tmp_path / "json").read_text())["notes"])
