"""Kernel `poll`: what looking for messages costs."""

from __future__ import annotations

import pytest

import gasmeter as gm


@pytest.mark.parametrize(
    ("op", "options", "latency"),
    [
        ("empty", {}, 10),  # poll_miss
        ("empty", {"poll": 3}, 13),  # and what the conduit adds
        ("empty", {"load": 400}, 10),  # an empty poll loads nothing
        ("found", {}, 220),  # nic_take 200, dispatch 20
        ("found", {"poll": 3}, 220),
        ("found", {"load": 400}, 620),
    ],
)
def test_a_poll_costs_what_host_and_conduit_say(op, options, latency):
    frame = gm.measure("poll", conduit="ideal", op=op, options=options).frame()
    assert list(frame["value"]) == [pytest.approx(latency)]
    if op == "empty":
        assert frame["verified"].isna().all()  # a poll has no data to compare
    else:
        assert frame["verified"].all()


def test_polls_of_a_real_conduit_find_every_message():
    frame = gm.measure("poll", conduit="smp", op="found").frame()
    assert frame["verified"].all()
    assert 0 < frame["value"][0] < 1e5
