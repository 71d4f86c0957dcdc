"""Values of every line of a paper without a run: what tests of its statements read."""

from __future__ import annotations


def full(one):
    """Effort of a figure as published, and the xs."""
    return one.full, one.full.xs


def quick(one):
    """Of a quick run."""
    return one.quick, one.quick.xs


def drawn(one):
    """On draws."""
    return one.full, one.full.drawn or one.full.xs


EFFORTS = (full, quick, drawn)


def line_values(paper, effort_of):
    """Return values of every line, all different: none is a ratio of 1, and none is steady."""
    found = {}
    for one in paper.figures:
        effort, xs = effort_of(one)
        for number, line in enumerate(one.lines, 1):
            at = [one.x_of(x, effort) for x in xs]
            found.setdefault(line.key, {}).update({x: 1000.0 + 7 * number + x ** (0.5 + number / 100) for x in at})
    return found
