"""Check rows of thousands of draws of a machine, as `check_points` and `modelled` define them, run bare."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from gasmeter.catalogue import core, declared
from gasmeter.checking.points import checks_of, point_of
from gasmeter.errors import GasmeterError
from gasmeter.machines.check_row import CheckPoint, in_si
from gasmeter.machines.draws import DRAWS, drawn_values
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.measuring.sessions import job_settings

__all__ = ["check_draws"]

_SHARES = 16
"""Pieces of the work for each process, so that processes end at about the same time."""


def check_draws(name: str, *, jobs: int = 1) -> list[dict[str, float] | None]:
    """Return the values of a machine's check rows in every draw, in SI units by hardware id.

    A draw that a network refuses is None; a machine without check rows gives empty ones. `jobs` processes share the
    work. Raises UsageError for an unknown machine.
    """
    installed = machine(name)
    if not checks_of(installed.name):
        return [{} for _ in range(DRAWS)]
    if jobs == 1:
        return _values_of_draws(name, 0, DRAWS)
    step = max(1, DRAWS // (jobs * _SHARES))
    starts = range(0, DRAWS, step)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as workers:
        parts = workers.map(_values_of_draws, [name] * len(starts), starts, [min(at + step, DRAWS) for at in starts])
        return [values for part in parts for values in part]


def _values_of_draws(name: str, first: int, last: int) -> list[dict[str, float] | None]:
    """Return the draws from number `first` up to `last`, excluded."""
    installed = machine(name)
    points = {_key(point): point for entry in checks_of(installed.name) for point in entry.points.values()}
    settings = {key: job_settings(point_of(point, installed)) for key, point in points.items()}
    return [_values_of_draw(installed, points, settings, number) for number in range(first, last)]


def _key(point: CheckPoint) -> str:
    return point.model_dump_json()


def _values_of_draw(
    installed: Machine, points: Mapping[str, CheckPoint], settings: Mapping[str, dict[str, Any]], number: int
) -> dict[str, float] | None:
    """Return the values of one draw."""
    drawn = drawn_values(installed, number)
    came: dict[str, float] = {}
    for key, point in points.items():
        point_settings = settings[key]
        try:
            job = core().ModelJob(**{**point_settings, "machine": {**point_settings["machine"], **drawn}})
            value = float(job.block(point.iterations)[f"metric.{point.metric}"])
            job.close()
        except GasmeterError:
            return None
        came[key] = value * in_si(declared().metrics[point.metric].unit)[1]
    numbers = {key: value for key, value in drawn.items() if isinstance(value, float)}
    return {
        entry.hardware: entry.value({name: came[_key(point)] for name, point in entry.points.items()}, numbers)
        for entry in checks_of(installed.name)
    }
