"""The method on synthetic machines where the answer is known."""

import math

import numpy as np
import pytest
from scipy.stats import qmc

from gasmeter.verdicts.chances import choose, effective
from gasmeter.verdicts.evidence import Case, Evidence
from gasmeter.verdicts.judging import judge_reading
from gasmeter.verdicts.predicates import read_predicates
from gasmeter.verdicts.series import SeriesKey

WORLDS, DRAWS = 200, 100
LOW = np.array([0.05, 0.1, 0.2, 0.01, 0.1, 0.05])
HIGH = np.array([0.2, 0.3, 0.6, 0.08, 0.5, 0.3])
NAMES = ("wire", "card", "host", "lock", "copy", "match")
ACCURACY = 0.05
CONDUIT, RAW, MPI = (SeriesKey("round_trip", "ping-pong", name, machine="m") for name in ("a", "raw@a", "mpi@a"))
TOML = """
[claim]
[[claim.reading]]
name = "r"
quote = "q"
rule = "r"
tolerance = "t"
quantity = "{quantity}"
holds = [[{low}, {high}]]
[claim.reading.series]
raw = {{ metric = "round_trip", kernel = "ping-pong", conduit = "raw@a" }}
conduit = {{ metric = "round_trip", kernel = "ping-pong", conduit = "a" }}
mpi = {{ metric = "round_trip", kernel = "ping-pong", conduit = "mpi@a" }}
"""
SIZES = (8, 64, 512)


def reading(quantity, low, high):
    return read_predicates(TOML.format(quantity=quantity, low=low, high=high))["claim"].readings[0]


def estimates(parts):
    return LOW * (HIGH / LOW) ** parts


def table(values, queueing=0.0):
    """Round trips of three programs on a machine of six numbers."""
    wire, card, host, lock, copy, match = values
    raw = {x: wire + card + host + 1e-4 * x for x in SIZES}
    conduit = {x: raw[x] + lock + copy * (1 + x / 512) + queueing for x in SIZES}
    return {RAW: raw, CONDUIT: conduit, MPI: {x: raw[x] + match + copy * (1 + x / 512) for x in SIZES}}


def checks(values):
    """Return the figures of the machine that can be measured without its software."""
    return np.stack([values[..., 0] + values[..., 1] + values[..., 2], values[..., 0] + values[..., 1]], axis=-1)


def weights(candidates, measured):
    off = np.log(checks(candidates) / measured) / math.log1p(ACCURACY)
    return np.exp(-np.sum(off**2, axis=1) / 2)


@pytest.fixture(scope="module")
def candidates():
    return estimates(qmc.Sobol(len(NAMES), scramble=True, rng=7).random_base2(12))


def case(values):
    return Case("p", table(values), dict(zip(NAMES, values, strict=True)))


def seen(candidates, measured, seed=1):
    weight_of = weights(candidates, measured)
    prior = {number: case(candidates[number]) for number in range(DRAWS)}
    draws = {number: case(candidates[chosen]) for number, chosen in enumerate(choose(weight_of, DRAWS, seed))}
    return Evidence({"p": table(estimates(np.full(len(NAMES), 0.5)))}, prior, draws, effective(weight_of))


def test_the_band_covers_the_truth_nine_times_of_ten(candidates):
    rng = np.random.default_rng(11)
    asked = reading("max(conduit / raw) - 1", 0, 10)
    covered = few = 0
    for _ in range(WORLDS):
        truth = estimates(rng.random(len(NAMES)))
        measured = checks(truth) * np.exp(rng.normal(size=2) * math.log1p(ACCURACY))
        evidence = seen(candidates, measured)
        judgement = judge_reading(asked, evidence)
        few += judgement.effective <= 20
        lines = table(truth)
        answer = max(lines[CONDUIT][x] / lines[RAW][x] for x in SIZES) - 1
        covered += judgement.low <= answer <= judgement.high
    assert few < 0.1 * WORLDS
    assert 0.85 * WORLDS <= covered <= 0.95 * WORLDS
    latency = reading("max(raw)", 0, 10)  # the check rows say most about it
    prior = judge_reading(latency, seen(candidates, checks(estimates(np.full(len(NAMES), 0.5)))))
    unknown = judge_reading(latency, Evidence(evidence.given, evidence.prior, effective=0.0))
    assert prior.high - prior.low < 0.5 * (unknown.high - unknown.low)


def test_a_world_with_a_mechanism_that_the_model_lacks_comes_out_outside(candidates):
    rng = np.random.default_rng(5)
    verdicts = []
    for _ in range(20):
        truth = estimates(rng.random(len(NAMES)))
        lines = table(truth, queueing=3.0)
        answer = max(lines[CONDUIT][x] / lines[RAW][x] for x in SIZES) - 1
        asked = reading("max(conduit / raw) - 1", 0.8 * answer, 1.2 * answer)
        verdicts.append(judge_reading(asked, seen(candidates, checks(truth))).verdict)
    assert verdicts == ["outside"] * 20


def test_a_world_like_the_model_comes_out_within_where_the_statement_is_as_wide_as_what_is_known(candidates):
    truth = estimates(np.full(len(NAMES), 0.5))
    judgement = judge_reading(reading("min(conduit / raw) - 1", 0.000000001, 10), seen(candidates, checks(truth)))
    assert judgement.verdict == "within"


def test_a_tie_comes_out_open(candidates):
    # Two programs whose costs come from ranges of the same middle: which is faster nobody knows.
    evidence = seen(candidates, checks(estimates(np.full(len(NAMES), 0.5))))
    as_much = math.sqrt(0.05 * 0.3 / (0.01 * 0.08))

    def even(values):
        costs = {RAW: 0.0, MPI: values["match"], CONDUIT: as_much * values["lock"]}
        return {line: dict.fromkeys(SIZES, 1.0 + cost) for line, cost in costs.items()}

    draws = {number: Case("p", even(draw.estimates)) for number, draw in evidence.draws.items()}
    flat = Evidence(evidence.given, draws, draws)
    judgement = judge_reading(reading("min(mpi / conduit)", 1.000000001, 100), flat)
    assert judgement.verdict == "depends"
    assert 0.3 < judgement.p_conditioned < 0.7


def test_values_that_cannot_be_never_come_up(candidates):
    # A ratio minus 1 lies above -1 on each draw, and so do the ends of the band.
    judgement = judge_reading(
        reading("min(raw / conduit) - 1", -1, 0), seen(candidates, checks(estimates(np.full(len(NAMES), 0.5))))
    )
    assert -1 < judgement.low <= judgement.median <= judgement.high < 0


def test_what_decides_is_named(candidates):
    judgement = judge_reading(
        reading("max(conduit / raw) - 1", 0.9, 1.1), seen(candidates, checks(estimates(np.full(len(NAMES), 0.5))))
    )
    assert judgement.deciding[0][0] == "copy"
    assert judgement.deciding[0][1] > 0.5
