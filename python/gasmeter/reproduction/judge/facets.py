"""Program of a line: two lines are compared only if both ran the same one, or a reading justifies it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from gasmeter.catalogue import catalogue
from gasmeter.errors import UsageError, unknown
from gasmeter.machines.machine import WHERE
from gasmeter.machines.named import machine
from gasmeter.reproduction.plan.figure import Figure, Line, Paper, describe
from gasmeter.sweeps.placement import ONE_PER_NODE
from gasmeter.verdicts.predicates import Predicate, Reading
from gasmeter.verdicts.series import SeriesKey, pick, said

__all__ = ["check_predicates", "facets"]

_OF_CONDUITS = frozenset({"node_local"})
"""Options of conduits that change the program, too: the path between ranks of a node."""


def facets(line: Line, paper: Paper) -> dict[str, str]:
    """Return the options that decide which program a line runs: operation, kernel options, path within a node.

    The paper may tell how a conduit without an option behaves.
    """
    entry = catalogue()
    kernel = entry.kernel(line.kernel)
    conduit = entry.conduit(line.conduit, kernel)
    asked = dict((*line.options, *line.wanted))
    defaults = {option.name: option.default for option in kernel.options}
    if any(figure.placements != (ONE_PER_NODE,) for figure in paper.figures if line in figure.lines):
        defaults |= {option.name: option.default for option in conduit.options if option.name in _OF_CONDUITS}
        defaults |= {option: value for name, option, value in paper.native if name == line.conduit}
    return {"kernel": line.kernel, "op": line.op or kernel.ops[0].name,
            **{name: asked.get(name, default) for name, default in defaults.items()}}  # fmt: skip


def check_predicates(paper: Paper, predicates: Mapping[str, Predicate]) -> None:
    """Raise UsageError for a predicate on lines that are not run, or on programs that differ unasked."""
    lines = {line.key: line for figure in paper.figures for line in figure.lines}
    for ablation in paper.without:
        keys = {key for line in ablation.lines for key in (number.key for number in machine(line.machine).numbers)}
        for key in dict(ablation.machine).keys() - keys:
            raise unknown(f"parameter of the mechanism {ablation.name!r} of {paper.name}", key, keys, WHERE)
    for figure in paper.figures:
        for claim in figure.claims:
            for reading in predicates[claim].readings if claim in predicates else ():
                _check(f"claim {claim}, reading {reading.name!r}", reading, figure, paper, lines)
                if reading.ablation and reading.ablation not in {mechanism.name for mechanism in paper.without}:
                    raise UsageError(
                        f"claim {claim}, reading {reading.name!r}: {paper.name} has no mechanism {reading.ablation!r};"
                        f" allowed: {', '.join(mechanism.name for mechanism in paper.without) or 'none'}",
                        reading.ablation,
                    )
                if reading.needs and reading.needs not in predicates:
                    raise UsageError(
                        f"claim {claim}, reading {reading.name!r} needs {reading.needs}, which has no predicate",
                        reading.needs,
                    )


def _check(where: str, reading: Reading, figure: Figure, paper: Paper, lines: Mapping[SeriesKey, Line]) -> None:
    if not figure.lines:
        return
    chosen: dict[str, Line] = {}
    for name, key in reading.series.items():
        line = pick(key, lines)
        if line is None and name not in reading.optional:
            raise UsageError(
                f"{where}: series {name} ({said(key)}) is not run; allowed: a line of a figure of {paper.name}", name
            )
        if line is not None:
            chosen[name] = lines[line]
    excused = {facet for facet, _ in reading.differs}
    for condition in reading.every_condition:
        compared = [chosen[name] for name in condition.quantity.names if name in chosen]
        for first, second in itertools.pairwise(compared):
            _check_pair(where, first, second, paper, excused)


def _check_pair(where: str, first: Line, second: Line, paper: Paper, excused: set[str]) -> None:
    if first.kernel != second.kernel:
        return  # lines of different kernels are different programs on purpose, for instance a cause and its effect
    first_facets, other = facets(first, paper), facets(second, paper)
    for name in first_facets.keys() & other.keys() - excused:
        if first_facets[name] != other[name]:
            raise UsageError(
                f"{where} compares {describe(first)} with {describe(second)}, of which {name} is"
                f" {first_facets[name]} and"
                f' {other[name]}; allowed: the same program, or differs = {{ {name} = "the paper\'s words" }}',
                name,
            )
