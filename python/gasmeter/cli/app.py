"""The program `gasmeter`: its commands, and errors as one line and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gasmeter.arguments.renamed import renamed
from gasmeter.cli.commands import OLD_NAMES, SECTIONS, TABLE, Commands
from gasmeter.cli.streams import Unwritten, drop_rest, guarded, open_closed
from gasmeter.environment.mpi_launcher import take_part
from gasmeter.errors import EnvironmentLacks, GasmeterError, ResourceError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["Program", "cli", "main"]

PROGRAM = "gasmeter"
DEFECT = 70
"""Exit status of an unexpected error of gasmeter; EX_SOFTWARE of sysexits.h."""
TRACEBACK = "GASMETER_TRACEBACK"
"""Variable that shows the traceback of an unexpected error."""
INTERRUPTED = 130
UNREAD = 141
"""Exit status as the shell reports for SIGPIPE: the reader of standard output has left, which is no error."""


_COMPLETION = """\b
Completion (Tab), by a line in the file that the shell reads when it starts:
  bash, ~/.bashrc:                   eval "$(_GASMETER_COMPLETE=bash_source gasmeter)"
  zsh, ~/.zshrc:                     eval "$(_GASMETER_COMPLETE=zsh_source gasmeter)"
  fish, ~/.config/fish/config.fish:  _GASMETER_COMPLETE=fish_source gasmeter | source
"""


class Program(click.Group):
    """A command group whose errors are one line ``Error: …`` on stderr.

    Exit status: 0 good, 1 a check failed, 2 usage, 3 the environment lacks something, 4 a broken job, 5 a check that
    left too much undecided, 70 an error of gasmeter itself, 130 Ctrl-C, 141 nobody reads standard output any more.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; return its exit status unless `standalone_mode`, which ends the process.

        See click for parameters.
        """
        if args is None:
            open_closed()
        with guarded():
            try:
                status = self._status(args, prog_name or PROGRAM, complete_var, extra)
            except Exception as error:  # status 1 would mean a failed check
                status = _defect(error)
        if standalone_mode:
            sys.exit(status)
        return status

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections of commands, a line each, without loading any of them."""
        width = max(map(len, TABLE))
        for section, places in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), place.summary) for name, place in places.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a command line; tell the user of an old name its new one."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in OLD_NAMES and not ctx.resilient_parsing:
            click.echo(renamed(f"{PROGRAM} {name}", f"{PROGRAM} {OLD_NAMES[name].new}"), err=True)
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without loading any, or an option of `gasmeter` itself."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name, help=TABLE[name].summary) for name in TABLE if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def _status(self, args: Sequence[str] | None, name: str | None, complete: str | None, extra: dict[str, Any]) -> int:
        try:
            if args is None:  # the command line of this process
                if sys.stdout is None:
                    raise EnvironmentLacks("standard output is closed; allowed: a terminal, file, pipe or /dev/null")
                take_part()
            value = super().main(
                list(args) if args is not None else None, name, complete, standalone_mode=False, **extra
            )
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            return error.exit_code
        except click.ClickException as error:
            return _complain(_with_hint(error), error.exit_code)
        except (GasmeterError, MemoryError) as error:
            return _complain(*_line_and_status(error))
        except (click.Abort, KeyboardInterrupt):
            return _complain("interrupted", INTERRUPTED)
        except Unwritten as error:
            return _leave_output(error.errno)
        return value if isinstance(value, int) else 0


def _line_and_status(error: GasmeterError | MemoryError) -> tuple[str, int]:
    if isinstance(error, MemoryError):
        return "out of memory; use fewer ranks or smaller sizes (see `free -m`)", ResourceError.exit_code
    return str(error), error.exit_code


def _leave_output(why: int) -> int:
    drop_rest(sys.stdout)
    if why == errno.EPIPE:
        return UNREAD
    message = f"standard output cannot be written: {os.strerror(why)}"
    return _complain(message, EnvironmentLacks.exit_code)


def _defect(error: Exception) -> int:
    """Report an unexpected error in one line, with the traceback on demand."""
    if os.environ.get(TRACEBACK):
        from traceback import format_exception

        click.echo("".join(format_exception(error)), err=True, nl=False)
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" at {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at is not None else ""
    summary = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
    return _complain(
        f"gasmeter itself has failed: {summary}{place}; please report it with the traceback, which {TRACEBACK}=1 shows",
        DEFECT,
    )


def _with_hint(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message} (see `{context.command_path} --help`)" if context is not None else message


def _complain(message: str, status: int) -> int:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    separator = "\n" if status == 4 else "; "
    click.echo(f"Error: {separator.join(lines)}", err=True)
    return status


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from gasmeter.version import package_version

        click.echo(f"{PROGRAM}, version {package_version()}")
        context.exit()


@click.group(
    PROGRAM,
    cls=Program,
    commands=Commands(),
    epilog=_COMPLETION,
    invoke_without_command=True,
    context_settings={
        "auto_envvar_prefix": "GASMETER",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
    },
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure one-sided communication: active messages, put, get, atomics, over real and modelled networks.

    Every option can be given as an environment variable GASMETER_COMMAND_OPTION, for instance GASMETER_MEASURE_SEED=7.

    Exit status: 0 good, 1 a check failed, 2 usage, 3 the environment lacks something, 4 a broken job, 5 a check that
    left too much undecided, 70 an error of gasmeter itself (GASMETER_TRACEBACK=1 shows its traceback), 130 Ctrl-C,
    141 nobody reads standard output any more.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    cli.main()
    raise SystemExit(0)
