"""Sweeps that look for jumps: what they measure, keep and say, on a fake machine; and known limits of protocols."""

import json

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter import library
from gasmeter.arguments.sizes import format_size
from gasmeter.cli import cli
from gasmeter.errors import UsageError
from gasmeter.measuring import bisecting, summary
from gasmeter.measuring.bisecting import Bisection
from gasmeter.measuring.execution import Run, execute
from gasmeter.rows.jumps import BisectedCurve, Jump, curves_from, jump_lines
from gasmeter.stores.store import open_result, read_run

SIZES = "8:4K"
POWERS = [8 << power for power in range(10)]


def sweep(**settings):
    fields = {"name": "sweep", "kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": SIZES, "bisect": "20%"}
    return gm.Experiment(**{**fields, **settings})


def sizes_of(result, **columns):
    rows = [row for row in result.rows if all(row[name] == value for name, value in columns.items())]
    return [row["size_bytes"] for row in rows if not row["reference"]]


def places(result):
    return [(jump.before_bytes, jump.after_bytes) for jump in result.jumps]


def test_the_byte_is_found_and_what_was_measured_stands_among_the_others(machine):
    machine.steps = {"smp": {121: 10.0}}
    result = sweep().run()
    assert places(result) == [(120, 121)]
    (jump,) = result.jumps
    assert jump.left == ""
    assert jump.change == pytest.approx(jump.after / jump.before - 1)
    assert 1.5 < jump.change < 3
    assert sizes_of(result) == sorted([*POWERS, 96, 112, 120, 124, 122, 121])
    (curve,) = result.bisected
    assert (curve.points, curve.added, curve.metric) == (10, 6, "latency")


def test_a_smooth_curve_costs_no_point(machine):
    result = sweep().run()
    assert sizes_of(result) == POWERS
    assert (result.jumps, [curve.added for curve in result.bisected]) == ([], [0])


@pytest.mark.parametrize("seed", range(1, 6))
def test_noise_beyond_the_share_is_no_jump(machine, seed):
    machine.noise, machine.seed = 0.6, seed
    machine.__post_init__()
    assert sizes_of(sweep(bisect="1%").run()) == POWERS


def test_jumps_and_curves_are_each_their_own(machine):
    machine.steps = {"smp": {121: 10.0, 1500: 40.0}, "udp": {3000: 90.0}}
    result = sweep(conduit="smp,udp,raw@shm", ranks="2,4").run()
    results = {curve.name: [(jump.before_bytes, jump.after_bytes) for jump in curve.jumps] for curve in result.bisected}
    assert results == {
        f"ping-pong put on {conduit}, {ranks} ranks": jumps
        for conduit, jumps in {"smp": [(120, 121), (1499, 1500)], "udp": [(2999, 3000)], "raw@shm": []}.items()
        for ranks in (2, 4)
    }
    assert sizes_of(result, conduit="raw@shm", ranks=2) == POWERS
    for conduit in ("smp", "udp"):
        assert (taken := sizes_of(result, conduit=conduit, ranks=4)) == sorted(taken)
        assert 120 in taken or 2999 in taken
    every = sizes_of(result)
    assert every == sorted(every)


def test_operations_without_sizes_are_passed_over(machine):
    result = sweep(op="am-short,put").run()
    assert [curve.name for curve in result.bisected] == ["ping-pong put on smp, 2 ranks"]


@pytest.mark.parametrize("shares", [("20%", None), (None, "20%"), ("20%", "90%"), ("90%", "20%")])
def test_a_curve_of_several_series_is_one_and_nothing_is_measured_twice(machine, shares):
    machine.steps = {"smp": {121: 10.0}}
    entry = [{"sizes": SIZES}, {"sizes": "64,96,100"}]
    series = [
        gm.Series(kernel="ping-pong", conduit="smp", op="put", bisect=share, **fields)
        for share, fields in zip(shares, entry, strict=True)
    ]
    messages = []
    result = gm.Experiment(name="two", series=series).run(progress=messages.append)
    assert places(result) == [(120, 121)]
    (curve,) = result.bisected
    assert (curve.points, curve.share) == (12, 0.2)
    taken = sizes_of(result)
    assert len(taken) == len(set(taken)) == messages[-1].done == messages[-1].total


def test_bandwidth_is_looked_at_as_time(machine):
    assert sizes_of(sweep(kernel="flood", bisect="5%").run(), metric="bandwidth") == POWERS
    machine.steps = {"smp": {700: 30.0}}
    result = sweep(kernel="flood", bisect="20%").run()
    (curve,) = result.bisected
    assert curve.metric == "bandwidth"
    assert places(result) == [(699, 700)]
    assert result.jumps[0].change < 0


def test_a_comparison_goes_on_at_the_sizes_that_are_added(machine):
    machine.steps = {"smp": {121: 10.0}}
    result = sweep(against="raw@shm").run()
    compared = [row["size_bytes"] for row in result.rows if row["metric"] == "overhead"]
    assert compared == sorted([*POWERS, 96, 112, 120, 124, 122, 121])
    assert [(curve.name, len(curve.jumps)) for curve in result.bisected] == [
        ("ping-pong put on raw@shm, 2 ranks", 0), ("ping-pong put on smp, 2 ranks", 1),
    ]  # fmt: skip


def test_neighbours_are_sizes_that_the_kernel_takes(machine):
    machine.steps, machine.grain = {"smp": {121: 10.0}}, 8
    result = sweep().run()
    assert places(result) == [(120, 128)]
    assert sizes_of(result) == [8, 16, 32, 64, 96, 112, 120, 128, 256, 512, 1024, 2048, 4096]
    assert result.notes == []


@pytest.mark.parametrize("step", [3, 6, 7, 24, 45, 100])
def test_neighbours_are_sizes_of_odd_factors_too(machine, step):
    asked = [step << power for power in range(8)]
    last = 67 * step
    machine.steps, machine.grain = {"smp": {last + 1: 1000.0}}, step
    result = sweep(sizes=asked).run()
    assert places(result) == [(last, last + step)]
    assert not any(size % step for size in sizes_of(result))
    assert result.notes == []


def test_a_limit_of_points_is_told(machine, monkeypatch):
    monkeypatch.setattr(bisecting, "MOST_ADDED", 3)
    machine.steps = {"smp": {121: 10.0}}
    result = sweep().run()
    assert sizes_of(result) == [8, 16, 32, 64, 96, 112, 120, 128, 256, 512, 1024, 2048, 4096]
    (jump,) = result.jumps
    assert (jump.before_bytes, jump.after_bytes, jump.left) == (120, 128, "not narrowed: 3 sizes were added, the most")


def test_what_ctrl_c_leaves_is_gone_on_with_and_measured_once(machine, tmp_path):
    machine.steps = {"smp": {121: 10.0}}
    whole = sizes_of(sweep().run())
    blocks = machine.blocks
    machine.blocks, machine.interrupt_at_block = 0, int(0.85 * blocks)
    with pytest.raises(KeyboardInterrupt):
        sweep().run(tmp_path)
    done = sizes_of(open_result(tmp_path))
    assert len(POWERS) < len(done) < len(whole)
    assert read_run(tmp_path).get("bisected", []) == []  # the run stopped before bisecting: no entry, not an empty one
    machine.interrupt_at_block = None
    result = sweep().resume(tmp_path)
    assert sizes_of(result) == whole
    assert places(result) == places(open_result(tmp_path)) == [(120, 121)]
    blocks = machine.blocks
    again = sweep().resume(tmp_path)
    assert machine.blocks == blocks
    assert again.rows == result.rows


def test_what_another_build_measured_between_is_measured_again(machine, tmp_path, monkeypatch):
    machine.steps = {"smp": {121: 10.0}}
    for digest in ("a" * 16, "b" * 16):
        monkeypatch.setattr(library, "this_build", lambda *_, of=digest: {"revision": "r", "digest": of})
        sweep().resume(tmp_path) if digest[0] == "b" else sweep().run(tmp_path)
    assert {entry.build for entry in open_result(tmp_path).records} == {"b" * 16}


def test_a_store_says_what_was_found_and_what_was_added(machine, tmp_path):
    machine.steps = {"smp": {121: 10.0}}
    result = sweep().run(tmp_path)
    run = read_run(tmp_path)
    (curve,) = run["bisected"]
    (jump,) = curve["jumps"]
    assert (jump["before_bytes"], jump["after_bytes"], jump["left"]) == (120, 121, "")
    assert jump["change"] == result.jumps[0].change
    assert len(run["runs"][0]["points"]) == run["runs"][0]["groups"] == run["groups"] == 16
    assert open_result(tmp_path).bisected == result.bisected
    line = "jump between 120 B and 121 B: latency 4.4"
    for name in ("summary.md", "report.html"):
        assert line in (tmp_path / name).read_text()
    result.save(tmp_path / "again")
    assert open_result(tmp_path / "again").bisected == result.bisected
    assert line in result._repr_html_()


def test_in_short_keeps_to_sizes_that_were_asked_for_and_jumps_stand_apart(machine, tmp_path):
    few = [8, 64, 512, 4096]
    machine.steps = {"smp": {121: 10.0}}
    result = sweep().run(tmp_path)
    heads, lines = summary.digest(result)
    assert [line[heads.index("size")] for line in lines] == [format_size(size) for size in few]
    again = sweep().resume(tmp_path)
    assert summary.digest(again) == (heads, lines)
    jump = "jump between 120 B and 121 B: "
    jumps, _, short = (tmp_path / "summary.md").read_text().partition("## In short")
    assert jump in jumps
    assert "| 121 B |" not in short.partition("## Rows")[0]
    assert "| 121 B |" in short.partition("## Rows")[2]
    machine.steps = {}
    assert summary.digest(sweep().run())[1] != lines  # another curve, and as many lines
    assert len(summary.digest(sweep().run())[1]) == len(few)


def test_progress_counts_what_is_added_and_says_so(machine):
    machine.steps = {"smp": {121: 10.0}}
    messages = []
    sweep().run(progress=messages.append)
    assert (messages[0].total, messages[-1].done, messages[-1].total) == (10, 16, 16)
    assert "bisecting: ping-pong put 96 B on smp, 2 ranks" in {message.label for message in messages}
    assert not any("bisecting" in message.label for message in messages if message.total == 10)


def test_the_command_says_it_below_its_table_and_beside_csv(machine):
    machine.steps = {"smp": {121: 10.0}}
    asked = ["measure", "ping-pong", "--op", "put", "--conduit", "smp", "--sizes", SIZES, "--bisect", "20%"]
    shown = CliRunner().invoke(cli, asked)
    line = next(line for line in shown.stdout.splitlines() if line.startswith("jump between 120 B and 121 B: latency "))
    assert line.endswith(" %)")
    assert "121 B" in shown.stdout.partition("jump")[0]
    plain = CliRunner().invoke(cli, [*asked, "--format", "json"])
    assert line.partition(":")[0] in plain.stderr
    assert len(json.loads(plain.stdout)) == 16


def test_many_curves_without_a_jump_share_a_line(machine):
    result = sweep(conduit="smp,udp,raw@shm,raw@udp,ideal").run()
    assert jump_lines(result.bisected) == ["no jump of more than 20 % in 5 curves"]


def test_set_gives_it_to_an_experiment_and_starts_refuse_it(machine):
    machine.steps = {"smp": {121: 10.0}}
    plain = sweep(bisect=None)
    assert places(plain.run(replace={"bisect": "20%"})) == [(120, 121)]
    assert places(plain.run()) == []
    with pytest.raises(UsageError, match="starts 3 with bisect"):
        execute(sweep(), Run(starts=3))


def test_points_that_did_not_verify_are_not_looked_at(machine):
    machine.unverified = {"put"}
    result = sweep().run()
    assert sizes_of(result) == POWERS
    assert result.jumps == []
    assert jump_lines(result.bisected) == ["not looked at for jumps: 0 of its sizes can be relied on, 3 are needed"]


def test_what_noise_hides_is_said_to_be_undecided(machine, tmp_path):
    machine.noise = 0.6
    result = sweep(bisect="1%").run(tmp_path)
    (curve,) = result.bisected
    assert curve.undecided[:2] == ((8, 16), (16, 32))
    (line,) = jump_lines(result.bisected)
    assert line == (
        f"no jump of more than 1 %; undecided, as wide as 95 % intervals are: {len(curve.undecided)} steps,"
        " 8 B to 16 B, 16 B to 32 B, 32 B to 64 B, …"
    )
    assert read_run(tmp_path)["bisected"][0]["undecided"][0] == [8, 16]
    assert open_result(tmp_path).bisected == result.bisected
    assert line in (tmp_path / "summary.md").read_text()
    machine.noise = 0.0
    assert jump_lines(sweep(bisect="1%").run().bisected) == ["no jump of more than 1 %"]


def test_many_curves_that_noise_hides_share_a_line(machine):
    machine.noise = 0.6
    result = sweep(conduit="smp,udp,raw@shm,raw@udp", bisect="1%").run()
    steps = sum(len(curve.undecided) for curve in result.bisected)
    assert jump_lines(result.bisected) == [
        f"no jump of more than 1 % in 4 curves; undecided, as wide as 95 % intervals are: {steps} steps"
    ]


def test_a_jump_between_noisy_figures_says_so():
    noisy = Jump(28, 29, 5.0, 8.0, state="noisy")
    curve = BisectedCurve("puts", "latency", "ns", 0.2, 9, 4, (noisy,), ((64, 128),), passed_over=2)
    assert curve.lines() == [
        "jump between 28 B and 29 B: latency 5 ns to 8 ns (+60 %), noisy",
        "undecided, as wide as 95 % intervals are: 1 step, 64 B to 128 B; 2 sizes passed over, not to be relied on",
    ]
    assert curves_from([curve.facts()]) == [curve]
    older = curve.facts()
    del older["undecided"], older["passed_over"], older["jumps"][0]["state"]
    (read,) = curves_from([older])
    assert (read.undecided, read.passed_over, read.jumps[0].state) == ((), 0, "good")


def test_sizes_that_cannot_be_relied_on_are_counted(machine):
    result = sweep().run()
    for row in result.rows[:2]:
        row["state"] = "load"
    groups = sweep().groups()
    (curve,) = Bisection(groups).curves({entry.group: entry for entry in result.records})
    assert (curve.points, curve.passed_over) == (8, 2)
    assert curve.lines() == ["no jump of more than 20 %; 2 sizes passed over, not to be relied on"]


# ---- limits of protocols, in exact virtual time


def jumps_of(op, conduit, sizes, share, machine=""):
    result = gm.measure(
        "ping-pong", op=op, conduit=conduit, sizes=sizes, bisect=share, machine=machine, iterations=10, progress=False
    )
    return places(result)


def number(machine, key):
    return int(gm.machine(machine).effective()[key]["value"])


def test_the_first_packet_of_a_message_on_extoll():
    # A VELO packet has 64 B: 8 of status, 8 of the message's header, the rest is payload (networks/extoll/README.md).
    assert jumps_of("am-medium", "extoll", "8:64", "5%") == [(48, 49)]


@pytest.mark.parametrize("limit", [None, 300])
def test_what_a_work_request_carries_itself_on_infiniband(limit):
    named = f"ibv+hca.inline_limit={limit} B" if limit else "ibv"
    most = number(named, "hca.inline_limit")
    assert most == (limit or 400)
    assert jumps_of("put", "ibv", "128:1K", "10%", named) == [(most, most + 1)]


def test_longs_that_are_packed_into_their_message_on_infiniband():
    # kMostPackedLong of networks/ibv/am_wire.hpp: from there on the payload is written by RDMA before the message.
    assert jumps_of("am-long", "ibv", "1K:16K", "10%") == [(4016, 4017)]


def test_what_rides_in_the_header_packet_of_portals():
    most = number("portals", "nic.inline")
    assert jumps_of("put", "portals", "2:128", "3%") == [(most, most + 1)]


def test_a_network_without_limits_has_no_jump():
    assert jumps_of("put", "ideal", "8:4K", "3%") == []
