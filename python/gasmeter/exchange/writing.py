"""A store in the files of other tools: Google Benchmark and asv.

Names begin with ``measured`` or ``modelled``, so that neither passes for the other in files without such a column.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gasmeter.errors import UsageError
from gasmeter.rows.direction import better
from gasmeter.rows.record import Row
from gasmeter.stores.store import open_result, read_blocks, read_run
from gasmeter.sweeps.placement import FILL

__all__ = ["benchmark_name", "stored", "to_asv", "to_google_benchmark"]


def stored(folder: str | Path) -> tuple[list[Row], dict[str, Any], Mapping[tuple[str, str], list[float]]]:
    """Return the rows with a value, the facts of the run's newest part, and blocks by point and metric.

    A store without journal is read from results.csv. Raises UsageError without a store, or without a row that has a
    value.
    """
    place = Path(folder)
    result = open_result(place)
    rows = [row for row in result.rows if math.isfinite(row["value"])]
    if not rows:
        raise UsageError(f"{place} has no row with a value; allowed: a store with results", str(place))
    try:
        blocks = {
            (block.run_id, block.metric): [float(value) for value in block.values[np.isfinite(block.values)]]
            for block in read_blocks(place)
        }
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise UsageError(f"{place}: samples cannot be read ({str(error).splitlines()[0][:120]})", str(place)) from error
    runs = (read_run(place) or {}).get("runs") or [{}]
    return rows, dict(runs[-1]), blocks


def benchmark_name(row: Row) -> str:
    """Return a row's name as one text, such as ``measured/smp/ping-pong/put/size:8/ranks:2/latency``."""
    # For real ranks the column names processors, which identify nothing else.
    placement = row["placement"] if row["topology"] and row["placement"] != FILL else ""
    parts = [row["kind"], row["conduit"], row["machine"], row["topology"], placement]
    parts += [row["kernel"], row["op"], row["variant"]]
    parts += [f"size:{row['size_bytes']}" if row["size_bytes"] else "", f"ranks:{row['ranks']}", row["options"]]
    parts += [f"against:{row['reference']}" if row["reference"] else ""]
    parts += [f"repetition:{row['repetition']}" if row["repetition"] else ""]
    parts += [f"seed:{row['seed']}" if row["seed"] not in {0, 1} else "", row["metric"]]
    return "/".join(str(part) for part in parts if part)


def to_google_benchmark(folder: str | Path) -> str:
    """Return a store as the JSON of Google Benchmark, for its compare.py.

    Times are ``real_time`` in ns, with an entry for each block, so that U tests work. All others are counters;
    their ``real_time`` follows from a rate, or is 0. Raises UsageError without a store or rows.
    """
    rows, run, blocks = stored(folder)
    host = run.get("host") or {}
    context = {
        "date": run.get("started", ""), "host_name": host.get("name", ""), "executable": "gasmeter",
        "num_cpus": host.get("logical_cores", 0), "mhz_per_cpu": 0, "cpu_scaling_enabled": False, "caches": [],
        "load_avg": host.get("load") or [], "library_build_type": "release", "revision": run.get("git", ""),
    }  # fmt: skip
    entries = []
    for family, row in enumerate(rows):
        values = [] if row["reference"] else blocks.get((row["run_id"], row["metric"]), [])
        for index, value in enumerate(values or [row["value"]]):
            entries.append(_google_entry(row, value, family, index, max(1, len(values))))
    return json.dumps({"context": context, "benchmarks": entries}, indent=1) + "\n"


def _google_entry(row: Row, value: float, family: int, index: int, of: int) -> dict[str, Any]:
    name, unit = benchmark_name(row), row["unit"]
    time = value if unit == "ns" else 1e9 / value if unit == "1/s" and value else 0.0
    counters = {} if unit == "ns" else {row["metric"]: value}
    counters |= {"bytes_per_second": value} if unit == "B/s" else {"items_per_second": value} if unit == "1/s" else {}
    return {
        "name": name, "family_index": family, "per_family_instance_index": 0, "run_name": name, "run_type": "iteration",
        "repetitions": of, "repetition_index": index, "threads": 1, "iterations": 1, "real_time": time,
        "cpu_time": time, "time_unit": "ns", **counters, "label": f"{row['kind']}, {row['semantics']}",
    }  # fmt: skip


def to_asv(folder: str | Path) -> dict[str, str]:
    """Return a store of one known revision as files of an asv results folder, by path.

    They are ``benchmarks.json``, ``MACHINE/machine.json`` and ``MACHINE/COMMIT-gasmeter.json``, with times in seconds.
    asv expects smaller to be better, so that only such quantities are written. Raises UsageError without a store, a
    revision, or a row that asv can hold.
    """
    rows, run, blocks = stored(folder)
    commit = re.sub(r"-dirty$", "", str(run.get("git") or ""))
    if not commit:
        raise UsageError(
            f"{folder} does not say its revision, which asv needs; allowed: a run in a git checkout, or `gasmeter run"
            " --revision REV`"
        )
    host = run.get("host") or {}
    machine = re.sub(r"[^\w.-]+", "-", str(host.get("name") or "unknown"))
    benchmarks: dict[str, Any] = {"version": 2}
    results: dict[str, list[Any]] = {}
    for row in rows:
        if better(row["metric"], row["unit"]) != "smaller":
            continue
        name, factor = benchmark_name(row).replace("/", "."), 1e-9 if row["unit"] == "ns" else 1.0
        kind = "time" if row["unit"] == "ns" else "track"
        unit = "seconds" if kind == "time" else row["unit"]
        benchmarks[name] = {
            "name": name, "type": kind, "unit": unit, "param_names": [], "params": [], "version": row["semantics"],
            "code": f"{row['kind']}: {row['semantics']}", "timeout": 0, "pretty_name": name,
        }  # fmt: skip
        samples = (
            [] if row["reference"] else [value * factor for value in blocks.get((row["run_id"], row["metric"]), [])]
        )
        results[name] = [[row["value"] * factor], [], row["semantics"], _milliseconds(run), None, [samples or None]]
    if not results:
        raise UsageError(f"{folder} holds nothing that gets better by getting smaller, which is all that asv judges")
    facts = {
        "machine": machine, "os": host.get("system", ""), "arch": host.get("microarchitecture", ""),
        "cpu": host.get("processor", ""), "num_cpu": str(host.get("logical_cores", "")),
        "ram": str(host.get("memory_bytes", "")), "version": 1,
    }  # fmt: skip
    content = {
        "commit_hash": commit, "env_name": "gasmeter", "date": _milliseconds(run), "params": dict(facts),
        "python": str((run.get("versions") or {}).get("python", "")), "requirements": {}, "env_vars": {},
        "result_columns": ["result", "params", "version", "started_at", "duration", "samples"], "results": results,
        "durations": {}, "version": 2,
    }  # fmt: skip
    return {
        "benchmarks.json": json.dumps(benchmarks, indent=1) + "\n",
        f"{machine}/machine.json": json.dumps(facts, indent=1) + "\n",
        f"{machine}/{commit[:8]}-gasmeter.json": json.dumps(content, indent=1) + "\n",
    }


def _milliseconds(run: Mapping[str, Any]) -> int:
    try:
        return int(datetime.datetime.fromisoformat(str(run.get("started"))).timestamp() * 1000)
    except ValueError:
        return 0
