import pytest

import gasmeter as gm
from gasmeter.errors import UsageError
from gasmeter.machines import hardware
from gasmeter.machines.bands import bands, judge
from gasmeter.machines.checks import checks
from gasmeter.machines.hardware import Fact, facts
from gasmeter.machines.machine import Machine, Number
from gasmeter.machines.provenance import label, ledger, ledger_digest, ledger_problems

ALL = gm.machines()
# Facts that stand there before the machine that they are about.
AHEAD = {
    "aries": ("hw.aries.", "hw.xc40.", "hw.haswell.", "hw.knl.", "aries-hw-"),
}  # fmt: skip


def test_facts_have_an_id_a_source_and_a_confidence():
    assert facts()
    for name, fact in facts().items():
        assert name == fact.id
        assert fact.source
        assert fact.value
        assert fact.confidence in {"high", "medium", "low"}


def test_every_fact_that_is_shipped_is_used_or_known_to_decide_nothing():
    used = {fact for name in ALL for number in gm.machine(name).numbers for fact in number.hardware}
    checked = {entry.hardware for entry in checks().checks}
    ahead = tuple(begin for name, begins in AHEAD.items() if name not in ALL for begin in begins)
    shipped = {name for name in facts() if not name.startswith(ahead)}
    assert used | checked | set(checks().left_out) == shipped
    assert not (used | checked) & set(checks().left_out)


def test_an_unknown_fact_is_named():
    with pytest.raises(UsageError, match=r"unknown hardware fact 'hw.extoll.core-clok'; did you mean"):
        hardware.tainted_by(["hw.extoll.core-clok"])


def test_no_claim_has_touched_what_extoll_is_made_of():
    assert gm.machine("extoll").tainted_by() == frozenset()
    assert label(gm.machine("extoll"), "extoll-fig9-order") == "predicted"


@pytest.fixture
def tainted(monkeypatch):
    """A machine of two numbers, one of which a claim had touched."""
    rows = [
        Fact("hw.clean", "n", "p", "1", "us", "s", "high", ()),
        Fact("hw.seen", "n", "p", "2", "us", "s", "low", ("fig1-gain", "fig2-order")),
    ]
    monkeypatch.setattr(hardware, "facts", lambda: {row.id: row for row in rows})
    return Machine(
        "m",
        "n",
        "s",
        (
            Number("link.latency", "time", "1 us", 1e-6, "s", "high", ("hw.clean",)),
            Number("link.gap", "time", "2 us", 2e-6, "s", "low", ("hw.clean", "hw.seen"), "1 us", "4 us"),
        ),
    )


def test_a_claim_that_touched_a_parameter_is_calibrated(tainted):
    assert tainted.tainted_by() == {"fig1-gain", "fig2-order"}
    assert label(tainted, "fig1-gain") == "calibrated"
    assert label(tainted, "fig3-order") == "predicted"


def test_only_the_parameters_of_the_figure_count(tainted):
    assert tainted.tainted_by(["link.latency"]) == frozenset()
    assert label(tainted, "fig1-gain", ["link.latency"]) == "predicted"
    assert label(tainted, "fig1-gain", ["link.gap"]) == "calibrated"


def test_an_override_does_not_wash_a_number_clean(tainted):
    assert label(tainted.with_(link_gap="3 us"), "fig1-gain") == "calibrated"


# ---- ledger


def test_every_change_of_a_machine_file_stands_in_the_ledger():
    assert ledger_problems(ledger()) == []


LINE = """
[[line]]
machine = "extoll"
date = 2026-11-21
key = "link.bandwidth"
old = "600 MB/s"
new = "{new}"
source = "s"
reason = "r"
verdicts = ["extoll-fig9-order"]
digest = "{digest}"
"""


def test_a_change_without_a_line_is_found():
    extoll = gm.machine("extoll")
    assert ledger_problems(ledger(LINE.format(new="625 MB/s", digest=ledger_digest(extoll))), [extoll]) == []
    (problem,) = ledger_problems(ledger(LINE.format(new="625 MB/s", digest="0" * 16)), [extoll])
    assert problem == (
        f"machine extoll: its file has digest {ledger_digest(extoll)}, the last line of ledger.toml 0000000000000000;"
        " allowed: a line for each change (date, key, old, new, source, reason, verdicts, digest)"
    )
    (problem,) = ledger_problems([], [extoll])
    assert "the last line of ledger.toml none" in problem


def test_a_line_that_says_another_value_is_found():
    extoll = gm.machine("extoll")
    (problem,) = ledger_problems(ledger(LINE.format(new="1 GB/s", digest=ledger_digest(extoll))), [extoll])
    assert problem == ("machine extoll: link.bandwidth is 625 MB/s, but the last line of ledger.toml says 1 GB/s")


def test_ranges_sources_and_facts_count_as_changes():
    extoll = gm.machine("extoll")
    before = {ledger_digest(extoll)}
    number = extoll["link.latency"]
    for change in ({"high": "0.5 us"}, {"source": "other"}, {"hardware": ()}, {"confidence": "medium"}):
        changed = Number(**{**vars(number), **change})
        numbers = tuple(changed if entry is number else entry for entry in extoll.numbers)
        before.add(ledger_digest(Machine("extoll", "extoll", extoll.summary, numbers)))
    assert len(before) == 5


def test_a_line_of_the_ledger_is_complete():
    with pytest.raises(UsageError, match=r"ledger.toml: line 1 lacks or does not know reason; allowed: machine, date"):
        ledger(LINE.replace('reason = "r"\n', ""))


# ---- bands


def test_a_band_holds_each_end_alone_and_seeded_corners():
    extoll = gm.machine("extoll")
    corners = list(bands(extoll))
    names = [name for name, _ in corners]
    estimates = extoll.estimates()
    assert corners[0] == ("as given", extoll)
    assert names[-16:] == [f"corner {index}" for index in range(1, 17)]
    # An end at which the number stands already is no variant.
    at_an_end = sum(number.facts()["value"] in (number.facts()["low"], number.facts()["high"]) for number in estimates)
    assert len(corners) == 1 + 2 * len(estimates) - at_an_end + 16
    alone = dict(corners)["link.latency=0.25 us"]
    assert alone.overrides() == {"link.latency": "250 ns"}
    assert len({variant.digest for _, variant in corners}) == len(corners)
    for _, variant in corners[-16:]:
        for number in estimates:
            ends = {number.facts()["low"], number.facts()["high"]}
            assert variant[number.key].value in ends
    assert list(bands(extoll)) == corners
    assert list(bands(extoll, seed=2))[-16:] != corners[-16:]


def test_a_band_may_be_of_some_estimates():
    names = [name for name, _ in bands(gm.machine("extoll"), ["link.latency", "link.header"])]
    assert names == [
        "as given", "link.latency=0.25 us", "link.latency=0.35 us", "link.header=16 B", "link.header=40 B",
        "corner 1", "corner 2", "corner 3", "corner 4",
    ]  # fmt: skip
    assert [name for name, _ in bands(gm.machine("extoll"), [])] == ["as given"]


def test_only_estimates_of_the_file_are_moved():
    extoll = gm.machine("extoll").with_(link_latency="1 us")
    assert not any(variant["link.latency"].value != 1e-6 for _, variant in bands(extoll))
    with pytest.raises(UsageError, match=r"^link.latency of machine extoll\+link.latency=1 us is given; allowed:"):
        list(bands(extoll, ["link.latency"]))
    with pytest.raises(UsageError, match=r"^link.bandwidth of machine extoll is no estimate; allowed:"):
        list(bands(gm.machine("extoll"), ["link.bandwidth"]))
    with pytest.raises(UsageError, match=r"unknown parameter of machine extoll 'link.latenzy'"):
        list(bands(gm.machine("extoll"), ["link.latenzy"]))


@pytest.mark.parametrize(
    ("values", "verdict"), [([1, 2, 3], "within"), ([5, 6], "outside"), ([1, 5], "depends"), ([1], "within")]
)
def test_a_statement_is_judged_over_the_whole_band(values, verdict):
    assert judge(values, lambda value: value < 4) == verdict


def test_nothing_is_no_verdict():
    with pytest.raises(UsageError, match="nothing to judge"):
        judge([], bool)
