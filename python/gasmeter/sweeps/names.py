"""Check the names and options of a point against the catalogue, in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gasmeter.catalogue import Catalogue, Conduit, Kernel, declared
from gasmeter.errors import UsageError, unknown
from gasmeter.option import Option

__all__ = [
    "check_metric",
    "options_text",
    "parse_assignments",
    "resolve_options",
    "resolve_variant",
]

_NEXT_KEY = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=)")  # a comma inside a value has no key behind it


def parse_assignments(items: Iterable[str], what: str = "option") -> dict[str, str]:
    """Return ``key=value`` items as a dictionary; one item may hold several (``loss=0.3,dup=0.1``).

    `what` names the items in messages. Raises UsageError if an item has no ``=`` or no key, or repeats a key with
    another value.
    """
    assigned: dict[str, str] = {}
    for item in (part for text in items for part in _NEXT_KEY.split(text)):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key:
            raise UsageError(f"{what} {item!r} is not key=value; allowed: for instance --{what} name=value", item)
        if assigned.get(key, value) != value:
            raise UsageError(f"{what} {key!r} is given twice, as {assigned[key]!r} and {value!r}; allowed: once", item)
        assigned[key] = value
    return assigned


def check_metric(name: str) -> str:
    """Return a metric's name; raise UsageError if no metric has it."""
    metrics = declared().metrics
    if name not in metrics:
        raise unknown("metric", name, metrics, "gasmeter list kernels")
    return name


def resolve_variant(kernel: Kernel, conduit: Conduit, variant: str) -> str:
    """Return the named variant, else the kernel's first, ``raw`` on a raw network, or empty without variants.

    Raises UsageError if the kernel has no such variant.
    """
    if not kernel.variants:
        if variant:
            raise unknown(f"variant of kernel {kernel.name}", variant, [], "gasmeter list kernels")
        return ""
    if conduit.raw:
        return "raw"
    allowed = [name for name in kernel.variants if name != "raw"]
    if not variant:
        return allowed[0]
    if variant not in allowed:
        raise unknown(f"variant of kernel {kernel.name}", variant, allowed, "gasmeter list kernels")
    return variant


def resolve_options(
    catalogue: Catalogue, kernel: Kernel, conduits: Sequence[Conduit], given: Mapping[str, object]
) -> dict[str, dict[str, str]]:
    """Return for each conduit its non-default options in canonical text.

    An option belongs to the kernel or to a conduit; it must be known to at least one of the conduits that run, and is
    left out where it is unknown (a raw network has no conduit options).

    Keys are sorted. A default stays only if a job may lower it. Raises UsageError for an option unknown to all of them,
    or a value that does not fit.
    """
    resolved: dict[str, dict[str, str]] = {conduit.name: {} for conduit in conduits}
    shared = {option.name: option for option in kernel.options}
    for name in sorted(given):
        owners = 0
        for conduit in conduits:
            declared_options = {option.name: option for option in conduit.options}
            option = declared_options.get(name) or shared.get(name)
            if option is None:
                continue
            owners += 1
            owner = f"conduit {conduit.name}" if name in declared_options else f"kernel {kernel.name}"
            value = option.parse(given[name], owner)
            if value != _default(option, owner) or option.default_is_most:
                resolved[conduit.name][name] = value
        if owners == 0:
            names = [*shared, *(option.name for conduit in conduits for option in conduit.options)]
            running = ", ".join(dict.fromkeys(conduit.name for conduit in conduits))
            raise unknown(f"option of {kernel.name} on {running}", name, dict.fromkeys(names), "gasmeter list conduits")
    return resolved


def _default(option: Option, owner: str) -> str:
    try:
        return option.parse(option.default, owner)
    except UsageError:
        return option.default


def options_text(options: Mapping[str, str], *, modelled: bool = False) -> str:
    """Return options as in the column ``options``: ``key=value`` sorted by key, joined by ``;``.

    In virtual time, options that cannot change a result are left out.
    """
    shown = (key for key in sorted(options) if not (modelled and key in declared().neutral))
    return ";".join(f"{key}={options[key]}" for key in shown)
