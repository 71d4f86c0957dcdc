"""Measure a put from Python: 8 bytes to another rank, compared with a method that does nothing.

Run it with ``python experiments/python_put.py``. It prints ratios with 95 % intervals. Both calls are timed in the same
tight loop, in small alternating blocks of one run, on rank 0 of two pinned ranks. The unit of the statistics is the
pair of neighbouring blocks.
"""

from itertools import repeat
from time import perf_counter_ns

import numpy as np

import gasmeter as gm

BLOCKS = 300
CALLS = 2000
TARGET = 1.6


def timed_0(method):
    """Nanoseconds per call without arguments."""
    start = perf_counter_ns()
    for _ in repeat(None, CALLS):
        method()
    return (perf_counter_ns() - start) / CALLS


def timed_3(method, rank, offset, data):
    """Nanoseconds per call with the arguments of a put."""
    start = perf_counter_ns()
    for _ in repeat(None, CALLS):
        method(rank, offset, data)
    return (perf_counter_ns() - start) / CALLS


def program(ep):
    """Rank 0 measures; the others serve it until it is done."""
    if ep.rank != 0:
        return None
    data = b"8 bytes."
    series = {
        "nothing()": lambda: timed_0(ep.nothing),
        "nothing(rank, offset, data)": lambda: timed_3(ep.nothing, 1, 0, data),
        "put(rank, offset, 8 bytes)": lambda: timed_3(ep.put, 1, 0, data),
        "put_value(rank, offset, integer)": lambda: timed_3(ep.put_value, 1, 0, 12345),
    }
    samples: dict[str, list[float]] = {name: [] for name in series}
    for _ in range(BLOCKS):
        for name, block in series.items():
            samples[name].append(block())
    assert ep.get(1, 0, 8) == (12345).to_bytes(8, "little"), "the last put has arrived"
    return samples


def interval(values, resamples=2000):
    """Median and its 95 % bootstrap interval."""
    rng = np.random.default_rng(1)
    medians = np.median(rng.choice(values, (resamples, len(values))), axis=1)
    return np.median(values), *np.quantile(medians, [0.025, 0.975])


def main():
    """Print one line per call: time, ratio to the empty call with and without arguments."""
    samples = {name: np.array(values) for name, values in gm.launch(program, ranks=2)[0].items()}
    bare, same = samples["nothing()"], samples["nothing(rank, offset, data)"]
    print(f"median of {BLOCKS} interleaved blocks of {CALLS} calls, loop included; measured")
    for name, values in samples.items():
        ratio, low, high = interval(values / same)
        print(
            f"{name:34} {np.median(values):6.1f} ns   {ratio:.2f} [{low:.2f}, {high:.2f}] x an empty method with the"
            f" same arguments, {np.median(values / bare):.2f} x one without"
        )
    print(f"target: put at most {TARGET} x")


if __name__ == "__main__":
    main()
