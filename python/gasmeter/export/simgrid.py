"""A record as a SimGrid platform and a program that replays it on SMPI.

The platform has the machine's links, one for each direction. Flows of a link share its bandwidth (``SHARED``) with each
other, but not with the opposite direction, as in full-duplex cables; ``FATPIPE`` would switch contention off. Every
route in use is written out as our routing takes it, since SimGrid's own tori break the ties of even rings differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gasmeter.catalogue import core
from gasmeter.errors import UsageError
from gasmeter.export.record import Kind, Record
from gasmeter.export.schedule import Notice, Receive, Send, Step, Work, served, steps
from gasmeter.machines.machine import Machine

__all__ = ["write_simgrid"]

_CONFIG = {
    # Times of modelled networks are below SimGrid's usual precision of 10 us.
    "surf/precision": "1e-15",
    # Latency and bandwidth alone: no corrections of TCP on Ethernet, no windows, no traffic of acknowledgements.
    "network/model": "CM02",
    "network/latency-factor": "1",
    "network/bandwidth-factor": "1",
    "network/weight-S": "0",
    "network/TCP-gamma": "0",
    "network/crosstraffic": "no",
    # Messages leave when they are sent, and MPI itself costs nothing: the trace contains the time of hosts.
    "smpi/async-small-thresh": "1000000000",
    "smpi/send-is-detached-thresh": "1000000000",
    "smpi/simulate-computation": "no",
    "smpi/wtime": "0",
}

_RUN = """#!/bin/sh
# Builds the program and replays the trace; what smpirun sets by itself is set again here.
set -eu
cd "$(dirname "$0")"
smpicc -O2 replay.c -o replay
exec smpirun -platform platform.xml -hostfile hosts.txt -np {processes} {config} ./replay trace.txt
"""

_README = """# Replay of a recorded run on SimGrid

{title}

`trace.txt` holds what each rank did: work on its core in ps, sends, receives. `replay.c` does it again on SMPI;
`platform.xml` is the machine, `hosts.txt` says where each process runs.{interfaces}

`sh run.sh` builds and runs it, with the settings that leave nothing but latency and bandwidth of SimGrid's models. It
needs SimGrid with SMPI (tried with 3.32; Debian: `libsimgrid-dev`). Each rank prints when it ends; here they ended at

{ends}

What differs between the two, and why:

- Flows, not packets: SimGrid shares a link's bandwidth among the flows that cross it at the time. Buffers, credits,
  virtual channels, the order of packets in a queue and pauses of a network interface are not in its model.
- A message has arrived with its last byte there. A modelled interface may act on the first.
- SMPI adds 16 bytes to every message; `replay.c` sends 16 fewer, and messages below that as 16.
- Work is replayed as it was; what a rank slept while it waited is left out. Polls are not quantised to the price of a
  miss, and no work is added if more messages come at once than did.
- The platform is {network}; a message is its payload and {header} bytes of headers.
"""

_INTERFACES = """ Processes {ranks} to {last} are the
network interfaces of the ranks: they answer puts and gets without the rank's core."""


@dataclass(frozen=True)
class _Platform:
    """Hosts, links and routes of one machine."""

    host_of: tuple[str, ...]  # host of each rank
    links: dict[str, tuple[float, float]]  # bandwidth in B/s, latency in s
    ways: dict[tuple[str, str], list[str]]
    summary: str


def _number(machine: Machine, key: str) -> float:
    return float(machine[key].value)


def _used_pairs(record: Record) -> list[tuple[int, int]]:
    """Return the pairs of ranks with traffic, in both directions."""
    pairs = {(rank, operation.peer) for rank, operation in record.all() if operation.peer != rank}
    return sorted(pairs | {(b, a) for a, b in pairs})


def _of_topology(record: Record, machine: Machine) -> _Platform:
    nodes = record.node
    pairs = sorted({(nodes[a], nodes[b]) for a, b in _used_pairs(record) if nodes[a] != nodes[b]})
    routes = core().routes(machine.topology, [a for a, _ in pairs], [b for _, b in pairs])
    names = [
        f"v{vertex}p{port}" for vertex, port in zip(routes["vertex"].tolist(), routes["port"].tolist(), strict=True)
    ]
    first = routes["first"].tolist()
    ways = {
        (f"n{a}", f"n{b}"): names[begin:end] for (a, b), begin, end in zip(pairs, first[:-1], first[1:], strict=True)
    }
    if "/slow:" in machine.topology:
        raise UsageError(
            f"topology {machine.topology}: SimGrid's file knows neither slow nodes nor slow links; allowed: dead links",
            machine.topology,
        )
    cost = (_number(machine, "link.bandwidth"), _number(machine, "link.latency"))
    return _Platform(
        tuple(f"n{node}" for node in nodes), dict.fromkeys(sorted(set(names)), cost), ways, machine.topology
    )


def _of_interfaces(record: Record, machine: Machine) -> _Platform:
    """Without a topology messages share only each rank's interface, with half of the latency on either side."""
    cost = (_number(machine, "nic.bandwidth"), _number(machine, "nic.latency") / 2)
    ranks = range(len(record.ranks))
    links = {f"{side}{rank}": cost for rank in ranks for side in ("out", "in")}
    ways = {(f"n{a}", f"n{b}"): [f"out{a}", f"in{b}"] for a, b in _used_pairs(record)}
    return _Platform(tuple(f"n{rank}" for rank in ranks), links, ways, "an interface for each rank and no topology")


def _platform(record: Record, machine: Machine) -> _Platform:
    if machine.topology:
        return _of_topology(record, machine)
    if "nic.bandwidth" in machine:
        return _of_interfaces(record, machine)
    raise UsageError(f"machine {machine.label} has neither links nor interfaces that could be written for SimGrid")


def _xml(platform: _Platform, processes: int) -> Iterator[str]:
    yield "<?xml version='1.0'?>"
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    yield '<platform version="4.1">'
    yield '  <zone id="machine" routing="Full">'
    hosts = sorted(set(platform.host_of), key=lambda name: int(name[1:]))
    # A flop takes one nanosecond. Each process has its own core, since ranks of a node do not share cores.
    for host in hosts:
        yield f'    <host id="{host}" speed="1Gf" core="{processes}"/>'
    for name, (bandwidth, latency) in platform.links.items():
        # A direction of a cable. SHARED: among the flows of this direction.
        yield f'    <link id="{name}" bandwidth="{bandwidth!r}Bps" latency="{latency!r}s" sharing_policy="SHARED"/>'
    yield '    <link id="inside" bandwidth="1e18Bps" latency="0s" sharing_policy="FATPIPE"/>'
    for host in hosts:
        yield f'    <route src="{host}" dst="{host}"><link_ctn id="inside"/></route>'
    for (source, target), way in platform.ways.items():
        links = "".join(f'<link_ctn id="{name}"/>' for name in way)
        yield f'    <route src="{source}" dst="{target}" symmetrical="NO">{links}</route>'
    yield "  </zone>"
    yield "</platform>"


def _trace_line(step: Step, rank: int, ranks: int) -> str:
    match step:
        case Work():
            return f"w {step.ps}"
        case Send():
            return f"s {step.peer + ranks * step.one_sided} {step.size_bytes} {step.tag}"
        case Receive():
            return f"r {step.peer + ranks * step.one_sided} {step.size_bytes} {step.tag}"
        case Notice():
            return f"r {rank + ranks} 1 {step.tag}"


def _trace(record: Record, interfaces: bool) -> Iterator[str]:
    ranks = len(record.ranks)
    yield f"ranks {ranks} interfaces {int(interfaces)}"
    for rank in range(ranks):
        program = [_trace_line(step, rank, ranks) for step in steps(record, rank)]
        yield f"program {rank} {len(program)}"
        yield from program
    if not interfaces:
        return
    for rank, all_served in enumerate(served(record)):
        yield f"interface {rank} {len(all_served)}"
        for each in all_served:
            answer = -1 if each.answer_bytes is None else each.answer_bytes
            yield f"a {each.source} {each.size_bytes} {each.tag} {answer} {each.answer_tag} {int(each.noticed)}"


def write_simgrid(record: Record, folder: str | Path, *, machine: Machine | None = None) -> Path:
    """Write a SimGrid platform and a program that replays the record; return the folder.

    It gets ``platform.xml``, ``hosts.txt``, ``trace.txt``, ``replay.c``, ``run.sh`` and ``README.md``. `machine` gives
    the links, by default the one of the record. Raises UsageError without a machine, or for one that has neither links
    nor interfaces.
    """
    chosen = machine or record.machine
    if chosen is None:
        raise UsageError("a SimGrid platform needs a machine, and none is known for this record; allowed: machine=…")
    platform = _platform(record, chosen)
    interfaces = any(op.kind.begins and op.kind is not Kind.SEND and op.peer != rank for rank, op in record.all())
    ranks = len(record.ranks)
    processes = ranks * (2 if interfaces else 1)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    _write(target / "platform.xml", _xml(platform, processes))
    _write(target / "hosts.txt", platform.host_of * (2 if interfaces else 1))
    _write(target / "trace.txt", _trace(record, interfaces))
    source = resources.files("gasmeter.export").joinpath("replay.c").read_text(encoding="utf-8")
    (target / "replay.c").write_text(source, encoding="utf-8")
    ends = [f"    rank {rank} ends at {ps / 1000:.3f} ns" for rank, ps in enumerate(record.end_ps)]
    config = " ".join(f"--cfg={key}:{value}" for key, value in _CONFIG.items())
    (target / "run.sh").write_text(_RUN.format(processes=processes, config=config), encoding="utf-8")
    readme = _README.format(
        title=record.title,
        interfaces=_INTERFACES.format(ranks=ranks, last=2 * ranks - 1) if interfaces else "",
        ends="\n".join(ends),
        network=platform.summary,
        header=record.header_bytes,
    )
    (target / "README.md").write_text(readme, encoding="utf-8")
    return target


def _write(path: Path, lines: Iterator[str] | tuple[str, ...]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
