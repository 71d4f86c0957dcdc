"""Measure Python programs on virtual ranks: operations a second, memory of a rank, a ring of 4096.

Run it with ``python experiments/python_ranks.py``. It prints figures of this computer (measured), not of the modelled
network. Memory is the growth of the process until all ranks wait in a barrier, less the memory that Python's own
allocator gives out in a second job of the same kind (generators, frames, endpoints' objects).
"""

import gc
import time
import tracemalloc

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


def operations_per_second(conduit, ranks=2, runs=5):
    """Yielded puts a second, all ranks together: of the quickest run, by the clock and by the processor's time."""
    gm.launch(puts, conduit=conduit, ranks=ranks, segment=64, args=[1])  # loads everything
    clocks, processor = [], []
    for _ in range(runs):
        start = time.perf_counter(), time.process_time()
        gm.launch(puts, conduit=conduit, ranks=ranks, segment=64, args=[OPERATIONS // ranks])
        clocks.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return OPERATIONS / min(clocks), OPERATIONS / min(processor)


def bytes_per_rank(conduit, ranks):
    """Bytes that a rank adds while all of them wait in a barrier: of the process, and of Python objects among them."""
    taken = {}

    def program(ep):
        yield ep.barrier()
        if ep.rank == 0:
            taken["bytes"] = now()
        yield ep.barrier()

    def grown(count):
        gc.collect()
        before = now()
        gm.launch(program, conduit=conduit, ranks=count, segment=64, options={"nodes": count})
        return taken["bytes"] - before

    now = lambda: psutil.Process().memory_info().rss  # noqa: E731 - the second meaning follows
    grown(16)
    resident = grown(ranks) / ranks
    tracemalloc.start()
    now = lambda: tracemalloc.get_traced_memory()[0]  # noqa: E731
    python = grown(ranks) / ranks
    tracemalloc.stop()
    return resident, python


def main():
    """Print the figures beside what is asked for."""
    for conduit in ("ideal", "extoll"):
        rate, processor = operations_per_second(conduit)
        print(
            f"{conduit:8} {rate / 1e6:6.2f} M operations/s (target {TARGETS['operations per second'] / 1e6:.1f});"
            f" {processor / 1e6:.2f} M per second of processor time"
        )
    resident, python = bytes_per_rank("ideal", RANKS)
    print(
        f"ideal    {resident - python:6.0f} B per rank beyond its Python objects (target {TARGETS['bytes per rank']}):"
        f" {resident:.0f} B resident, {python:.0f} B of them Python's"
    )
    start = time.perf_counter()
    hops = gm.launch(ring, conduit="ideal", ranks=RANKS, segment=64, options={"nodes": RANKS})
    seconds = time.perf_counter() - start
    assert hops == [RANKS - 1, *range(RANKS - 1)], "the token passed every rank"
    print(f"ideal    {seconds:6.2f} s for a ring of {RANKS} ranks (target {TARGETS['seconds for a ring']:.0f})")


if __name__ == "__main__":
    main()
