"""Memory that a conduit reserves on the modelled machine, beside the memory of the simulation."""

import math

import pytest

import gasmeter as gm


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "ibv", "gm"])
def test_a_figure_of_the_modelled_machine_says_so_beside_measured_ones(conduit):
    rows = {row["metric"]: row for row in gm.measure("simulator", conduit=conduit, op="am", ranks=4).rows}
    assert {name: row["kind"] for name, row in rows.items()} == {
        "rate": "measured",
        "memory_per_rank": "measured",
        "reserved_bytes": "modelled",
    }
    reserved = rows["reserved_bytes"]
    assert (reserved["label"], reserved["unit"], reserved["state"]) == ("predicted", "B", "good")
    assert math.isnan(reserved["host_state_ns"])
    assert reserved["value"] == reserved["ci_low"] == reserved["ci_high"] > 0
