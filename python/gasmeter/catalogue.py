"""Everything available: kernels, conduits and their options, networks, metrics, counters, as the core declares them.

Only this module imports the extension ``gasmeter._core``, on first use, so that ``gasmeter --help`` and a rank process
start without it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

from gasmeter.environment.own_kernels import own_kernels
from gasmeter.errors import EnvironmentLacks, UsageError, did_you_mean, unknown
from gasmeter.option import Option, options_from

__all__ = [
    "Catalogue",
    "Conduit",
    "Core",
    "Counter",
    "Kernel",
    "KnownMetric",
    "Metric",
    "ModelJob",
    "Network",
    "Op",
    "Parameter",
    "build_info",
    "catalogue",
    "check_topology_name",
    "core",
    "declared",
    "topologies",
    "topology",
]


class ModelJob(Protocol):
    """A kernel on a modelled conduit, in this process and in virtual time."""

    def block(self, iterations: int) -> Mapping[str, Any]:
        """Run `iterations` operations and return ``elapsed_ns``, ``operations`` and ``metric.<name>``."""

    def verify(self) -> Mapping[str, Any]:
        """Return ``verified`` (no more wrong than allowed), ``errors``, ``checked`` and ``silent`` ranks."""

    def links(self) -> Mapping[str, Any]:
        """Return the load of each link during the last block, as columns."""

    def counters(self) -> Mapping[str, int]:
        """Return what conduits and devices have counted since the job was made."""

    def close(self) -> None:
        """End the job and free its memory."""


class Core(Protocol):
    """The part of the extension module that Python uses."""

    def catalogue(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the kernels, conduits, networks, metrics and counters, as plain dictionaries."""

    def build_info(self) -> Mapping[str, Any]:
        """Return compiler, flags and version."""

    def topologies(self) -> Sequence[Mapping[str, str]]:
        """Return the families of topologies."""

    def topology(self, text: str) -> Mapping[str, Any]:
        """Return the extents, ports and numbers of nodes of one topology."""

    def routes(self, topology: str, sources: Sequence[int], targets: Sequence[int]) -> Mapping[str, Any]:
        """Return the links of each route, as arrays."""

    @property
    def ModelJob(self) -> Any:
        """The class of modelled jobs."""


@dataclass(frozen=True)
class Metric:
    """A measured quantity: name, unit and the meaning of "done", also where ranks share memory."""

    name: str
    unit: str
    semantics: str = ""
    in_memory: str = ""

    def meaning(self, network: Network) -> str:
        """Return the meaning of "done" on a network.

        In shared memory an operation may be the initiator's stores alone.
        """
        return self.in_memory if network.shares_memory and self.in_memory else self.semantics


@dataclass(frozen=True)
class Op:
    """An operation of a kernel; ``metrics[0]`` is used for comparisons."""

    name: str
    summary: str
    metrics: tuple[Metric, ...]
    sized: bool


@dataclass(frozen=True)
class Kernel:
    """A benchmark program."""

    name: str
    summary: str
    raw: tuple[str, ...]
    variants: tuple[str, ...]
    ops: tuple[Op, ...]
    options: tuple[Option, ...] = ()
    measures_simulation: bool = False
    """Whether its values are this computer's time for simulating."""

    def op(self, name: str) -> Op:
        """Return an operation by name, the first for an empty name; raise UsageError if the kernel lacks it."""
        if not name:
            return self.ops[0]
        by_name = {op.name: op for op in self.ops}
        if name not in by_name:
            raise unknown(f"op of kernel {self.name}", name, by_name, "gasmeter list kernels")
        return by_name[name]


@dataclass(frozen=True)
class Conduit:
    """A way to communicate: GASNet's Core API over a network, or the network itself (``raw@NETWORK``)."""

    name: str
    summary: str
    network: str
    kind: str
    options: tuple[Option, ...] = ()
    virtual: bool = False
    """Whether its ranks live in virtual time. Values are modelled then, except for the speed of the simulation."""

    @property
    def raw(self) -> bool:
        """Whether this is a network without a conduit."""
        return self.name.startswith("raw@")


@dataclass(frozen=True)
class Parameter:
    """A number of the machines of a modelled network; its kind is one of `gasmeter.units.QUANTITIES`, or topology."""

    key: str
    kind: str
    summary: str
    optional: bool = False
    """Whether a machine may leave it out and then has no such cost."""
    software: bool = False
    """Whether it is time on a core: of library, kernel program, operating system or MPI."""
    at_most: str = ""
    """Key of the number that it may not exceed, as the network would refuse the machine; empty without one."""
    below: str = ""
    """Key of the number that it must stay below; empty without one."""


@dataclass(frozen=True)
class Network:
    """A network that carries operations: of this computer, or modelled."""

    name: str
    summary: str
    kind: str
    parameters: tuple[Parameter, ...] = ()
    """Parameters of its machines, in display order; empty for a real network."""
    shares_memory: bool = False
    spans_hosts: bool = False
    """Whether ranks of a real job may stand on several hosts."""
    calls: str = ""
    """Step that traces show for its calls to the computer; for a real network."""
    header_bytes: int = 0
    """Bytes before each message on the wire, unless its machine says otherwise; for a modelled network."""


@dataclass(frozen=True)
class KnownMetric:
    """Facts of a metric wherever it is measured."""

    name: str  # as in column ``metric``
    unit: str  # as in column ``unit``
    better: Literal["smaller", "bigger"]  # direction
    label: str  # in words, for plots
    shown: str  # unit that papers and other tools use
    scale: float  # factor from `unit` to `shown`
    modelled: bool = False  # whether it belongs to the modelled machine, also in kernels that measure this computer

    @property
    def priced(self) -> bool:
        """Whether prices of a modelled machine move it: false for bytes held, which sizes and counts may move."""
        return not (self.modelled and self.unit == "B")


@dataclass(frozen=True)
class Counter:
    """A count of conduits and devices, summed over a point's ranks and the blocks of its rows."""

    name: str
    summary: str
    unit: str


@dataclass(frozen=True)
class Catalogue:
    """Everything that can be measured here, with its facts."""

    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    conduits: Mapping[str, Conduit] = field(default_factory=dict)
    networks: Mapping[str, Network] = field(default_factory=dict)
    metrics: Mapping[str, KnownMetric] = field(default_factory=dict)
    counters: Mapping[str, Counter] = field(default_factory=dict)

    @functools.cached_property
    def neutral(self) -> frozenset[str]:
        """Options of conduits that never change a result in virtual time."""
        return frozenset(
            option.name for conduit in self.conduits.values() for option in conduit.options if option.neutral
        )

    @functools.cached_property
    def shared_memory(self) -> Network:
        """The network of this computer's shared memory."""
        return next(network for network in self.networks.values() if network.shares_memory)

    def kernel(self, name: str) -> Kernel:
        """Return a kernel by name; raise UsageError if there is none."""
        if name not in self.kernels:
            raise unknown("kernel", name, self.kernels, "gasmeter list kernels")
        return self.kernels[name]

    def conduit(self, text: str, kernel: Kernel | None = None) -> Conduit:
        """Return the conduit of ``CONDUIT[@NETWORK]`` under its shortest name: ``smp@shm`` gives ``smp``.

        `kernel` decides which raw networks exist. Raises UsageError if the conduit does not exist, not on that network,
        or the kernel has no raw variant there.
        """
        conduit = self._named(text, kernel)
        return replace(conduit, kind="measured") if kernel and kernel.measures_simulation else conduit

    def _named(self, text: str, kernel: Kernel | None) -> Conduit:
        base, _, network = text.strip().partition("@")
        if base == "raw":
            return self._raw(network, kernel, text)
        if text in self.conduits:
            return self.conduits[text]
        names = list(dict.fromkeys([*self.conduits, *(f"raw@{name}" for name in self.raw_networks(kernel))]))
        if base not in self.conduits:
            raise unknown("conduit", text, names, "gasmeter list conduits")
        conduit = self.conduits[base]
        if network != conduit.network:
            variants = [name for name in self.conduits if name.startswith(f"{base}@")]
            hint = did_you_mean(text, variants)
            raise UsageError(
                f"conduit {text!r}: {base} does not run on network {network!r}{hint}{' ' if hint else '; '}allowed:"
                f" {', '.join(dict.fromkeys([f'{base}@{conduit.network}', *variants]))} (see `gasmeter list conduits`)",
                text,
            )
        return conduit

    def raw_networks(self, kernel: Kernel | None = None) -> list[str]:
        """Return the networks on which a kernel (or any kernel) has a raw variant, each once."""
        kernels = [kernel] if kernel else list(self.kernels.values())
        return list(dict.fromkeys(network for entry in kernels for network in entry.raw))

    def _raw(self, network: str, kernel: Kernel | None, text: str) -> Conduit:
        if not network:
            names = [f"raw@{name}" for name in self.raw_networks(kernel)]
            raise unknown("conduit", text, names, "gasmeter list conduits")
        if network not in self.raw_networks(kernel):
            what = f"raw network of kernel {kernel.name}" if kernel else "raw network"
            error = unknown(what, network, self.raw_networks(kernel), "gasmeter list kernels")
            raise UsageError(str(error), text)
        kinds = [conduit.kind for conduit in self.conduits.values() if conduit.network == network]
        declared = self.conduits.get(text)
        kind = declared.kind if declared else (kinds[0] if kinds else "measured")
        return declared or Conduit(
            text, f"network {network} without a conduit", network, kind, virtual=kind == "modelled"
        )


def core() -> Core:
    """Return the module ``gasmeter._core``, imported on first use; raise EnvironmentLacks if it cannot be loaded."""
    try:
        return cast("Core", importlib.import_module("gasmeter._core"))
    except ImportError as error:
        raise EnvironmentLacks(
            f"the compiled core gasmeter._core cannot be loaded ({error}); install it with `pip install .` in the"
            " source tree"
        ) from error


def build_info() -> dict[str, Any]:
    """Return the build of the compiled core: ``compiler``, ``flags``, ``version`` and more.

    Raises EnvironmentLacks without a compiled core.
    """
    return dict(core().build_info())


def topologies() -> list[dict[str, str]]:
    """Return the core's topologies: ``name``, ``summary``, ``example``, and ``link_classes`` of the example.

    The list is empty if the core does not know them. Raises EnvironmentLacks without a compiled core.
    """
    declared = getattr(core(), "topologies", None)
    return [dict(entry) for entry in declared()] if declared else []


def check_topology_name(text: str) -> None:
    """Raise UsageError, naming the nearest, for a topology such as ``torus3d:4x4x4`` of an unknown family."""
    families = [entry["name"] for entry in topologies()]
    name = text.partition(":")[0]
    if families and name not in families:
        raise UsageError(str(unknown("topology", name, families, "gasmeter list topologies")), text)


def topology(text: str) -> dict[str, Any]:
    """Return ``name``, ``terminals`` (nodes), ``extents`` of grids, ``ports`` of a node and more facts of a topology.

    Raises UsageError if it does not parse, EnvironmentLacks without a compiled core.
    """
    try:
        return dict(core().topology(text))
    except UsageError as error:
        check_topology_name(text)
        raise UsageError(str(error), text) from None


@functools.cache
def declared() -> Catalogue:
    """Return the declarations of the compiled core, read once; raise EnvironmentLacks without one."""
    declarations = core().catalogue()
    return Catalogue(
        kernels={entry["name"]: _kernel(entry) for entry in declarations["kernels"]},
        conduits={entry["name"]: _conduit(entry) for entry in declarations["conduits"]},
        networks={entry["name"]: _network(entry) for entry in declarations["networks"]},
        metrics={entry["name"]: KnownMetric(**entry) for entry in declarations["metrics"]},
        counters={entry["name"]: Counter(**entry) for entry in declarations["counters"]},
    )


@functools.cache
def catalogue() -> Catalogue:
    """Return the declarations of the core and of the user's own worker program, read once.

    Raises EnvironmentLacks without a compiled core.
    """
    extra_kernels = own_kernels()
    kernels = {entry["name"]: _kernel(entry) for entry in extra_kernels}
    brought = {
        m["name"]: _metric_of_worker(m)
        for entry in extra_kernels
        for op in entry["ops"]
        for m in op["metrics"]
        if "better" in m
    }
    return replace(
        declared(),
        kernels={**declared().kernels, **kernels},
        metrics={**brought, **declared().metrics},
    )


def _metric_of_worker(metric: Mapping[str, Any]) -> KnownMetric:
    """Return a worker program's metric, which its kernel may bring along."""
    shown = {name: metric[name] for name in ("name", "unit", "better", "label", "shown")}
    return KnownMetric(**shown, scale=float(metric["scale"]))


def _kernel(entry: Mapping[str, Any]) -> Kernel:
    ops = tuple(
        Op(
            name=op["name"],
            summary=op.get("summary", ""),
            metrics=tuple(
                Metric(m["name"], m["unit"], m.get("semantics", ""), m.get("in_memory", "")) for m in op["metrics"]
            ),
            sized=bool(op["sized"]),
        )
        for op in entry["ops"]
    )
    return Kernel(
        name=entry["name"],
        summary=entry["summary"],
        raw=tuple(entry["raw"]),
        variants=tuple(entry["variants"]),
        ops=ops,
        options=options_from(entry["options"]),
        measures_simulation=bool(entry.get("measures_simulation", False)),
    )


def _conduit(entry: Mapping[str, Any]) -> Conduit:
    kind = entry["kind"]
    return Conduit(
        entry["name"], entry["summary"], entry["network"], kind, options_from(entry["options"]), kind == "modelled"
    )


def _network(entry: Mapping[str, Any]) -> Network:
    return Network(**{**entry, "parameters": tuple(Parameter(**parameter) for parameter in entry["parameters"])})
