"""Kernel `one-way`: the way there and the way back, by one clock or by two that are related by messages."""

from __future__ import annotations

import pytest

import gasmeter as gm


def one_way(conduit, op="am-short", **asked):
    """Return the kernel's metrics, whose rows are verified."""
    result = gm.measure("one-way", conduit=conduit, op=op, **asked)
    assert {row["verified"] for row in result.rows} == {True}
    return result, {row["metric"]: row["value"] for row in result.rows}


def test_slow_way_back_is_told_by_one_clock_and_halved_by_exchanges():
    _, truth = one_way("ideal", options={"latency_back": 3000})
    assert truth == {"latency": 1460, "latency_back": 3460, "round_trip": 4920}
    _, result = one_way("ideal", options={"latency_back": 3000, "clock": "exchanged"})
    assert result["latency"] == result["latency_back"] == 2460
    assert abs(result["latency"] - truth["latency"]) <= result["uncertainty"] == 2470


# Rank 1 is the next one behind rank 0, and rank 0 three hops behind rank 1.
def test_ring_that_goes_one_way_is_long_on_the_way_back():
    _, truth = one_way("sci", topology="oneway-ring:4", ranks=4)
    assert truth["latency_back"] > truth["latency"]


@pytest.mark.parametrize("op", ["am-short", "put"])
@pytest.mark.parametrize("asked", [
    {"conduit": "sci", "topology": "oneway-ring:4", "ranks": 4}, {"conduit": "extoll"}, {"conduit": "gm"},
    {"conduit": "portals"}, {"conduit": "aries"}, {"conduit": "udp@ethernet"},
])  # fmt: skip
def test_exchanges_are_off_by_no_more_than_they_say(op, asked):
    _, truth = one_way(op=op, sizes=64, iterations=20, **asked)
    _, result = one_way(op=op, sizes=64, iterations=20, options={"clock": "exchanged"}, **asked)
    assert abs(result["latency"] - truth["latency"]) <= result["uncertainty"]
    assert result["latency"] + result["latency_back"] == pytest.approx(result["round_trip"])


@pytest.mark.parametrize("clock", ["auto", "exchanged"])
@pytest.mark.parametrize(
    ("conduit", "op"), [("smp", "am-short"), ("smp", "am-medium"), ("smp", "am-long"), ("smp", "put"), ("udp", "put")]
)
def test_real_ranks_of_one_host_share_a_clock_and_can_do_without(conduit, op, clock):
    result, results = one_way(conduit, op, sizes=64, iterations=10, options={"clock": clock, "exchanges": 10})
    assert results["round_trip"] > 0
    assert ("uncertainty" in results) == (clock == "exchanged")
    (became,) = (options["clock"]["value"] for record in result.records for options in record.resolved.values())
    assert became == ("exchanged" if clock == "exchanged" else "shared")
