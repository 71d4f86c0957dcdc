"""Load of a modelled network's links, as a table below a figure that shows them."""

from __future__ import annotations

from collections.abc import Mapping

from gasmeter.reproduction.plan.figure import Extra, Figure
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.rows.links import unpack

__all__ = ["link_loads"]


def link_loads(reproduction: Reproduction, figure: Figure) -> list[Extra]:
    """Return a table of link loads at the ranks that a figure names, or none without links.

    It has the busy share of the busiest link, of all links on average, and of the links that carried packets.
    """
    tables: Mapping[str, Mapping[str, object]] = {table["run_id"]: table for table in reproduction.result.link_tables()}
    rows = []
    for line in figure.heat_lines:
        for placement in figure.placements:
            for ranks in figure.heat_ranks:
                packed = tables.get(reproduction.run_id(line, placement, ranks))
                if packed is None:
                    continue
                table = unpack(packed)
                busy, used = table["busy"], float((table["packets"] > 0).mean())
                shares = (f"{share:.0%}" for share in (float(busy.max()), float(busy.mean()), used))
                rows.append((line.label, line.topology, placement, str(ranks), *shares))
    heads = ("line", "topology", "placement", "ranks", "busiest link", "mean", "links used")
    return [Extra("Load of the links", heads, rows)] if rows else []
