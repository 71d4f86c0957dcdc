"""What can be measured, as pages: kernels with their ops, conduits, topologies, metrics and counters."""

from __future__ import annotations

from collections.abc import Iterable

import gasmeter as gm
from extension.text import below, code, plain, table
from gasmeter.catalogue import catalogue
from gasmeter.functions.listing import ListedConduit, ListedKernel, ListedOption

__all__ = ["pages"]


def pages() -> dict[str, str]:
    """Return the pages.

    Returns
    -------
    dict of str to str
        Markdown by name below ``generated``.
    """
    return {
        "kernels": _page(
            "Kernels and their ops",
            "Choose the benchmark program and the operation that you want to measure.",
            "gasmeter list kernels",
            map(_kernel, gm.kernels().values()),
        ),
        "conduits": _page(
            "Conduits",
            "Choose the layer and the network that carry a benchmark, and look up their options.",
            "gasmeter list conduits",
            map(_conduit, gm.conduits().values()),
        ),
        "topologies": _page(
            "Topologies",
            "Choose the way in which the nodes of a modelled network are joined.",
            "gasmeter list topologies",
            [_topologies()],
        ),
        "quantities": "\n\n".join(
            [
                "# Metrics and counters",
                "Look up what a figure or a count means, and its unit.",
                _metrics(),
                _counters(),
            ]
        )
        + "\n",
    }


def _page(title: str, use: str, command: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", use, f"```sh\n{command}\n```", *parts]) + "\n"


def _kernel(one: ListedKernel) -> str:
    ops = [
        [below(code(op.name), "takes sizes" if op.sized else ""), plain(op.summary),
         f"{code(metric.name)}, {plain(metric.unit)}", plain(metric.semantics)]
        for op in one.kernel.ops for metric in op.metrics
    ]  # fmt: skip
    heads = ("op", "what it does", "metric, unit", "done means")
    also = [
        f"{words}: {', '.join(map(code, names))}."
        for words, names in (("Variants", one.variants), ("Also without a conduit", one.raw)) if names
    ]  # fmt: skip
    parts = [f"## {one.name}", f"{plain(one.summary)}.", *also, table(heads, ops), _options(one.options.values())]
    return _joined(parts)


def _conduit(one: ListedConduit) -> str:
    summary = f"{plain(one.summary)}. Network {code(one.network)}. Its figures are *{one.kind}*."
    return _joined([f"## {one.name}", summary, _options(one.options.values())])


def _options(options: Iterable[ListedOption]) -> str:
    lines = [[code(one.name), code(one.allowed), code(one.default), plain(one.help)] for one in options]
    return table(("option", "allowed", "default", "what it does"), lines)


def _topologies() -> str:
    lines = [
        [code(one.name), plain(one.summary), code(one.example), plain(one.link_classes)]
        for one in gm.topologies().values()
    ]
    return table(("topology", "what it is", "for instance", "classes of links"), lines)


def _metrics() -> str:
    lines = [
        [code(one.name), plain(one.label), plain(one.unit), plain(one.shown), one.better]
        for one in catalogue().metrics.values()
    ]
    return table(("metric", "what it is", "unit in rows", "shown in", "better is"), lines)


def _counters() -> str:
    lines = [[code(one.name), plain(one.summary), plain(one.unit)] for one in catalogue().counters.values()]
    return table(("counter", "what it counts", "unit"), lines)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
