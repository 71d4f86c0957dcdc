"""Fingerprint of the programs that a paper's lines run: what a small run of each one does, in exact virtual time.

A kernel runs on the ideal conduit, whose prices are fixed: neither a machine file nor another conduit moves its
fingerprint. A raw program runs on its own modelled network. There all times, bandwidths, rates and frequencies are
fixed, too. Sizes and counts come from the machine file, because no fixed value is valid on every machine. Raw
programs on real networks have no fingerprint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from gasmeter.catalogue import Kernel, catalogue, core
from gasmeter.errors import GasmeterError
from gasmeter.machines.machine import Machine
from gasmeter.machines.named import machine
from gasmeter.reproduction.plan.figure import RANKS, SIZE, Figure, Line, Paper
from gasmeter.reproduction.plan.planning import SEED

__all__ = ["REFUSED", "Program", "program_runs", "small_run"]

REFUSED = "refused"
"""Fingerprint of a program that this build cannot run."""

_IDEAL = "ideal"
_RAW = "raw@"
_RANKS = 16
_OPERATIONS = 64
_SIZE = 512
_SIZES = {"am-short": 0, "barrier": 0, "poll": 0, "random-access": 4096, "vis": 4096}  # bytes, by operation or kernel
_SHORTER: Mapping[str, Mapping[str, str]] = {"immediate": {"messages": "20"}}
_UNRECORDED = frozenset({"shared-access", "stressmark"})  # ranks of a node share memory, which no record shows
_PRICES = {
    "check": "5", "instruction": "1", "latency_back": "700", "loop_level": "11", "loop_turn": "3",
    "near_translation": "30", "piece_copy": "7", "put": "native", "registration": "cached",
    "search": "20", "translate": "40",
}  # fmt: skip
_FIXED = {"time": 1e-7, "bandwidth": 1e9, "rate": 1e7, "frequency": 1e9}  # by kind of a number, in SI base units
_RECORDED = ("rank", "kind", "peer", "bytes", "begin_ps", "end_ps", "idle_ps", "rank_end_ps")
_COUNTERS = (
    "messages", "transfers", "payload_bytes", "lookups", "hits", "evictions", "local_accesses", "remote_accesses",
    "seeded_lookups", "seeded_hits",
)  # fmt: skip

Program = tuple[str, str, str, str, tuple[tuple[str, str], ...], str]
"""Kernel, operation, conduit, variant, options, and for a raw program the machine."""


def program_runs(paper: Paper) -> dict[str, str]:
    """Return the fingerprint of each program that the judged lines of a paper run, by the program in JSON.

    A fingerprint has 16 hexadecimal digits, or is `REFUSED` if this build cannot run the program.
    """
    metrics: dict[Program, set[str]] = {}
    for figure in paper.figures:
        for line in figure.lines:
            program = _program(line, figure)
            if program is not None:
                metrics.setdefault(program, set()).add(line.metric)
    return {json.dumps(program): small_run(program, tuple(sorted(names))) for program, names in metrics.items()}


def _program(line: Line, figure: Figure) -> Program | None:
    """Return the program of a line; None if it is a raw program on a real network."""
    kernel = catalogue().kernel(line.kernel)
    op, raw = line.op or kernel.ops[0].name, line.conduit.startswith(_RAW)
    if raw and not line.machine:
        return None
    options = {**dict(line.wanted), **dict(line.options)}
    if figure.axis not in {RANKS, SIZE} and figure.full.xs:
        options.setdefault(figure.axis, str(figure.full.xs[0]))
    known = {option.name for option in kernel.options} | (_conduit_options(line.conduit, kernel) if raw else set())
    asked = tuple(sorted((name, value) for name, value in options.items() if name in known))
    return (line.kernel, op, line.conduit, "", asked, line.machine) if raw else (
        line.kernel, op, _IDEAL, line.variant, asked, ""
    )  # fmt: skip


def _conduit_options(name: str, kernel: Kernel) -> set[str]:
    try:
        return {option.name for option in catalogue().conduit(name, kernel).options}
    except GasmeterError:  # not in this build
        return set()


def small_run(program: Program, metrics: tuple[str, ...] = ()) -> str:
    """Run a block of few operations and return its fingerprint.

    This is the digest of the block's time and of its conduit's counts. On the ideal conduit it also covers rank, kind,
    peer, bytes and times of all operations. `metrics` are the kernel's own metrics that lines show.
    """
    kernel, op, conduit, variant, asked, name = program
    prices = _PRICES if conduit == _IDEAL else {}
    options = {**prices, **dict(asked), **_SHORTER.get(kernel, {})}
    size = _SIZES.get(op, _SIZES.get(kernel, _SIZE))
    records = conduit == _IDEAL and kernel not in _UNRECORDED
    try:
        job = core().ModelJob(
            kernel=kernel, op=op, conduit=conduit, variant=variant, size_bytes=size, seed=SEED, ranks=_RANKS,
            options=options, machine=_fixed(machine(name)) if name else {}, record=records,
        )  # fmt: skip
        try:
            return _fingerprint(job, metrics, records=records)
        finally:
            job.close()
    except GasmeterError:
        return REFUSED


def _fixed(given: Machine) -> dict[str, float | str]:
    """Return the numbers of a machine; nonzero ones of a kind in `_FIXED` are replaced by the fixed value."""
    kinds = {number.key: number.kind for number in given.numbers}
    return {key: _FIXED.get(kinds[key], value) if value else value for key, value in given.values().items()}


def _fingerprint(job: Any, metrics: tuple[str, ...], *, records: bool) -> str:
    block, counted = job.block(_OPERATIONS), job.counters()
    shown = {name: block.get(name) for name in ("elapsed_ns", "operations", *(f"metric.{name}" for name in metrics))}
    seen = hashlib.sha256(json.dumps([shown, [counted.get(name) for name in _COUNTERS]]).encode())
    if records:
        columns = job.record()
        for name in _RECORDED:
            seen.update(np.asarray(columns[name], dtype="<i8").tobytes())
    return seen.hexdigest()[:16]
