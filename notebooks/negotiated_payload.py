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
# # When does a message gain by being written where the network sends from?
#
# A message with *fixed payload* (FP) is made in the client's memory and copied into the network's memory. With
# *negotiated payload* (NP), the network lends its memory first: `prepare` returns it, the client writes there, and
# `commit` sends. NP saves one copy and costs one call.

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

import gasmeter as gm

SIZES = "8,64,512,2K,4000"

# %% [markdown]
# *Modelled*: kernel `am` writes 8-byte words into its payload (`generate=fill`) before it sends them from rank 0 to
# rank 1 and back. It runs over two networks in exact virtual time. Each NP message is compared with an FP message.

# %%
negotiated = partial(gm.measure, "am", op="np-medium", against={"op": "medium"}, options={"generate": "fill"})
modelled = negotiated(conduit=("extoll", "ibv"), sizes=SIZES, placement="one-per-node", iterations=50)
assert modelled.verified

# %% [markdown]
# *Measured*: both forms run over shared memory of this computer, in alternating blocks of one run. Every disturbance
# hits both.

# %%
measured = negotiated(conduit="smp", sizes=SIZES + ",16K,32K", time=0.3)
assert measured.verified

# %% [markdown]
# The ratio is the round trip with FP over the round trip with NP. Above 1, the saved copy is worth more than the added
# call.


# %%
def ratios(result):
    """Round trip of FP over that of NP with its interval, by conduit and size."""
    rows = result.frame()
    rows = rows[rows["metric"] == "overhead"].set_index(["conduit", "size_bytes"])
    return 1 / (1 + rows[["value", "ci_low", "ci_high"]])


virtual, real = ratios(modelled), ratios(measured)
virtual["value"].unstack("conduit").round(3)

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for axis, found, kind in zip(axes, (virtual, real), ("modelled", "measured, 95 % intervals"), strict=True):
    for conduit in found.index.unique("conduit"):
        line = found.loc[conduit]
        (drawn,) = axis.plot(line.index, line["value"], "o-", label=conduit)
        axis.fill_between(line.index, line["ci_high"], line["ci_low"], color=drawn.get_color(), alpha=0.2, lw=0)
    axis.axhline(1, color="0.6", linewidth=1)
    axis.set_xscale("log", base=2)
    sizes = [8, 64, 512, 4096] if found is virtual else [8, 64, 512, 4096, 32768]
    axis.set_xticks(sizes, [f"{size // 1024}K" if size >= 1024 else str(size) for size in sizes])
    axis.set_xlabel("payload (B)")
    axis.set_title(kind, fontsize=10)
    axis.legend(frameon=False)
axes[0].set_ylabel("round trip, fixed / negotiated")
plt.show()

# %% [markdown]
# Python does the same: `buffer` is a NumPy array over the network's memory. A virtual EXTOLL card cuts its packets from
# this memory. The array is gone with the commit.


# %%
def program(ep):
    got = []
    note = ep.register(lambda token: got.append(float(np.frombuffer(token.payload, "f8").sum())))
    yield ep.barrier()
    if ep.rank == 0:
        prepared = yield ep.prepare(1, 8 * 64, 8 * 64)
        np.multiply(np.arange(64.0), 0.5, out=prepared.buffer.view("f8"))
        yield prepared.commit(note, prepared.size)
    else:
        yield ep.wait_until(lambda: got)
    return got


sums = gm.launch(program, conduit="extoll")
assert sums == [[], [np.arange(64.0).sum() / 2]]
sums
