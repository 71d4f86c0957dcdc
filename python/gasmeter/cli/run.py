"""`gasmeter run`: a sweep with rows, plots and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gasmeter.arguments.renamed import renamed
from gasmeter.cli.common import FOLDER, Count, note, option, options_with_origin, out, status_of
from gasmeter.cli.completion import complete_experiments
from gasmeter.errors import GasmeterError, UsageError
from gasmeter.units import format_duration

if TYPE_CHECKING:
    from gasmeter.stores.result import Result
    from gasmeter.sweeps.experiment import Experiment
    from gasmeter.sweeps.point import Group

__all__ = ["run"]


_MOST_MOVED = 24
_KEPT = frozenset({"line", "limit", "reached", "what if", "as it is", "ratio", "median", "state"})
_VERDICTS = frozenset({"state", "reached", "", "median"})
_EXAMPLES = """\b
Examples:
  gasmeter run first_look
  gasmeter run first_look --set ping-pong.sizes=8:64K --set ranks=2 --quick
  gasmeter new ours && gasmeter run ours.py
"""


@click.command(epilog=_EXAMPLES)
@click.argument("file", metavar="EXPERIMENT", shell_complete=complete_experiments)
@option(
    "--out",
    "folder",
    type=FOLDER,
    default=None,
    metavar="DIR",
    help="Output folder.  [default: out/NAME]",
)
@option(
    "--set", "replace", multiple=True, metavar="AXIS=VALUES",
    help="Replace an axis: sizes, ranks, conduit, op, variant, machine, topology, placement, seed, or an option;"
    " KERNEL.AXIS for one kernel only. Repeatable.",
)  # fmt: skip
@option("--jobs", type=Count(min=1), default=1, show_default=True, help="Modelled points at the same time.")
@option(
    "--resume", is_flag=True,
    help="Continue what the folder already holds; what another build of gasmeter has measured is measured again.",
)  # fmt: skip
@option(
    "--starts", type=Count(min=0), default=0, metavar="N",
    help="Measure N times, each time with processes of its own: what `gasmeter check` compares, 10 or more.",
)  # fmt: skip
@option(
    "--revision", default="", metavar="REV",
    help="Revision of what is measured, for run.json.  [default: GITHUB_SHA, CI_COMMIT_SHA and their like, then git of"
    " the working directory]",
)  # fmt: skip
@option("--quick", is_flag=True, help="A quick look: shorter axes, 0.08 s per point.")
@option("--dry-run", is_flag=True, help="Only list the points and the time they will take.")
@option("--long", is_flag=True, help="Show the 99th percentile and what an operation's end means, too.")
@click.pass_context
def run(
    context: click.Context, *, file: str, folder: Path | None, replace: tuple[str, ...], jobs: int, resume: bool,
    starts: int, revision: str, quick: bool, dry_run: bool, long: bool,
) -> int:  # fmt: skip
    """Run the sweep that EXPERIMENT describes; write rows, samples, plots, a summary and a page to a folder.

    EXPERIMENT is a file, or the name of one in ./experiments or of those that come with gasmeter: `gasmeter list
    experiments`. `gasmeter new` writes one to begin with.

    Every finished point is kept at once: after Ctrl-C or a crash, --resume measures only what is missing. A folder
    that holds an earlier run of the same experiment is kept under another name. A point that cannot be measured is left
    out and named; the exit status then is 2, or 3 where this computer lacks something. Status 1: data were wrong.
    """
    from gasmeter.cli.progress import showing_progress
    from gasmeter.measuring.execution import Run, execute
    from gasmeter.sweeps.loading import load_experiment, locate
    from gasmeter.sweeps.names import parse_assignments
    from gasmeter.sweeps.series import SPELT
    from gasmeter.sweeps.shipped import experiment_file

    path = experiment_file(file)
    experiment = load_experiment(path)
    values = parse_assignments(replace, "set")
    for axis in (key.rpartition(".")[2] for key in values):
        if axis in SPELT:
            note(renamed(f"axis {axis} of --set", SPELT[axis]))
    place = folder or Path("out") / experiment.name
    try:
        groups = experiment.groups(quick=quick, replace=values)
    except GasmeterError as error:
        line = locate(path.read_text(encoding="utf-8"), error.value)
        where = f"{path}:{line}" if line else str(path)
        raise (type(error)(f"{where}: {error}", error.value) if not _given(values, error) else error) from error
    if dry_run:
        _print_plan(experiment, groups)
        return 0
    try:
        with showing_progress() as progress:
            run = Run(
                out=place, quick=quick, replace=values, jobs=jobs, resume=resume, progress=progress,
                origin=options_with_origin(context), starts=starts, revision=revision,
            )  # fmt: skip
            result = execute(experiment, run)
    except KeyboardInterrupt:
        note(f"what was measured is kept in {place}; continue with --resume")
        raise
    _print_result(experiment, result, place, every=long)
    return status_of(result)


def _given(values: dict[str, str], error: GasmeterError) -> bool:
    """Whether the value an error names stands on the command line, not in the file."""
    words = [
        word.strip() for key, text in values.items() for word in (key, *key.rpartition("."), text, *text.split(","))
    ]
    return error.value in words or isinstance(error, UsageError) is False


def _print_plan(experiment: Experiment, groups: Sequence[Group]) -> None:
    from gasmeter.sweeps.sweep import estimated_seconds

    for group in groups:
        against = f"  [alternating, against {group.reference_name}]" if group.reference is not None else ""
        for point in group.points:
            out(f"{point.id}  {point.describe()}{against}")
    points = sum(len(group.points) for group in groups)
    duration = format_duration(estimated_seconds(groups))
    out(f"{experiment.name}: {points} points in {len(groups)} groups, about {duration}{_perhaps_added(groups)}")


def _perhaps_added(groups: Sequence[Group]) -> str:
    """Return how many points a search for jumps may add to a plan; empty for none."""
    from gasmeter.sweeps.curves import families
    from gasmeter.sweeps.sweep import estimated_seconds

    added = [group for curve in families(groups) for group in [*curve.groups.values()][:1] * curve.most_added]
    if not added:
        return ""
    points = sum(len(group.points) for group in added)
    return f"; where curves jump up to {points} points more, about {format_duration(estimated_seconds(added))}"


def _text_table(heads: Sequence[str], lines: Sequence[Sequence[str]], title: str) -> str:
    from gasmeter.rendering.terminal import coloured, folded, table_text
    from gasmeter.rows.table import NUMBERS, WORDS, title_line

    common, heads, lines = folded(heads, lines, WORDS, _KEPT)
    return table_text(
        heads, lines, title=title_line(title, common), whole=NUMBERS, verdicts=_VERDICTS, colour=coloured()
    )


def _print_result(experiment: Experiment, result: Result, place: Path, *, every: bool) -> None:
    from gasmeter.measuring.summary import digest, speed_heads, speed_lines
    from gasmeter.rendering.terminal import lines_of
    from gasmeter.rows.jumps import jump_lines
    from gasmeter.stores.moved import MOVED_HEADS, moved_lines

    if result.rows:
        heads, lines = digest(result, every=every)
        out(_text_table(heads, lines, experiment.title or experiment.name))
        out("\n".join(map(lines_of, [*jump_lines(result.bisected), result.disturbance()])) + "\n")
    if speed := speed_lines(experiment, result, every=every):
        out(_text_table(speed_heads(every=every), speed, "Results against limits"))
    if lines := moved_lines(result):
        out(_text_table(MOVED_HEADS, lines[:_MOST_MOVED], "Effects of what-ifs"))
        if len(lines) > _MOST_MOVED:
            out(f"{len(lines) - _MOST_MOVED} more lines in summary.md\n")
    files = ", ".join(sorted(str(path.relative_to(place)) for path in place.rglob("*.svg")))
    tables = "results.csv, samples.parquet"
    tables += ", links.parquet" if result.link_tables() else ""
    tables += ", counters.csv" if result.counter_rows() else ""
    out(f"{place}: {tables}, summary.md, report.html, run.json{', ' + files if files else ''}")
    for line in result.notes:
        note(line)
    for line in result.errors:
        note(f"Error: {line}")
