"""Final values of a point's options, and their origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gasmeter.sweeps.point import Point

__all__ = ["defaults_of", "resolved_of"]

_AUTO = "auto"  # the choice that leaves the value to the job


def resolved_of(point: Point, chosen: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the options of a point that are not at a plain default, by name: ``value``, ``origin``, ``asked``.

    ``origin`` is ``asked`` for a given value and ``auto`` for a choice of the job (`chosen`). All other options have
    their default (`defaults_of`).
    """
    resolved = {name: {"value": value, "origin": "asked"} for name, value in point.options.items()}
    for name, value in chosen.items():
        if name not in resolved or resolved[name]["value"] == _AUTO:
            resolved[name] = {"value": value, "origin": _AUTO}
    return resolved


def defaults_of(points: Iterable[Point]) -> dict[str, dict[str, str]]:
    """Return the default values of all options of the points, by ``kernel NAME`` and ``conduit NAME``."""
    owners = {}
    for point in points:
        owners[f"kernel {point.kernel}"] = point.declared_kernel.options
        owners[f"conduit {point.conduit}"] = point.declared_conduit.options
    return {name: {option.name: option.default for option in options} for name, options in owners.items() if options}
