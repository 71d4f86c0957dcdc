"""`gasmeter schema`: form of rows and run.json, for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from gasmeter.cli.common import out

__all__ = ["SCHEMAS", "schema"]

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
"""Folder of the schemas, which come with the package."""

_EXAMPLES = """\b
Examples:
  gasmeter schema row > row.json
  gasmeter schema run | check-jsonschema --schemafile /dev/stdin out/first_look/run.json
"""


@click.command("schema", epilog=_EXAMPLES)
@click.argument("what", type=click.Choice(("run", "row")))
def schema(what: str) -> None:
    """Print the JSON Schema of run.json or of a row.

    Draft 2020-12. A row is an object of `gasmeter measure --format json`, or a line of results.csv with its cells read
    as numbers and truth values.
    """
    out((SCHEMAS / f"{what}.json").read_text(encoding="utf-8").rstrip("\n"))
