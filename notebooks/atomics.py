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
# # What does a remote fetch-and-add cost, alone and when everybody wants the same word?
#
# Ranks draw numbers from a counter in the memory of one rank. How long does one draw take (*latency*)? How many draws
# does a rank make a second if it does not wait for each (*rate*)? How many are left if all ranks draw from one word
# (*hot spot*)? Without shared memory there are two ways: the target's processor adds when it polls, or the network adds
# by itself. InfiniBand's modelled cards can add. A domain tells who does its operations (`path`) and decides for its
# whole set: with a `set` or an exclusive-or in it, the processor does all of them.

# %%
import matplotlib.pyplot as plt

import gasmeter as gm

WAYS = {
    "extoll, processor": ("extoll", {}),
    "ibv, processor": ("ibv", {"atomics": "reference"}),
    "ibv, card": ("ibv", {}),
}

# %% [markdown]
# Latency and rate between two nodes of two networks, *modelled* in exact virtual time.

# %%
pairs = {
    way: gm.measure(
        "fetch-add",
        op=("latency", "rate"),
        conduit=conduit,
        options=options,
        sizes=8,
        iterations=200,
        placement="one-per-node",
    )
    for way, (conduit, options) in WAYS.items()
}
assert all(pair.verified for pair in pairs.values())
measured = {way: pair.frame().set_index("metric")["value"] for way, pair in pairs.items()}
{way: f"{found['latency'] / 1e3:.2f} us, {found['rate'] / 1e6:.2f} M/s" for way, found in measured.items()}

# %% [markdown]
# The same in Python: every rank of a job draws numbers from rank 0's word. The program is a generator, so it runs on
# `conduit="smp"` as well as on thousands of virtual ranks.


# %%
def draw(ep, draws):
    domain = ep.atomic_domain("uint64", ["fetch_add"])
    yield ep.barrier()
    start = ep.now_ns()
    drawn = []
    for _ in range(draws):
        drawn.append((yield domain.fetch_add(0, 0, 1)))
    taken = ep.now_ns() - start
    yield ep.barrier()
    return drawn, taken, domain.path


def draws_per_second(ranks, way, draws=20):
    conduit, options = WAYS[way]
    results = gm.launch(
        draw, conduit=conduit, ranks=ranks, segment=64, placement="one-per-node", args=[draws], options=options
    )
    numbers = sorted(number for drawn, _, _ in results for number in drawn)
    assert numbers == list(range(ranks * draws))  # every number once
    assert {path for _, _, path in results} == {"network" if way == "ibv, card" else "messages"}
    return ranks * draws / (max(taken for _, taken, _ in results) * 1e-9)


crowd = [2, 4, 8, 16, 32, 64]
rates = {way: [draws_per_second(ranks, way) for ranks in crowd] for way in WAYS}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for way, found in measured.items():
    left.bar(way.replace(", ", ",\n"), found["latency"] / 1e3, 0.5)
left.set_ylabel("latency of one fetch-and-add (us)")
left.set_title("two nodes (modelled)", fontsize=10)
for way, values in rates.items():
    right.plot(crowd, [value / 1e6 for value in values], "o-", label=way)
right.set_xscale("log", base=2)
right.set_xticks(crowd, [str(ranks) for ranks in crowd])
right.set_xlabel("ranks that draw from one word")
right.set_ylabel("numbers drawn (million per s)")
right.set_title("hot spot, each rank waits for its number (modelled)", fontsize=10)
right.set_ylim(bottom=0)
right.legend(frameon=False)
plt.show()

# %% [markdown]
# A few ranks leave the owner of the word idle at times. With many ranks, the owner's processor is the limit, or the one
# unit of its card that reads and writes host memory. (The time of that unit is an estimate: one read of host memory.)
# The card asks nobody. A processor that computes instead of polling delays the other two lines, but not this line.

# %%
assert all(values[-1] > values[0] for values in rates.values())
