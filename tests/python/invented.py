"""An invented paper and what came out of it: pictures and reports are made of it, and nothing of it was run."""

import dataclasses
import itertools
from types import SimpleNamespace

from gasmeter.reproduction.judge.gathering import Gathered
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.plan.cases import RunCase
from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper
from gasmeter.reproduction.plan.planning import Plan, Spot
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.stores.result import Result
from gasmeter.verdicts.claims import Claim
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.judging import Judgement
from gasmeter.verdicts.predicates import read_predicates

PUT = Line("put", "ping-pong", "extoll", "extoll", op="put", metric="bandwidth", size=4096)
GET = Line("get", "ping-pong", "extoll", "extoll", op="get", metric="bandwidth", size=4096)
RAW = Line("card", "ping-pong", "raw@extoll", "extoll", op="put", metric="bandwidth", size=4096)
HERE = Line("memory", "ping-pong", "smp", "", op="put", metric="bandwidth", size=4096)
COUNTED = Line("messages of a put", "ping-pong", "extoll", "extoll", op="put", metric="counter:messages")
RATE = Line("conduit", "random-access", "extoll", "extoll", "mesh3d:2x2x2")
BARE = Line("card", "random-access", "raw@extoll", "extoll", "mesh3d:2x2x2")
RATIO = Derived("get over put", Expression("get / put"), (("get", GET), ("put", PUT)), "Ratio", "x")
SHORT = Effort((8, 64, 4096), 10, 160)


def rows_of_nothing(reproduction, figure):
    return [Extra("Made by the paper", ("name", "value"), [(figure.number, "<b>")])]


BY_OPTION = Figure(
    "a", "Bandwidth by what a conduit is told", (PUT, GET), ("p-ratio", "p-most"),
    Effort(("off", "auto", "on"), 10, 40), Effort(("off", "on"), 10), axis="rma", derived=(RATIO,), says="Both rise.",
    extras=rows_of_nothing,
)  # fmt: skip
AS_TABLE = Figure("b", "A table by size", (PUT, COUNTED), (), SHORT, SHORT, axis=SIZE, table=True)
MIXED = Figure("c", "By size, with a measured line", (PUT, RAW), ("p-order",), SHORT, SHORT, axis=SIZE, beside=(HERE,))
BY_RANKS = Figure(
    "d", "By ranks, on two placements", (RATE, BARE), ("p-rate",), Effort((2, 4, 8), 10, 40), Effort((2, 4, 8), 10),
    placements=("fill", "round-robin"),
)  # fmt: skip
PAPER = Paper(
    "invented", "An invented paper", "extoll", ("For the statements: nobody.",), (BY_OPTION, AS_TABLE, MIXED, BY_RANKS)
)

PREDICATES = read_predicates(
    """
[p-ratio]
on = "ratio"
[[p-ratio.reading]]
name = "all of it"
quote = "hasta un 53%"
rule = "largest of get / put - 1"
tolerance = "[0.43,0.63]"
quantity = "max(get / put) - 1"
holds = [[0.43, 0.63]]
[p-ratio.reading.series]
get = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "get" }
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[[p-ratio.reading]]
name = "in per cent"
quote = "un 53%"
rule = "100 * get / put"
tolerance = "[100,153] %"
quantity = "100 * max(get / put)"
holds = [[100, 153]]
differs = { op = "one reads" }
[p-ratio.reading.series]
get = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "get" }
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[p-most]
on = "most"
undecidable = "it has no number"
[p-order]
on = "order"
[[p-order.reading]]
name = "every size"
quote = "siempre"
rule = "smallest of put / raw"
tolerance = "above 1"
quantity = "min(put)"
holds = [[1.000000001, inf]]
[p-order.reading.series]
put = { metric = "bandwidth", kernel = "ping-pong", conduit = "extoll", op = "put" }
[p-rate]
on = "rate"
unit = "GUP/s"
[[p-rate.reading]]
name = "top"
quote = "0,03"
rule = "largest rate"
tolerance = "(0,0.03] GUP/s"
quantity = "max(rate)"
holds = [[0.000000001, 0.03]]
[p-rate.reading.series]
rate = { metric = "gups", kernel = "random-access", conduit = "extoll" }
"""
)
CLAIMS = {
    "p-ratio": Claim("p-ratio", "invented", "Fig. a", "Gets are <53 %> faster", "53", "%", "<=", "result"),
    "p-most": Claim("p-most", "invented", "Fig. a", "Much is gained", "1.2..1.9", "GB/s", "between", "result"),
    "p-order": Claim(
        "p-order", "invented", "Fig. c", "The card is faster", "conduit < card", "order", "ordering", "result"
    ),
    "p-rate": Claim("p-rate", "invented", "Fig. d", "All stays low", "0.03", "GUP/s", "<=", "result"),
}
WITHIN = Judgement(
    "within", "all of it", "within", value=0.53, median=0.53, low=0.48, high=0.61, by_placement={"one-per-node": 0.53},
    holds={"one-per-node": True}, p_prior=0.88, p_conditioned=0.97, effective=150.0, draws=200, margin=-0.2,
    deciding=(("extoll: host.lock", -0.71), ("placement", 0.4)), notes=["a note"],
)  # fmt: skip
OTHER = dataclasses.replace(
    WITHIN, verdict="outside", reading="in per cent", value=153.2, low=150.0, high=160.0, notes=[]
)
JUDGED = {
    "p-ratio": (WITHIN, OTHER),
    "p-most": (Judgement("not_decidable", notes=["it has no number"]),),
    "p-order": (
        dataclasses.replace(WITHIN, verdict="not_converged", reading="every size", value=1.25, low=1.1, high=1.4),
    ),
    "p-rate": (dataclasses.replace(WITHIN, verdict="depends", reading="top", value=0.0123, low=0.01, high=0.05),),
}
FAILED = {
    "machine": "extoll", "hardware": "card-latency", "parameter": "half round trip", "source": "A. Card, 2009",
    "confidence": "high", "kind": "at_most", "published": "1.2", "unit": "us", "modelled": 1.331, "ratio": 1.109,
    "holds": False, "note": "",
}  # fmt: skip


class Made(Reproduction):
    """Reproduction made by hand: the test gives the parts that a run computes from its rows."""

    gathered = checks = seen = None


def value_of(line, x, placement="", factor=1.0):
    """Return an invented value, in the metric's own unit."""
    if line.metric == "gups":
        return 1e-3 * x * (1.2 if line == BARE else 1.0) * (1.1 if placement == "fill" else 1.0) * factor
    if line.metric.startswith("counter:"):
        return 2.0 * factor
    return (1e9 + 1e6 * x) * {"get": 1.5, "card": 1.25}.get(line.label, 1.0) * factor


def made(paper=PAPER, *, quick=False, draws=10, judged=JUDGED, value=value_of, failing=()):
    """Return a reproduction: each draw a factor on every line alike, 1.01 to 1 + draws/100."""
    figures = tuple(figure for figure in paper.figures if figure.lines)
    plan, gathered = Plan(paper, figures, quick), Gathered()
    for number in range(0 if quick else draws):
        plan.cases[f"draw {number}"] = RunCase("draw", number)
    for figure in figures:
        effort = plan.effort(figure)
        xs = [figure.x_of(x, effort) for x in effort.xs]
        for line, placement in itertools.product((*figure.lines, *figure.beside), figure.placements):
            role = "figure" if line in figure.lines else "beside"
            values_of_line = gathered.tables.setdefault((role, "as given", placement), {}).setdefault(line, {})
            values_of_line |= {x: value(line, x, placement) for x in xs}
            if line.machine:
                gathered.lengths |= {(placement, Spot(line, x)): 40 for x in xs}
                gathered.moves |= {(placement, Spot(line, x)): -0.004 for x in xs}
            for number in range(0 if quick or role == "beside" else draws):
                if figure.placements[number % len(figure.placements)] == placement:
                    table = gathered.tables.setdefault(("draw", f"draw {number}", placement), {})
                    drawn = {x: value(line, x, placement, 1 + (number + 1) / 100) for x in xs}
                    table[line] = {**table.get(line, {}), **drawn}
    run_made = Made(plan, Result([], name="", title="Figures of an invented paper"))
    run_made.gathered, run_made.seen = (
        gathered,
        SimpleNamespace(refused={}, choice=SimpleNamespace(worth=lambda machines: 150.0)),
    )
    rows = [{**FAILED}] if failing else []
    run_made.checks = SimpleNamespace(rows=lambda: rows, failing=lambda: {"extoll": list(failing)})
    run_made.method = "0123456789abcdef"
    # Extras of real papers run the core.
    plain_figures = (figure for figure in figures if figure.extras is rows_of_nothing)
    run_made.tables = {figure.number: figure.extras(run_made, figure) for figure in plain_figures}
    owner = {claim: figure for figure in figures for claim in figure.claims}
    run_made.judged = [
        Judged(
            CLAIMS[name], PREDICATES[name], owner[name], judgement, "predicted" if judgement[0].draws else "", "outside"
        )
        for name, judgement in judged.items() if name in owner
    ]  # fmt: skip
    return run_made
