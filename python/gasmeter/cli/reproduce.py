"""`gasmeter reproduce`: figures of a paper, its claims judged, one report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from gasmeter.arguments.choices import BLIND, Blind
from gasmeter.cli.common import FOLDER, Choice, Count, note, option, options_with_origin, out
from gasmeter.cli.completion import complete_figures, complete_papers
from gasmeter.cli.judge import VERDICT_FORMATS, judge_folder, refuse_with_from
from gasmeter.errors import UsageError
from gasmeter.units import format_duration

if TYPE_CHECKING:
    from gasmeter.functions.figures import Reproduced

__all__ = ["reproduce_command"]

_EXAMPLES = """\b
Examples:
  gasmeter reproduce extoll --quick
  gasmeter reproduce extoll --figures 12,15 --out out/extoll
  gasmeter reproduce sci --out out/sci
  gasmeter reproduce --from out/sci        (verdicts again, nothing runs)
  gasmeter reproduce extoll --digitised my_points.csv
  gasmeter reproduce extoll --verify --points 100       (published rows, digit by digit)
"""


@click.command("reproduce", epilog=_EXAMPLES)
@click.argument("name", metavar="[PAPER]", required=False, shell_complete=complete_papers)
@option(
    "--from", "kept", type=FOLDER, default=None, metavar="FOLDER",
    help="Run nothing: make the verdicts again from the files of this reproduction. Exit status 1 if one differs from"
    " its claims.csv.",
)  # fmt: skip
@option(
    "--format", "form", type=Choice(VERDICT_FORMATS), default="table", show_default=True,
    help="With --from: form of the verdicts.",
)  # fmt: skip
@option(
    "--publish", type=FOLDER, default=None, metavar="DIR",
    help="With --from: also write the folder in its smallest form here: tables packed, pictures in the report alone.",
)  # fmt: skip
@option(
    "--figures", default="", metavar="N[,N…]", shell_complete=complete_figures,
    help="Figures; see `gasmeter list figures`.  [default: all]",
)  # fmt: skip
@option(
    "--out", "folder", type=FOLDER, default=None, metavar="DIR",
    help="Output folder.  [default: out/reproduce_PAPER; with --from nothing is written]",
)  # fmt: skip
@option("--quick", is_flag=True, help="A quick look: fewer updates, no bands, so that nothing is decided.")
@option(
    "--jobs", type=Count(min=1), default=os.cpu_count() or 1, show_default="one per core",
    help="Points that run at the same time.",
)  # fmt: skip
@option(
    "--resume", is_flag=True,
    help="Continue what the folder already holds; what another build of gasmeter has run is run again.",
)  # fmt: skip
@option(
    "--digitised", type=click.Path(path_type=Path), default=None, metavar="FILE.csv",
    help="Your own points of the figures (figure,series,x,y) to draw beside what comes out.",
)  # fmt: skip
@option(
    "--blind", type=Choice(BLIND), default=None,
    help="Judge with the paper's results removed or tripled: results.csv must stay the same, byte for byte.",
)  # fmt: skip
@option(
    "--verify", is_flag=True,
    help="Compare with the published rows: every value to the last digit, and the digest of all.",
)  # fmt: skip
@option(
    "--points", type=Count(min=1), default=None, metavar="N",
    help="With --verify: run N published points, chosen by chance, in place of whole figures.",
)  # fmt: skip
@option(
    "--published", type=FOLDER, default=None, metavar="DIR",
    help="With --verify: the published rows.  [default: results/PAPER]",
)  # fmt: skip
@click.pass_context
def reproduce_command(
    context: click.Context, *, name: str | None, kept: Path | None, form: str, publish: Path | None, figures: str,
    folder: Path | None, quick: bool, jobs: int, resume: bool, digitised: Path | None, blind: Blind | None,
    verify: bool, points: int | None, published: Path | None,
) -> int:  # fmt: skip
    """Run the figures of PAPER again and judge its statements.

    Writes results.csv (rows), claims.csv (verdicts), report.html (one file that needs no other), run.json and plots to
    a folder. Every finished point is kept at once: after Ctrl-C, --resume runs only what is missing. All figures
    together bring the conformance suite, which runs between the points. Statements are
    judged by predicates that were frozen before; a miss is reported as a miss and is no error.

    With --from nothing runs. The verdicts are made again from results.csv, points.csv, candidates.csv and run.json
    of a folder (also packed, NAME.xz). Notes tell which verdicts differ from the folder's claims.csv, and whether
    predicates or programs have changed since. With --out the report is written again, too. With --publish DIR
    the folder is written in its smallest form, unless a verdict differs.

    With --verify the rows are compared with the published ones. Each value that differs is named: exit status 1.
    """
    if kept is not None:
        refuse_with_from(context)
        return judge_folder(kept, form, folder, publish)
    if name is None:
        raise click.UsageError("PAPER and --from are missing; allowed: a paper to run, or --from FOLDER", context)
    if context.get_parameter_source("form") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--format is for --from FOLDER; allowed: with it", context)
    if publish is not None:
        raise click.UsageError("--publish is for --from FOLDER; allowed: with it", context)
    if verify or points is not None or published is not None:
        _check_verify(verify=verify, others={"--quick": quick, "--digitised": digitised, "--blind": blind})
        from gasmeter.cli.reverify import verify_published

        return verify_published(
            name, figures, published, points, folder, jobs=jobs, resume=resume, origin=options_with_origin(context)
        )
    from gasmeter.cli.progress import showing_progress
    from gasmeter.functions.figures import reproduce, reproduction_folder

    try:
        with showing_progress() as progress:
            done = reproduce(
                name, figures=figures, out=folder, quick=quick, jobs=jobs, resume=resume, digitised=digitised,
                blind=blind, progress=progress, origin=options_with_origin(context),
            )  # fmt: skip
    except KeyboardInterrupt:
        note(f"what was run is kept in {reproduction_folder(name, folder)}; continue with --resume")
        raise
    _print(done)
    return 0 if done.result.verified else 1


def _check_verify(*, verify: bool, others: Mapping[str, object]) -> None:
    """Refuse options that say nothing together."""
    if not verify:
        raise UsageError("--points and --published belong to --verify; allowed: with it", "--verify")
    if given := [name for name, value in others.items() if value]:
        why = f"{given[0]} cannot be verified: published rows are of full runs; allowed: without it"
        raise UsageError(why, given[0])


def _print(done: Reproduced) -> None:
    from gasmeter.cli.verdict_table import verdict_table

    reproduction, shown = done.reproduction, done.judged
    out(verdict_table(shown, reproduction.result.title))
    if len(shown) < len(reproduction.judged):
        out(f"in claims.csv, but not run: {len(reproduction.judged) - len(shown)} more")
    quick = reproduction.plan.quick
    if done.score and not quick:
        out(done.score)
    for name, rows in reproduction.checks.failing().items():
        if rows:
            out(f"machine {name} as given does not meet {', '.join(rows)}")
    for line in [
        *reproduction.plan.notes,
        *(f"not run: {key}: {why}" for key, why in reproduction.plan.missing.items()),
    ]:
        note(line)
    for line in reproduction.result.errors:
        note(f"Error: {line}")
    out(f"{len(reproduction.result.rows)} rows in {format_duration(reproduction.seconds)}: {done.report}")
    if done.score and quick:
        out(done.score)
