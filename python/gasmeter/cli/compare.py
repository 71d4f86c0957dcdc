"""`gasmeter compare`: two stores, or two builds that are measured in one run."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.choices import FEWEST_STARTS
from gasmeter.cli.check import judge_stores, judging_options, show_judgement
from gasmeter.cli.common import FOLDER, note, option
from gasmeter.errors import UsageError
from gasmeter.stores.files import RUN, is_there

__all__ = ["compare"]

_EXAMPLES = """\b
Examples:
  gasmeter compare baseline new
  gasmeter compare HEAD~1 HEAD
  gasmeter compare main installed --experiment experiments/smp_speed.py --starts 20
"""


@click.command(epilog=_EXAMPLES)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@option(
    "--experiment", type=click.Path(path_type=Path), default=None, metavar="FILE",
    help="What is measured of two builds.  [default: 21 points on smp]",
)  # fmt: skip
@option(
    "--starts", type=click.IntRange(min=FEWEST_STARTS), default=None, metavar="N",
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
    *, before: str, after: str, experiment: Path | None, starts: int | None, full: bool, folder: Path,
    planted: tuple[str, ...], relevant: float, any_machine: bool, allow_missing: bool, form: str,
    reports: tuple[str, ...],
) -> int:  # fmt: skip
    """Compare A with B; exit status 1 if B is slower, moved, or wrong, 5 if more than a fifth stayed undecided.

    A and B are stores, or builds: `installed` (this one), the path of a gasmeter-rank, of a Python or of a virtual
    environment, or a git revision, which is built into a cache folder on first use. Builds are measured in one run
    whose blocks alternate between worker processes of both, with 22 starts of each or more.
    """
    from gasmeter.cli.progress import showing_progress
    from gasmeter.guard import Rules
    from gasmeter.guard.alternating import alternate
    from gasmeter.guard.builds import find_build
    from gasmeter.guard.suite import default_suite
    from gasmeter.sweeps.loading import load_experiment
    from gasmeter.sweeps.names import parse_assignments

    rules = Rules(relevant=relevant, any_machine=any_machine, allow_missing=allow_missing)
    stored = [Path(text).is_dir() and is_there(Path(text), RUN) for text in (before, after)]
    if any(stored) and not all(stored):
        other = after if stored[0] else before
        raise UsageError(f"{other!r} is no store, the other is one; allowed: two stores or two builds", other)
    if planted and all(stored):
        raise UsageError(f"--plant {planted[0]} needs two builds; {before} and {after} are stores", planted[0])
    if all(stored):
        places = (Path(before), Path(after))
    else:
        builds = [find_build(text) for text in (before, after)]
        for build in builds:
            note(f"{build.name}: {build.binary} ({build.facts['worker']})")
        what = default_suite() if experiment is None else load_experiment(experiment)
        with showing_progress() as progress:
            places = alternate(
                what, builds, folder, starts=starts or 0, quick=not full and experiment is not None,
                planted=parse_assignments(planted, "plant"), progress=progress,
            )  # fmt: skip
    return show_judgement(judge_stores(*places, rules), form, reports)
