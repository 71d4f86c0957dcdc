"""Check rows: which are refused, what they say, how draws are weighed by them."""

import math
import re
from pathlib import Path

import pytest

import gasmeter as gm
from gasmeter.errors import UsageError
from gasmeter.machines import checks
from gasmeter.machines.arithmetic import Arithmetic
from gasmeter.machines.check_row import ACCURACY, in_si
from gasmeter.machines.checks import checks_digest, read_checks, weight
from gasmeter.machines.hardware import Fact, facts
from gasmeter.verdicts.claims import RESULT, claims
from invented_hardware import published

TEXT = (Path(checks.__file__).resolve().parent.parent / "published" / "checks.toml").read_text()
ROWS = {
    "hw.a.latency": Fact("hw.a.latency", "n", "latency", "2", "us", "s", "high", ()),
    "hw.a.rate": Fact("hw.a.rate", "n", "rate", "4", "M/s", "s", "medium", ()),
    "hw.a.trip": Fact("hw.a.trip", "n", "trip", "3..6", "us", "s", "low", ()),
    "hw.a.again": Fact("hw.a.again", "n", "latency", "2.2", "us", "s", "high", ()),
    "hw.a.guess": Fact("hw.a.guess", "n", "gap", "9", "us", "estimate: of nobody", "low", ()),
    "hw.a.word": Fact("hw.a.word", "n", "word", "much", "us", "s", "high", ()),
    "hw.a.seen": Fact("hw.a.seen", "n", "seen", "1", "us", "s", "high", ("fig1-gain", "fig2-order")),
}
HEAD = '[machines.ideal]\ndescribes = ["hw.a."]\n'


def row(name, published, kind, modelled="nic.latency", more=""):
    return (
        f'[[check]]\nmachine = "ideal"\nhardware = "{name}"\npublished = "{published}"\nkind = "{kind}"\n'
        f'modelled = "{modelled}"\n{more}'
    )


LATENCY = row("hw.a.latency", "2 us", "equals")
RATE = row("hw.a.rate", "4 M/s", "at_least", "1 / nic.gap")
TRIP = row("hw.a.trip", "3..6 us", "range", "2 * nic.latency")


@pytest.fixture
def invented(monkeypatch):
    """Rows of a table that nobody published."""
    published(monkeypatch, ROWS)


def only(text):
    (entry,) = read_checks(HEAD + text).checks
    return entry


# ---- the frozen ledger


def test_no_check_row_is_a_result_of_a_paper_and_no_result_had_touched_one():
    results = {claim.id for claim in claims() if claim.kind == RESULT}
    assert results
    for entry in checks.checks().checks:
        assert entry.hardware not in results
        assert not entry.fact.tainted_by
    assert not results & set(facts())


def test_every_published_value_stands_in_its_row_and_every_unit_is_that_of_a_metric():
    for entry in checks.checks().checks:
        assert entry.published == f"{entry.fact.value} {entry.fact.unit}"
        assert entry.note
        machine = gm.machine(entry.machine)
        for name in Arithmetic(entry.modelled).names:
            assert name in entry.points or name in machine


def test_the_digest_is_one_of_what_decides():
    assert checks_digest() == checks_digest(read_checks(TEXT)) == checks_digest(read_checks(f"# more\n{TEXT}"))
    assert re.fullmatch("[0-9a-f]{16}", checks_digest())
    for old, new in (("trip / 2", "trip / 3"), ("size = 8, iterations = 20", "size = 16, iterations = 20")):
        assert checks_digest(read_checks(TEXT.replace(old, new, 1))) != checks_digest()
    assert checks_digest(read_checks(TEXT.replace("close to 1 us", "about 1 us"))) == checks_digest()


# ---- refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row("extoll-fig9-order", "1 us", "equals"),
         "checks.toml: check 1: 'extoll-fig9-order' is no row of python/gasmeter/published/hardware.csv; allowed:"
         " independent measurements of hardware, which results of papers never are"),
        (row("hw.a.seen", "1 us", "equals"),
         "checks.toml: check 1: hw.a.seen was touched by fig1-gain, fig2-order; allowed: rows that no result of a paper"
         " touched"),
        (row("hw.a.latency", "3 us", "equals"),
         "checks.toml: check 1: published: '3 us' is not what python/gasmeter/published/hardware.csv says; allowed:"
         " '2 us'"),
        (row("hw.a.latency", "2 us", "range"), "kind 'range' does not fit '2 us'; allowed: range for a..b"),
        (row("hw.a.trip", "3..6 us", "equals"), "kind 'equals' does not fit '3..6 us'"),
        (row("hw.a.latency", "2 us", "about"),
         "check 1: kind: 'about' is not allowed; allowed: 'equals', 'range', 'at_least'"),
        (row("hw.a.word", "much us", "equals"), "check 1: hw.a.word: 'much' is no number and no range"),
        (row("hw.a.latency", "2 us", "equals", "nic.latency ** 2"),
         "'nic.latency ** 2': nic.latency ** 2 is not allowed; allowed: numbers, names, + - * / and parentheses"),
        (row("hw.a.latency", "2 us", "equals", "nic.latency *"), "'nic.latency *' is no arithmetic ("),
        (row("hw.a.latency", "2 us", "equals", "abs(nic.latency)"), "abs(nic.latency) is not allowed"),
        (row("hw.a.latency", "2 us", "equals", "nic.latenzy"),
         "checks.toml: hw.a.latency of machine ideal: nic.latenzy is neither one of its points nor a parameter"),
        (row("hw.a.latency", "2 us", "equals", more=
             'points.trip = { kernel = "k", op = "o", conduit = "c", metric = "m", iterations = 1 }\n'),
         "points: trip stands in none of 'nic.latency'"),
        (row("hw.a.latency", "2 us", "equals", "trip", 'points.trip = { kernel = "k", op = "o" }\n'),
         "checks.toml: check 1: points.trip.conduit is missing; allowed: an entry with"),
        (LATENCY + LATENCY, "hw.a.latency of machine ideal stands there twice; allowed: once"),
        (LATENCY.replace('"ideal"', '"ibv"'), "[machines.ibv] does not say what describes it"),
        (LATENCY + "[[chekc]]\n", "checks.toml: unknown chekc; allowed: machines, check, left_out"),
        ('[[left_out]]\nhardware = "hw.a.latenzy"\nwhy = "w"\n', "unknown hardware fact that is left out"),
        ("[[check]", "checks.toml is not TOML"),
    ],
)  # fmt: skip
def test_a_check_row_that_may_be_none_is_refused_in_one_line(invented, text, message):
    with pytest.raises(UsageError) as caught:
        read_checks(HEAD + text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_unit_that_no_row_can_have_is_refused():
    with pytest.raises(UsageError, match=r"unknown unit of a check 'slots'; allowed: s, ms, us"):
        in_si("slots")
    assert in_si("Gbit/s") == ("B/s", 1.25e8)
    assert in_si("M/s") == ("1/s", 1e6)


# ---- weights, by hand


def test_a_value_is_log_normal_around_what_was_published(invented):
    entry = only(LATENCY)
    assert (entry.low, entry.high, entry.accuracy) == (2e-6, 2e-6, 0.05)
    assert entry.likelihood(2e-6) == 1
    # The value is one and two standard deviations off: exp(-1/2), exp(-2).
    assert entry.likelihood(2e-6 * 1.05) == pytest.approx(0.60653066)
    assert entry.likelihood(2e-6 / 1.05) == pytest.approx(0.60653066)
    assert entry.likelihood(2e-6 * 1.05**2) == pytest.approx(0.13533528)
    assert entry.holds(2.0999e-6)
    assert not entry.holds(2.1001e-6)
    assert entry.ratio(3e-6) == pytest.approx(1.5)
    assert entry.likelihood(0.0) == entry.likelihood(math.nan) == 0
    assert not entry.holds(0.0)


def test_a_range_and_a_bound_are_flat_inside(invented):
    trip, rate = only(TRIP), only(RATE)
    assert [trip.likelihood(value) for value in (3e-6, 4e-6, 6e-6)] == [1, 1, 1]
    assert trip.likelihood(6e-6 * 1.25) == pytest.approx(0.60653066)
    assert trip.likelihood(3e-6 / 1.25) == pytest.approx(0.60653066)
    assert trip.ratio(6e-6) == pytest.approx(math.sqrt(2))
    assert [rate.likelihood(value) for value in (4e6, 9e9)] == [1, 1]
    assert rate.likelihood(4e6 / 1.1) == pytest.approx(0.60653066)
    most = only(RATE.replace("at_least", "at_most"))
    assert [most.likelihood(value) for value in (1.0, 4e6)] == [1, 1]
    assert most.likelihood(4e6 * 1.1) == pytest.approx(0.60653066)


def test_the_weight_of_a_draw_is_the_product_of_its_rows(invented, monkeypatch):
    result = read_checks(HEAD + LATENCY + RATE + TRIP)
    monkeypatch.setattr(checks, "checks", lambda: result)
    values = {"hw.a.latency": 2e-6 * 1.05, "hw.a.rate": 5e6, "hw.a.trip": 6e-6 * 1.25**2}
    assert weight("ideal", values) == pytest.approx(math.exp(-0.5) * 1 * math.exp(-2))
    assert weight("ibv", {}) == 1
    with pytest.raises(UsageError, match=r"^machine ideal: check row hw.a.rate, hw.a.trip has no value$"):
        weight("ideal", {"hw.a.latency": 2e-6})


def test_two_rows_of_one_quantity_count_as_one_and_an_estimate_for_nothing(invented, monkeypatch):
    again, guess = row("hw.a.again", "2.2 us", "equals"), row("hw.a.guess", "9 us", "equals", "nic.gap")
    result = read_checks(HEAD + LATENCY + again + guess)
    monkeypatch.setattr(checks, "checks", lambda: result)
    values = {"hw.a.latency": 2e-6 * 1.05, "hw.a.again": 2e-6 * 1.05, "hw.a.guess": 1e-6}
    alone, other = result.checks[0].likelihood(2.1e-6), result.checks[1].likelihood(2.1e-6)
    assert weight("ideal", values) == pytest.approx(math.sqrt(alone * other))
    assert [entry.weighs for entry in result.checks] == [True, True, False]


def test_accuracy_follows_from_confidence_alone():
    assert dict(ACCURACY) == {"high": 0.05, "medium": 0.10, "low": 0.25}
    assert {entry.accuracy for entry in checks.checks().checks} == {0.05, 0.10, 0.25}


def test_arithmetic_has_parameters_and_points():
    text = "(library - socket) / 2 + 6 * link.bandwidth"
    assert Arithmetic(text).names == ("library", "socket", "link.bandwidth")
    assert Arithmetic(text).value({"library": 5.0, "socket": 1.0, "link.bandwidth": 2.0}) == 14
    with pytest.raises(UsageError, match="socket has no value"):
        Arithmetic(text).value({"library": 5.0})
    with pytest.raises(UsageError, match=r"'1 / gap' divides by 0"):
        Arithmetic("1 / gap").value({"gap": 0.0})
