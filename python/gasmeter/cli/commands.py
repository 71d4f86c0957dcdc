"""The commands of `gasmeter` as a table; the module of a command is loaded when it runs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple

import click

__all__ = ["OLD_NAMES", "SECTIONS", "TABLE", "Commands", "OldName", "Place"]


class Place(NamedTuple):
    """Module of a command, and its line on the help screen: the question that it answers, or what it makes."""

    module: str
    attribute: str
    summary: str


SECTIONS = {
    "Measure": {
        "measure": Place("measure", "measure", "Run one benchmark on a conduit and print a table"),
        "run": Place("run", "run", "Run a sweep of benchmarks and write rows, plots and a page"),
        "new": Place("new", "new", "Write a first sweep to a file, ready to run and edit"),
        "trace": Place("trace", "trace_command", "How long does each step of one operation take?"),
        "rank": Place("rank", "rank", "Join a job of several hosts as one of its ranks"),
    },
    "Judge": {
        "check": Place("check", "check", "Is this run as good as its baseline?"),
        "compare": Place("compare", "compare", "Which of two runs or builds is faster, and is it certain?"),
        "hardware": Place("hardware", "hardware", "Does a modelled machine match measurements of real hardware?"),
        "reproduce": Place(
            "reproduce", "reproduce_command", "Do a paper's statements hold when its figures run again?"
        ),
        "verify": Place("verify", "verify", "Which rows is a picture made from, and are they unchanged?"),
    },
    "Look": {
        "list": Place("listing", "list_command", "Which benchmarks, conduits, machines and papers exist?"),
        "links": Place("links", "links", "Which links of a modelled network held packets up in a run?"),
        "fit": Place("fit", "fit", "Which parameters of the LogGP model fit stored results?"),
        "dashboard": Place("dashboard", "dashboard", "Write web pages with the history of many runs"),
    },
    "Exchange": {
        "import": Place("importing", "import_command", "Turn the output of another benchmark into a run's folder"),
        "export": Place("export", "export", "Write a run for other simulators, or rows for other tools"),
        "schema": Place("schema", "schema", "Print the JSON Schema of run.json or of a row"),
    },
    "Set up": {
        "doctor": Place("doctor", "doctor", "Which conduits run on this computer, and what is missing?"),
        "plugins": Place("plugins", "plugins", "Compile plug-ins for the MPI of this computer"),
    },
}
"""Places by command name, in the sections of the help screen."""

TABLE = {name: place for places in SECTIONS.values() for name, place in places.items()}
"""Places by command name."""


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
