"""The text of a first experiment: small, commented, and ready to run."""

from __future__ import annotations

import contextlib
from typing import Any

from gasmeter.arguments.sizes import parse_size
from gasmeter.catalogue import Conduit, Kernel, catalogue
from gasmeter.errors import UsageError
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.series import Series
from gasmeter.units import format_bytes

__all__ = ["beginning"]

_SIZES = (8, 512, 4096)
_TIME_S = 0.2
_K = 1024
_OPS_SHOWN = 60
"""Letters of names beside the chosen one."""


def beginning(name: str, *, kernel: str = "ping-pong", conduit: str = "smp", op: str = "") -> tuple[str, Experiment]:
    """Return an experiment of one series as the text of a file, and as the object that the text describes.

    Without a conduit a kernel with a raw program runs on the network itself. `op` defaults to the kernel's first
    operation with sizes. Raises UsageError for unknown names or a combination that cannot run.
    """
    program = catalogue().kernel(kernel)
    over = catalogue().conduit(conduit, program)
    ops = op or next((each.name for each in program.ops if each.sized), program.ops[0].name)
    given: dict[str, Any] = {"kernel": program.name, "op": ops, "time_s": _TIME_S}
    title = f"{program.name} over {over.name}"
    alone = Series(**given, conduit=(over.name,))
    if sizes := _sizes(Experiment(name=name, series=(alone,))):
        given["size"] = sizes
        alone = Series(**given, conduit=(over.name,))
    experiment = Experiment(name=name, title=title, question=_question(""), series=(alone,))
    raw = f"raw@{over.network}"
    if not over.raw and over.network in catalogue().raw_networks(program):
        both = Series(**given, conduit=(raw, over.name), against=raw)
        beside = Experiment(name=name, title=title, question=_question(raw), series=(both,))
        with contextlib.suppress(UsageError):  # none of these operations
            beside.groups()
            experiment = beside
    return _text(experiment, program, over), experiment


def _question(raw: str) -> str:
    return f"What does it cost, and how much of that over {raw}?" if raw else "What does it cost?"


def _sizes(experiment: Experiment) -> str:
    """Return a few of the default sizes; empty if there are none."""
    sizes = sorted({point.size_bytes for point in experiment.points()} - {0})
    return ",".join(_as_written(size) for size in ([size for size in sizes if size in _SIZES] or sizes))


def _as_written(size: int) -> str:
    text = format_bytes(size).removesuffix("iB").replace(" ", "")
    return text if size >= _K and parse_size(text) == size else str(size)


def _text(experiment: Experiment, kernel: Kernel, conduit: Conduit) -> str:
    (series,) = experiment.series
    name = experiment.name
    ops = ", ".join(op.name for op in kernel.ops)
    lines = [
        f'kernel="{series.kernel}",  # what is measured; `gasmeter list kernels` has all, with their options',
        f"op={_word(series.op)},  # of {ops if len(ops) <= _OPS_SHOWN else f'{len(kernel.ops)} that it has'}",
        f"conduit={_word(series.conduit)},  # over what; `gasmeter list conduits` has all",
    ]
    if series.reference is not None:
        lines.append(f'against="{series.reference}",  # measured in blocks that alternate with those of the others')
    if series.size is not None:
        lines.append(
            f'sizes="{",".join(map(_as_written, series.size))}",  # bytes; "8:64K" are the powers of two between'
        )
    lines.append("ranks=2,")
    lines.append(f'time_s={series.time_s},  # for each point; ci="2%" measures until the interval is as narrow')
    if conduit.virtual:
        lines.append('# topology="ring:8", machine="…": another installation; `gasmeter list machines` has all')
    inside = "\n".join(f"            {line}" for line in lines)
    return f'''"""{experiment.title}: one sentence on what this measures, which lists of experiments show.

`gasmeter run {name}.py --dry-run` lists the points, `--quick` takes a quick look; without either, rows, plots and a
page go to out/{name}.
"""

import gasmeter as gm

experiment = gm.Experiment(
    name="{name}",  # in every row, and of the folder
    title="{experiment.title}",
    question="{experiment.question}",  # above the summary
    series=(
        gm.Series(
{inside}
        ),  # and more of them, with commas between
    ),
)
'''


def _word(names: tuple[str, ...]) -> str:
    """Return names in Python's spelling; a single one as text."""
    return f'"{names[0]}"' if len(names) == 1 else "(" + ", ".join(f'"{name}"' for name in names) + ")"
