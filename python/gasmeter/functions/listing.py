"""Everything that exists, by name: `gasmeter.kernels`, `gasmeter.conduits`, `gasmeter.topologies`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gasmeter import catalogue
from gasmeter.catalogue import Conduit, Kernel
from gasmeter.errors import UsageError, unknown
from gasmeter.option import Option
from gasmeter.rendering.html_tables import html_table

__all__ = ["ListedConduit", "ListedKernel", "ListedOption", "Listing", "Topology", "conduits", "kernels", "topologies"]

T_co = TypeVar("T_co", covariant=True)


class _NoSuchName(UsageError, KeyError):
    """An unknown name, also as the KeyError of mappings."""

    def __str__(self) -> str:
        return str(self.args[0])


class Listing(Mapping[str, T_co], Generic[T_co]):
    """Entries by name; prints as a short table, in notebooks too.

    Parameters
    ----------
    what : str
        Kind of an entry, for messages.
    where : str
        The command that lists the entries.
    entries : mapping of str to object
        Entries by name, in display order.
    heads : sequence of str
        Heads of the table's columns after the name.
    cells : callable
        Function from an entry to its cells below `heads`.
    whole : bool, default False
        Whether a long cell is printed wholly, on several lines; notebooks always show all of it.
    """

    def __init__(
        self, what: str, where: str, entries: Mapping[str, T_co], heads: Sequence[str],
        cells: Callable[[T_co], Sequence[str]], *, whole: bool = False,
    ) -> None:  # fmt: skip
        self._what, self._where, self._entries = what, where, dict(entries)
        self._heads, self._cells, self._whole = ("name", *heads), cells, whole

    def __getitem__(self, name: str) -> T_co:
        """Return an entry; the error for an unknown name suggests the nearest one."""
        if name not in self._entries:
            raise _NoSuchName(str(unknown(self._what, name, self._entries, self._where)), name)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in order."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def _lines(self) -> list[Sequence[str]]:
        return [(name, *self._cells(entry)) for name, entry in self._entries.items()]

    def __repr__(self) -> str:
        """Return a table as wide as the terminal."""
        from rich import box  # noqa: PLC0415 - who asks by name prints nothing
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        if not self._entries:
            return f"no {self._what}"
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for head in self._heads:
            table.add_column(head, no_wrap=head == "name")
        for line in self._lines():  # texts, not columns, stay on one line: rich would shrink such columns to nothing
            table.add_row(*(Text(cell, no_wrap=not self._whole, overflow="ellipsis") for cell in line))
        text = io.StringIO()
        Console(file=text, no_color=True, highlight=False, legacy_windows=False).print(table)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")

    def _repr_html_(self) -> str:
        """Return the same table as HTML."""
        return html_table("", "", self._heads, self._lines())


@dataclass(frozen=True, repr=False)
class _Listed:
    """An entry that prints as one line, in notebooks with its options."""

    name: str
    summary: str
    options: Listing[ListedOption]

    def __repr__(self) -> str:
        """Return name and summary."""
        return f"<{type(self).__name__.removeprefix('Listed')} {self.name}: {self.summary}>"

    def _repr_html_(self) -> str:
        """Return the summary and a table of the options."""
        return html_table(self.name, self.summary, [], []) + self.options._repr_html_()


@dataclass(frozen=True, repr=False)
class ListedOption:
    """An option of a kernel or conduit."""

    name: str
    type: str  # ``bool``, ``int``, ``size``, ``float`` or text
    default: str  # as text
    unit: str  # empty without one
    choices: tuple[str, ...]  # allowed values; empty if the type says them
    help: str  # effect

    @property
    def allowed(self) -> str:
        """Choices, or type and unit."""
        return " | ".join(self.choices) or " ".join(filter(None, [self.type, self.unit]))

    def __repr__(self) -> str:
        """Return the option in one line."""
        return f"<Option {self.name}: {self.allowed}, {self.default} by default; {self.help}>"


@dataclass(frozen=True, repr=False)
class ListedKernel(_Listed):
    """A kernel.

    Attributes
    ----------
    name, summary : str
        Name, and description in one line.
    options : Listing of ListedOption
        Options by name.
    ops : tuple of str
        Values of ``op=``; the first is the default.
    variants : tuple of str
        Values of ``variant=``; the first is the default.
    raw : tuple of str
        Networks on which it runs without a conduit, as ``conduit=`` takes them.
    kernel : Kernel
        Its whole declaration: metrics, units and the meaning of "done", by op.
    """

    ops: tuple[str, ...]
    variants: tuple[str, ...]
    raw: tuple[str, ...]
    kernel: Kernel

    def _repr_html_(self) -> str:
        """Return its operations with their metrics, and its options, as tables."""
        lines = [
            [op.name, op.summary, metric.name, metric.unit, metric.semantics]
            for op in self.kernel.ops for metric in op.metrics
        ]  # fmt: skip
        others = [f"variants: {', '.join(self.variants)}"] if self.variants else []
        heads = ["op", "what it does", "metric", "unit", "done means"]
        return html_table(self.name, self.summary, heads, lines, remarks=others) + self.options._repr_html_()


@dataclass(frozen=True, repr=False)
class ListedConduit(_Listed):
    """A conduit, or a network without one (``raw@NETWORK``).

    Attributes
    ----------
    name, summary : str
        Name, and description in one line.
    options : Listing of ListedOption
        Options by name.
    network : str
        Network that carries its messages.
    kind : {"measured", "modelled"}
        Kind of its values.
    """

    network: str
    kind: str


@dataclass(frozen=True, repr=False)
class Topology:
    """A family of topologies.

    Attributes
    ----------
    name, summary : str
        Name, and description in one line.
    example : str
        An example for ``topology=``.
    link_classes : str
        Classes of links of the example; empty if all are alike.
    """

    name: str
    summary: str
    example: str
    link_classes: str

    def __repr__(self) -> str:
        """Return the topology in one line."""
        return f"<Topology {self.name}: {self.summary}, for instance {self.example}>"


def kernels() -> Listing[ListedKernel]:
    """Return the kernels, including those of the user's own worker program (``GASMETER_RANK``).

    Returns
    -------
    Listing of ListedKernel
        Kernels by name.

    Examples
    --------
    >>> gm.kernels()["ping-pong"].ops[:2]
    ('am-short', 'am-medium')
    >>> gm.kernels()["flood"].options["window"].unit
    'operations'
    """
    listed = {
        kernel.name: ListedKernel(
            kernel.name, kernel.summary, _options(kernel.options, f"kernel {kernel.name}", "gasmeter list kernels"),
            tuple(op.name for op in kernel.ops), kernel.variants, tuple(f"raw@{name}" for name in kernel.raw), kernel,
        )
        for kernel in catalogue.catalogue().kernels.values()
    }  # fmt: skip
    heads = ("what it is", "ops", "options")
    return Listing(
        "kernel", "gasmeter list kernels", listed, heads,
        lambda entry: (entry.summary, ", ".join(entry.ops), str(len(entry.options) or "")),
    )  # fmt: skip


def all_conduits() -> list[Conduit]:
    """Return every conduit, and every network that a kernel runs on without one, each once."""
    entry = catalogue.catalogue()
    raw = (entry.conduit(f"raw@{network}") for network in entry.raw_networks())
    return list({conduit.name: conduit for conduit in [*entry.conduits.values(), *raw]}.values())


def conduits() -> Listing[ListedConduit]:
    """Return the conduits, and the networks on which kernels run without one (``raw@NETWORK``).

    Returns
    -------
    Listing of ListedConduit
        Conduits by name.

    Examples
    --------
    >>> gm.conduits()["extoll"].kind
    'modelled'
    """
    listed = {
        conduit.name: ListedConduit(
            conduit.name, conduit.summary,
            _options(conduit.options, f"conduit {conduit.name}", "gasmeter list conduits"), conduit.network,
            conduit.kind,
        )
        for conduit in all_conduits()
    }  # fmt: skip
    return Listing(
        "conduit", "gasmeter list conduits", listed, ("what it is", "kind", "network", "options"),
        lambda entry: (entry.summary, entry.kind, entry.network, str(len(entry.options) or "")),
    )  # fmt: skip


def topologies() -> Listing[Topology]:
    """Return the topologies that can connect the nodes of modelled machines.

    Returns
    -------
    Listing of Topology
        Topologies by name.

    Examples
    --------
    >>> gm.topologies()["torus3d"].example
    'torus3d:8x8x8'
    """
    listed = {
        entry["name"]: Topology(entry["name"], entry["summary"], entry["example"], entry.get("link_classes", ""))
        for entry in catalogue.topologies()
    }
    return Listing(
        "topology", "gasmeter list topologies", listed, ("what it is", "example", "classes of links"),
        lambda entry: (entry.summary, entry.example, entry.link_classes),
    )  # fmt: skip


def _options(options: Sequence[Option], owner: str, where: str) -> Listing[ListedOption]:
    listed = {
        option.name: ListedOption(option.name, option.type, option.default, option.unit, option.choices, option.summary)
        for option in options
    }
    return Listing(
        f"option of {owner}", where, listed, ("allowed", "default", "help"),
        lambda entry: (entry.allowed, entry.default, entry.help), whole=True,
    )  # fmt: skip
