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
# A shared array has a handle that all ranks know; where a rank's part of it lies, that rank alone knows. So an access
# has to ask, and the owner's processor translates, unless the initiator has kept the address from last time. What is
# that worth: *modelled*, on Myrinet with GM and on IBM's LAPI, for which such a cache was made, and *measured*, on what
# this computer has?

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import gasmeter as gm

PLACES = {"gm": "modelled", "lapi": "modelled", "smp": "measured", "udp": "measured"}
MACHINES = {"gm": "gm-marenostrum", "lapi": "lapi"}


def accesses(op, sizes="8,64,512,4K,32K", **options):
    """Measure accesses of rank 0 to the other rank's part: microseconds by size, conduit and cache."""
    frames = []
    for conduit in PLACES:
        machine = MACHINES.get(conduit, "")
        near = {"near": "remote", "cache": ("off", "on"), **options}
        result = gm.measure("shared-access", op=op, conduit=conduit, sizes=sizes, options=near, machine=machine)
        assert result.verified
        frame = result.frame().query("metric == 'latency' and conduit == @conduit")
        cache = frame["options"].fillna("").str.extract(r"(?:^|;)cache=([^;]*)")[0].fillna("on")
        frames.append(frame.assign(cache=cache.to_numpy()))
    return pd.concat(frames).pivot_table(index="size_bytes", columns=["conduit", "cache"], values="value") / 1000


def gains(table):
    """Return how much of the time without a cache it saves, in percent."""
    return pd.DataFrame(
        {f"{conduit} ({kind})": 100 * (1 - table[conduit]["on"] / table[conduit]["off"])
         for conduit, kind in PLACES.items()}
    )  # fmt: skip


def draw(table, title):
    """Draw gains over the size."""
    _, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    table.plot(ax=axes, logx=True, marker="o", grid=True)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel="Size (bytes)", ylabel="Time saved by the cache (%)", title=title)


# %% [markdown]
# ## Gets
#
# Short ones save what the owner's processor takes; longer ones, as far as they are copied, two copies of each byte;
# where bytes take longer than all of that there is nothing left to save.

# %%
got = accesses("get")
draw(gains(got), "GET of a shared array")
got.round(2)

# %% [markdown]
# ## Puts
#
# A put is done for its caller when the value may change. What the owner does then is behind the next one, and there is
# little to save; LAPI's transfers between registered memory begin later than its messages, so that a short put by a
# known address takes *longer*.

# %%
put = accesses("put")
draw(gains(put), "PUT of a shared array")
put.round(2)


# %% [markdown]
# ## Hits
#
# Chains of gets to random places touch every node: a cache needs an entry for each. A rank that reads its neighbours
# needs two, however many there are. Here by a program of this notebook, in exact virtual time.


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
# How far to believe it: `gm` and `lapi` are machines of estimates (`gasmeter list machines lapi` has their ranges), and
# no result of a paper is among their inputs. What this computer says of `smp` and `udp` is this computer's.
