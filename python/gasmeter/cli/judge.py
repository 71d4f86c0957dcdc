"""`gasmeter reproduce --from`, formerly `gasmeter judge`: verdicts again, from a folder's files alone."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from gasmeter.cli.common import FOLDER, Choice, note, option, out
from gasmeter.errors import UsageError

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["VERDICT_FORMATS", "judge", "judge_folder", "refuse_with_from"]

_EXAMPLES = """\b
Examples:
  gasmeter reproduce --from results/extoll
  gasmeter reproduce --from out/extoll --format csv
  gasmeter reproduce --from results/extoll --out out/extoll        (report.html and pictures again)
  gasmeter reproduce --from out/extoll --publish results/extoll    (in the smallest form)
"""
_COMPARED = ("id", "reading", "verdict", "direction", "reproduced", "p_prior", "p_conditioned", "margin")
_CLAIMS = "claims.csv"
_WITH_FROM = frozenset({"kept", "form", "folder", "publish"})
"""Parameters of `reproduce` that --from heeds."""

VERDICT_FORMATS = ("table", "csv", "json")
"""Forms of verdicts on standard output."""


@click.command("judge", epilog=_EXAMPLES)
@click.argument("folder", type=FOLDER, metavar="FOLDER")
@option(
    "--format", "form", type=Choice(VERDICT_FORMATS), default="table", show_default=True,
    help="How the verdicts are printed.",
)  # fmt: skip
@option(
    "--out", "place", type=FOLDER, default=None, metavar="DIR",
    help="Also write claims.csv, plots, tables and report.html again, to this folder.",
)  # fmt: skip
def judge(*, folder: Path, form: str, place: Path | None) -> int:
    """Make the verdicts of a reproduction again, from its folder's files alone.

    The command runs no point. It reads results.csv, points.csv, candidates.csv and run.json (also packed, NAME.xz) and
    prints every verdict. Exit status 1 if one differs from the folder's claims.csv. A note says if the method has
    changed since. With --out the report is written again from the same files.

    The command is called `gasmeter reproduce --from FOLDER` now; this name still works.
    """
    return judge_folder(folder, form, place, None)


def refuse_with_from(context: click.Context) -> None:
    """Raise click.UsageError if the command line of `reproduce` gives --from and a parameter that --from ignores."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is ParameterSource.COMMANDLINE and parameter.name not in _WITH_FROM:
            name = parameter.opts[0] if isinstance(parameter, click.Option) else "PAPER"
            raise click.UsageError(
                f"{name} is not allowed with --from, which runs nothing; allowed: --format, --out, --publish"
            )


def judge_folder(folder: Path, form: str, place: Path | None, published: Path | None) -> int:
    """Print the verdicts that a reproduction's files give, and say which differ from its claims.csv.

    Writes the report again to `place`, and the smallest files that give the same verdicts to `published`, if given; the
    latter not if a verdict differs. Returns exit status 1 if one does. Raises UsageError if the folder holds no
    reproduction.
    """
    from gasmeter.cli.verdict_table import verdict_table
    from gasmeter.papers.registry import PAPERS
    from gasmeter.reproduction.judge.claims_table import claim_rows, claims_csv
    from gasmeter.reproduction.judge.frozen import method_digest
    from gasmeter.reproduction.report.claim_texts import score_line
    from gasmeter.reproduction.run.again import kept_reproduction
    from gasmeter.reproduction.run.folder import seen_in
    from gasmeter.rows.formats import to_json

    if published is not None and published.resolve() == folder.resolve():
        raise UsageError(f"--publish {published} is the folder that is read; allowed: another one", str(published))
    seen, evidence = seen_in(folder, PAPERS)
    judged = seen.judge()
    if form == "table":
        out(verdict_table(judged, f"{seen.paper.name}, from the files of {folder}"))
        out(score_line(judged))
    else:
        out(claims_csv(judged) if form == "csv" else to_json(claim_rows(judged)))
    now = method_digest(seen.paper)
    if now != evidence["method"]:
        note(f"the method has changed: the folder was judged by {evidence['method']}, this is {now}")
    differing = _differing(folder, claims_csv(judged))
    for line in differing:
        note(line)
    if place is not None or published is not None:
        _write_again(kept_reproduction(folder, seen, evidence, judged), folder, place, None if differing else published)
    if form == "table" and not differing:
        out(f"{len(judged)} claims: every verdict is the one in {folder / _CLAIMS}")
    return 1 if differing else 0


def _write_again(reproduction: Reproduction, folder: Path, place: Path | None, published: Path | None) -> None:
    """Write the report with its pictures, and the published files, each to its folder if one is given."""
    from gasmeter.reproduction.report.writing import write_reproduction
    from gasmeter.reproduction.run.publishing import publish

    if place is not None:
        write_reproduction(reproduction, place)
        note(f"written again: {place / 'report.html'}")
    if published is not None:
        write_reproduction(reproduction, published, plots=False)
        size = sum(path.stat().st_size for path in publish(reproduction, folder, published))
        note(f"published: {published / 'report.html'} and {size / 1e6:.1f} MB that its verdicts are made from")


def _differing(folder: Path, text: str) -> list[str]:
    """Return the readings whose verdict or values differ from the folder's."""
    from gasmeter.stores.files import read_content

    try:
        before = _read(read_content(folder, _CLAIMS).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder / _CLAIMS} cannot be read: {error}", str(folder)) from error
    now = _read(text)
    return [
        f"{' / '.join(key)}: {name} was {before.get(key, {}).get(name, 'not there')!r}, now"
        f" {now.get(key, {}).get(name, 'not there')!r}"
        for key in dict.fromkeys([*before, *now])
        for name in _COMPARED
        if before.get(key, {}).get(name) != now.get(key, {}).get(name)
    ]


def _read(text: str) -> dict[tuple[str, str], dict[str, str]]:
    return {(row["id"], row["reading"]): row for row in csv.DictReader(io.StringIO(text))}
