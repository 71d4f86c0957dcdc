"""A machine against its check rows and curves of such hardware, in a folder with a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.checking.checked import Checked, Finding, checked_rows, findings, prepared
from gasmeter.checking.curves import Curves, curves
from gasmeter.checking.overlay import Laid, laid_over, line_series
from gasmeter.checking.points import check_points
from gasmeter.errors import CheckFailed
from gasmeter.machines.checks import checks_digest
from gasmeter.machines.machine import Machine
from gasmeter.measuring.execution import Progress, Run, execute
from gasmeter.measuring.experiment import Experiment
from gasmeter.measuring.runner import Runner
from gasmeter.stores.result import Result
from gasmeter.stores.store import add_to_run

__all__ = ["Held", "hold"]


@dataclass(frozen=True)
class Held:
    """A machine held against published measurements."""

    machine: Machine  # also with overrides or as a draw
    checked: list[Checked]  # its check rows
    unused: list[Finding]  # rows of high confidence that nothing uses
    curves: Curves  # all curves and lines
    laid: list[Laid]  # lines over the curves of this machine; empty without curves
    result: Result  # rows of every point that ran

    def summary(self) -> list[dict[str, Any]]:
        """Return for JSON how far off each line is on each curve, in per cent; None without a value."""
        return [
            {
                "curve": laid.curve.id,
                "line": laid.line.label,
                "kind": laid.line.kind,
                "points": len(laid.points),
                "median_error_percent": laid.median if laid.points else None,
                "largest_error_percent": laid.largest.error if laid.points else None,
                "largest_at_bytes": laid.largest.size if laid.points else None,
                "beyond_bytes": [point.size for point in laid.beyond],
                "not_run_bytes": list(laid.missing),
                "inputs": sorted(laid.curve.inputs(self.machine)),
            }
            for laid in self.laid
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of curves.csv: every published point with its modelled values, if any."""
        result = []
        for curve in (*self.curves.about(self.machine), *self.curves.beside(self.machine)):
            over = [laid for laid in self.laid if laid.curve.id == curve.id and laid.points]
            alone = [(None, size, value, None, None) for size, value in curve.points]
            modelled_points = [(laid.line, point.size, point.published, point.modelled, point.error)
                    for laid in over for point in laid.points]  # fmt: skip
            for line, size, published, modelled, error in modelled_points or alone:
                result.append(
                    {
                        "curve": curve.id,
                        "processor": curve.processor,
                        "line": line.label if line else "",
                        "kind": line.kind if line else "",
                        "size_bytes": size,
                        "published": published,
                        "modelled": modelled,
                        "error_percent": error,
                        "unit": self.curves.group(curve).unit,
                    }
                )
        return result


def hold(
    installed: str | Machine,
    out: str | Path,
    *,
    runner: Runner | None = None,
    progress: Callable[[Progress], None] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Held:
    """Run a machine's check rows and the lines over its curves; `write_held` makes the page from the result.

    The folder `out` gets results.csv and run.json, with check rows and errors. Raises UsageError for an unknown
    machine, one without measurements or one that a network refuses, or a folder that cannot be written; CheckFailed for
    wrong data.
    """
    installed_machine = prepared(installed)
    content = curves()
    series = (*check_points(installed_machine), *line_series(content, installed_machine))
    experiment = Experiment(name="check-machine", title=f"machine {installed_machine.label}", series=series)
    result = execute(experiment, Run(out=out, runner=runner, progress=progress, origin=origin or {}, bare=True))
    if result.errors:
        raise CheckFailed(result.errors[0])
    held = Held(
        installed_machine,
        checked_rows(result.rows, installed_machine),
        findings(installed_machine.name),
        content,
        laid_over(result.rows, content, installed_machine),
        result,
    )
    facts = {
        "machine": installed_machine.label,
        "digest": installed_machine.digest,
        "checks_digest": checks_digest(),
        "checks": [entry.facts() for entry in held.checked],
        "curves": held.summary(),
    }
    add_to_run(Path(out), facts)
    return held
