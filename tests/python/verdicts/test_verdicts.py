"""Claims, expressions, predicates and judging, on made-up numbers."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import gasmeter
from freezing import METHOD, Freeze, frozen, method_problems, predicate_problems
from gasmeter.diagnosis.conformance import Broken, Counts, Family, Suite
from gasmeter.errors import UsageError
from gasmeter.machines import hardware
from gasmeter.verdicts.claims import RESULT, claims, papers
from gasmeter.verdicts.expressions import Expression, NotThere
from gasmeter.verdicts.predicates import MOST_READINGS, predicates, predicates_digest, read_predicates
from gasmeter.verdicts.series import SeriesKey, pick
from gasmeter.verdicts.suites import judge_suite

# ---- claims


def test_every_claim_says_what_it_is():
    every_claim = claims("extoll")
    assert len({claim.id for claim in every_claim}) == len(every_claim)
    for claim in every_claim:
        assert claim.statement
        assert claim.value
        assert claim.kind in {RESULT, "hardware-input", "protocol-constant"}
    assert papers() == ("extoll", "sci", "portals", "aries", "xlupc")


def test_facts_are_tainted_by_claims_that_exist():
    claim_ids = {claim.id for claim in claims()}
    assert {claim for fact in hardware.facts().values() for claim in fact.tainted_by} <= claim_ids


def test_only_what_judges_reads_what_papers_state():
    package = Path(gasmeter.__file__).parent
    pattern = re.compile(r"verdicts\.claims|verdicts import.*\bclaims\b", re.MULTILINE)
    readers = {
        path.relative_to(package).as_posix() for path in package.rglob("*.py") if pattern.search(path.read_text())
    }
    assert readers == {
        "cli/listing.py", "reproduction/judge/judged.py", "reproduction/report/marks.py", "verdicts/__init__.py",
    }  # fmt: skip


def test_a_blind_run_sees_no_result_or_three_times_as_much():
    assert {claim.kind for claim in claims(blind="removed")} == {"hardware-input", "protocol-constant"}
    tripled = {claim.id: claim.value for claim in claims(blind="tripled")}
    assert tripled["extoll-fig3-am2-gain"] == "159"
    assert tripled["extoll-fig3-magnitude"] == "0.084..0.102"
    assert tripled["extoll-fig3-order"] == "am=2 > am=1"
    assert tripled["extoll-hw-nodes"] == "64"
    assert predicates(blind="removed") == {}
    assert predicates(blind="tripled")["extoll-fig3-am2-gain"].readings[0].conditions[0].holds == (
        (0.43 * 3, 0.63 * 3),
    )
    with pytest.raises(UsageError, match="blind 'doubled' is not allowed; allowed: removed, tripled"):
        claims(blind="doubled")
    with pytest.raises(UsageError, match="unknown paper 'exstoll'; did you mean 'extoll'"):
        claims("exstoll")


# ---- expressions

A, B = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("max(a / b) - 1", 1.0),
        ("min(a / b)", 0.5),
        ("max(a, b)", 4.0),
        ("mean(a)", 7 / 3),
        ("median(a)", 2.0),
        ("farthest(1 - a)", -3.0),
        ("inside(a / b, 0.5, 1)", 2 / 3),
        ("step(a)", 1.0),
        ("step(1 / b + a)", (4.5 / 2.5) / (2.5 / 1.5)),
        ("-max(abs(ln(a)))", -math.log(4)),
        ("agree(1.5, 1.2)", 1.2),
        ("agree(0.5, 0.8)", 0.8),
        ("agree(1.5, 0.8)", 1.0),
        ("agree(1.5, 0.8, 1.3)", 1.3),
        ("agree(0.5, 0.8, 1.3)", 0.8),
        ("agree(1.5, 1.2, missing)", 1.2),
        ("widest(1.2, 0.8)", 0.8),
        ("2 * 3 - 4 / 8", 5.5),
        ("geomean(a)", 2.0),
        ("max(lower(a, b))", 2.0),
        ("min(higher(a, b))", 2.0),
        ("rising(a)", 1.0),
        ("falling(a)", 0.0),
        ("falling(b)", 1.0),
        ("argmax(a)", 64.0),
        ("argmin(a)", 16.0),
        ("at(a, 32)", 2.0),
        ("slope(a)", 1 / 16),
        ("elasticity(a)", 1.0),
        ("crossover(a, b + 1)", 32 * 2**0.5),
        ("crossover(a, 5 * b)", math.inf),
        ("first_below(5 - a, 3.5)", 32.0),
        ("first_below(a, 0.5)", math.inf),
    ],
)
def test_a_quantity_is_arithmetic_over_series(text, value):
    series = {"a": A, "b": B, "missing": None}
    assert Expression(text).value(series, np.array([16.0, 32.0, 64.0])) == pytest.approx(value)


def test_the_knee_is_where_two_straight_pieces_meet():
    xs = np.array([64.0, 128, 256, 512, 1024, 2048, 4096, 8192])
    ys = np.where(xs <= 512, xs, 512 * (xs / 512) ** 0.2)
    assert Expression("knee(a)").value({"a": ys}, xs) == 512
    with pytest.raises(NotThere, match="4 points are needed"):
        Expression("knee(a)").value({"a": ys[:3]}, xs[:3])


def test_a_line_is_made_of_others():
    assert Expression("100 * (a / b - 1)").curve({"a": A, "b": B}, A).tolist() == [-50.0, 0.0, 100.0]
    assert Expression("x * at(b, 1)").curve({"x": A, "b": B}, A).tolist() == [2.0, 4.0, 8.0]
    with pytest.raises(NotThere, match="is no line"):
        Expression("max(a)").curve({"a": A}, A)


@pytest.mark.parametrize(
    "text", ["a", "a / (b - b)", "ln(0 - 1)", "agree(1.5, missing)", "missing + 1", "max(missing)"]
)
def test_what_is_no_number_is_not_there(text):
    with pytest.raises(NotThere):
        Expression(text).value({"a": A, "b": B, "missing": None})


@pytest.mark.parametrize(
    "text", ["a.b", "__import__('os')", "a if b else c", "[a]", "max(a, key=b)", "open(a)", "a ** 2", "a >", "'a'"]
)
def test_nothing_else_is_an_expression(text):
    with pytest.raises(UsageError, match="quantity"):
        Expression(text)


# ---- predicates


def test_every_predicate_is_frozen_and_every_result_has_one():
    assert predicate_problems(frozen(), predicates()) == []


def test_predicates_do_not_disagree_with_what_they_say():
    for name, predicate in predicates().items():
        judged = [bool(predicate.readings), bool(predicate.undecidable), bool(predicate.suite)]
        assert sum(judged) == 1, name
        for reading in predicate.readings:
            assert reading.quote, name
            assert not reading.needs or reading.needs in predicates(), name


HEADER = f"{','.join(Freeze._fields)}\n"
TOML = """
[extoll-fig3-am2-gain]
on = "fig3"
{claim}
[[extoll-fig3-am2-gain.reading]]
name = "first"
quote = "hasta un 53%"
rule = "r"
tolerance = "[{low},0.63]"
quantity = "max(am2 / am1) - 1"
holds = [[{low}, 0.63]]
over = [16, 32]
{more}
[extoll-fig3-am2-gain.reading.series]
am1 = {{ metric = "gups", kernel = "random-access", conduit = "extoll", options = {{ am = "1" }} }}
am2 = {{ metric = "gups", kernel = "random-access", conduit = "extoll", options = {{ am = "2" }} }}
"""


def predicate(low=0.43, more="", claim=""):
    return read_predicates(TOML.format(low=low, more=more, claim=claim))["extoll-fig3-am2-gain"]


def test_a_changed_predicate_needs_a_line_in_the_ledger():
    before, after = predicate(), predicate(low=0.3)
    assert before.digest != after.digest
    assert predicates_digest([before]) != predicates_digest([after])
    line = "extoll-fig3-am2-gain,2026-11-21,{},before,r,\n"
    ledger = frozen(HEADER + line.format(before.digest))
    predicates = {"extoll-fig3-am2-gain": before}
    assert not [text for text in predicate_problems(ledger, predicates) if "digest" in text]
    (problem,) = [text for text in predicate_problems(ledger, {"extoll-fig3-am2-gain": after}) if "digest" in text]
    assert f"has digest {after.digest}, the last line of predicates_ledger.csv {before.digest}" in problem
    both = frozen(HEADER + line.format(before.digest) + line.format(after.digest))
    assert not [text for text in predicate_problems(both, {"extoll-fig3-am2-gain": after}) if "digest" in text]
    with pytest.raises(AssertionError, match="line 1 has no reason"):
        frozen(HEADER + line.replace(",r,", ",,"))
    with pytest.raises(AssertionError, match="line 1: result 'during'; allowed: before, after"):
        frozen(HEADER + line.replace("before", "during"))


def test_what_decides_a_paper_needs_a_line_in_the_ledger():
    line = f"{HEADER}{METHOD}extoll,2026-11-24,a1,before,r,\n"
    assert method_problems(frozen(line), {"extoll": "a1"}) == []
    (problem,) = method_problems(frozen(line), {"extoll": "b2"})
    assert "what decides paper extoll has digest b2, the last line of predicates_ledger.csv a1" in problem


@pytest.mark.parametrize(
    ("more", "claim", "message"),
    [
        ("", 'colour = "red"', "extoll-fig3-am2-gain: it has colour"),
        ("", 'undecidable = "u"', "one of reading, undecidable and suite"),
        ('colour = "red"', "", "reading 'first': colour; allowed: ablation"),
        ('differs = { window = " " }', "", "differs in window without words of the paper"),
        ('direction = { quantity = "max(am2)", holds = [[2, 1]] }', "", r"allowed: holds = \[\[low, high\]\]"),
        ('direction = { quantity = "max(am2)", holds = [[1, 2]], tint = 1 }', "", "a condition has holds, .*tint"),
    ],
)
def test_a_wrong_predicate_is_named(more, claim, message):
    with pytest.raises(UsageError, match=message):
        predicate(more=more, claim=claim)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('quote = "hasta un 53%"', "", "reading 'first': no quote"),
        ('quote = "hasta un 53%"', 'quote = " "', "its quote is empty; allowed: the paper's own words"),
        ("max(am2", "max(am3", "there is no series 'am3'"),
        ("holds = [[0.4, 0.63]]", "holds = []", "has no interval"),
        ('kernel = "random-access", ', "", "series am1 has conduit, metric, options"),
    ],
)
def test_a_reading_says_everything(old, new, message):
    with pytest.raises(UsageError, match=message):
        read_predicates(TOML.format(low=0.4, more="", claim="").replace(old, new))


def test_a_claim_has_three_readings_at_most():
    reading = TOML.format(low=0.4, more="", claim="")
    head, _, body = reading.partition("[[")
    several = head + "".join("[[" + body.replace('"first"', f'"r{number}"') for number in range(MOST_READINGS + 1))
    with pytest.raises(UsageError, match=r"4 readings \(r0, r1, r2, r3\); allowed: 1 to 3"):
        read_predicates(several)


def test_a_series_means_the_plainest_line_that_fits():
    key = SeriesKey("gups", "random-access", "extoll", options=(("am", "2"),))
    plain = SeriesKey("gups", "random-access", "extoll", "", "put-get", "extoll", options=(("am", "2"),))
    other = SeriesKey(
        "gups", "random-access", "extoll", "", "put-get", "extoll", options=(("am", "2"), ("lock", "none"))
    )
    assert pick(key, [other, plain]) == plain
    assert pick(key, []) is None
    endless = SeriesKey("gups", "random-access", "extoll", overrides=(("link.bandwidth", "1 TB/s"),))
    assert pick(endless, [plain, other]) is None
    with pytest.raises(UsageError, match=r"means .* as well as"):
        pick(
            SeriesKey("gups", "random-access", "extoll"),
            [plain, SeriesKey("gups", "random-access", "extoll", options=(("am", "1"),))],
        )


def ended(passed: int, failed: int) -> Suite:
    """Return a suite with one group of rules on extoll and one on another conduit."""
    build = {"version": "1", "compiler": "a compiler", "build_type": "Release"}
    family = Family("extoll", "extoll", ["4 ranks"], {"request-reply": Counts(passed, failed, 1)})
    other = Family("smp", "smp", ["2 ranks"], {"request-reply": Counts(0, 7, 0)})
    broken = [Broken("extoll", "4 ranks", "a_reply_comes", ("it did not",))] * failed
    return Suite(Path("suite"), build, {"a_reply_comes": "request-reply"}, [family, other], broken)


def test_a_conduit_passes_its_tests_if_nothing_failed_and_something_passed():
    judged = judge_suite(ended(12, 0), "extoll")
    assert (judged.verdict, judged.value) == ("within", 0)
    assert "12 runs of cases passed, 0 failed, 1 were skipped" in judged.notes[0]
    judged = judge_suite(ended(12, 2), "extoll")
    assert (judged.verdict, judged.value) == ("outside", 2)
    assert judged.notes[1] == "a_reply_comes failed on 4 ranks: it did not"
    assert judge_suite(ended(0, 0), "extoll").verdict == "not_run"
