"""Time of one operation, step by step, as a table below a figure: a paper's protocol drawings, from a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gasmeter.reproduction.plan.figure import Extra

__all__ = ["step_table"]


def step_table(title: str, what: str, *, options: Mapping[str, str], **settings: Any) -> Extra:
    """Return a table of the steps of one operation: phase, name, place, begin and time.

    `what` is an operation of kernel ``ping-pong``, or a kernel; other settings as in `gasmeter.trace.trace`.
    """
    from gasmeter.trace import trace  # noqa: PLC0415 - loads pandas

    shown = trace(what, options=dict(options), **settings)[0].shown
    rows: list[tuple[str, ...]] = [
        (step.phase, step.name, step.where, f"{(step.begin_ps - shown.begin_ps) / 1000:.3f}", f"{step.ps / 1000:.3f}",
         f"{100 * step.ps / shown.ps:.1f}")
        for step in shown.steps
    ]  # fmt: skip
    return Extra(title, ("phase", "step", "where", "at ns", "takes ns", "%"), rows)
