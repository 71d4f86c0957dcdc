"""Turn an experiment's axes into groups of points: crossed, zipped, checked against the catalogue."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gasmeter.arguments.sizes import parse_sizes
from gasmeter.catalogue import Catalogue, Conduit, Kernel, catalogue
from gasmeter.environment.limits import check_ranks, check_size, check_virtual_ranks
from gasmeter.errors import UsageError, unknown
from gasmeter.sweeps.curves import check_bisect
from gasmeter.sweeps.default_table import fitted
from gasmeter.sweeps.installations import Installations
from gasmeter.sweeps.names import resolve_options, resolve_variant
from gasmeter.sweeps.placement import parse_placement
from gasmeter.sweeps.point import Budget, Group, Point
from gasmeter.sweeps.series import SPELT, Series
from gasmeter.units import parse_ranks, parse_seeds

__all__ = ["DEFAULT_SIZES", "DEFAULT_TABLE", "estimated_seconds", "plan", "plan_series"]

DEFAULT_SIZES = "8:4M"
"""Sizes of an operation by default, as far as it carries them."""
DEFAULT_TABLE = "32M"
"""Table of random-access by default: 2^22 words."""

_FIXED_S = 0.02
_PROBE_SHARE = 1.05

_AXES = ("op", "size", "ranks", "variant", "conduit", "machine", "topology", "placement", "seed", "repetition")


def plan(
    series: Iterable[Series], *, quick: bool = False, replace: Mapping[str, str] | None = None
) -> list[Group]:  # fmt: skip
    """Return the groups of an experiment's series in order, each content once.

    `replace` maps ``axis`` or ``kernel.axis`` to values as text; an option is an axis by its own name. Raises
    UsageError for a name, option, size or number of ranks that is not allowed, or an unknown axis.
    """
    chosen = [entry.quickened() if quick else entry for entry in series]
    chosen = _replaced(chosen, replace or {})
    kept: dict[str, Group] = {}
    for entry in chosen:
        groups = plan_series(entry)
        check_bisect(entry, groups)
        kept.update((group.id, _finer(kept.get(group.id, group), group)) for group in groups)
    return list(kept.values())


def _finer(first: Group, other: Group) -> Group:
    """Return the one of two equal families with the smaller share, which detects more jumps; else the first."""
    return min(first, other, key=lambda group: math.inf if group.bisect is None else group.bisect)


def plan_series(series: Series) -> list[Group]:
    """Return the groups of one series in order; compared points stand in one group, the reference first.

    Raises UsageError for a name, option, size or number of ranks that is not allowed.
    """
    entry = catalogue()
    kernel = entry.kernel(series.kernel)
    clip = series.size is None
    axes = _axes(series, kernel)
    reference = _reference(series, axes)
    builder = _Builder(entry, kernel, series, reference)
    compared = {*reference, *(("variant",) if "conduit" in reference else ())}
    groups: dict[tuple[Any, ...], dict[str, Point]] = {}
    references: dict[tuple[Any, ...], Point] = {}
    for values in _combinations(axes, series.zip):
        key = (
            tuple(value for name, value in values.items() if name not in compared)
            if reference
            else tuple(values.values())
        )
        members = groups.setdefault(key, {})
        if reference and key not in references:
            references[key] = builder.point({**values, **reference})
            members[references[key].id] = references[key]
        point = builder.point(values)
        members.setdefault(point.id, point)
    held = {
        key: fitted(members.values())
        if clip and _is_table(kernel, next(iter(members.values())).op)
        else (tuple(members.values()), "")
        for key, members in groups.items()
    }
    return [
        Group(
            points=held[key][0],
            note=held[key][1],
            reference=0 if key in references and len(members) > 1 else None,
            reference_name=_reference_name(reference) if key in references else "",
            compare=series.compare,
            clip=clip,
            bisect=series.bisect,
        )
        for key, members in groups.items()
    ]


def _axes(series: Series, kernel: Kernel) -> dict[str, tuple[Any, ...]]:
    ops = tuple(op.name for op in kernel.ops) if series.op == ("all",) else (series.op or (kernel.ops[0].name,))
    variants = tuple(kernel.variants) or ("",) if series.variant == ("all",) else (series.variant or ("",))
    sizes = series.size
    if sizes is None:
        table = any(_is_table(kernel, name) for name in ops)
        sized = any(kernel.op(name).sized for name in ops)
        sizes = parse_sizes(DEFAULT_TABLE if table else DEFAULT_SIZES) if sized else (0,)
    axes: dict[str, tuple[Any, ...]] = {
        "op": ops,
        "size": sizes,
        "ranks": series.ranks,
        "variant": variants,
        "conduit": series.conduit,
        "machine": series.machine or ("",),
        "topology": series.topology or ("",),
        "placement": series.placement or ("",),
        "seed": series.seeds,
        "repetition": tuple(range(series.repetitions)),
    }
    for name, value in series.options.items():
        if name in axes:
            raise UsageError(
                f"option {name!r} has the name of an axis; allowed: options of `gasmeter list conduits`", name
            )
        axes[name] = value if isinstance(value, tuple) else (value,)
    return axes


def _is_table(kernel: Kernel, op: str) -> bool:
    return any(metric.name == "gups" for metric in kernel.op(op).metrics)


def _combinations(axes: Mapping[str, tuple[Any, ...]], zipped: tuple[tuple[str, ...], ...]) -> Iterator[dict[str, Any]]:
    """Yield every combination of axis values, in the order of the axes; zipped axes advance together."""
    bundles: list[tuple[str, ...]] = []
    taken: set[str] = set()
    for name in axes:
        if name in taken:
            continue
        bundle = next((group for group in zipped if name in group), (name,))
        bundles.append(bundle)
        taken.update(bundle)
    for group in zipped:
        for name in group:
            if name not in axes:
                raise unknown("axis in zip", name, axes, "gasmeter run --help")
        lengths = {name: len(axes[name]) for name in group}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise UsageError(f"zip of {'+'.join(group)}: {shown} values; allowed: equally many", group[0])
    steps = [list(zip(*(axes[name] for name in bundle), strict=True)) for bundle in bundles]
    for choice in itertools.product(*steps):
        values = {
            name: value
            for bundle, step in zip(bundles, choice, strict=True)
            for name, value in zip(bundle, step, strict=True)
        }
        yield {name: values[name] for name in axes}


def _reference(series: Series, axes: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    if series.reference is None:
        return {}
    given: dict[str, Any] = (
        {"conduit": series.reference} if isinstance(series.reference, str) else dict(series.reference)
    )
    for name in given:
        if name not in axes:
            raise unknown("axis in against", name, axes, "gasmeter run --help")
    if "placement" in given:
        given["placement"] = parse_placement(str(given["placement"]))
    if "size" in given:
        given["size"] = parse_sizes(given["size"])[0]
    if "ranks" in given:
        given["ranks"] = parse_ranks(given["ranks"])[0]
    return given


def _reference_name(reference: Mapping[str, Any]) -> str:
    if set(reference) == {"conduit"}:
        return str(reference["conduit"])
    return ";".join(f"{name}={value}" for name, value in sorted(reference.items()))


class _Builder:
    """Maker of checked points of one series."""

    def __init__(self, entry: Catalogue, kernel: Kernel, series: Series, reference: Mapping[str, Any]) -> None:
        self._entry, self._kernel, self._series = entry, kernel, series
        self._budget: Budget = series.budget()
        conduits = [*series.conduit, *([str(reference["conduit"])] if "conduit" in reference else [])]
        self._conduits = {name: entry.conduit(name, kernel) for name in conduits}
        wanted = {
            name: [*given, *([str(reference[name])] if reference.get(name) else [])]
            for name, given in (
                ("machine", series.machine), ("topology", series.topology), ("placement", series.placement),
            )
        }  # fmt: skip
        self._installations = Installations(
            self._conduits.values(), wanted["machine"], wanted["topology"], wanted["placement"]
        )

    def point(self, values: Mapping[str, Any]) -> Point:
        kernel = self._kernel
        conduit = self._conduits[values["conduit"]]
        op = kernel.op(values["op"])
        size = int(values["size"]) if op.sized else 0
        if conduit.virtual:
            check_virtual_ranks(values["ranks"])
        else:
            check_ranks(values["ranks"])
            check_size(size)
        installed = self._installations.of(conduit, values["machine"], values["topology"])
        placement, nodes = "", 1
        if installed is not None:
            together = kernel.measures_simulation
            placement, nodes = self._installations.place(
                installed, values["placement"], values["ranks"], together=together
            )
        return Point(
            kernel=kernel.name,
            op=op.name,
            conduit=conduit.name,
            variant=resolve_variant(kernel, conduit, values["variant"]),
            size_bytes=size,
            ranks=values["ranks"],
            options=self._options(conduit, {name: value for name, value in values.items() if name not in _AXES}),
            machine=installed.column if installed else "",
            topology=installed.topology if installed else "",
            placement=placement,
            nodes=nodes,
            machine_digest=installed.digest if installed else "",
            seed=values["seed"],
            repetition=values["repetition"],
            budget=self._budget,
        )

    def _options(self, conduit: Conduit, given: Mapping[str, object]) -> dict[str, str]:
        # A measurement is about the network, so that the shared-memory bypass is off by default.
        declared = {option.name for option in conduit.options}
        # Option `near` of a kernel decides whether ranks of a node share memory.
        near = next((option.default for option in self._kernel.options if option.name == "near"), "remote")
        shares = "on" if given.get("near", near) == "direct" else "off"
        bypass = {"neighbourhood": shares} if "neighbourhood" in declared else {}
        resolve_options(self._entry, self._kernel, list(self._conduits.values()), given)
        names = declared | {option.name for option in self._kernel.options}
        applicable = {name: value for name, value in {**bypass, **given}.items() if name in names}
        return resolve_options(self._entry, self._kernel, [conduit], applicable)[conduit.name]


def _replaced(series: list[Series], replace: Mapping[str, str]) -> list[Series]:
    fields = {"repetition": "repetitions", **{spelt: field for field, spelt in SPELT.items()}}
    plain = {
        "op",
        "size",
        "ranks",
        "variant",
        "conduit",
        "machine",
        "topology",
        "placement",
        "seeds",
        "repetitions",
        "ci",
        "bisect",
        "time_s",
        "max_time_s",
        "iterations",
    }
    for key, text in replace.items():
        kernel, dot, axis = key.rpartition(".")
        wanted = [entry for entry in series if not dot or entry.kernel == kernel]
        if not wanted:
            raise unknown("kernel in --set", kernel, [entry.kernel for entry in series], "gasmeter run --dry-run")
        name = fields.get(axis, axis)
        if name not in plain and not any(_takes(entry, axis) for entry in wanted):
            options = [option for entry in wanted for option in _option_names(entry)]
            axes = sorted(SPELT.get(field, field) for field in plain)
            raise unknown("axis in --set", axis, dict.fromkeys([*axes, *options]), "gasmeter run --help")
        series = [_replace_axis(entry, name, text, plain) if entry in wanted else entry for entry in series]
    return series


def _replace_axis(series: Series, name: str, text: str, plain: set[str]) -> Series:
    if name not in plain:
        values = tuple(item.strip() for item in text.split(","))
        return series.replaced({"options": {**series.options, name: values}}) if _takes(series, name) else series
    if name == "seeds":
        return series.replaced({name: parse_seeds(text)})
    return series.replaced({name: text})


def _option_names(series: Series) -> list[str]:
    entry = catalogue()
    kernel = entry.kernel(series.kernel)
    conduits = [entry.conduit(name, kernel) for name in series.conduit]
    return [
        option.name for options in (kernel.options, *(conduit.options for conduit in conduits)) for option in options
    ]


def _takes(series: Series, option: str) -> bool:
    return option in _option_names(series)


def estimated_seconds(groups: Sequence[Group]) -> float:
    """Return the estimated seconds of groups before measuring; an upper bound if an interval is asked for."""
    budgets = (point.budget for group in groups for point in group.points)
    return _PROBE_SHARE * sum((budget.max_time_s if budget.ci else budget.time_s) + _FIXED_S for budget in budgets)
