"""When the source of a put may be used again, by what it was asked to tell and where the source lies."""

import pytest

import gasmeter as gm


def reusable(conduit, local, **options):
    """Return the kernel's latency by what a put of 4 KiB is asked to tell."""
    options = {"local": local, **options}
    rows = gm.measure("local-completion", conduit=conduit, op="all", sizes=4096, options=options).rows
    assert {row["verified"] for row in rows} == {True}
    return {row["op"]: row["value"] for row in rows if row["metric"] == "latency"}


@pytest.mark.parametrize(("conduit", "options"), [("ideal", {"put": "native"}), ("extoll", {"put": "rma"})])
def test_card_that_reads_by_itself_lets_go_of_a_source_before_the_put_is_complete(conduit, options):
    times = reusable(conduit, "segment", **options)
    assert times["event"] < times["defer"]
    assert times["now"] < times["defer"]


def test_adapter_holds_a_source_that_it_reads_until_it_is_acknowledged():
    inside = reusable("ibv", "segment")
    assert inside["event"] == inside["defer"]
    assert inside["now"] < inside["event"]
    outside = reusable("ibv", "outside")  # copied, whatever was asked for
    assert max(outside["event"], outside["now"]) < outside["defer"] / 2
