"""Shared parts of tests of papers' statements: the source of each, and values of every line without a run."""

from __future__ import annotations

import pytest

from gasmeter.verdicts.predicates import predicates


def lines_of(paper):
    """Lines of a paper's figures by what predicates know of them."""
    return {line.key: line for figure in paper.figures for line in figure.lines}


def carried_by(paper):
    """Claims that figures carry, in their order."""
    return [claim for figure in paper.figures for claim in figure.claims]


def readings_of(paper):
    """Each of these claims with each of its readings."""
    return [(claim, reading) for claim in carried_by(paper) for reading in predicates()[claim].readings]


def each_reading(readings):
    """Run a test for each of `readings_of`."""
    ids = [f"{claim}: {reading.name}" for claim, reading in readings]
    return pytest.mark.parametrize(("claim", "reading"), readings, ids=ids)


def figure_of(paper, number):
    """Return a figure by its number."""
    return next(figure for figure in paper.figures if figure.number == number)


def carrier_of(paper, claim):
    """Return the figure that carries a claim."""
    return next(figure for figure in paper.figures if claim in figure.claims)


def run_with(paper, claim):
    """Figures that are run with the one that carries a claim, itself first."""
    carrier = carrier_of(paper, claim)
    return [carrier, *(figure_of(paper, other) for other in carrier.beyond)]


def full(entry):
    """Effort of a figure as published, and the xs."""
    return entry.full, entry.full.xs


def quick(entry):
    """Return the points of a quick run."""
    return entry.quick, entry.quick.xs


def drawn(entry):
    """On draws."""
    return entry.full, entry.full.drawn or entry.full.xs


EFFORTS = (full, quick, drawn)


def line_values(paper, effort_of):
    """Return values of every line, all different: none is a ratio of 1, and none is steady."""
    results = {}
    for figure in paper.figures:
        effort, xs = effort_of(figure)
        for number, line in enumerate(figure.lines, 1):
            at = [x for given in xs if (x := figure.x_of(given, effort)) <= line.drawn_to or effort_of is not drawn]
            results.setdefault(line.key, {}).update({x: 1000.0 + 7 * number + x ** (0.5 + number / 100) for x in at})
    return results
