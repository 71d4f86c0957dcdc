"""Draws of a machine's estimates, those of the null model too."""

import math
import subprocess
import sys

import pytest

import gasmeter as gm
from fakes import ModelJob
from gasmeter.catalogue import declared
from gasmeter.errors import UsageError
from gasmeter.machines import draws
from gasmeter.machines.draws import DRAWS, draw, drawn_values, null
from gasmeter.machines.files import read_machine

ALL = gm.machines()
EXTOLL = gm.machine("extoll")
SOFTWARE = {
    name: {parameter.key for parameter in network.parameters if parameter.software}
    for name, network in declared().networks.items()
}
WHOLE = {"bytes", "size", "count"}


def test_a_draw_has_every_estimate_in_its_range_and_nothing_else_moved():
    for name in ALL:
        machine = gm.machine(name)
        for which in (0, 17, DRAWS - 1):
            drawn = draw(machine, which)
            for number in drawn.numbers:
                filed = machine[number.key]
                if filed.estimate:
                    low, high = filed.ends()
                    assert low <= number.value <= high
                    assert number.kind not in WHOLE or number.value == int(number.value)
                    assert (number.origin, number.base, number.in_file) == ("draw", number, filed)
                elif filed.share is None:
                    assert number == filed
            assert drawn.digest != machine.digest


def test_draws_are_even_in_the_logarithm_and_no_two_are_alike():
    drawn = [drawn_values(EXTOLL, which) for which in range(DRAWS)]
    assert len({str(drawing) for drawing in drawn}) == DRAWS
    for number in EXTOLL.estimates():
        if number.kind in WHOLE:
            continue
        low, high = number.ends()
        parts = sorted(math.log(drawing[number.key] / low) / math.log(high / low) for drawing in drawn)
        # The largest distance from an even distribution: of as many chance numbers it would be 0.02 one time in twenty.
        assert max(abs(part - (i + 0.5) / DRAWS) for i, part in enumerate(parts)) < 0.002, number.key
    times = [[math.log(drawing[key]) for drawing in drawn] for key in ("host.lock", "link.latency")]
    assert abs(correlation(*times)) < 0.05


def test_many_draws_are_told_as_one_is():
    for name in ("extoll", "ibv+link.latency=1 us", "ethernet"):
        for which in (0, 17, DRAWS - 1):
            assert drawn_values(gm.machine(name), which) == draw(gm.machine(name), which).values()


def correlation(first, second):
    means = [sum(row) / len(row) for row in (first, second)]
    away = [[item - mean for item in row] for row, mean in zip((first, second), means, strict=True)]
    both, entry, other = (
        sum(a * b for a, b in zip(away[i], away[j], strict=True)) for i, j in ((0, 1), (0, 0), (1, 1))
    )
    return both / math.sqrt(entry * other)


def test_machines_with_the_same_hosts_have_them_in_every_draw():
    ethernet, ipoib = gm.machine("ethernet"), gm.machine("ipoib")
    shared = [
        number.key for number in ethernet.estimates() if number.key in ipoib and ipoib[number.key].place == number.place
    ]
    assert shared
    for which in range(0, DRAWS, 97):
        first_draw, other = draw(ethernet, which), draw(ipoib, which)
        assert [first_draw[key].value for key in shared] == [other[key].value for key in shared]
    entry = next(number.key for number in ipoib.estimates() if number.place.file == "ipoib.toml")
    rows = [[math.log(draw(ipoib, which)[key].value) for which in range(0, DRAWS, 8)] for key in (entry, shared[0])]
    assert abs(correlation(*rows)) < 0.15  # files draw on their own


def test_draws_are_the_same_in_every_process():
    code = (
        "from gasmeter.machines.named import machine;"
        " print([machine(f'ibv+draw={number}').digest for number in (0, 17, 4095)])"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == str([draw(gm.machine("ibv"), number).digest for number in (0, 17, 4095)])
    assert draw(gm.machine("ibv"), 17, seed=3).digest != draw(gm.machine("ibv"), 17).digest
    assert draw(gm.machine("ibv").with_(link_bandwidth="1 GB/s"), 17).digest != draw(gm.machine("ibv"), 17).digest


def test_a_label_names_a_draw_and_overrides_hold_in_it():
    drawn = gm.machine("extoll+draw=17")
    assert drawn == draw(EXTOLL, 17)
    assert (drawn.label, drawn.column, drawn.draw, drawn.null, drawn.overrides()) == (
        "extoll+draw=17", "extoll+draw=17", 17, None, {},
    )  # fmt: skip
    wide = gm.machine("extoll+draw=17+link.bandwidth=1000 GB/s")
    assert wide == drawn.with_(link_bandwidth="1000 GB/s") == draw(EXTOLL.with_(link_bandwidth="1000 GB/s"), 17)
    assert wide == gm.machine("extoll+link.bandwidth=1000 GB/s+draw=17")
    assert wide.label == "extoll+draw=17+link.bandwidth=1000 GB/s"
    assert {key for key, value in wide.values().items() if value != drawn.values()[key]} == {"link.bandwidth"}
    # A given number is not drawn. It stays an override even if it equals the number in the file.
    given = drawn.with_(link_latency=EXTOLL["link.latency"].text)
    assert given.label == "extoll+draw=17+link.latency=270 ns"
    assert given.with_(link_latency=drawn["link.latency"].text) == drawn
    assert given["link.latency"].source.startswith("given; the machine's file says 0.27 us (estimate: 20-30 pipeline")
    assert drawn.with_(topology="torus3d:2x2x2").column == "extoll+draw=17"
    assert gm.machine("extoll+draw=17@3") == draw(EXTOLL, 17, seed=3) != drawn
    assert draw(EXTOLL, 17, seed=3).label == "extoll+draw=17@3"
    assert draw(drawn, 18) == draw(EXTOLL, 18)
    assert (EXTOLL.draw, EXTOLL.null) == (None, None)


def test_a_draw_tells_of_every_number_what_it_was():
    drawn = gm.machine("extoll+draw=17")
    effective = drawn.effective()
    assert set(effective) == set(EXTOLL.effective())
    latency = effective["link.latency"]
    assert (latency["origin"], latency["confidence"]) == ("draw", "low")
    assert latency["source"].startswith("draw=17; the machine's file says 0.27 us (estimate:")
    assert [latency["low"], latency["high"]] == [250e-9, 350e-9]
    assert effective["link.bandwidth"]["origin"] == "file"
    assert drawn.tainted_by() == EXTOLL.tainted_by()


def test_run_json_has_the_value_of_every_number_of_a_draw_and_all_of_a_file():
    kept = gm.machine("extoll+draw=17").facts()["parameters"]
    assert kept == {
        key: {"value": facts["value"], "origin": facts["origin"]}
        for key, facts in gm.machine("extoll+draw=17").effective().items()
    }
    assert EXTOLL.facts()["parameters"] == EXTOLL.effective()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extoll+draw=4096", "draw=4096 of machine extoll does not exist; allowed: whole numbers from 0 to 4095"),
        ("extoll+null=4096", "null=4096 of machine extoll does not exist; allowed: whole numbers from 0 to 4095"),
        ("extoll+draw=-1", "machine 'extoll+draw=-1': draw=-1 is no draw; allowed: a whole number from 0 to 4095"),
        ("extoll+draw=two", "machine 'extoll+draw=two': draw=two is no draw; allowed: a whole number from 0 to 4095"),
        ("extoll+draw=", "machine 'extoll+draw=': draw= is no draw; allowed: a whole number from 0 to 4095"),
        ("extoll+draw=1+draw=1", "machine 'extoll+draw=1+draw=1': draw is given twice; allowed: once"),
        ("extoll+draw=1+null=1", "machine 'extoll+draw=1+null=1' is a draw and the null model's; allowed: one of both"),
    ],
)
def test_a_draw_that_there_is_not_is_one_line(name, message):
    with pytest.raises(UsageError) as caught:
        gm.machine(name)
    assert str(caught.value) == message


def test_a_range_from_nothing_on_is_not_drawn():
    entry = 'value = "2 ns"\nlow = "0 ns"\nhigh = "4 ns"\nconfidence = "low"\nsource = "estimate: a round number"\n'
    machine = read_machine(f'base = "ideal"\nsummary = "s"\n[nic.gap]\n{entry}', "m")
    with pytest.raises(UsageError, match=r"^nic.gap: its range begins at 0 ns; allowed: above 0, as draws are even in"):
        draw(machine, 1)


def test_a_machine_without_estimates_is_each_of_its_draws():
    numbers = tuple(number for number in EXTOLL.numbers if not number.estimate and number.share is None)
    bare = type(EXTOLL)("bare", "extoll", "s", numbers)
    assert draw(bare, 3).values() == bare.values()
    assert draw(bare, 3).label == "bare+draw=3"


# ---- the null model


@pytest.mark.parametrize("network", sorted(SOFTWARE))
def test_software_is_what_a_core_spends_time_on(network):
    """The rule, by the names of parameters: times of host, kernel and MPI; a network that adds one has to say which."""
    for parameter in declared().networks[network].parameters:
        by_rule = parameter.kind == "time" and parameter.key.startswith(("host.", "kernel.", "mpi."))
        assert parameter.software == by_rule, parameter.key


def test_the_null_model_is_the_draw_with_software_wrong_by_factors_of_its_own():
    factors = {}
    for which in range(DRAWS):
        drawn, doubted = gm.machine(f"extoll+draw={which}"), gm.machine(f"extoll+null={which}")
        assert (doubted.null, doubted.draw, doubted.label) == (which, None, f"extoll+null={which}")
        for key, value in drawn.values().items():
            if key in SOFTWARE["extoll"]:
                factors.setdefault(key, []).append(doubted[key].value / value)
            else:
                assert doubted[key].value == value, key
    assert set(factors) == SOFTWARE["extoll"] & set(EXTOLL.values())
    for key, entry in factors.items():
        assert 0.499 < min(entry) < 0.55, key
        assert 1.8 < max(entry) < 2.001, key
        assert abs(sum(math.log2(factor) for factor in entry) / DRAWS) < 0.15, key
    item, *others = factors.values()
    for other in others:
        assert max(abs(math.log2(a / b)) for a, b in zip(item, other, strict=True)) > 1


def test_the_null_model_moves_software_that_is_no_estimate_too():
    numbers = tuple(number.in_file for number in EXTOLL.numbers if number.key != "host.lock")
    fixed = type(EXTOLL["host.lock"])("host.lock", "time", "35 ns", 35e-9, "s", "high")
    machine = type(EXTOLL)("extoll", "extoll", "s", (*numbers, fixed))
    assert draw(machine, 5)["host.lock"].value == 35e-9
    assert null(machine, 5)["host.lock"].value != 35e-9
    # The factor of a parameter does not depend on the other parameters.
    alone = type(EXTOLL)("extoll", "extoll", "s", (fixed,))
    assert null(alone, 5)["host.lock"].value == null(machine, 5)["host.lock"].value


def test_a_modelled_point_runs_on_a_draw(machine):
    result = gm.measure(
        "ping-pong", conduit="extoll", op="am-short", machine="extoll+draw=17,extoll+null=3", iterations=5
    )
    assert {row["machine"] for row in result.rows} == {"extoll+draw=17", "extoll+null=3"}
    for label in ("extoll+draw=17", "extoll+null=3"):
        assert {**gm.machine(label).values(), "placement": "one-per-node"} in ModelJob.machines
    assert draws.DRAW_SEED == 21  # labels in every store with draws rest on this seed
