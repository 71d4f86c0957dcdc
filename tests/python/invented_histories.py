"""Invented histories with known steps, for tests and timing of the dashboard; nothing here is measured."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from gasmeter.rows.formats import to_csv
from gasmeter.rows.record import Row

__all__ = ["Plan", "write_history"]

_KERNELS = (
    ("ping-pong", "am-short", "round_trip", "ns", 270.0),
    ("ping-pong", "put", "latency", "ns", 95.0),
    ("flood", "am-medium", "rate", "1/s", 6.1e6),
    ("flood", "put", "bandwidth", "B/s", 9.4e9),
)
_CONDUITS = (("smp", "shm", "measured"), ("udp", "udp", "measured"), ("extoll", "extoll", "modelled"))
_HOSTS = ("Fictional CPU A", "Fictional CPU B")
_FIRST_DAY = datetime.datetime(2024, 1, 1, 3, 0, tzinfo=datetime.UTC)


@dataclass
class Plan:
    """Parameters of an invented history."""

    runs: int = 60  # from 1
    series: int = 12  # from 1
    seed: int = 1  # seed of all noise
    # By number of the series: first run, and factor on the time; by default for 12 of 200 series
    steps: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    noise: float = 0.01  # standard deviation of a measured median, relative
    missing: float = 0.0  # share of rows that a run lacks
    outliers: float = 0.01  # share of measured rows that are a third slower
    blocks: int = 12  # blocks of each point in samples.parquet; 0 writes none
    hosts: int = 1  # machines that take turns, 1 or 2


def write_history(folder: Path, plan: Plan) -> list[Path]:
    """Write a store for every run into a new folder; return the stores, the oldest first."""
    rng = np.random.default_rng(plan.seed)
    stores = []
    for run in range(plan.runs):
        store = folder / f"run-{run:04d}"
        store.mkdir(parents=True)
        state_ns = float(rng.normal(112, 4)) + (40 if rng.random() < 0.03 else 0)
        rows, samples = [], []
        for number in range(plan.series):
            if rng.random() < plan.missing:
                continue
            row, blocks = _row(plan, number, run, state_ns, rng)
            rows.append(row)
            samples += blocks
        (store / "results.csv").write_text(to_csv(rows))
        if plan.blocks:
            pd.DataFrame(samples).to_parquet(store / "samples.parquet", index=False)
        (store / "run.json").write_text(json.dumps(_facts(plan, run), indent=1))
        stores.append(store)
    return stores


def _row(plan: Plan, number: int, run: int, state_ns: float, rng: np.random.Generator) -> tuple[Row, list[Row]]:
    kernel, op, metric, unit, base = _KERNELS[number % len(_KERNELS)]
    conduit, network, kind = _CONDUITS[number // len(_KERNELS) % len(_CONDUITS)]
    size = 0 if op == "am-short" else 8 << (number // (len(_KERNELS) * len(_CONDUITS)))
    factor = float(np.prod([by for start, by in plan.steps.get(number, []) if run >= start]))
    slower = factor if unit == "ns" else 1 / factor
    value = base * (1 + number / 50) * slower
    modelled = kind == "modelled"
    if modelled:
        blocks = np.full(max(1, plan.blocks), round(value, 3))
    else:
        third = 1.33 if unit == "ns" else 1 / 1.33
        level = value * (1 + plan.noise * rng.normal()) * (third if rng.random() < plan.outliers else 1)
        blocks = level * (1 + 0.01 * np.abs(rng.normal(size=max(1, plan.blocks))))
    middle = float(np.median(blocks))
    spread = 0.0 if modelled else 0.004 * middle
    name = hashlib.sha256(f"{number}".encode()).hexdigest()[:16]
    row: Row = {
        "experiment": "invented", "kernel": kernel, "op": op, "variant": "", "conduit": conduit, "network": network,
        "kind": kind, "label": "predicted" if modelled else "measured", "machine": "extoll" if modelled else "",
        "topology": "mesh2d:2x1" if modelled else "", "placement": "fill" if modelled else "cpus 0 1",
        "nodes": 2 if modelled else 1, "ranks": 2 + number // 48, "oversubscribed": False, "size_bytes": size,
        "options": f"lane={number // 12}" if op == "am-short" else "",
        "semantics": "invented", "verified": True, "metric": metric, "value": middle, "unit": unit,
        "reference": "", "ci_low": middle - spread, "ci_high": middle + spread, "min": float(blocks.min()),
        "p50": middle, "p99": float(blocks.max()), "n": len(blocks), "repetition": 0, "seed": 1,
        "host_state_ns": float("nan") if modelled else state_ns, "run_id": name,
        "state": "good",
    }  # fmt: skip
    return row, [
        {"run_id": name, "metric": metric, "block": block, "value": float(value), "kept": bool(block % 7 != 3)}
        for block, value in enumerate(blocks[: plan.blocks])
    ]


def _facts(plan: Plan, run: int) -> Row:
    started = _FIRST_DAY + datetime.timedelta(hours=18 * run)
    return {
        "schema": 1,  # schema 1 has no digests
        "experiment": "invented",
        "state": "complete",
        "runs": [
            {
                "started": started.isoformat(timespec="seconds"),
                "command": "gasmeter run invented.py",
                "git": hashlib.sha256(f"revision {run}".encode()).hexdigest()[:40],
                "host": {"name": "nowhere", "processor": _HOSTS[run % plan.hosts], "logical_cores": 2,
                         "memory_bytes": 8 << 30, "load": [0.1, 0.2, 0.3]},
                "versions": dict(_versions(run)),
            }
        ],
        "errors": [],
        "notes": [],
    }  # fmt: skip


def _versions(run: int) -> Iterator[tuple[str, str]]:
    yield "gasmeter", "0.1.0"
    yield "python", f"3.11.{run // 400}"
