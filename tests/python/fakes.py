"""A machine made of numbers: worker pools, modelled jobs and a clock, for tests that need no compiled core.

It has the catalogue of the program and speaks the same commands as the real workers. Costs are invented; nothing here
is a measurement.
"""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from gasmeter.errors import BrokenJob, UsageError

# The program's catalogue, written by tests/checks/catalogue_is_current.py.
CATALOGUE = json.loads((Path(__file__).parent / "data" / "catalogue.json").read_text(encoding="utf-8"))

BASE_NS = {
    "am-short": 140.0,
    "am-medium": 170.0,
    "am-long": 180.0,
    "put": 2.0,
    "get": 2.1,
    "call": 1.4,
    "barrier": 100.0,
}
BYTES_PER_NS = {"am-medium": 10.0, "am-long": 20.0, "put": 50.0, "get": 55.0}
MEDIUM_LIMIT = 64 * 1024
GUPS_BY_VARIANT = {"raw": 0.11, "am": 0.1, "put-get": 0.04, "direct": 0.12}


def cost_ns(kernel, op, conduit, size):
    """Invented time of one operation."""
    base = BASE_NS.get(op, 100.0) * (0.8 if kernel == "flood" else 1.0)
    factor = 0.85 if conduit.startswith("raw@") else (20.0 if conduit == "ideal" else 1.0)
    return base * factor + size / BYTES_PER_NS.get(op, 30.0)


@dataclass
class Machine:
    """The clock, the distance of the cores, and what is to go wrong."""

    seed: int = 1
    cores: int = 2
    now: float = 1000.0
    probe_ns: object = 110.0
    noise: float = 0.01
    probes: int = 0
    blocks: int = 0
    unverified: set = field(default_factory=set)
    interrupt_at_block: int | None = None
    die_at_block: int | None = None
    on_block: object = None
    pools: list = field(default_factory=list)
    others: float = math.nan  # processors that other programs keep busy
    reading_ns: float = 0.0  # time of a clock reading; each block of a pool makes one
    steps: dict = field(default_factory=dict)  # by conduit: size from which on it takes so many ns more
    grain: int = 1  # sizes that its kernels take are multiples of

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)

    def clock(self):
        return self.now

    def probe(self):
        self.probes += 1
        self.now += 0.05
        return self.probe_ns(self.now) if callable(self.probe_ns) else self.probe_ns

    def load(self, _):
        return SimpleNamespace(others=lambda: self.others)

    def start_pool(self, ranks, binary=None):
        pool = Pool(self, ranks)
        self.pools.append(pool)
        return pool

    def timing(self, kernel, op, variant, conduit, size, ranks, iterations):
        """Elapsed time, operations and metrics of one block."""
        noise = math.exp(self.noise * self.rng.normal())
        if kernel == "random-access":
            updates = iterations * ranks
            gups = GUPS_BY_VARIANT[variant or "raw"] * min(ranks, self.cores) * noise
            return updates / gups, updates, {"gups": gups}
        more = sum(added for least, added in self.steps.get(conduit, {}).items() if size >= least)
        elapsed = iterations * (cost_ns(kernel, op, conduit, size) + more) * noise
        metrics = {
            "latency": elapsed / iterations,
            "round_trip": elapsed / iterations,
            "rate": iterations / elapsed * 1e9,
            "bandwidth": iterations * size / elapsed * 1e9,
            "speedup": 5.0 * noise,
        }
        entry = next(entry for entry in CATALOGUE["kernels"] if entry["name"] == kernel)
        names = [metric["name"] for item in entry["ops"] if item["name"] == op for metric in item["metrics"]]
        # Only virtual time reports the bytes that conduits reserve.
        return elapsed, iterations, {name: metrics[name] for name in names if name != "reserved_bytes"}


class Pool:
    """Worker processes that are not there."""

    def __init__(self, machine, ranks):
        self.machine, self.ranks = machine, ranks
        self.cpus = tuple(rank % machine.cores for rank in range(ranks))
        self.oversubscribed = ranks > machine.cores
        self.sessions, self.closed, self.alive = {}, False, True

    def command(self, fields, timeout=None):
        assert not self.closed
        assert all(isinstance(value, str) for value in fields.values())
        try:
            head = getattr(self, "_" + fields["verb"])(fields)
        except UsageError as error:
            return [{"status": "error", "error": "UsageError", "message": str(error)}] * self.ranks
        return [{"status": "ok", **head}, *[{"status": "ok", **self._other(fields)}] * (self.ranks - 1)]

    def _other(self, fields):
        if fields["verb"] == "counters":
            return self._counters(fields)
        return {"verified": "true", "errors": "0", "checked": "0"} if fields["verb"] == "verify" else {}

    def _open(self, fields):
        assert int(fields["ranks"]) == self.ranks
        assert fields["conduit"] != "ideal"
        size = int(fields["size_bytes"])
        if fields["op"] == "am-medium" and size > MEDIUM_LIMIT:
            raise UsageError(f"size {size} exceeds the largest Medium of {MEDIUM_LIMIT} bytes on {fields['conduit']}")
        if size % self.machine.grain:
            raise UsageError(f"size {size} is no multiple of {self.machine.grain} bytes")
        if fields["kernel"] == "ping-pong" and self.ranks < 2:
            raise UsageError("kernel ping-pong: ranks=1; it needs at least 2")
        self.sessions[fields["session"]] = dict(fields)
        return {}

    def _block(self, fields):
        machine, open_ = self.machine, self.sessions[fields["session"]]
        machine.blocks += 1
        if machine.on_block:
            machine.on_block(machine)
        if machine.interrupt_at_block == machine.blocks:
            raise KeyboardInterrupt
        if machine.die_at_block == machine.blocks:
            self.alive = False
            raise BrokenJob("rank 1 (pid 4321) was killed by signal 9 (Killed)")
        elapsed, operations, metrics = machine.timing(
            open_["kernel"], open_["op"], open_["variant"], open_["conduit"], int(open_["size_bytes"]), self.ranks,
            int(fields["iterations"]),
        )  # fmt: skip
        elapsed += machine.reading_ns
        machine.now += elapsed * 1e-9 + 50e-6
        return {
            "elapsed_ns": repr(elapsed),
            "operations": str(operations),
            **{f"metric.{name}": repr(value) for name, value in metrics.items()},
        }

    def _verify(self, fields):
        open_ = self.sessions[fields["session"]]
        bad = open_["op"] in self.machine.unverified
        checked = "0" if open_["op"] == "call" else "8"
        return {"verified": "false" if bad else "true", "errors": "3" if bad else "0", "checked": checked}

    def _counters(self, fields):
        if self.sessions[fields["session"]]["conduit"] != "udp":
            return {}
        return {"counter.messages": str(10 * self.machine.blocks), "counter.retransmits": "7"}

    def _resolved(self, fields):
        open_ = self.sessions[fields["session"]]
        resolved = {"option.mpi": "openmpi"} if open_["conduit"].endswith("mpi") else {}
        if open_["conduit"] == "mpi":
            resolved["option.rma"] = open_.get("option.rma", "auto").replace("auto", "on")
        return resolved | ({"option.algorithm": "bruck"} if open_["kernel"] == "collective" else {})

    def _close(self, fields):
        del self.sessions[fields["session"]]
        return {}

    def close(self):
        self.closed = True


class ModelJob:
    """A job in virtual time: the same every time."""

    machines: ClassVar = []  # argument `machine` of each job of a test, in order

    def __init__(self, *, kernel, op, conduit, variant, size_bytes, seed, ranks, options, machine=None, is_over=None):
        assert all(isinstance(value, str) for value in options.values())
        ModelJob.machines.append(machine)
        self.given = machine
        self.settings = (kernel, op, variant, conduit, size_bytes, ranks)
        self.machine = Machine(noise=0.0)
        self.operations = 0

    def block(self, iterations):
        elapsed, operations, metrics = self.machine.timing(*self.settings, iterations)
        self.operations += operations
        return {"elapsed_ns": elapsed, "operations": operations, **{f"metric.{k}": v for k, v in metrics.items()}}

    @classmethod
    def check(cls, **given):
        cls(**given)

    def unused(self):
        return []

    def verify(self, *, blocks_follow=False):
        return {"verified": True, "errors": 0, "checked": 8}

    def links(self):
        topology = (self.given or {}).get("topology", "")
        wires = list(wires_of(topology)) if topology else []
        vertex, port, to = (np.array([wire[i] for wire in wires], dtype=np.uint32) for i in range(3))
        count = np.arange(len(wires), dtype=np.uint64)
        return {
            "vertex": vertex, "port": port, "to": to, "packets": count, "bytes": 64 * count,
            "busy": count / max(1, len(wires)), "longest_wait_ns": 2.0 * count, "blocked": count // np.uint64(2),
        }  # fmt: skip

    def counters(self):
        return {"messages": self.operations, "stalls": 0}

    def resolved(self):
        return {"algorithm": "pairwise"} if self.settings[0] == "collective" else {}

    def stop(self):
        pass

    def close(self):
        pass


KINDS = {
    "mesh2d": (2, False),
    "mesh3d": (3, False),
    "torus2d": (2, True),
    "torus3d": (3, True),
    "ring": (1, True),
    "crossbar": (1, False),
    "fat-tree": (2, False),
}


def extents_of(text):
    kind, _, size = text.partition(":")
    if kind not in KINDS:
        raise UsageError(f"topology {text}: no kind is called {kind}")
    extents = [int(part) for part in size.split("x")]
    if len(extents) != KINDS[kind][0] or min(extents) < 1:
        raise UsageError(f"topology {text}: {kind} takes {KINDS[kind][0]} numbers; for example {kind}:4x4x4")
    return extents


def wires_of(text):
    """Vertex, port and neighbour of each direction of each link of a grid."""
    extents, wraps = extents_of(text), KINDS[text.partition(":")[0]][1]
    for vertex in range(math.prod(extents)):
        for port in range(2 * len(extents)):
            stride, extent = math.prod(extents[: port // 2]), extents[port // 2]
            at = vertex // stride % extent
            neighbour = at + (-1 if port % 2 else 1)
            if 0 <= neighbour < extent or (wraps and extent > 2):
                yield vertex, port, vertex + (neighbour % extent - at) * stride


def ways_of(text, source):
    """Links on the shortest way from a node to every other."""
    wires, hops, at = list(wires_of(text)), {source: 0}, [source]
    for vertex in at:
        for entry in (wire[2] for wire in wires if wire[0] == vertex and wire[2] not in hops):
            hops[entry] = hops[vertex] + 1
            at.append(entry)
    return hops


class Core:
    """Stands in for the module gasmeter._core."""

    ModelJob = ModelJob

    @staticmethod
    def catalogue():
        return CATALOGUE

    @staticmethod
    def topologies():
        return [
            {"name": "mesh2d", "summary": "a sheet", "example": "mesh2d:4x4"},
            {"name": "mesh3d", "summary": "a box", "example": "mesh3d:4x4x4"},
            {"name": "ring", "summary": "a line whose ends meet", "example": "ring:8"},
            {"name": "torus2d", "summary": "a sheet whose ends meet", "example": "torus2d:4x4"},
            {"name": "torus3d", "summary": "a box whose ends meet", "example": "torus3d:4x4x4"},
        ]

    @staticmethod
    def topology(text):
        extents = extents_of(text)
        ports = [sign + axis for axis in "xyz"[: len(extents)] for sign in "+-"]
        return {
            "name": text, "terminals": math.prod(extents), "extents": extents, "ports": ports,
            "dead_links": [], "slow_links": [],
        }  # fmt: skip

    @staticmethod
    def routes(text, sources, targets):
        hops = [ways_of(text, source)[target] for source, target in zip(sources, targets, strict=True)]
        return {"first": np.cumsum([0, *hops])}

    @staticmethod
    def build_info():
        return {"compiler": "none", "flags": "", "version": "0"}
