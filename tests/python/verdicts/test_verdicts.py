"""Claims, expressions, predicates and judging, on made-up numbers."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import gasmeter
from gasmeter.conformance import Broken, Counts, Family, Suite
from gasmeter.errors import UsageError
from gasmeter.machines import hardware
from gasmeter.verdicts.claims import RESULT, claims, papers
from gasmeter.verdicts.expressions import Expression, NotThere
from gasmeter.verdicts.judging import PLACEMENT, TOGETHER, Case, Trial, judge_claim
from gasmeter.verdicts.predicates import (
    SeriesKey,
    frozen,
    predicate_problems,
    predicates,
    predicates_digest,
    read_predicates,
)
from gasmeter.verdicts.suites import judge_suite

# ---- claims


def test_every_claim_says_what_it_is():
    found = claims("extoll")
    assert len({claim.id for claim in found}) == len(found)
    for claim in found:
        assert claim.statement
        assert claim.value
        assert claim.kind in {RESULT, "hardware-input", "protocol-constant"}
    assert papers() == ("extoll",)


def test_facts_are_tainted_by_claims_that_exist():
    known = {claim.id for claim in claims()}
    assert {claim for fact in hardware.facts().values() for claim in fact.tainted_by} <= known


def test_only_what_judges_reads_what_papers_state():
    package = Path(gasmeter.__file__).parent
    pattern = re.compile(r"verdicts\.claims|verdicts import.*\bclaims\b", re.MULTILINE)
    readers = {
        path.relative_to(package).as_posix() for path in package.rglob("*.py") if pattern.search(path.read_text())
    }
    assert readers == {
        "cli/listing.py", "reproduction/running.py", "verdicts/__init__.py", "verdicts/predicates.py",
    }  # fmt: skip


def test_a_blind_run_sees_no_result_or_three_times_as_much():
    assert {claim.kind for claim in claims(blind="removed")} == {"hardware-input", "protocol-constant"}
    tripled = {claim.id: claim.value for claim in claims(blind="tripled")}
    assert tripled["extoll-fig3-am2-gain"] == "159"
    assert tripled["extoll-fig3-magnitude"] == "0.084..0.102"
    assert tripled["extoll-fig3-order"] == "am=2 > am=1"
    assert tripled["extoll-hw-nodes"] == "64"
    assert predicates(blind="removed") == {}
    assert predicates(blind="tripled")["extoll-fig3-am2-gain"].conditions[0].holds == ((0.43 * 3, 0.63 * 3),)
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
    ],
)
def test_a_quantity_is_arithmetic_over_series(text, value):
    assert Expression(text).value({"a": A, "b": B, "missing": None}) == pytest.approx(value)


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
    assert predicate_problems(frozen()) == []


def test_predicates_do_not_disagree_with_what_they_say():
    for name, predicate in predicates().items():
        judged = [bool(predicate.conditions), bool(predicate.undecidable), bool(predicate.suite)]
        assert sum(judged) == 1, name
        for condition in predicate.conditions:
            assert all(low <= high for low, high in condition.holds), name
        assert not predicate.needs or predicate.needs in predicates(), name


TOML = """
[extoll-fig3-am2-gain]
tolerance = "[{low},0.63]"
rule = "r"
quantity = "max(am2 / am1) - 1"
holds = [[{low}, 0.63]]
over = [16, 32]
{more}
[extoll-fig3-am2-gain.series]
am1 = {{ metric = "gups", kernel = "random-access", conduit = "extoll", options = {{ am = "1" }} }}
am2 = {{ metric = "gups", kernel = "random-access", conduit = "extoll", options = {{ am = "2" }} }}
"""


def predicate(low=0.43, more=""):
    return read_predicates(TOML.format(low=low, more=more))["extoll-fig3-am2-gain"]


def test_a_changed_predicate_needs_a_line_in_the_ledger():
    before, after = predicate(), predicate(low=0.3)
    assert before.digest != after.digest
    assert predicates_digest([before]) != predicates_digest([after])
    line = '[[line]]\nclaim = "extoll-fig3-am2-gain"\ndate = 2026-11-21\ndigest = "{}"\nreason = "r"\nverdicts = []\n'
    ledger = frozen(line.format(before.digest))
    own = {"extoll-fig3-am2-gain": before}
    assert not [text for text in predicate_problems(ledger, own) if "digest" in text]
    (problem,) = [text for text in predicate_problems(ledger, {"extoll-fig3-am2-gain": after}) if "digest" in text]
    assert f"has digest {after.digest}, the last line of predicates_ledger.toml {before.digest}" in problem
    both = frozen(line.format(before.digest) + line.format(after.digest))
    assert not [text for text in predicate_problems(both, {"extoll-fig3-am2-gain": after}) if "digest" in text]
    with pytest.raises(UsageError, match="line 1 lacks or does not know reason"):
        frozen(line.replace('reason = "r"\n', ""))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('colour = "red"', "extoll-fig3-am2-gain: it has colour"),
        ('placements = "some"', "placements 'some' is not allowed; allowed: every, any"),
        ('undecidable = "u"', "one of quantity, undecidable and suite"),
    ],
)
def test_a_wrong_predicate_is_named(more, message):
    with pytest.raises(UsageError, match=message):
        predicate(more=more)


def test_a_predicate_names_series_that_are_there():
    with pytest.raises(UsageError, match="there is no series 'am3'"):
        read_predicates(TOML.format(low=0.4, more="").replace("max(am2", "max(am3"))
    with pytest.raises(UsageError, match=r"allowed: holds = \[\[low, high\]\]"):
        read_predicates(TOML.format(low=0.4, more="").replace("holds = [[0.4, 0.63]]", ""))


# ---- judging

AM1, AM2 = (SeriesKey("gups", "random-access", "extoll", "put-get", "mesh", (("am", key),)) for key in "12")


def table(gain, ranks=(16, 32)):
    return {AM1: dict.fromkeys(ranks, 1.0), AM2: dict.fromkeys(ranks, 1.0 + gain)}


def case(gain, parameter="", kind="given", other=None, ranks=(16, 32)):
    tables = {"fill": table(gain, ranks), "round-robin": table(gain if other is None else other, ranks)}
    return Case(parameter or kind, parameter, kind, tables)


def judge(given, *band, factors=(), other=None, found=None):
    base = case(given, other=other)
    return judge_claim(found or predicate(), Trial(base, base, band, base, factors))


def test_within_is_within_over_the_whole_band():
    result = judge(0.5, case(0.48, "link.latency", "end"), case(0.6, "link.header", "end"), case(0.61, kind="corner"))
    assert (result.verdict, result.deciding) == ("within", "link.header")
    assert (result.value, result.low, result.high) == pytest.approx((0.5, 0.48, 0.61))
    assert list(result.moves) == ["link.header", "link.latency"]


def test_outside_is_outside_everywhere():
    result = judge(0.9, case(0.7, "link.latency", "end"), case(1.2, kind="corner"))
    assert (result.verdict, result.deciding) == ("outside", "link.latency")


def test_a_parameter_that_flips_decides_even_if_another_moves_more():
    result = judge(0.45, case(0.40, "link.latency", "end"), case(0.62, "link.header", "end"))
    assert (result.verdict, result.deciding) == ("depends", "link.latency")
    assert "as given it holds" in result.notes
    missed = judge(0.9, case(0.6, "link.latency", "end"))
    assert (missed.verdict, missed.deciding) == ("depends", "link.latency")
    assert "as given it does not hold" in missed.notes


def test_several_together_may_flip_what_none_does_alone():
    result = judge(0.5, case(0.48, "link.latency", "end"), case(0.2, kind="corner"))
    assert (result.verdict, result.deciding) == ("depends", TOGETHER)


def test_the_placement_is_an_estimate_too():
    result = judge(0.5, case(0.5, "link.latency", "end", other=0.9), other=0.9)
    assert (result.verdict, result.deciding) == ("depends", PLACEMENT)
    assert result.holds == {"fill": True, "round-robin": False}
    assert result.value == pytest.approx(0.9)  # the one that fails is shown
    one = predicate(more='placements = "any"')
    enough = judge(0.5, case(0.5, "link.latency", "end", other=0.9), other=0.9, found=one)
    assert enough.verdict == "within"
    assert enough.value == pytest.approx(0.5)


def test_what_no_factor_of_two_flips_is_so_by_construction():
    band = (case(0.5, "link.latency", "end"),)
    still = judge(0.5, *band, factors=(case(0.55, "link.latency", "factor"),))
    assert still.verdict == "by_construction"
    moved = judge(0.5, *band, factors=(case(0.9, "link.latency", "factor"),))
    assert moved.verdict == "within"
    assert (moved.low, moved.high) == pytest.approx((0.5, 0.5))  # beyond the ranges is no part of the band
    assert judge(0.9, *band, case(0.9, kind="corner"), factors=(case(0.9, "x", "factor"),)).verdict != "by_construction"


def test_a_band_on_fewer_points_moves_what_was_found_on_all():
    given = Case("as given", "", "given", {"fill": {AM1: {16: 1.0, 32: 1.0}, AM2: {16: 1.2, 32: 1.5}}})
    base, end = (Case(name, name, "end", {"fill": table(gain, (16,))}) for name, gain in (("", 0.2), ("k", 0.25)))
    result = judge_claim(predicate(), Trial(given, base, (end,)))
    assert (result.value, result.high) == pytest.approx((0.5, 0.55))


def test_without_a_band_nothing_is_decided():
    result = judge_claim(predicate(), Trial(case(0.5)))
    assert (result.verdict, result.notes) == ("no_band", ["no band was run: as given it holds"])
    assert result.value == pytest.approx(0.5)
    nothing = judge(0.5, Case("k", "k", "end", {}))
    assert (nothing.verdict, nothing.notes) == (
        "no_band", ["no variant of the machine could be run: as given it holds"],
    )  # fmt: skip


def test_a_variant_that_cannot_run_is_no_support():
    result = judge(0.5, case(0.5, "link.latency", "end"), Case("s", "velo.mailbox_slots", "end", {}))
    assert (result.verdict, result.deciding) == ("depends", "velo.mailbox_slots")
    assert "1 of 2 variants cannot run it (velo.mailbox_slots)" in result.notes


def test_missing_points_and_lines_are_named():
    assert judge_claim(predicate(), Trial(case(0.5, ranks=(16,)))).notes == ["not run at 32"]
    empty = Case("as given", "", "given", {"fill": {AM1: {16: 1.0, 32: 1.0}}})
    assert judge_claim(predicate(), Trial(empty)).notes == ["no line random-access on extoll am=2 in what was run"]
    assert judge_claim(predicate(), Trial(Case("as given", "", "given", {}))).notes == ["no placement was run"]


def test_all_conditions_have_to_hold():
    more = 'and = [{ quantity = "min(am1)", holds = [[2, 3]] }]'
    assert judge(0.5, case(0.5, "k", "end"), found=predicate(more=more)).verdict == "outside"


def test_some_claims_nobody_can_judge():
    nothing = Trial(Case("as given", "", "given", {}))
    assert judge_claim(predicates()["extoll-udp-unfit"], nothing).verdict == "not_decidable"
    assert judge_claim(predicates()["extoll-tests-pass"], nothing).verdict == "not_run"


def ended(passed: int, failed: int) -> Suite:
    """Return a suite with one group of rules on extoll and one on another conduit."""
    build = {"version": "1", "compiler": "a compiler", "build_type": "Release"}
    own = Family("extoll", "extoll", ["4 ranks"], {"request-reply": Counts(passed, failed, 1)})
    other = Family("smp", "smp", ["2 ranks"], {"request-reply": Counts(0, 7, 0)})
    broken = [Broken("extoll", "4 ranks", "a_reply_comes", ("it did not",))] * failed
    return Suite(Path("suite"), build, {"a_reply_comes": "request-reply"}, [own, other], broken)


def test_a_conduit_passes_its_tests_if_nothing_failed_and_something_passed():
    judged = judge_suite(ended(12, 0), "extoll")
    assert (judged.verdict, judged.value) == ("within", 0)
    assert "12 runs of cases passed, 0 failed, 1 were skipped" in judged.notes[0]
    judged = judge_suite(ended(12, 2), "extoll")
    assert (judged.verdict, judged.value) == ("outside", 2)
    assert judged.notes[1] == "a_reply_comes failed on 4 ranks: it did not"
    assert judge_suite(ended(0, 0), "extoll").verdict == "not_run"


def test_the_jump_needs_two_series_on_one_side():
    jump = predicates()["extoll-fig12-14-jump"]
    velo, conduit = jump.series["velo"], jump.series["extoll"]

    def found(last_velo, last_conduit):
        values = {velo: {128: 1.0, 256: 2.0, 512: last_velo}, conduit: {128: 1.0, 256: 2.0, 512: last_conduit}}
        return judge_claim(jump, Trial(Case("as given", "", "given", {"fill": values})))

    assert found(5.0, 4.8).value == pytest.approx(1.2)
    assert found(5.0, 4.8).holds == {"fill": True}
    assert found(3.0, 2.0).value == pytest.approx(0.75)
    assert found(3.0, 2.0).holds == {"fill": True}
    assert found(5.0, 2.0).value == 1.0
    assert found(5.0, 2.0).holds == {"fill": False}
