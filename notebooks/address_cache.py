# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Where does a cache of remote addresses pay today?
#
# All ranks know the handle of a shared array, but only the owner of a part knows its address. An access has to ask the
# owner, whose processor translates, unless the initiator has kept the address. How much does such a cache save? The
# answers are *modelled* on Myrinet with GM and on IBM's LAPI, for which the cache was made. They are *measured* on the
# conduits of this computer.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import gasmeter as gm
from gasmeter.units import format_bytes

PLACES = {"gm": "modelled", "lapi": "modelled", "smp": "measured", "udp": "measured"}
MACHINES = {"gm": "gm-marenostrum", "lapi": "lapi"}


def accesses(op, sizes="8,64,512,4K,32K", **options):
    """Measure accesses of rank 0 to the other rank's part, with and without the cache in blocks that alternate."""
    frames = []
    for conduit, kind in PLACES.items():
        result = gm.measure(
            "shared-access", op=op, conduit=conduit, sizes=sizes, machine=MACHINES.get(conduit, ""),
            options={"near": "remote", "cache": ("off", "on"), **options}, against={"cache": "off"},
        )  # fmt: skip
        assert result.verified
        frames.append(result.frame().assign(place=f"{conduit} ({kind})"))
    return pd.concat(frames)


def times(frame):
    """Return microseconds by size, place and cache, in three digits."""
    rows = frame.query("metric == 'latency'")
    cache = rows["options"].str.contains("cache=off").map({True: "off", False: "on"})
    table = rows.assign(cache=cache).pivot_table(index="size_bytes", columns=["place", "cache"], values="value") / 1000
    table.columns = table.columns.set_names(["latency in µs", "cache"])
    return table.map(lambda value: float(f"{value:.3g}"))


def draw(frame, title):
    """Draw what the cache saves over the size: measured lines solid with 95 % intervals, modelled ones dashed.

    At -100 % an access takes twice as long. Where intervals reach further down, other programs disturb this computer.
    """
    figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for place, rows in frame.query("metric == 'overhead'").groupby("place", sort=False):
        sizes = rows["size_bytes"]
        axes.plot(sizes, -100 * rows["value"], "o--" if "modelled" in place else "o-", label=place)
        axes.fill_between(sizes, -100 * rows["ci_high"], -100 * rows["ci_low"], alpha=0.15)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [format_bytes(size) for size in sizes])
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.grid(visible=True, alpha=0.4)
    axes.set(xlabel="Size", ylabel="Time saved by the cache (%)", title=title, ylim=(-100, 105))
    figure.legend(loc="outside right upper", frameon=False)


# %% [markdown]
# ## Gets
#
# On GM, a short get saves the time of the owner's processor. A longer get that is copied saves two copies of each byte.
# When the bytes take longer than all of that, little is left to save. On LAPI, transfers between registered memory
# begin later than messages (`adapter.rdma_latency`). A short get by a known address takes *longer* there, and only a
# get that needs no copy any more gains. Over shared memory, a known address is all that a get needs: the copy is left.

# %%
got = accesses("get")
draw(got, "GET of a shared array")
times(got)

# %% [markdown]
# ## Puts
#
# A put is done for its caller when the value may change. LAPI's late start comes after that moment, and the owner's
# work comes behind the next access. A known address saves the message with its copies: half of the time that a short
# put takes its caller on GM and on LAPI.

# %%
put = accesses("put")
draw(put, "PUT of a shared array")
times(put)


# %% [markdown]
# ## Hits
#
# Chains of gets to random places touch every node, so the cache needs an entry for each node. A rank that reads its
# neighbours needs two entries, whatever the number of nodes. A program of this notebook shows both in exact virtual
# time.


# %%
def reads(ep, capacity, far):
    """Get 200 elements, at random places or next to this rank's own, and tell how often the address was there."""
    space = yield gm.shared_space(ep, capacity=capacity)
    a = yield space.all_alloc(64 * ep.size, "int64")
    yield space.barrier()
    draws = np.random.default_rng(ep.rank)
    for _ in range(200):
        i = draws.integers(len(a)) if far else (64 * (ep.rank + draws.choice([-1, 1]))) % len(a)
        yield a[i]
    yield space.barrier()
    stats = space.stats()
    return stats["hits"] / max(1, stats["lookups"])


def hit_ratio(ranks, capacity, far):
    """Return the mean of all ranks."""
    return np.mean(gm.launch(reads, conduit="ideal", ranks=ranks, args=(capacity, far), segment="64K"))


ratios = pd.DataFrame(
    {(name, capacity): {ranks: hit_ratio(ranks, capacity, far) for ranks in (4, 16, 64)}
     for name, far in (("random", True), ("neighbours", False)) for capacity in (4, 30, 100)}
)  # fmt: skip
ratios.index.name = "ranks"
ratios.round(2)

# %% [markdown]
# Each rank's first access to each node misses even if the cache has room for all nodes. On 64 ranks, these are 63 of
# 200 gets at random places.
#
# How far to believe it: `gm` and `lapi` are machines of estimates (`gasmeter list machines lapi` has their ranges). No
# result of a paper is among their inputs. The figures of `smp` and `udp` belong to this computer.
