"""A build without some networks: their machines are listed apart, and are no mistake of who names another one."""

import copy
import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from fakes import CATALOGUE
from gasmeter import catalogue
from gasmeter.checking import curves
from gasmeter.cli import cli
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.machines import checks, named

LEFT_OUT = {"aries", "extoll", "ethernet"}
MACHINES = {
    "aries": "aries", "aries-cori1": "aries", "aries-cori2": "aries", "ethernet": "ethernet",
    "ethernet-10g": "ethernet", "extoll": "extoll",
}  # fmt: skip


def without(networks):
    """The catalogue of a build that lacks these."""
    said = copy.deepcopy(CATALOGUE)
    for kind, key in (("networks", "name"), ("conduits", "network")):
        said[kind] = [entry for entry in said[kind] if entry[key] not in networks]
    for kernel in said["kernels"]:
        kernel["raw"] = [name for name in kernel["raw"] if name not in networks]
    return said


@pytest.fixture
def few(machine, monkeypatch):
    caches = (
        catalogue.declared, catalogue.catalogue, named._labelled, named._from_file, checks.checks, curves.curves,
    )  # fmt: skip
    said = without(LEFT_OUT)
    monkeypatch.setattr("fakes.Core.catalogue", staticmethod(lambda: said))
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def call(*words):
    return CliRunner().invoke(cli, words)


def test_machines_of_networks_that_are_left_out_stand_last_with_a_remark(few):
    assert set(gm.machines()) & set(MACHINES) == set()
    assert "ipoib" in gm.machines()
    listed = json.loads(call("list", "machines", "--json").stdout)
    assert [entry["name"] for entry in listed] == [*gm.machines(), *MACHINES]
    for entry in listed:
        assert entry["summary"]
        assert bool(entry["parameters"]) == (entry["name"] not in MACHINES)
    assert {entry["name"]: entry["network"] for entry in listed[-len(MACHINES) :]} == MACHINES
    lines = call("list", "machines").stdout.splitlines()
    last = next(line for line in lines if line.startswith("  extoll "))
    assert last.split()[1:6] == ["not", "in", "this", "build", "64"]
    assert lines.index(last) == len(lines) - 2
    one = call("list", "machines", "aries-cori2")
    assert one.exit_code == 0
    assert one.stdout.splitlines()[1].endswith("(not in this build, which has no network aries)")


def test_who_asks_for_such_a_machine_is_told_why_it_is_not_there(few, tmp_path):
    with pytest.raises(EnvironmentLacks, match="network extoll was left out of this build of gasmeter; allowed: "):
        gm.machine("extoll")
    for words in (("list", "machines", "extoll+draw=3"), ("hardware", "extoll")):
        found = call(*words)
        assert (found.exit_code, found.stdout) == (3, "")
        assert len(found.stderr.splitlines()) == 1
    own = tmp_path / "own.toml"
    own.write_text('network = "aries"\nsummary = "s"\n')
    with pytest.raises(EnvironmentLacks, match="network aries was left out"):
        gm.machine(str(own))
    own.write_text('network = "arise"\nsummary = "s"\n')
    with pytest.raises(UsageError, match="unknown network in machine file"):
        gm.machine(str(own))


def test_other_machines_do_not_need_them(few, tmp_path):
    assert call("hardware", "gm", "--format", "json").exit_code in {0, 1}
    assert [curve.id for curve in curves.curves().about(gm.machine("gm"))] == []
    assert {entry.machine for entry in checks.checks().checks} & set(MACHINES)
    found = call("measure", "ping-pong", "--conduit", "ideal", "--sizes", "8", "--format", "csv")
    assert found.exit_code == 0, found.stderr


def test_a_whole_build_lacks_none(machine):
    assert "extoll" in gm.machines()
    assert all(entry["parameters"] for entry in json.loads(call("list", "machines", "--json").stdout))
