"""`gasmeter compare`: two stores, or two builds that are measured in one run."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.arguments.choices import FEWEST_STARTS, Undecided
from gasmeter.cli.check import judging_options, show_judgement
from gasmeter.cli.common import FOLDER, Count, option
from gasmeter.cli.completion import complete_experiments

__all__ = ["compare"]

_EXAMPLES = """\b
Examples:
  gasmeter compare baseline new
  gasmeter compare HEAD~1 HEAD
  gasmeter compare main installed --experiment smp_speed --starts 20
"""


@click.command(epilog=_EXAMPLES)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@option(
    "--experiment", default=None, metavar="EXPERIMENT", shell_complete=complete_experiments,
    help="What is measured of two builds: a file, or a name as for `gasmeter run`.  [default: 21 points on smp]",
)  # fmt: skip
@option(
    "--starts", type=Count(min=FEWEST_STARTS), default=None, metavar="N",
    help="Process starts of each build.  [default: 22, more for many points]",
)  # fmt: skip
@option("--full", is_flag=True, help="Measure with the experiment's own axes and budgets, not those of a quick run.")
@option(
    "--out", "folder", type=FOLDER, default="out/compare", show_default=True, metavar="DIR",
    help="Where the stores of two builds go: DIR/a and DIR/b.",
)  # fmt: skip
@option(
    "--plant", "planted", multiple=True, metavar="KEY=VALUE",
    help="Debug option of B alone, such as debug_spin=4%, to see whether it is found; repeatable.",
)  # fmt: skip
@judging_options
def compare(
    *, before: str, after: str, experiment: str | None, starts: int | None, full: bool, folder: Path,
    planted: tuple[str, ...], relevant: float, any_machine: bool, allow_missing: bool, undecided: Undecided, form: str,
    reports: tuple[str, ...],
) -> int:  # fmt: skip
    """Compare A with B; exit status 1 if B is slower, moved, or wrong, 5 if more than a fifth stayed undecided.

    A and B are stores, or builds: `installed` (this one), the path of a gasmeter-rank, of a Python or of a virtual
    environment, or a git revision, which is built into a cache folder on first use. Builds are measured in one run
    whose blocks alternate between worker processes of both, with 22 starts of each or more.
    """
    from gasmeter.cli.progress import showing_progress
    from gasmeter.functions.comparing import compare as compared
    from gasmeter.sweeps.names import parse_assignments

    with showing_progress() as progress:
        judgement = compared(
            before, after, experiment=experiment, starts=starts, full=full, out=folder,
            planted=parse_assignments(planted, "plant"), relevant=relevant, any_machine=any_machine,
            allow_missing=allow_missing, undecided=undecided, progress=progress,
        )  # fmt: skip
    return show_judgement(judgement, form, reports)
