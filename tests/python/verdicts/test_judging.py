"""Readings judged on made-up draws: shares, weights, directions, ablations, what is left out."""

import pytest

from gasmeter.verdicts import chances
from gasmeter.verdicts.evidence import Case, Evidence
from gasmeter.verdicts.judging import PLACEMENT, Judgement, judge_predicate, judge_reading
from gasmeter.verdicts.predicates import predicates, read_predicates
from gasmeter.verdicts.scoring import score
from gasmeter.verdicts.series import SeriesKey

TOML = """
[claim]
{claim}
[[claim.reading]]
name = "first"
quote = "q"
rule = "r"
tolerance = "[0.4,0.6]"
quantity = "max(fast / slow) - 1"
holds = [[0.4, 0.6]]
direction = {{ quantity = "max(fast / slow) - 1", holds = [[0.000000001, inf]] }}
over = [16, 32]
{more}
[claim.reading.series]
slow = {{ metric = "gups", kernel = "random-access", conduit = "raw@a" }}
fast = {{ metric = "gups", kernel = "random-access", conduit = "a" }}
"""
SLOW, FAST = (SeriesKey("gups", "random-access", name, machine="m") for name in ("raw@a", "a"))


def predicate(more="", claim=""):
    return read_predicates(TOML.format(more=more, claim=claim))["claim"]


def table(gain, xs=(16, 32)):
    return {SLOW: dict.fromkeys(xs, 1.0), FAST: dict.fromkeys(xs, 1.0 + gain)}


def drawn(gains, places=("fill",)):
    return {
        number: Case(places[number % len(places)], table(gain),
                     {"m: link.latency": gain, "m: host.lock": float(number % 7)})
        for number, gain in enumerate(gains)
    }  # fmt: skip


def judge(gains, *, prior=None, more="", claim="", given=0.5, places=("fill",), **evidence):
    before = drawn(gains if prior is None else prior, places)
    seen = Evidence({place: table(given) for place in places}, before, drawn(gains, places), **evidence)
    return judge_predicate(predicate(more, claim), seen)[0]


def test_what_holds_on_nine_tenths_of_the_draws_is_within():
    judgement = judge([0.5] * 90 + [0.9] * 10)
    assert (judgement.verdict, judgement.direction) == ("within", "within")
    assert (judgement.p_prior, judgement.p_conditioned, judgement.draws) == (0.9, 0.9, 100)
    assert judge([0.5] * 89 + [0.9] * 11).verdict == "depends"
    assert judge([0.5] * 10 + [0.9] * 90).verdict == "outside"
    assert judge([0.5] * 11 + [0.9] * 89).verdict == "depends"


def test_direction_and_magnitude_are_two_verdicts():
    judgement = judge([0.9] * 100)
    assert (judgement.verdict, judgement.direction) == ("outside", "within")
    assert judge([-0.5] * 100).direction == "outside"


def test_check_rows_move_the_answer_and_both_are_told():
    judgement = judge([0.5] * 95 + [0.9] * 5, prior=[0.5] * 50 + [0.9] * 50, effective=40.0)
    assert (judgement.p_prior, judgement.p_conditioned, judgement.verdict) == (0.5, 0.95, "within")


def test_the_prior_decides_where_the_check_rows_leave_too_few_draws():
    judgement = judge([0.5] * 100, prior=[0.5] * 50 + [0.9] * 50, effective=3.0)
    assert (judgement.verdict, judgement.p_conditioned) == ("depends", 1.0)
    assert "the check rows leave only 3.0 draws' worth: the prior decides" in judgement.notes


def test_draws_are_chosen_as_often_as_their_weights_ask_for():
    chosen = chances.choose([0.0, 3.0, 1.0, 0.0], 8, seed=3)
    assert sorted(chosen) == [1] * 6 + [2] * 2
    assert chosen != sorted(chosen)
    assert chances.choose([1.0] * 10, 10, seed=3) != list(range(10))
    assert sorted(chances.choose([1.0] * 10, 10, seed=3)) == list(range(10))
    assert chances.effective([1.0, 1.0, 0.0]) == 2.0
    assert chances.effective([0.0]) == 0.0


def test_what_decides_is_what_the_quantity_goes_with():
    judgement = judge([0.3 + 0.004 * number for number in range(100)])
    assert judgement.verdict == "depends"
    assert judgement.deciding[0] == ("m: link.latency", pytest.approx(1.0))
    places = judge([0.5, 0.9] * 50, places=("fill", "round-robin"))
    assert places.verdict == "depends"
    assert (PLACEMENT, 1.0) in places.deciding


def test_the_band_is_where_nine_tenths_of_the_weight_lies():
    judgement = judge([number / 100 for number in range(101)])
    assert (judgement.low, judgement.median, judgement.high) == pytest.approx((0.05, 0.5, 0.95), abs=0.006)


def test_what_holds_without_its_mechanism_holds_by_construction():
    still = {"the gain": {"fill": table(0.5)}}
    words = {"the gain": "what makes it fast"}
    judgement = judge([0.5] * 100, more='ablation = "the gain"', ablations=still, takes_away=words)
    assert (judgement.verdict, judgement.margin) == ("by_construction", pytest.approx(0.1))
    assert "without what makes it fast it still holds (0.5)" in judgement.notes
    gone = judge([0.5] * 100, more='ablation = "the gain"', ablations={"the gain": {"fill": table(0.0)}})
    assert (gone.verdict, gone.margin) == ("within", pytest.approx(-0.4))
    missed = judge([0.9] * 100, more='ablation = "the gain"', ablations=still)
    assert missed.verdict == "outside"  # a statement that fails needs no mechanism


def test_values_that_still_move_decide_nothing():
    judgement = judge([0.5] * 100, unsteady=frozenset({(FAST, "fill", 32)}))
    assert (judgement.verdict, judgement.direction) == ("not_converged", "not_converged")
    assert "as run it would be within" in judgement.notes
    # The reading has no such point.
    assert judge([0.5] * 100, unsteady=frozenset({(FAST, "fill", 64)})).verdict == "within"


def test_values_may_move_where_what_is_asked_of_them_does_not():
    moving = frozenset({(FAST, "fill", 32)})
    judgement = judge([0.5] * 100, unsteady=moving, longer={"fill": table(0.505)})
    assert (judgement.verdict, judgement.direction) == ("within", "within")
    assert any(note.endswith("; what is asked of them by 1 %") for note in judgement.notes)
    for longer in (0.52, 0.48, -0.5):
        assert judge([0.5] * 100, unsteady=moving, longer={"fill": table(longer)}).verdict == "not_converged"
    assert judge([0.5] * 100, unsteady=moving, longer={"other": table(0.5)}).verdict == "not_converged"


def test_a_program_that_nobody_published_decides_nothing():
    judgement = judge([0.5] * 100, claim='withheld = "the early program"')
    assert (judgement.verdict, judgement.value) == ("underdetermined", 0.5)
    assert judgement.notes[:2] == ["the paper withholds the early program", "as run here it would be within"]


def test_a_claim_is_judged_where_the_one_before_it_holds():
    before = predicate().readings[0]
    more = 'needs = "other"'
    reading = predicate(more).readings[0]

    def judgement_of(gains):
        return judge_reading(reading, Evidence({"fill": table(0.5)}, drawn(gains), drawn(gains)), {"other": before})

    assert judgement_of([0.5] * 50 + [0.9] * 50).verdict == "within"
    assert "judged on the 50% of the draws on which other holds" in judgement_of([0.5] * 50 + [0.9] * 50).notes
    unmet = judgement_of([0.5] * 5 + [0.9] * 95)
    assert (unmet.verdict, unmet.value, unmet.premise_fails) == ("not_run", 0.5, True)
    assert "other holds on 5% of the draws: nothing is left to judge this by" in unmet.notes
    assert not judgement_of([0.5] * 50 + [0.9] * 50).premise_fails
    assert not Judgement("not_run").premise_fails


def test_draws_that_cannot_be_run_are_left_out_and_named():
    draws = drawn([0.5] * 99) | {99: Case("fill", {SLOW: {16: 1.0, 32: 1.0}})}
    seen = Evidence({"fill": table(0.5)}, drawn([0.5]), draws, refused=("draw 7 (no room)",))
    judgement = judge_predicate(predicate(), seen)[0]
    assert (judgement.verdict, judgement.draws) == ("within", 99)
    assert "left out, since a machine refuses them: 1 draws (draw 7 (no room))" in judgement.notes
    assert "left out, without such a quantity: 1 draws" in judgement.notes


def test_without_draws_nothing_is_decided():
    judgement = judge([])
    assert (judgement.verdict, judgement.value) == ("no_band", 0.5)
    assert "as given it holds" in judgement.notes
    two = judge_predicate(predicate(), Evidence({"fill": table(0.5), "round-robin": table(0.9)}))[0]
    assert two.by_placement == {"fill": 0.5, "round-robin": pytest.approx(0.9)}
    assert "as given it holds on fill only" in two.notes


def test_missing_points_and_lines_are_named():
    def notes(given):
        return judge_predicate(predicate(), Evidence(given))[0].notes

    assert notes({"fill": table(0.5, (16,))}) == ["not run at 32"]
    assert notes({"fill": {SLOW: {16: 1.0, 32: 1.0}}}) == ["no line gups of random-access on a in what was run"]
    assert notes({}) == ["no placement was run"]


def test_all_conditions_have_to_hold():
    more = 'and = [{ quantity = "min(slow)", holds = [[2, 3]] }]'
    assert judge([0.5] * 50, more=more).verdict == "outside"


def test_a_condition_counts_in_its_own_range():
    more = 'and = [{ quantity = "min(fast)", holds = [[1.4, 1.6]], over = [16], between = [0, 20] }]'
    assert judge([0.5] * 50, more=more).verdict == "within"


def test_some_claims_nobody_can_judge():
    nothing = Evidence({})
    assert judge_predicate(predicates()["extoll-udp-unfit"], nothing)[0].verdict == "not_decidable"
    assert judge_predicate(predicates()["extoll-tests-pass"], nothing)[0].verdict == "not_run"


def test_a_score_counts_quantities_and_nothing_that_holds_by_construction():
    counted = score([
        ("a", "within"), ("a", "within"), ("b", "within"), ("b", "outside"), ("c", "depends"), ("c", "by_construction"),
        ("d", "by_construction"), ("e", "not_run"),
    ])  # fmt: skip
    assert (counted.within, counted.outside, counted.depends, counted.unjudged) == (1, 1, 1, 2)
    assert str(counted) == "1 of 3 within, 1 outside, 1 open"
