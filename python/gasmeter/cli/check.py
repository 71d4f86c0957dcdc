"""`gasmeter check`: judge a store against a baseline, with an exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gasmeter.arguments.choices import REPORT_FORMATS, UNDECIDED, Undecided
from gasmeter.cli.common import SHARE, Choice, note, option, out

if TYPE_CHECKING:
    from gasmeter.guard import Judgement

__all__ = ["check", "judging_options", "show_judgement"]

_EXAMPLES = """\b
Examples:
  gasmeter run suite.py --starts 12 --out baseline
  gasmeter run suite.py --starts 12 --out new
  gasmeter check --baseline baseline new --report junit=check.xml --report markdown=check.md
"""


def judging_options(function: Any) -> Any:
    """Decorate a command with the options that say which changes count and how they are reported."""
    decorators = [
        option(
            "--relevant", type=SHARE, default="2%", show_default=True, metavar="SHARE",
            help="Smallest difference that counts, however significant smaller ones are.",
        ),
        option("--any-machine", is_flag=True, help="Compare times of different machines all the same."),
        option("--allow-missing", is_flag=True, help="Figures of the baseline may be absent."),
        option(
            "--undecided", type=Choice(UNDECIDED), default="fail", show_default=True,
            help="Exit status where more than a fifth of the measured figures stays undecided: 5 (fail), since nobody"
            " knows that nothing got worse, or 0 (ok), for a CI job on a machine that others use.",
        ),
        option(
            "--format", "form", type=Choice(REPORT_FORMATS),
            default="table", show_default=True, help="Form of the output.",
        ),
        option(
            "--report", "reports", multiple=True, metavar="FORMAT=FILE",
            help="Write the same in another form to a file, e.g. junit=check.xml; repeatable.",
        ),
    ]  # fmt: skip
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def show_judgement(judgement: Judgement, form: str, reports: tuple[str, ...]) -> int:
    """Print a judgement, write its ``FORMAT=FILE`` reports, and return the exit status.

    The status is 1 if the check failed and 5 if too much stayed undecided and that fails it. Raises click.UsageError
    for a report without format or file, or a file that cannot be written.
    """
    from gasmeter.guard.reports import render_judgement
    from gasmeter.rendering.terminal import coloured

    for text in reports:
        name, _, path = text.partition("=")
        if name not in REPORT_FORMATS or not path:
            raise click.UsageError(
                f"--report {text!r} is not allowed; allowed: FORMAT=FILE, {', '.join(REPORT_FORMATS)}"
            )
        try:
            Path(path).write_text(render_judgement(judgement, name), encoding="utf-8")
        except OSError as error:
            raise click.UsageError(
                f"--report {path} cannot be written: {error.strerror}; allowed: a file in a folder that you may write"
            ) from error
    out(render_judgement(judgement, form, colour=form == "table" and coloured()))
    if form != "table":
        note(judgement.summary())
    return judgement.status


@click.command(epilog=_EXAMPLES)
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@option(
    "--baseline", required=True, metavar="BASE", type=click.Path(path_type=Path),
    help="Store to compare with, measured on this machine.",
)  # fmt: skip
@judging_options
def check(
    *, new: Path, baseline: Path, relevant: float, any_machine: bool, allow_missing: bool, undecided: Undecided,
    form: str, reports: tuple[str, ...],
) -> int:  # fmt: skip
    """Compare the store NEW with a baseline.

    Exit status 1 if something got slower, moved, vanished, is wrong or no longer checked; 5 if nothing did, and more
    than a fifth of the measured figures stayed undecided (--undecided): measure again, when the machine is calm.

    Measured figures are compared by their process starts (`gasmeter run --starts 10` or more), corrected for the
    number of figures: fewer than 5 % of checks of equal builds fail. Process starts in state load, moved or noisy are
    left out. Modelled figures have to be equal to the last
    picosecond. A store that cannot be used (another machine, another schema, empty, cut off) is exit status 2.
    """
    from gasmeter.functions.comparing import check as checked

    judgement = checked(
        new, baseline=baseline, relevant=relevant, any_machine=any_machine, allow_missing=allow_missing,
        undecided=undecided,
    )  # fmt: skip
    return show_judgement(judgement, form, reports)
