"""Evidence for claims: values of lines on machines as given, on draws of them, and without mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gasmeter.verdicts.series import SeriesKey, Table, X

__all__ = ["STEADY", "Case", "Evidence"]

STEADY = 0.02
"""Share by which four times the work may move a value or a quantity that still counts as steady."""


@dataclass(frozen=True)
class Case:
    """A whole figure on one draw of the estimates of its machines, and on one placement."""

    placement: str  # placement of the ranks, drawn like an estimate, because papers do not state it
    table: Table  # values of the lines
    # Value of each estimate in the draw, by ``machine: key``
    estimates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """Values by which the claims of one figure are judged."""

    given: Mapping[str, Table]  # on the machines as their files stand, by placement
    # On draws from the ranges alone, by number, without draws that a machine refuses
    prior: Mapping[int, Case] = field(default_factory=dict)
    draws: Mapping[int, Case] = field(default_factory=dict)  # on draws that the check rows make likely (conditioned)
    # Number of equally likely draws that the check rows leave to choose from; infinite without check rows
    effective: float = math.inf
    nulls: Mapping[int, Case] = field(default_factory=dict)  # on draws of the null model
    # Values as given without a mechanism, by its name and by placement
    ablations: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)
    takes_away: Mapping[str, str] = field(default_factory=dict)  # each mechanism in words
    refused: tuple[str, ...] = ()  # draws that were left out, each with what refused it
    # Line, placement and x at which four times the work moves the value by 2 % or more
    unsteady: frozenset[tuple[SeriesKey, str, X]] = frozenset()
    # Values of `given`, from four times the work where that was run
    longer: Mapping[str, Table] = field(default_factory=dict)
