"""Default measurements of `gasmeter compare` for two builds: the paths most programs live on."""

from __future__ import annotations

from typing import Any

from gasmeter.measuring.experiment import Experiment
from gasmeter.sweeps.series import Series

__all__ = ["default_suite"]


def default_suite() -> Experiment:
    """Return the default experiment: 21 points on smp.

    They are round trips, latencies and streams of each kind of operation at few sizes, and the barrier.
    """
    small, large = (8, 512), (8, 4096, 65536)
    return Experiment(
        name="guard",
        title="the paths most programs live on",
        series=(
            _brief(kernel="ping-pong", conduit="smp", op="am-short"),
            _brief(kernel="ping-pong", conduit="smp", op="am-medium,am-long", size=small),
            _brief(kernel="ping-pong", conduit="smp", op="put,get", size=large),
            _brief(kernel="flood", conduit="smp", op="am-short"),
            _brief(kernel="flood", conduit="smp", op="am-medium,am-long", size=small),
            _brief(kernel="flood", conduit="smp", op="put,get", size=large[:2]),
            _brief(kernel="barrier", conduit="smp"),
        ),
    )


def _brief(**fields: Any) -> Series:
    return Series(time_s=0.08, max_time_s=2.0, **fields)
