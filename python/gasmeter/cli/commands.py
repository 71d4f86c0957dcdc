"""The commands of `gasmeter` as a table; the module of a command is loaded when it runs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple

import click

__all__ = ["OLD_NAMES", "TABLE", "Commands", "OldName", "Place"]


class Place(NamedTuple):
    """Module and summary of a command, enough for the list of commands."""

    module: str
    attribute: str
    summary: str


TABLE = {
    "check": Place("check", "check", "Hold the store NEW against a baseline."),
    "compare": Place(
        "compare", "compare",
        "Compare A with B; exit status 1 if B is slower, moved, or wrong, 5 if more than a fifth stayed undecided.",
    ),
    "dashboard": Place("dashboard", "dashboard", "Write the histories of stores as static pages."),
    "doctor": Place(
        "doctor", "doctor",
        "Show what runs on this machine: conduits, workers, memory, cores, clock, core-to-core probe, limits,"
        " versions.",
    ),
    "export": Place("export", "export", "Write a run down for other simulators, or a store for other tools."),
    "fit": Place("fit", "fit", "Fit a model to stored results."),
    "hardware": Place(
        "hardware", "hardware",
        "Compare the modelled machine NAME with every independent measurement of its hardware.",
    ),
    "import": Place("importing", "import_command", "Write a store with what another tool printed."),
    "links": Place(
        "links", "links",
        "Show which links of the stored RUN held packets up during the last block of a point, the worst first.",
    ),
    "list": Place(
        "listing", "list_command", "List what exists, a line each; with a NAME its options, units and defaults.",
    ),
    "measure": Place("measure", "measure", "Measure KERNEL on a conduit and print one table."),
    "new": Place("new", "new", "Write an experiment to begin with to the file NAME.py."),
    "plugins": Place("plugins", "plugins", "Build plug-ins for the MPI of this machine, which a wheel comes without."),
    "rank": Place("rank", "rank", "Be one rank of a job whose ranks stand on several hosts."),
    "reproduce": Place("reproduce", "reproduce_command", "Run the figures of PAPER again and judge its statements."),
    "run": Place(
        "run", "run",
        "Run the sweep that EXPERIMENT describes; write rows, samples, plots, a summary and a page to a folder.",
    ),
    "schema": Place("schema", "schema", "Print the JSON Schema of run.json or of a row."),
    "trace": Place(
        "trace", "trace_command",
        "Show who spends what where in one operation of KERNEL, or of ping-pong's OP, from initiation to completion.",
    ),
    "verify": Place(
        "verify", "verify",
        "Find the rows that the picture or page FILE was made from, and say whether they are the same.",
    ),
}  # fmt: skip
"""Places by command name; a test compares the table with the commands."""


class OldName(NamedTuple):
    """A former name of a command: the words that replace it, and the command that still answers to it."""

    new: str
    place: Place


OLD_NAMES = {
    "check-machine": OldName("hardware", TABLE["hardware"]),
    "judge": OldName("reproduce --from", Place("judge", "judge", "")),
}
"""Former names, which work and are not listed."""


def _load(place: Place) -> click.Command:
    command: click.Command = getattr(importlib.import_module(f"gasmeter.cli.{place.module}"), place.attribute)
    return command


class Commands(MutableMapping[str, click.Command]):
    """The commands by name, old names too. Iterating yields new names and loads no command."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(TABLE)

    def __getitem__(self, name: str) -> click.Command:
        if name in OLD_NAMES:
            return _load(OLD_NAMES[name].place)
        command = self._loaded[name]
        if command is None:
            command = self._loaded[name] = _load(TABLE[name])
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
