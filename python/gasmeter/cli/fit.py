"""`gasmeter fit`: models fitted to measurements."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gasmeter.cli.common import Choice, note, option, out
from gasmeter.errors import UsageError

if TYPE_CHECKING:
    from gasmeter.loggp import LogGP
    from gasmeter.loggp.fitting import Parameter

__all__ = ["fit"]

_FORMATS = ("table", "csv", "json")
_EXAMPLES = """\b
Examples:
  gasmeter run experiments/loggp.py --out out/loggp
  gasmeter fit loggp out/loggp --conduit udp --format json
"""


@click.group()
def fit() -> None:
    """Fit a model to stored results."""


@fit.command(epilog=_EXAMPLES)
@click.argument("results", metavar="RESULTS", type=click.Path(path_type=Path))
@option("--conduit", default="", metavar="C", help="Only this conduit.")
@option("--op", default="", metavar="OP", help="Only this operation.")
@option(
    "--plot", "picture", default=None, metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the fit over the points and what it leaves, as .png or .svg; of one line of points.",
)  # fmt: skip
@option(
    "--format", "form", type=Choice(_FORMATS), default="table",
    show_default=True, help="Form of the output; json: the first protocol segment, of one line of points.",
)  # fmt: skip
def loggp(*, results: Path, conduit: str, op: str, picture: Path | None, form: str) -> None:
    """Fit LogGP to RESULTS: L, o_s, o_r, g in ns and G in ns/B, with 95 % intervals, by protocol segment.

    RESULTS is a folder that `gasmeter run` wrote with rows of kernel loggp, or its results.csv (then intervals come
    from the rows and not from blocks). A parameter that cannot be identified has no value, and a note says why.
    """
    from gasmeter.functions.fitting import fit as fitted

    fits = fitted(results, conduit=conduit, op=op)
    if form == "json" or picture is not None:
        single_model = _only(fits)
        if picture is not None:
            _draw(single_model, picture)
    if form == "table":
        out("\n\n".join(_table(model) for model in fits))
        return
    for model in fits:
        for line in model.notes:
            note(f"{model.curves.title}: {line}")
    if form == "csv":
        out(_csv(fits))
    else:
        out(json.dumps({name: _plain(parameter) for name, parameter in fits[0].parameters.items()}, indent=1))


def _only(fits: list[LogGP]) -> LogGP:
    from gasmeter.functions.fitting import titles

    if len(fits) > 1:
        available = titles([model.curves for model in fits])
        raise UsageError(f"{len(fits)} lines of points; allowed: one, chosen by --conduit and --op, of {available}")
    return fits[0]


def _draw(model: LogGP, picture: Path) -> None:
    from gasmeter.plots.loggp import draw_loggp
    from gasmeter.plots.style import styled
    from gasmeter.stores.files import refused, write_atomically

    if picture.suffix not in {".png", ".svg"}:
        raise UsageError(f"--plot {picture} is not allowed; allowed: a file that ends in .png or .svg", str(picture))
    with styled():
        figure = draw_loggp(model)
    try:
        write_atomically(picture, figure.rendered(picture.suffix.removeprefix(".")))
    except OSError as error:
        raise refused(picture, error, "a file in a folder that you may write (--plot)") from error


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(parameter: Parameter) -> dict[str, float | None]:
    return {"value": _number(parameter.value), "low": _number(parameter.low), "high": _number(parameter.high)}


def _digits(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _table(model: LogGP) -> str:
    from gasmeter.loggp.fitting import PARAMETERS

    lines = [f"LogGP of {model.curves.title} ({model.curves.kind}), payload in bytes"]
    for segment in model.segments:
        lines.append(f"  {segment.first} to {segment.last} B")
        for name, parameter in segment.parameters.items():
            unit = PARAMETERS[name]
            if parameter.identified:
                interval = (
                    f"95 % {_digits(parameter.low)} to {_digits(parameter.high)}"
                    if math.isfinite(parameter.low)
                    else ""
                )
                text = f"{_digits(parameter.value):>9} {unit:<5} {interval}"
            else:
                bound = f", at most {_digits(parameter.high)} {unit}" if math.isfinite(parameter.high) else ""
                text = f"{'-':>9} {unit:<5} not identified{bound}"
            lines.append(f"    {name:<4}{text}".rstrip() + (f"  ({parameter.note})" if parameter.note else ""))
    return "\n".join(lines)


def _csv(fits: list[LogGP]) -> str:
    from gasmeter.loggp.fitting import PARAMETERS

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ("line", "kind", "from_bytes", "to_bytes", "parameter", "value", "unit", "ci_low", "ci_high", "note")
    )
    for model in fits:
        for segment in model.segments:
            for name, parameter in segment.parameters.items():
                numbers = [
                    repr(value) if math.isfinite(value) else ""
                    for value in (parameter.value, parameter.low, parameter.high)
                ]
                writer.writerow(
                    (model.curves.title, model.curves.kind, segment.first, segment.last, name, numbers[0],
                     PARAMETERS[name], numbers[1], numbers[2], parameter.note)
                )  # fmt: skip
    return file.getvalue()
