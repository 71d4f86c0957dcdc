"""`gasmeter judge`: a reproduction's verdicts again, from its folder's files alone."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from gasmeter.cli.common import FOLDER, Choice, note, option, out
from gasmeter.errors import UsageError

__all__ = ["judge"]

_EXAMPLES = """\b
Examples:
  gasmeter judge results/extoll
  gasmeter judge out/extoll --format csv
  gasmeter judge results/extoll --out out/extoll        (report.html and pictures again)
"""
_COMPARED = ("id", "reading", "verdict", "direction", "reproduced", "p_prior", "p_conditioned", "margin")
_CLAIMS = "claims.csv"


@click.command("judge", epilog=_EXAMPLES)
@click.argument("folder", type=FOLDER, metavar="FOLDER")
@option(
    "--format", "form", type=Choice(("table", "csv", "json")), default="table", show_default=True,
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
    """
    from gasmeter.cli.verdict_table import verdict_table
    from gasmeter.papers.registry import PAPERS
    from gasmeter.reproduction.claim_texts import score_line
    from gasmeter.reproduction.claims_table import claim_rows, claims_csv
    from gasmeter.reproduction.folder import seen_in
    from gasmeter.reproduction.frozen import method_digest
    from gasmeter.rows.formats import to_json

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
    if place is not None:
        from gasmeter.reproduction.again import kept_reproduction
        from gasmeter.reproduction.writing import write_reproduction

        write_reproduction(kept_reproduction(folder, seen, evidence, judged), place)
        note(f"written again: {place / 'report.html'}")
    if form == "table" and not differing:
        out(f"{len(judged)} claims: every verdict is the one in {folder / _CLAIMS}")
    return 1 if differing else 0


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
