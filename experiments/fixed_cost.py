"""Measure the fixed cost of a point in a sweep, and the memory of idle ranks.

Run it with ``python experiments/fixed_cost.py``. The fixed cost is the time of a point on running workers less the time
of its timed blocks: opening, checking the data twice, calibrating, closing and the rows. Memory is the private memory
of a started rank that waits, as the operating system counts it.
"""

from pathlib import Path
from statistics import median
from time import perf_counter

import gasmeter as gm
from gasmeter.measuring.workers import WorkerPool

POINTS = 60
IDLE_RANKS = 64
TARGET_POINT_MS = 20.0
TARGET_RANK_KIB = 1024.0


def fixed_cost_ms():
    """Milliseconds per point beside its timed blocks, of every point of a sweep."""
    costs = []
    with gm.Runner() as runner:
        for index in range(POINTS + 1):
            start = perf_counter()
            result = gm.measure("ping-pong", conduit="smp", op="put", sizes=64, iterations=1000, time=0.002,
                                seed=index + 1, runner=runner)  # fmt: skip
            elapsed_s = perf_counter() - start
            samples = result.samples()
            blocks_s = float((samples["value"] * samples["iterations"]).sum()) * 1e-9
            costs.append((elapsed_s - blocks_s) * 1e3)
    return costs[1:]  # the first one starts the workers


def private_kib(pid):
    """Resident memory of a process that no other shares, in KiB."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return sum(float(fields[key].split()[0]) for key in ("Private_Dirty", "Private_Clean"))


def main():
    """Measure and print."""
    costs = sorted(fixed_cost_ms())
    print(f"fixed cost of a point: median {median(costs):.1f} ms, 90 % below {costs[int(0.9 * len(costs))]:.1f} ms "
          f"({median(costs) / TARGET_POINT_MS:.2f} of the {TARGET_POINT_MS:.0f} ms asked)")  # fmt: skip
    with WorkerPool(IDLE_RANKS) as pool:
        memory = [private_kib(pid) for pid in pool.pids]
    print(f"{IDLE_RANKS} idle ranks: median {median(memory):.0f} KiB, most {max(memory):.0f} KiB private "
          f"({max(memory) / TARGET_RANK_KIB:.2f} of the {TARGET_RANK_KIB:.0f} KiB asked)")  # fmt: skip


if __name__ == "__main__":
    main()
