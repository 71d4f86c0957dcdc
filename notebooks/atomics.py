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
# A counter in somebody's memory, and ranks that each draw numbers from it. Three questions: how long one draw takes
# (*latency*), how many a rank draws a second if it does not wait for each (*rate*), and what is left of that when all
# ranks draw from one word (*hot spot*). Where ranks share no memory the target's processor does the addition when it
# polls.

# %%
import matplotlib.pyplot as plt

import gasmeter as gm

# %% [markdown]
# *Modelled*, between two nodes: latency and rate on two networks, in exact virtual time.

# %%
pair = gm.measure("fetch-add", conduit=("extoll", "ibv"), op=("latency", "rate"), sizes=8, iterations=200,
                  placement="one-per-node")  # fmt: skip
assert pair.verified
rows = pair.frame()
rows[["conduit", "kind", "op", "metric", "value", "unit"]]

# %% [markdown]
# The same in Python: every rank of a job draws numbers from rank 0's word. The program is a generator, so that it runs
# on `conduit="smp"` as it does on thousands of virtual ranks.


# %%
def draw(ep, draws):
    yield ep.barrier()
    start = ep.now_ns()
    drawn = []
    for _ in range(draws):
        drawn.append((yield ep.fetch_add(0, 0, 1)))
    taken = ep.now_ns() - start
    yield ep.barrier()
    return drawn, taken


def draws_per_second(ranks, draws=20, conduit="extoll"):
    results = gm.launch(draw, conduit=conduit, ranks=ranks, segment=64, placement="one-per-node", args=[draws])
    numbers = sorted(number for drawn, _ in results for number in drawn)
    assert numbers == list(range(ranks * draws))  # every number once
    return ranks * draws / (max(taken for _, taken in results) * 1e-9)


crowd = [2, 4, 8, 16, 32, 64]
rates = {conduit: [draws_per_second(ranks, conduit=conduit) for ranks in crowd] for conduit in ("extoll", "ibv")}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
latency = rows[rows["metric"] == "latency"]
left.bar(latency["conduit"], latency["value"] / 1e3, 0.5)
left.set_ylabel("latency of one fetch-and-add (us)")
left.set_title("two nodes (modelled)", fontsize=10)
for conduit, values in rates.items():
    right.plot(crowd, [value / 1e6 for value in values], "o-", label=conduit)
right.set_xscale("log", base=2)
right.set_xticks(crowd, [str(ranks) for ranks in crowd])
right.set_xlabel("ranks that draw from one word")
right.set_ylabel("numbers drawn (million per s)")
right.set_title("hot spot, each rank waits for its number (modelled)", fontsize=10)
right.set_ylim(bottom=0)
right.legend(frameon=False)
plt.show()

# %% [markdown]
# A few ranks do not fill the time of the one that owns the word; many do, and then its processor is the limit however
# many come.

# %%
assert all(values[-1] > values[0] for values in rates.values())
