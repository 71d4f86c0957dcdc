"""Common parts of commands: parameter types, options with environment variables, output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gasmeter.arguments.renamed import renamed
from gasmeter.arguments.sizes import parse_size, parse_sizes
from gasmeter.cli.completion import complete_conduits, complete_machines, complete_ops, complete_topologies
from gasmeter.environment.mpi_launcher import launched
from gasmeter.errors import UsageError, did_you_mean
from gasmeter.units import parse_date, parse_duration, parse_in, parse_ranks, parse_seeds, parse_share

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

    from gasmeter.stores.result import Result

__all__ = [
    "DATE",
    "DURATION",
    "FOLDER",
    "PICOSECONDS",
    "RANKS",
    "SEED",
    "SHARE",
    "SIZE",
    "SIZES",
    "Choice",
    "Count",
    "EnvOption",
    "note",
    "option",
    "options_with_origin",
    "out",
    "point_options",
    "show",
    "status_of",
]


class _Parsed(click.ParamType[Any]):
    """A parameter type around one of the parsers of `gasmeter.units`."""

    def __init__(self, name: str, parse: Callable[[Any], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the parsed value; parsed values pass through."""
        return self._parse(value)


def _one_seed(value: str | int) -> int:
    seeds = parse_seeds(value)
    if len(seeds) > 1:
        raise UsageError(f"seed {value!r} is not allowed; allowed: one whole number from 0 to 2^64-1", str(value))
    return seeds[0]


def _one_size(value: str | int) -> int:
    try:
        return parse_size(str(value))
    except UsageError as error:
        raise UsageError(
            f"size {str(value)!r} is not a size; allowed: one size in bytes, for instance 64 or 4K (K = 1024)",
            str(value),
        ) from error


def _default_ranks() -> str:
    launcher = launched()
    return str(launcher.ranks if launcher is not None else 2)


def _folder(value: str | Path) -> Path:
    if not str(value):
        raise UsageError("folder '' has no name; allowed: a folder, new or written by `gasmeter run` (--out)", "")
    return Path(value)


def _picoseconds(value: str | int) -> int:
    text = str(value).strip()
    try:
        exact = parse_in(text, "ps")
    except UsageError:
        exact = Decimal(0)
    if exact != exact.to_integral_value() or not 1 <= exact <= _PS_OF_A_SECOND:
        raise UsageError(f"time {text!r} is not allowed; allowed: whole ps from 1ps to 1s, for instance 1ns", text)
    return int(exact)


_PS_OF_A_SECOND = 10**12
FOLDER = _Parsed("folder", _folder)
SEED = _Parsed("seed", _one_seed)
SIZE = _Parsed("size", _one_size)
SIZES = _Parsed("sizes", parse_sizes)
RANKS = _Parsed("ranks", parse_ranks)
SHARE = _Parsed("share", parse_share)
DATE = _Parsed("date", lambda value: value and parse_date(value))
DURATION = _Parsed("duration", parse_duration)
PICOSECONDS = _Parsed("time", _picoseconds)


class Choice(click.Choice[str]):
    """A choice among a few words; an error names the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return an error message with the allowed values and the nearest of them."""
        message = super().get_invalid_choice_message(value, ctx).rstrip(".")
        return message + did_you_mean(str(value), map(str, self.choices))


class Count(click.IntRange):
    """A whole number within bounds, which errors name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number if it is within the bounds."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            bounds = f"from {self.min} to {self.max}" if self.max is not None else f"of {self.min} or more"
            self.fail(f"{str(value)!r} is not allowed; allowed: whole numbers {bounds}", param, ctx)


class EnvOption(click.Option):
    """An option that is also an environment variable GASMETER_COMMAND_OPTION, named after its long name.

    Its help says so. `old` lists former names that still work, in the environment too, with a note to the user.
    """

    def __init__(self, *args: Any, old: Sequence[str] = (), **settings: Any) -> None:
        settings.setdefault("show_envvar", True)
        super().__init__(*args, **settings)
        self.old = tuple(old)

    def _take_name(self, ctx: click.Context) -> None:
        self.envvar = _variable(ctx, max(self.opts, key=len))

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Register the old names with the parser, too."""
        super().add_to_parser(parser, ctx)
        for name in self.old:
            parser.add_option(obj=self, opts=[name], dest=name, action="store", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """Return the given value and its source, as in click."""
        self._take_name(ctx)  # messages name it, too
        new = max(self.opts, key=len)
        for name in (name for name in self.old if name in opts):
            if self.name in opts:
                raise UsageError(f"{new} is given twice, as {name} too; allowed: once", name)
            note(renamed(name, new))
            return opts[name], ParameterSource.COMMANDLINE
        return super().consume_value(ctx, opts)

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the environment's value; None without one."""
        self._take_name(ctx)
        value = super().resolve_envvar_value(ctx)
        for variable in (_variable(ctx, name) for name in self.old if value is None):
            if variable and os.environ.get(variable):
                note(renamed(variable, str(self.envvar)))
                return os.environ[variable]
        return value

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Return the text in brackets behind the help, as click has it."""
        self._take_name(ctx)
        return super().get_help_extra(ctx)


def _variable(ctx: click.Context, name: str) -> str | None:
    """Return the environment variable of an option, which begins with the command's name."""
    prefix = ctx.auto_envvar_prefix
    return f"{prefix}_{name.lstrip('-').upper().replace('-', '_')}" if prefix else None


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return a click option that can also be given in the environment; the parameters are those of `click.option`."""
    return click.option(*names, cls=EnvOption, **settings)


def point_options(function: Any) -> Any:
    """Decorate a command that takes a kernel with the options for kernel, conduit and machine."""
    decorators = [
        option(
            "--conduit",
            required=True,
            metavar="C[,C…]",
            shell_complete=complete_conduits,
            help="Conduits, e.g. smp or raw@shm; see `gasmeter list conduits`.",
        ),
        option(
            "--op",
            default="",
            metavar="OP[,OP…]",
            shell_complete=complete_ops,
            help="Operations of the kernel, or all.  [default: the kernel's first]",
        ),
        option(
            "--sizes",
            type=SIZES,
            default=None,
            metavar="SIZES",
            help="Bytes: 8, or 8,64,4K, or 8:4M (powers of two; K = 1024), or 8:4M:x1.5 (by a factor), or 64:4M~3"
            " (each, and 3 B less and more); for random-access the whole table."
            "  [default: 8:4M as far as the operation carries it; 32M for random-access]",
        ),
        option(
            "--ranks",
            type=RANKS,
            default=_default_ranks,
            show_default="2; under mpiexec or srun as many as it starts",
            metavar="N[,N…]",
            help="Ranks of the job.",
        ),
        option(
            "--variant",
            default="",
            metavar="V[,V…]",
            help="Variants of the kernel, or all.  [default: the kernel's first]",
        ),
        option(
            "--option",
            "options",
            multiple=True,
            metavar="KEY=VALUE",
            help="Option of the kernel or conduit; repeatable.",
        ),
        option(
            "--machine",
            default="",
            metavar="M[,M…]",
            shell_complete=complete_machines,
            help='Machine of modelled conduits, e.g. extoll, "extoll+link.bandwidth=1.25 GB/s", extoll+draw=17 (its'
            " estimates drawn from their ranges, 0 to 4095) or extoll+null=17 (and software's times by arbitrary"
            " factors); see `gasmeter list machines`.  [default: the network's own]",
        ),
        option(
            "--topology",
            default="",
            metavar="T[,T…]",
            shell_complete=complete_topologies,
            help="Topology of modelled conduits, e.g. mesh3d:4x4x4; see `gasmeter list topologies`. Faults stand behind"
            " it: torus2d:4x4/dead:0-1 (a link), /slow:0-1x10 (its bytes take 10 times as long), /slow:5x4 (a node's"
            " software takes 4 times as long).  [default: the machine's own]",
        ),
        option("--seed", type=SEED, default="1", show_default=True, metavar="N", help="Seed of every random stream."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def options_with_origin(context: click.Context) -> dict[str, dict[str, object]]:
    """Return ``value`` and ``origin`` of each option of a command, for run.json."""
    names = {
        ParameterSource.COMMANDLINE: "command line",
        ParameterSource.ENVIRONMENT: "environment",
        ParameterSource.DEFAULT: "default",
        ParameterSource.DEFAULT_MAP: "default",
        ParameterSource.PROMPT: "prompt",
    }
    options: dict[str, dict[str, object]] = {}
    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        plain = str(value) if isinstance(value, Path) else value
        options[name] = {"value": plain, "origin": names.get(source, "default") if source else "default"}
    return options


def out(text: str) -> None:
    """Write to standard output, which holds results only; add a final newline if there is none."""
    click.echo(text, nl=not text.endswith("\n"))


def note(text: str) -> None:
    """Write a line to standard error."""
    click.echo(text, err=True)


def show(result: Result, form: str, title: str = "", *, every: bool = False) -> int:
    """Write rows to standard output, notes and errors to standard error; return the exit status (`status_of`).

    `every` adds the 99th percentile and the meaning of "done" to a table.
    """
    from gasmeter.rendering.terminal import coloured
    from gasmeter.rows.formats import render
    from gasmeter.rows.jumps import jump_lines

    jumps = jump_lines(result.bisected)
    footer = ["", *jumps, result.disturbance()]
    out(render(result.rows, form, title=title, footer=footer, every=every, colour=form == "table" and coloured()))
    for line in [*(jumps if form != "table" else []), *result.notes]:
        note(line)
    for line in result.errors:
        note(f"Error: {line}")
    return status_of(result)


def status_of(result: Result) -> int:
    """Return 1 if data were wrong, else the status of the first refused point (2 or 3), else 0."""
    if not result.verified:
        return 1
    return result.refusals[0].exit_code if result.refusals else 0
