"""`gasmeter reproduce PAPER --verify`: published rows run again, all, of some figures, or some points by chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gasmeter.cli.common import note, out
from gasmeter.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gasmeter.reproduction.run.verifying import Compared

__all__ = ["verify_published"]

_MOST_SHOWN = 20
_SEED = 1


def verify_published(
    name: str, figures: str, published: Path | None, points: int | None, place: Path | None, *, jobs: int,
    resume: bool, origin: Mapping[str, Any],
) -> int:  # fmt: skip
    """Run published rows of paper `name` again and print which differ; return 1 if a row differs, else 0.

    `figures` are numbers of figures, all if empty. `published` is the folder of the rows, by default ``results/PAPER``;
    `place` is the folder of the new rows, which `resume` continues. With `points` that many modelled points run, chosen
    by chance; by default whole figures run with all draws. `origin` says where options came from. Raises UsageError if
    nothing is published there.
    """
    from gasmeter.cli.progress import showing_progress
    from gasmeter.functions.figures import reproduce
    from gasmeter.papers.registry import figures_of, paper
    from gasmeter.reproduction.run import verifying

    found = paper(name)
    numbers = [number.strip() for number in figures.split(",") if number.strip()]
    ran = [figure.number for figure in figures_of(found, numbers)]
    folder = verifying.checked_folder(published or Path("results") / found.name)
    known = verifying.published(folder, found)
    target = place or Path("out") / f"verify_{found.name}"
    try:
        with showing_progress() as progress:
            if points is None:
                done = reproduce(
                    name, figures=figures, out=target, jobs=jobs, resume=resume, progress=progress, origin=origin
                )
                outcome = verifying.compared_rows(known, done.result.rows, ran)
            else:
                some = verifying.chosen(known.points(numbers), points, _SEED)
                if not some:
                    raise UsageError(f"{folder} holds no modelled points of these figures", str(folder))
                again = verifying.points_again(f"verify_{found.name}", some)
                result = again.run(out=target, jobs=jobs, resume=resume, progress=progress)
                outcome = verifying.compared_points(some, result.rows)
    except KeyboardInterrupt:
        note(f"what was run is kept in {target}; continue with --resume")
        raise
    _print(outcome, folder, known.facts)
    return 0 if outcome.same else 1


def _print(outcome: Compared, folder: Path, facts: Mapping[str, Any]) -> None:
    for line in outcome.differing[:_MOST_SHOWN]:
        out(line)
    if len(outcome.differing) > _MOST_SHOWN:
        out(f"… {len(outcome.differing) - _MOST_SHOWN} more")
    out(
        f"{outcome.points} points, {outcome.rows} rows of {folder} run again:"
        f" {len(outcome.differing) or 'none'} differ{'s' if len(outcome.differing) == 1 else ''}"
    )
    if outcome.digest is not None:
        same = "is the published one" if outcome.digest else "is not the published one"
        out(f"digest of all {facts['modelled']} modelled rows {same}: {facts['sha256'][:16]}…")
