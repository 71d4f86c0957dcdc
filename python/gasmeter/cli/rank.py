"""`gasmeter rank`: join a job of several hosts by hand."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.arguments.choices import FORMATS
from gasmeter.cli.common import Choice, note, option, show
from gasmeter.errors import UsageError

__all__ = ["rank"]

_EXAMPLES = """\b
Examples:
  gasmeter rank --job job.json --create 10.0.0.1:9000,10.0.0.2:9000 --measure op=put --measure sizes=8:1M
  scp job.json 10.0.0.2:                      # keeps mode 600
  gasmeter rank --job job.json --index 1      # on 10.0.0.2
  gasmeter rank --job job.json --index 0      # on 10.0.0.1; prints the table
"""


@click.command(epilog=_EXAMPLES)
@option("--job", "file", required=True, type=click.Path(path_type=Path), help="Job file, the same on every host.")
@option("--index", type=int, default=None, metavar="N", help="Rank to be: 0 measures and prints, the others take part.")
@option("--create", default=None, metavar="A0,A1,…", help="Write the file with these addresses and a fresh secret.")
@option(
    "--measure",
    "arguments",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --create: what rank 0 measures, as in gasmeter.measure (kernel, op, sizes, against, …); repeatable.",
)
@option("--format", "form", type=Choice(FORMATS), default="table", show_default=True, help="Form of the output.")
@option("--long", is_flag=True, help="Show the 99th percentile and what an operation's end means, too (table).")
def rank(
    *, file: Path, index: int | None, create: str | None, arguments: tuple[str, ...], form: str, long: bool
) -> int:  # fmt: skip
    """Join a job of several hosts as one of its ranks.

    Every rank is one process, started by hand (or by ssh, or a batch system) with the same job file. The file holds the
    job's secret: only its owner may read it. Ranks 1 and up wait for rank 0, take part in what it measures and end with
    it. Rank 0 alone prints.
    """
    from gasmeter.measuring.remote import create_job_file, join, lead, read_job_file
    from gasmeter.sweeps.names import parse_assignments

    if create is not None:
        if index is not None:
            raise UsageError("--create and --index exclude each other: first the file, then the ranks", "--create")
        job = create_job_file(file, tuple(create.split(",")), parse_assignments(arguments, "measure"))
        note(f"{file}: {len(job.addresses)} ranks; copy it to every host; then `gasmeter rank --job {file} --index N`")
        return 0
    job = read_job_file(file)
    if index is None or not 0 <= index < len(job.addresses):
        given = "is missing" if index is None else f"{index} is not allowed"
        raise UsageError(f"--index {given}; allowed: 0..{len(job.addresses) - 1}, as {file} has addresses", str(index))
    if index != 0:
        return join(job, index)
    return show(lead(job), form, every=long)
