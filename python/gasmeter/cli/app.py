"""The program `gasmeter`: its commands, and how errors become one line and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from gasmeter.cli.check import check
from gasmeter.cli.compare import compare
from gasmeter.cli.dashboard import dashboard
from gasmeter.cli.doctor import doctor
from gasmeter.cli.export import export
from gasmeter.cli.fit import fit
from gasmeter.cli.importing import import_command
from gasmeter.cli.listing import list_command
from gasmeter.cli.measure import measure
from gasmeter.cli.rank import rank
from gasmeter.cli.reproduce import reproduce_command
from gasmeter.cli.run import run
from gasmeter.cli.trace import trace_command
from gasmeter.context import package_version
from gasmeter.errors import GasmeterError
from gasmeter.mpi_launcher import take_part

__all__ = ["Program", "cli", "main"]

PROGRAM = "gasmeter"
INTERRUPTED = 130


class Program(click.Group):
    """A command group whose errors are one line ``Error: …`` on stderr.

    Exit status: 0 good, 1 a check failed, 2 usage, 3 the environment lacks something, 4 a broken job, 5 a check that
    left too much undecided, 130 Ctrl-C.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command.

        Parameters
        ----------
        args : sequence of str, optional
            Command line without the program's name; that of the process by default.
        prog_name, complete_var, standalone_mode
            As in click.
        **extra
            As in click.

        Returns
        -------
        int
            Exit status, if not `standalone_mode`; else the process ends with it.
        """
        status = self._status(args, prog_name or PROGRAM, complete_var, extra)
        if standalone_mode:
            sys.exit(status)
        return status

    def _status(self, args: Sequence[str] | None, name: str | None, complete: str | None, extra: dict[str, Any]) -> int:
        try:
            if args is None:  # the command line of this process
                take_part()
            value = super().main(
                list(args) if args is not None else None, name, complete, standalone_mode=False, **extra
            )
        except click.ClickException as error:
            return _complain(_with_hint(error), error.exit_code)
        except GasmeterError as error:
            return _complain(str(error), error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            return _complain("interrupted", INTERRUPTED)
        return value if isinstance(value, int) else 0


def _with_hint(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message} (see `{context.command_path} --help`)" if context is not None else message


def _complain(message: str, status: int) -> int:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    separator = "\n" if status == 4 else "; "
    click.echo(f"Error: {separator.join(lines)}", err=True)
    return status


@click.group(
    PROGRAM,
    cls=Program,
    invoke_without_command=True,
    context_settings={
        "auto_envvar_prefix": "GASMETER",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
    },
)
@click.version_option(package_version(), "--version", prog_name=PROGRAM)
@click.pass_context
def cli(context: click.Context) -> None:
    """Measure one-sided communication: active messages, put, get, atomics, over real and modelled networks.

    Every option can be given as an environment variable GASMETER_COMMAND_OPTION, for instance GASMETER_MEASURE_SEED=7.

    Exit status: 0 good, 1 a check failed, 2 usage, 3 the environment lacks something, 4 a broken job, 5 a check that
    left too much undecided, 130 Ctrl-C.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_COMMANDS = (
    check,
    compare,
    dashboard,
    doctor,
    export,
    fit,
    import_command,
    list_command,
    measure,
    rank,
    reproduce_command,
    run,
    trace_command,
)
for _command in _COMMANDS:
    cli.add_command(_command)


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    cli.main()
    raise SystemExit(0)
