"""`gasmeter doctor`: what runs here, and what to install for what does not."""

from __future__ import annotations

import json

import click

from gasmeter.cli.common import option, out
from gasmeter.doctor import Finding, examine
from gasmeter.formats import json_value

__all__ = ["doctor"]

_MARK = {"ok": "ok", "warning": "note", "missing": "MISSING"}


@click.command()
@option(
    "--json",
    "as_json",
    envvar="GASMETER_DOCTOR_JSON",
    is_flag=True,
    help="Print an array of {name, summary, state, value, unit, remedy}.",
)
def doctor(as_json: bool) -> int:
    """Show what runs on this machine: conduits, workers, memory, cores, clock, core-to-core probe, limits, versions.

    For each missing thing the package to install is named. Exit status 3 if something is missing that measuring needs.
    """
    findings = examine()
    if as_json:
        out(json.dumps([json_value(finding.as_dict()) for finding in findings], indent=1))
    else:
        for finding in findings:
            out(_line(finding))
    return 3 if any(finding.state == "missing" and finding.needed for finding in findings) else 0


def _line(finding: Finding) -> str:
    remedy = f"; {finding.remedy}" if finding.remedy else ""
    return f"{_MARK[finding.state]:<8} {finding.name:<18} {finding.summary}{remedy}"
