"""What a claim is judged by: values of lines on machines as given, on draws of them, and without mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gasmeter.verdicts.series import SeriesKey, Table, X

__all__ = ["STEADY", "Case", "Evidence"]

STEADY = 0.02
"""What four times the work may move a value by, or what is asked of values."""


@dataclass(frozen=True)
class Case:
    """A whole figure on one draw of the estimates of its machines, and on one placement.

    Attributes
    ----------
    placement : str
        How ranks were put on nodes: drawn like an estimate, since papers do not tell.
    table : Table
        Values of the lines.
    estimates : mapping of str to float
        What each estimate is in the draw, by ``machine: key``.
    """

    placement: str
    table: Table
    estimates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """Everything that one figure's claims are judged by.

    Attributes
    ----------
    given : mapping of str to Table
        On the machines as their files stand, by placement.
    prior : mapping of int to Case
        On draws of all estimates together from their ranges, by number; without those that a machine refuses.
    draws : mapping of int to Case
        On draws as likely as the check rows of the machines make them: conditioned.
    effective : float
        How many equally likely draws those that could be had were worth; infinite where no check row says anything.
    nulls : mapping of int to Case
        Likewise of the null model.
    ablations : mapping of str to mapping of str to Table
        As given, but without a mechanism, by its name and by placement.
    takes_away : mapping of str to str
        What each of these is, in words.
    refused : tuple of str
        Draws that were left out, each with what refused it.
    unsteady : frozenset of tuple
        Line, placement and x at which four times the work moves the value by 2 % or more.
    longer : mapping of str to Table
        As `given`, with the values of four times the work where that was run.
    """

    given: Mapping[str, Table]
    prior: Mapping[int, Case] = field(default_factory=dict)
    draws: Mapping[int, Case] = field(default_factory=dict)
    effective: float = math.inf
    nulls: Mapping[int, Case] = field(default_factory=dict)
    ablations: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)
    takes_away: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    unsteady: frozenset[tuple[SeriesKey, str, X]] = frozenset()
    longer: Mapping[str, Table] = field(default_factory=dict)
