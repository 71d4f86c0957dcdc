"""What Python programs on virtual ranks cost: operations a second, memory of a rank, a ring of 4096.

Run it with ``python experiments/python_ranks.py``; it prints figures of this computer (measured), not of the modelled
network. Memory is what the process grows by with as many more ranks, less what the same generators and their endpoints'
Python objects take without a job.
"""

import gc
import sys
import time

import psutil

import gasmeter as gm

OPERATIONS = 200_000
RANKS = 4096
TARGETS = {"operations per second": 0.4e6, "bytes per rank": 6 * 1024, "seconds for a ring": 10.0}


def puts(ep, count):
    """Every rank puts into its neighbour's segment."""
    right = (ep.rank + 1) % ep.size
    for i in range(count):
        yield ep.put_value(right, 0, i)


def ring(ep):
    """A token goes round once."""
    got = []
    note = ep.register(lambda token: got.append(token.args[0]))
    yield ep.barrier()
    if ep.rank > 0:
        yield ep.wait_until(lambda: got)
    hops = got[0] + 1 if got else 0
    yield ep.request((ep.rank + 1) % ep.size, note, b"", hops)
    if ep.rank == 0:
        yield ep.wait_until(lambda: got)
    yield ep.barrier()
    return got[0]


def operations_per_second(conduit, ranks=2):
    """Yielded puts a second, all ranks together."""
    start = time.perf_counter()
    gm.launch(puts, conduit=conduit, ranks=ranks, segment=64, args=[OPERATIONS // ranks])
    return OPERATIONS / (time.perf_counter() - start)


def bytes_per_rank(conduit, ranks):
    """Resident bytes that a job's ranks add while all of them wait in a barrier."""
    sizes = {}

    def program(ep):
        yield ep.barrier()
        if ep.rank == 0:
            sizes["full"] = psutil.Process().memory_info().rss
        yield ep.barrier()

    def plain():
        yield

    gm.launch(program, conduit=conduit, ranks=16, segment=64)
    gc.collect()
    before = psutil.Process().memory_info().rss
    gm.launch(program, conduit=conduit, ranks=ranks, segment=64, options={"nodes": ranks})
    python = sys.getsizeof(plain()) + 1024  # generator, its frame, closure, endpoint objects
    return (sizes["full"] - before) / ranks - python, python


def main():
    """Print the figures beside what is asked for."""
    for conduit in ("ideal", "extoll"):
        rate = operations_per_second(conduit)
        print(f"{conduit:8} {rate / 1e6:6.2f} M operations/s (target {TARGETS['operations per second'] / 1e6:.1f})")
    size, python = bytes_per_rank("ideal", RANKS)
    print(f"ideal    {size:6.0f} B per rank beyond some {python} B of Python (target {TARGETS['bytes per rank']})")
    start = time.perf_counter()
    hops = gm.launch(ring, conduit="ideal", ranks=RANKS, segment=64, options={"nodes": RANKS})
    seconds = time.perf_counter() - start
    assert hops == [RANKS - 1, *range(RANKS - 1)], "the token passed every rank"
    print(f"ideal    {seconds:6.2f} s for a ring of {RANKS} ranks (target {TARGETS['seconds for a ring']:.0f})")


if __name__ == "__main__":
    main()
