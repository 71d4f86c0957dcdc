"""Whole runs of a benchmark in virtual time: each block is a job with its own seed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

from gasmeter.errors import GasmeterError
from gasmeter.measuring.sessions import Block, ModelSession
from gasmeter.measuring.verification import Verification, joined
from gasmeter.rows.links import Table
from gasmeter.sweeps.point import Point

__all__ = ["WholeRuns"]

_SEEDS_APART = 1 << 32
"""Distance of the seeds of one point's runs, far above that of a sweep's seeds."""


class WholeRuns(ModelSession):
    """A session in which every block is a whole new run of the program.

    The first block has the point's seed, each further block a seed of its own: two runs with the same seed are the same
    run. A part of a run would mostly measure its ramps.
    """

    def __init__(self, point: Point, *, is_over: Callable[[], bool] | None = None) -> None:
        self._point = point
        self._stopped = threading.Event()
        self._runs = 0
        self._verifications: list[Verification] = []
        self._links: Table = {}
        self._counts: Counter[str] = Counter()
        self._unused: set[str] | None = None
        super().__init__(point, is_over=is_over)

    def try_out(self, iterations: int) -> None:
        """Run a part of the program whose result does not count."""
        self._begin(self._point).block(iterations)

    def block(self, iterations: int) -> Block:
        """Run the program once and check its data."""
        seed = self._point.seed + self._runs * _SEEDS_APART
        run = self._begin(self._point.model_copy(update={"seed": seed}))
        block = run.block(iterations)
        self._runs += 1
        self._links = run.links()  # before the check makes its own traffic
        self._counts.update(run.counters())
        self._verifications.append(run.verify())
        unused = set(run.unused())
        self._unused = unused if self._unused is None else self._unused & unused
        return block

    def _begin(self, point: Point) -> ModelSession:
        super().close()
        run = ModelSession(point, is_over=self._stopped.is_set)
        self._job = run._job
        if self._stopped.is_set():
            raise GasmeterError(f"{point.describe()}: stopped")
        return run

    def verify(self, *, blocks_follow: bool = False) -> Verification:
        """Return the joined checks of all blocks."""
        return joined(self._verifications)

    def links(self) -> Table:
        """Return the load of each link during the last block."""
        return self._links

    def counters(self) -> Mapping[str, int]:
        """Return the counts of all blocks."""
        return dict(self._counts)

    def unused(self) -> tuple[str, ...]:
        """Return the machine numbers that no block has depended on."""
        return tuple(sorted(self._unused or ()))

    def stop(self) -> None:
        """End the block that another thread runs, and begin no other."""
        self._stopped.set()
        super().stop()
