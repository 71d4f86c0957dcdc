"""What the options of a point became, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gasmeter.catalogue import catalogue
from gasmeter.sweeps.point import Point

__all__ = ["defaults_of", "resolved_of"]

_AUTO = "auto"  # the choice that leaves the choice to the job


def resolved_of(point: Point, chosen: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the options of a point that are not at a plain default.

    Parameters
    ----------
    point : Point
        What was asked for.
    chosen : mapping of str to str
        What the job says that its options became.

    Returns
    -------
    dict of str to dict
        By option: ``value``, and ``origin``, ``asked`` for what was given and ``auto`` for what was left to the job.
        Options of the kernel and conduit that do not stand here have their default (`defaults_of`).
    """
    resolved = {name: {"value": value, "origin": "asked"} for name, value in point.options.items()}
    for name, value in chosen.items():
        if name not in resolved or resolved[name]["value"] == _AUTO:
            resolved[name] = {"value": value, "origin": _AUTO}
    return resolved


def defaults_of(points: Iterable[Point]) -> dict[str, dict[str, str]]:
    """Return the defaults of every option that points have.

    Parameters
    ----------
    points : iterable of Point
        Of a sweep.

    Returns
    -------
    dict of str to dict
        By ``kernel NAME`` and ``conduit NAME``: values by option.
    """
    entry = catalogue()
    owners = {}
    for point in points:
        kernel = entry.kernel(point.kernel)
        owners[f"kernel {kernel.name}"] = kernel.options
        owners[f"conduit {point.conduit}"] = entry.conduit(point.conduit, kernel).options
    return {name: {one.name: one.default for one in options} for name, options in owners.items() if options}
