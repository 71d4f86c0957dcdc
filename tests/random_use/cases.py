"""Draw random cases: command lines, machines with other numbers, calls of the Python API, programs of ranks.

A case follows from its kind, its conduit, the seed and its number alone, so that one that failed can be run again.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import gasmeter as gm
from gasmeter.catalogue import catalogue
from random_use import programs
from random_use.outcome import Outcome, of_command, of_exception, values_fault

REAL = ("smp", "udp", "mpi", "raw@shm", "raw@udp", "raw@mpi")
NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "64",
    "100",
    "1000",
    "4096",
    "-1",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "1e3",
    "0.5",
    "nan",
    "many",
)
SIZES = (
    "0",
    "1",
    "7",
    "8",
    "64",
    "512",
    "1K",
    "4000",
    "4K",
    "4097",
    "64K",
    "65537",
    "300K",
    "1M",
    "8,64",
    "8:64",
)
ODD_SIZES = (
    "-8",
    "8ns",
    "2305843009213693951",
    "16E",
    "1:9223372036854775807",
    "",
)
TIMES = (
    "0 ns",
    "1 ps",
    "1 ns",
    "0.3 ns",
    "100 ns",
    "1 us",
    "1 ms",
    "1 s",
    "1e6 s",
    "1e15 s",
    "1e300 s",
    "-1 ns",
    "nan ns",
    "inf s",
)
RATES = (
    "0 B/s",
    "1 B/s",
    "1 kB/s",
    "1 MB/s",
    "1 GB/s",
    "1 TB/s",
    "1e30 B/s",
    "1e-30 B/s",
    "-1 GB/s",
    "nan GB/s",
    "inf B/s",
)
BYTES = ("0 B", "1 B", "3 B", "8 B", "64 B", "4 KiB", "1 MiB", "1 GiB", "1e19 B", "-1 B")
PLAIN = ("0", "1", "2", "3", "64", "1000", "1e6", "1e18", "1e30", "-1", "nan", "inf", "0.5", "1e-30")
TOPOLOGIES = (
    "",
    "",
    "",
    "mesh2d:2x2",
    "torus2d:4x4",
    "mesh3d:2x2x2",
    "torus3d:3x3x3",
    "torus3d:9",
    "fat-tree:3x3",
    "crossbar:9",
    "mesh2d:0x4",
    "mesh2d:100000x100000",
    "torus2d:4x4/dead:0-1",
    "torus2d:4x4/slow:5x4",
)
PLAUSIBLE: dict[str, tuple[Any, ...]] = {
    "op": ("put", "am-short", "get", ("put", "get"), "all"),
    "sizes": (8, "8", "8:64", [8, 4096], "64K", "1M"),
    "ranks": (2, 3, 4, [2, 4], "6"),
    "variant": ("am", "put-get", "all"),
    "options": ({}, {"local": "segment"}, {"window": 4}, {"sync": "strict"}, {"nowhere": 1}),
    "against": ("raw@extoll", "ideal", "raw@ideal", {"extoll": "raw@extoll"}),
    "ci": ("5%", 0.1, 0.01),
    "iterations": (1, 10, 1000),
    "max_time": (1, "2s", 0.5),
    "time": (0.1, "100ms"),
    "seed": (1, 2, 2**63),
    "machine": ("extoll", "ibv", "extoll+draw=17", "extoll+link.bandwidth=2 GB/s"),
    "topology": TOPOLOGIES,
    "placement": ("one-per-node", "fill", "list:0,1", "round-robin"),
    "bisect": ("10%", 0.2),
}
"""Values of `gm.measure` that often fit."""


@dataclass(frozen=True)
class Case:
    """A case: what it is in words that a person can run again, and the function that runs it."""

    text: str
    act: Callable[[], Outcome]


@cache
def conduit_names() -> tuple[str, ...]:
    """Return all conduits and raw networks."""
    entry = catalogue()
    return (*entry.conduits, *(name for each in entry.raw_networks() if (name := f"raw@{each}") not in entry.conduits))


@cache
def machine_numbers() -> tuple[tuple[str, str, str], ...]:
    """Return machine, key and text of every number of every machine."""
    numbers = []
    for name in gm.machines():
        for number in gm.machine(name).numbers:
            numbers.append((name, number.key, number.text))
    return tuple(numbers)


def drawn_override(rng: random.Random, network: str = "") -> str:
    """Return a machine with one to three of its numbers replaced."""
    names = sorted({name for name, _, _ in machine_numbers() if not network or gm.machine(name).network == network})
    if not names:
        return ""
    name = rng.choice(names)
    keys = [(key, text) for machine, key, text in machine_numbers() if machine == name]
    words = [name]
    for key, text in rng.sample(keys, min(len(keys), rng.choice((1, 1, 2, 3)))):
        number, _, unit = text.partition(" ")
        if number.replace(".", "").isdigit() and rng.random() < 0.6:
            value = f"{float(number) * 10 ** rng.uniform(-4, 4):.6g} {unit}".strip()
        elif unit in {"ns", "us", "ps", "ms", "s"}:
            value = rng.choice(TIMES)
        elif unit.endswith("B/s"):
            value = rng.choice(RATES)
        elif unit in {"B", "KiB", "MiB"}:
            value = rng.choice(BYTES)
        else:
            value = rng.choice(PLAIN) + (f" {unit}" if unit else "")
        words.append(f"{key}={value}")
    return "+".join(words)


def usual_or_odd(rng: random.Random, usual: tuple[str, ...], odd: tuple[str, ...]) -> str:
    """Return a value that is odd once in ten times: one that is refused hides what the others do."""
    return rng.choice(odd if rng.random() < 0.1 else usual)


def drawn_option(rng: random.Random, option: Any) -> str:
    """Return a value for an option: of its choices, a number, or nonsense."""
    if option.choices and rng.random() < 0.9:
        return f"{option.name}={rng.choice(list(option.choices))}"
    if option.type == "bool" and rng.random() < 0.9:
        return f"{option.name}={rng.choice(('true', 'false'))}"
    return f"{option.name}={rng.choice(NUMBERS + SIZES + ODD_SIZES)}"


def drawn_command(rng: random.Random, conduit: str) -> list[str]:
    """Return the words of `gasmeter measure` on a conduit."""
    entry = catalogue()
    network = conduit.removeprefix("raw@") if conduit.startswith("raw@") else ""
    kernel = rng.choice([each for each in entry.kernels.values() if not network or network in each.raw])
    op = rng.choice([each.name for each in kernel.ops])
    words = ["measure", kernel.name, "--conduit", conduit, "--op", op]
    real = conduit in REAL
    if rng.random() < 0.8:
        words += ["--sizes", usual_or_odd(rng, SIZES, ODD_SIZES)]
    if rng.random() < 0.5:
        words += [
            "--ranks",
            usual_or_odd(rng, ("2", "2", "3", "4") if real else ("2", "3", "4", "6", "16", "100"), ("0", "1", "x")),
        ]
    words += ["--iterations", rng.choice(("1", "2", "3", "17", "50"))]
    words += ["--max-time", rng.choice(("100ms", "500ms"))]
    if rng.random() < 0.3:
        words += ["--seed", usual_or_odd(rng, ("1", "2", "64"), NUMBERS)]
    if rng.random() < 0.2 and kernel.variants:
        words += ["--variant", rng.choice(list(kernel.variants))]
    if rng.random() < 0.15:
        words += [
            "--against",
            f"raw@{conduit.rsplit('@', maxsplit=1)[-1]}"
            if not real
            else f"raw@{'shm' if conduit == 'smp' else conduit}",
        ]
    if rng.random() < 0.15:
        words += ["--topology", rng.choice(TOPOLOGIES[3:])]
    if rng.random() < 0.1:
        words += ["--placement", rng.choice(("one-per-node", "round-robin", "fill", "list:0,0", "list:0,99"))]
    if rng.random() < 0.1:
        words += ["--ci", rng.choice(("5%", "0", "20%"))]
    declared = entry.conduits.get(conduit)
    options = [*kernel.options, *(declared.options if declared else ())]
    for option in rng.sample(options, min(len(options), rng.choice((0, 0, 1, 1, 2, 3)))):
        words += ["--option", drawn_option(rng, option)]
    words += ["--format", rng.choice(("csv", "csv", "csv", "table", "json", "osu"))]
    return words


def command(words: list[str]) -> Case:
    """Return the case that runs a command line in this process."""

    def act() -> Outcome:
        from click.testing import CliRunner

        from gasmeter.cli import cli

        ended = CliRunner().invoke(cli, words)
        return of_command(ended.exit_code, ended.exception, ended.stdout, ended.stderr)

    return Case("gasmeter " + shlex.join(words), act)


def override(rng: random.Random) -> Case:
    """Return the case of a machine with other numbers, under one of the kernels that use much of it."""
    machine = drawn_override(rng)
    network = gm.machine(machine.split("+")[0]).network
    conduits = [name for name in conduit_names() if name.split("@")[-1] == network]
    kernel = rng.choice(
        (
            ("ping-pong", "put"),
            ("ping-pong", "am-medium"),
            ("ping-pong", "get"),
            ("flood", "am-short"),
            ("flood", "put"),
            ("barrier", "barrier"),
            ("fetch-add", "latency"),
            ("vis", "strided-put"),
        )
    )
    words = ["measure", kernel[0], "--op", kernel[1], "--conduit", rng.choice(conduits), "--machine", machine]
    if kernel[0] != "barrier" and kernel[0] != "fetch-add" and kernel[1] != "am-short":
        words += ["--sizes", rng.choice(("8", "4K", "64K"))]
    words += ["--iterations", rng.choice(("1", "20")), "--max-time", "2s", "--format", "csv"]
    return command(words)


def call(rng: random.Random) -> Case:
    """Return the case of a call of the Python API with arguments of all kinds."""
    odd: tuple[Any, ...] = (
        0,
        1,
        2,
        -1,
        2**31,
        2**63 - 1,
        2**64,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "x",
        "8",
        None,
        True,
        [],
        (),
        {},
        [1, 2],
        "1e3",
        b"8",
        object,
    )
    kernels, conduits = list(catalogue().kernels), [name for name in conduit_names() if name not in REAL]
    settings: dict[str, Any] = {"conduit": rng.choice(conduits), "iterations": rng.choice((1, 5)), "max_time": 0.5}
    for key in rng.sample(list(PLAUSIBLE), rng.choice((0, 1, 1, 2, 3))):
        settings[key] = rng.choice(odd if rng.random() < 0.3 else PLAUSIBLE[key])
    kernel = rng.choice([*kernels, *kernels, rng.choice(odd)])

    def machine() -> Any:
        name, key, _ = rng.choice(machine_numbers())
        return gm.machine(name).with_(**{key: rng.choice((*odd, *TIMES, *RATES))})

    def series() -> Any:
        keys = {
            "kernel": kernel,
            "conduit": settings["conduit"],
            **{
                rng.choice(
                    (
                        "sizes",
                        "ranks",
                        "options",
                        "seed",
                        "repetitions",
                        "zip",
                        "against",
                        "ci",
                        "time_s",
                        "blocks",
                        "machine",
                        "topology",
                    )
                ): rng.choice(odd)
            },
        }
        return gm.Experiment(name="random", series=(gm.Series(**keys),))

    def trace() -> Any:
        return gm.trace(
            kernel,
            iterations=rng.choice((1, 2, -1, 0)),
            conduit=settings["conduit"],
            **{rng.choice(("sizes", "ranks", "machine", "topology")): rng.choice(odd)},
        )

    def launch() -> Any:
        def program(ep: Any) -> Iterator[Any]:
            yield ep.barrier()

        more = {
            rng.choice(("ranks", "segment", "machine", "topology", "placement", "options", "seed")): rng.choice(odd)
        }
        return gm.launch(program, conduit=rng.choice(conduits), timeout=5, **more)

    kind = rng.choice(("measure",) * 5 + ("machine", "series", "trace", "launch", "launch"))
    state = rng.getstate()

    def act() -> Outcome:
        rng.setstate(state)
        try:
            made = {
                "machine": machine,
                "series": series,
                "trace": trace,
                "launch": launch,
                "measure": lambda: gm.measure(kernel, **settings),
            }[kind]()
        except BaseException as error:
            return of_exception(error)
        if isinstance(made, gm.Result):
            frame = made.frame()
            if wrong := values_fault(frame.to_dict("records")):
                return Outcome("impossible-value", wrong)
        return Outcome()

    text = f"gm.measure({kernel!r}, {settings!r})" if kind == "measure" else f"{kind} by Python's API"
    return Case(text, act)


def program(rng: random.Random, conduit: str) -> Case:
    """Return the case of a random program of ranks."""
    ranks = rng.choice((1, 2, 2, 3, 4)) if conduit in REAL else rng.choice((1, 2, 3, 4, 6, 17))
    steps = programs.draw(rng, ranks)

    def act() -> Outcome:
        try:
            gm.launch(programs.run, conduit=conduit, ranks=ranks, segment="64K", args=(steps,), timeout=15)
        except BaseException as error:
            return of_exception(error)
        return Outcome()

    return Case(f"on {conduit}, {ranks} ranks: {steps}", act)


def case(kind: str, conduit: str, seed: int, number: int) -> Case:
    """Return a case by its number."""
    rng = random.Random(f"{kind} {conduit} {seed} {number}")
    if kind == "commands":
        return command(drawn_command(rng, conduit))
    if kind == "overrides":
        return override(rng)
    if kind == "calls":
        return call(rng)
    return program(rng, conduit)
