"""Builds of gasmeter behind a store's rows, and rows as records by group and build."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from gasmeter.rows.record import Record, Row

__all__ = ["build_text", "builds_of", "records_of", "stretches"]

_DIGITS = 16


def builds_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the builds behind a store's rows: ``revision``, ``digest``, and ``points`` if there are several.

    It is empty if no record names a build, as in a measurement without a store or in an import.
    """
    by_build: dict[tuple[str, str], dict[str, None]] = {}
    for entry in records:
        if entry.build:
            by_build.setdefault((entry.revision, entry.build), {}).update((row["run_id"], None) for row in entry.rows)
    builds: list[dict[str, Any]] = [{"revision": revision, "digest": digest} for revision, digest in by_build]
    if len(builds) > 1:
        for build, points in zip(builds, by_build.values(), strict=True):
            build["points"] = list(points)
    return builds


def records_of(rows: Sequence[Row], builds: Sequence[dict[str, Any]]) -> list[Record]:
    """Return the rows of a store without journal as records, as far as the rows tell groups apart.

    A record is a group with comparisons, or a stretch of other rows of one kernel without a repeated point; each names
    its build. The order of rows stays.
    """
    only = builds[0] if len(builds) == 1 else {}
    points = list(dict.fromkeys(row["run_id"] for row in rows)) if len(builds) > 1 else []
    owners = {point: build for build in builds for point in _points(build, points)}
    records: list[Record] = []
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        build = owners.get(row["run_id"], only)
        names = {"revision": build.get("revision", ""), "build": build.get("digest", "")}
        key = (row["run_id"], row["metric"], row["reference"])
        last = records[-1] if records else None
        compared = last is not None and last.rows[-1]["reference"] and not row["reference"]
        other = last is not None and last.rows[-1]["kernel"] != row["kernel"]  # a group has a single kernel
        if last is None or compared or other or key in seen or last.build != names["build"]:
            last, seen = Record(group="", **names), set()
            records.append(last)
        last.rows.append(row)
        seen.add(key)
    for entry in records:
        text = "\n".join(f"{row['run_id']} {row['metric']} {row['reference']}" for row in entry.rows)
        entry.group = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    return records


def stretches(points: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """Return points of one build as stretches of `names`, each with its first place and its number of points.

    `names` are all points in the order of results.csv. A published store names tens of thousands of points this way.
    """
    own = set(points)
    found: list[list[int]] = []
    for at, name in enumerate(names):
        if name in own and found and sum(found[-1]) == at:
            found[-1][1] += 1
        elif name in own:
            found.append([at, 1])
    return found


def _points(build: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Return the points of a build, whether run.json names them or their stretches."""
    own = [name for start, count in build.get("stretches", ()) for name in names[start : start + count]]
    return [*build.get("points", ()), *own]


def build_text(build: dict[str, Any]) -> str:
    """Return a build for people: ``revision 1a690c7… (build 0123456789abcdef)``."""
    revision = str(build["revision"]) or "unknown"
    return f"revision {revision} (build {build['digest']})"
