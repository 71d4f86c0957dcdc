"""Notes on what-ifs without effect: a line for each number of a machine that no point depends on."""

from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli

EXTOLL = gm.machine("extoll")


def notes(machine, **settings):
    return gm.measure("ping-pong", conduit="extoll", machine=machine, progress=False, **settings).notes


def test_a_number_that_no_point_depended_on_is_told_once_for_all_points():
    changed = EXTOLL.with_(host_update="17 ns")  # price of a random update: a ping-pong makes none
    assert notes(changed, op="put", sizes="8,16") == [
        "nothing used host.update=17 ns: all 2 points of machine extoll+host.update=17 ns came to the same picoseconds"
        " as without it"
    ]


def test_a_number_that_was_used_is_not_told():
    assert notes(EXTOLL.with_(link_latency="1 us"), op="am-short") == []


def test_each_machine_is_told_of_by_itself():
    remarks = notes([EXTOLL.with_(host_update="17 ns"), EXTOLL.with_(link_latency="1 us"), EXTOLL], op="am-short")
    assert [line.partition(":")[0] for line in remarks] == ["nothing used host.update=17 ns"]
    assert "the one point of machine extoll+host.update=17 ns" in remarks[0]


def test_what_was_said_is_true():
    base, changed = (
        gm.measure("ping-pong", conduit="extoll", op="put", sizes="8", machine=entry, progress=False).rows[0]["value"]
        for entry in (EXTOLL, EXTOLL.with_(host_update="17 ns"))
    )
    assert base == changed


def test_the_command_tells_on_standard_error():
    result = CliRunner().invoke(
        cli, ["measure", "ping-pong", "--conduit", "extoll", "--machine", "extoll+host.update=17 ns", "--format", "csv"]
    )
    assert result.exit_code == 0
    assert result.stderr.startswith("nothing used host.update=17 ns: the one point of machine extoll+")
    assert result.stderr.count("\n") == 1
