"""The drawings of the SCI paper, as the running protocol: what is stored when, what is looked at, what is copied."""

from itertools import pairwise

import pytest

from gasmeter.trace import trace

CHECKED = {"check": "transaction"}
# Steps of the sender's core alone: stores to the card, the wait for echoes, the read that ends a sequence, copies.
STORING = {"doorbell", "flag", "stall", "check", "copy"}


def shown(op, size=None, **options):
    return trace(op, conduit="sci", machine="sci", sizes=size, options={"local": "segment", **options})[0].shown


def at(operation, phase, names):
    """Names of the steps of a phase that are asked for, in order."""
    return [step.name for step in operation.steps if step.phase == phase and step.name in names]


def test_a_short_is_a_header_and_two_flags_each_stored_and_checked():
    operation = shown("am-short", **CHECKED)
    # The header, the slot's flag, and that there is one; with that the message is on its way. The reply likewise.
    stored = ["doorbell", "stall", "check", "flag", "stall", "check", "flag"]
    assert at(operation, "initiate", STORING) == stored
    assert at(operation, "target", STORING) == stored


def test_a_check_a_message_is_between_data_and_flags():
    operation = shown("am-short", check="message")
    assert at(operation, "initiate", STORING) == ["doorbell", "stall", "check", "flag"]
    checks = [step for step in operation.steps if step.name == "check"]
    assert len(checks) == 2  # a check of the request, a check of its reply
    assert len([step for step in shown("am-short", **CHECKED).steps if step.name == "check"]) == 4


def test_one_transaction_is_a_store_and_a_check_less_and_a_copy_more():
    two = shown("am-medium", 512, medium="two-transactions", **CHECKED)
    single = shown("am-medium", 512, medium="one-transaction", **CHECKED)
    for phase in ("initiate", "target"):
        for name in ("doorbell", "stall", "check"):
            assert len(at(two, phase, {name})) == len(at(single, phase, {name})) + 1, (phase, name)
        assert at(two, phase, {"copy"}) == []
        assert at(single, phase, {"copy"}) == ["copy"]


def test_a_message_is_found_by_its_flags_and_handled_in_place():
    operation = shown("am-medium", 512, **CHECKED)
    target = [
        step.name for step in operation.steps if step.phase in {"target", "completion"} and step.where != "node 0"
    ]
    assert target.index("poll") < target.index("dispatch") < target.index("doorbell")
    assert "scan" in {step.name for step in operation.steps}


@pytest.mark.parametrize("size", [2040, 2048, 4096])
def test_longs_from_2048_bytes_on_go_by_dma(size):
    operation = shown("am-long", size, **CHECKED)
    engine = [step for step in operation.steps if step.name == "device" and step.ps > 20_000_000]
    assert len(engine) == (2 if size >= 2048 else 0)  # one each way
    if size >= 2048:  # into the staging segment before the engine starts
        names = [step.name for step in operation.steps if step.phase == "initiate"]
        assert "copy" in names
        first = operation.steps.index(engine[0])
        assert "copy" in {step.name for step in operation.steps[:first]}
    assert all(entry.end_ps == other.begin_ps for entry, other in pairwise(operation.steps))
