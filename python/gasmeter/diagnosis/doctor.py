"""Examine this machine: working parts, missing ones with remedies, and disturbances of measurements."""

from __future__ import annotations

import dataclasses
import itertools
import os
import resource
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from gasmeter.catalogue import build_info, catalogue
from gasmeter.diagnosis.plugins import plugin_sources
from gasmeter.environment.installed import worker_binary
from gasmeter.environment.limits import cpus, most_ranks, shared_memory
from gasmeter.errors import GasmeterError
from gasmeter.measuring import context
from gasmeter.measuring.host import BUSY_LOAD, MOST_STOLEN, TRAITS, host_traits, stolen_since_boot
from gasmeter.measuring.probe import Probe
from gasmeter.measuring.self_overhead import RANKS, SelfOverhead
from gasmeter.measuring.sessions import WorkerPools
from gasmeter.units import format_bytes

__all__ = ["Finding", "examine", "mpis"]

_REINSTALL = "install with `pip install .` in the source tree"
_CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_PLUGIN = "gasmeter-mpi-"
_OFFLOADS = {"UDP_SEGMENT": 103, "UDP_GRO": 104}  # numbers of linux/udp.h that Python lacks
_SOCKET_BUFFER = 4 << 20  # request of the udp conduit


@dataclass(frozen=True)
class Finding:
    """An examined item."""

    name: str
    state: str  # present, present but disturbing, or missing
    summary: str  # for people
    value: object = None  # for programs
    unit: str = ""  # unit of `value`
    remedy: str = ""  # advice to install or change something
    needed: bool = False  # whether no measurement is possible without it

    def as_dict(self) -> dict[str, object]:
        """Return the fields by name, as `gasmeter doctor --json` prints them."""
        return dataclasses.asdict(self)


def examine() -> list[Finding]:
    """Return the findings about this machine in the order shown; failures are findings, nothing is raised."""
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _core, _worker, _conduits, _mpis, _memory, _sockets, _cores, _clock, _self_overhead, _probe, _host, _limits,
        _versions,
    )  # fmt: skip
    return [finding for check in checks for finding in check()]


def _core() -> Iterator[Finding]:
    try:
        info = build_info()
    except GasmeterError as error:
        yield Finding("core", "missing", str(error).split(";")[0], remedy=_REINSTALL, needed=True)
        return
    yield Finding("core", "ok", ", ".join(f"{key} {value}" for key, value in info.items()), info)


def _worker() -> Iterator[Finding]:
    try:
        path = worker_binary()
    except GasmeterError as error:
        yield Finding("worker", "missing", str(error), needed=True)
        return
    yield Finding("worker", "ok", str(path), str(path))


def _conduits() -> Iterator[Finding]:
    try:
        entry = catalogue()
    except GasmeterError:
        yield Finding("conduits", "missing", "none: the compiled core is missing", [], remedy=_REINSTALL, needed=True)
        return
    names = [
        *entry.conduits,
        *(f"raw@{network}" for network in entry.raw_networks() if f"raw@{network}" not in entry.conduits),
    ]
    shown = [f"{name} ({entry.conduit(name).kind})" for name in names]
    yield Finding("conduits", "ok", ", ".join(shown), names)


def mpis() -> tuple[Path, dict[str, str]]:
    """Return the folder of MPI plug-ins, and the launcher of each MPI, empty if missing.

    Raises GasmeterError without a worker program, beside which plug-ins stand.
    """
    folder = Path(os.environ.get("GASMETER_MPI_PLUGINS") or worker_binary().parent)
    launchers = {path.stem.removeprefix(_PLUGIN): "" for path in sorted(folder.glob(f"{_PLUGIN}*.so"))}
    for name in launchers:
        launcher = os.environ.get("GASMETER_MPIEXEC") or shutil.which(f"mpiexec.{name}") or shutil.which("mpiexec")
        launchers[name] = launcher or ""
    return folder, launchers


def _mpis() -> Iterator[Finding]:
    try:
        _, launchers = mpis()
    except GasmeterError:
        return
    if not launchers:
        then = "run `gasmeter plugins build`" if plugin_sources() is not None else "install gasmeter again"
        remedy = f"install openmpi-bin and libopenmpi-dev or mpich and libmpich-dev, then {then}"
        yield Finding("MPI", "missing", "no plug-in for one", {}, remedy=remedy)
        return
    shown = ", ".join(f"{name} ({launcher or 'no mpiexec'})" for name, launcher in launchers.items())
    lacks = [name for name, launcher in launchers.items() if not launcher]
    remedy = f"install the mpiexec of {', '.join(lacks)}" if lacks else ""
    yield Finding("MPI", "warning" if lacks else "ok", shown, launchers, remedy=remedy)


def _memory() -> Iterator[Finding]:
    memory = shared_memory()
    if memory is None:
        yield Finding(
            "shared memory", "missing", "/dev/shm is not there", remedy="mount a tmpfs on /dev/shm", needed=True
        )
        return
    text = f"/dev/shm {format_bytes(memory.total)}, free {format_bytes(memory.free)}"
    small = memory.free < 1 << 28
    remedy = "containers: start with a larger --shm-size" if small else ""
    yield Finding(
        "shared memory", "warning" if small else "ok", text, {"total": memory.total, "free": memory.free}, "B", remedy
    )


def _sockets() -> Iterator[Finding]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        offered = []
        for name, option in _OFFLOADS.items():
            try:
                probe.getsockopt(socket.IPPROTO_UDP, option)
                offered.append(name)
            except OSError:
                continue
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BUFFER)
        granted = probe.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2  # the kernel doubles it for bookkeeping
    small = granted < _SOCKET_BUFFER // 4
    yield Finding(
        "udp sockets",
        "warning" if small or len(offered) < len(_OFFLOADS) else "ok",
        f"receive buffer {format_bytes(granted)}, offloads: {', '.join(offered) or 'none'}",
        {"receive_buffer": granted, "offloads": offered},
        "B",
        "bursts may be lost and sent again; sysctl net.core.rmem_max=4194304" if small else "",
    )


def _cores() -> Iterator[Finding]:
    usable = cpus()
    facts = context.host_facts()
    text = f"{facts['processor']}, {facts['logical_cores']} processors, usable: {', '.join(map(str, usable))}"
    too_few = len(usable) < 2
    yield Finding(
        "cores", "warning" if too_few else "ok", text, list(usable), "",
        "two ranks will share a core; allow this process more processors (taskset, cpuset)" if too_few else "",
    )  # fmt: skip
    load = psutil.getloadavg()[0]
    busy = load > BUSY_LOAD
    yield Finding(
        "load", "warning" if busy else "ok", f"{load:.2f} in the last minute", load, "",
        "other programs disturb measurements; stop them" if busy else "",
    )  # fmt: skip


def _clock() -> Iterator[Finding]:
    try:
        source = _CLOCK_SOURCE.read_text().strip()
    except OSError:
        source = "unknown"
    stamps = [time.perf_counter_ns() for _ in range(2000)]
    steps = [after - before for before, after in itertools.pairwise(stamps) if after > before]
    step = min(steps, default=0)
    good = source in {"tsc", "arch_sys_counter"}
    remedy = "" if good else "each reading is a system call; boot with clocksource=tsc"
    yield Finding(
        "clock", "ok" if good else "warning", f"{source}, a reading costs about {step} ns", step, "ns", remedy
    )


def _self_overhead() -> Iterator[Finding]:
    try:
        with WorkerPools() as pools:
            overhead = SelfOverhead.measured(pools.get(RANKS))
    except GasmeterError as error:
        yield Finding("self-overhead", "warning", f"not measured: {error}", remedy=_REINSTALL)
        return
    yield Finding("self-overhead", "ok", f"{overhead.words()}; in virtual time nothing", overhead.facts(), "ns")


def _probe() -> Iterator[Finding]:
    if len(cpus()) < 2:
        yield Finding("probe", "warning", "needs two usable cores", remedy="allow this process more processors")
        return
    try:
        value = Probe(cores=len(cpus())).value_ns()
    except GasmeterError as error:
        yield Finding("probe", "missing", str(error), remedy=_REINSTALL)
        return
    yield Finding("probe", "ok", f"{value:.0f} ns: a cache line from one core to another and back", value, "ns")


def _host() -> Iterator[Finding]:
    facts = host_traits()
    for trait in TRAITS:
        value = facts[trait.key]
        remedy = trait.advice if value is not None and trait.is_bad(value) else ""
        if trait.key == "huge_pages" and value == "never":
            remedy = "large tables pay for address translation"
        yield Finding(trait.name, "warning" if remedy else "ok", trait.shown(value), value, "", remedy)
    cores = facts["siblings"]
    shown = (
        "the kernel does not say"
        if cores is None
        else ", ".join("+".join(map(str, group)) for group in cores) or "none"
    )
    yield Finding("siblings", "ok", f"usable processors that share a core: {shown}", cores)
    stolen = stolen_since_boot()
    much = stolen is not None and stolen > MOST_STOLEN
    text = "the kernel does not say" if stolen is None else f"{100 * stolen:.2f} % of the time since boot"
    remedy = "other machines on the same hardware take it; use dedicated processors" if much else ""
    yield Finding("steal time", "warning" if much else "ok", text, stolen, "", remedy)


def _limits() -> Iterator[Finding]:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield Finding("ranks", "ok", f"1 to {most_ranks()} on this machine", most_ranks())
    few = files != resource.RLIM_INFINITY and files < 256
    remedy = "raise it with `ulimit -n 1024`" if few else ""
    yield Finding("open files", "warning" if few else "ok", str(files), files, "", remedy)


def _versions() -> Iterator[Finding]:
    versions = context.versions()
    for name, version in versions.items():
        if name.startswith("core"):
            continue
        missing = version == "missing"
        remedy = f"pip install {name}" if missing else ""
        yield Finding(name, "missing" if missing else "ok", version, version, "", remedy, needed=missing)
