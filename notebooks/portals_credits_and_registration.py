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
# # How many credits, and what to register, on a Cray XT?
#
# Two settings of the Portals conduit matter. Memory outside the segment can be copied into a bounce buffer, covered by
# a memory descriptor (MD) of its own, or kept covered by Firehose. Each peer also holds credits, and a credit reserves
# 256 B of request buffer and an event at the target. At which size does the copy stop paying, how much is a region
# worth, and how much memory buys how much bandwidth? Every figure below is *modelled*.

# %%
import matplotlib.pyplot as plt
import numpy as np

import gasmeter as gm

portals, catamount = gm.machine("portals"), gm.machine("portals-catamount")
prices = ("host.md_create", "host.md_page", "host.copy_bandwidth")
{machine.column: {key: machine[key].text for key in prices} for machine in (portals, catamount)}


# %%
def told(frame, option, default):
    """Return what an option was in each row; rows of its default do not name it."""
    return frame["options"].fillna("").str.extract(rf"(?:^|;){option}=([^;]*)")[0].fillna(default)


# %% [markdown]
# ## Registration
#
# Blocking puts go from one buffer outside the segment in three ways. The first uses a bounce buffer as far as it
# reaches. The second creates and destroys an MD for every put. The third is Firehose, which finds the region of the put
# before. Under CNL an MD costs by the page. Under Catamount all memory is pinned.

# %%
ways = {
    "bounce buffer": {"registration": "tmpmd", "bounce_limit": "2048"},
    "MD of its own": {"registration": "tmpmd", "bounce_limit": "0"},
    "Firehose": {"registration": "firehose", "bounce_limit": "0"},
}
sizes = "64,128,256,512,1K,2K"
puts = {
    way: gm.Experiment(
        name=f"portals_{number}",
        title=f"Blocking puts from outside the segment: {way}",
        series=(
            gm.Series(kernel="ping-pong", op="put", conduit="portals", machine=(portals, catamount), sizes=sizes,
                      iterations=20, blocks=1, options={"local": "outside", **options}),
        ),
    ).run()
    for number, (way, options) in enumerate(ways.items())
}  # fmt: skip
assert all(result.verified for result in puts.values())
latencies = {
    way: result.frame().query("metric == 'latency'").pivot_table(index="size_bytes", columns="machine", values="value")
    / 1000
    for way, result in puts.items()
}
latencies["Firehose"]

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for axes, machine in zip(panels, (portals, catamount), strict=True):
    for (way, lines), marker in zip(latencies.items(), "so^", strict=True):
        axes.plot(lines.index, lines[machine.column], f"{marker}-", label=way)
    axes.set(xscale="log", xlabel="Payload (bytes)", title=machine.column)
    axes.grid(alpha=0.3)
panels[0].set_ylabel("Blocking put (µs), modelled")
panels[0].legend()


# %% [markdown]
# The table shows the size from which an MD of its own, or Firehose, is faster than the copy.


# %%
def first_faster(way, machine):
    """Return the first size at which a way is faster than a bounce buffer."""
    gap = latencies["bounce buffer"][machine.column] - latencies[way][machine.column]
    ahead = gap.index[gap.to_numpy() > 0]
    return f"{ahead[0]} B" if len(ahead) else "never, up to 2 KiB"


{(way, machine.column): first_faster(way, machine) for way in list(ways)[1:] for machine in (portals, catamount)}

# %% [markdown]
# An MD is worth more if it is used a second time. The plot shows the gain of Firehose, with the price of a page at both
# ends of its range.

# %%
page = portals["host.md_page"]
ends = tuple(portals.with_(host_md_page=end) for end in (page.low, page.high))
large = gm.Experiment(
    name="portals_regions",
    title="Firehose and an MD for each put",
    series=(
        gm.Series(kernel="flood", op="put", conduit="portals", machine=(*ends, portals), sizes="4K:1M", iterations=16,
                  blocks=1, options={"local": "outside", "window": "1", "registration": ("tmpmd", "firehose")}),
    ),
).run(jobs=2)  # fmt: skip
assert large.verified
frame = large.frame().query("metric == 'bandwidth'")
frame = frame.assign(way=told(frame, "registration", "firehose"))
rates = frame.pivot_table(index="size_bytes", columns=["machine", "way"], values="value")
gains = {machine["host.md_page"].text: 100 * (rates[machine.column]["firehose"] / rates[machine.column]["tmpmd"] - 1)
         for machine in (*ends, portals)}  # fmt: skip

# %%
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for text, gain in gains.items():
    axes.plot(gain.index, gain, "o-", label=f"{text} a page")
axes.axhline(0, color="0.4", linewidth=0.8)
axes.set(xscale="log", xlabel="Payload (bytes)", ylabel="Gain of Firehose (%), modelled")
axes.legend()
axes.grid(alpha=0.3)

# %%
{text: f"{gain.max():.1f} % at {gain.idxmax()} B, {gain.iloc[-1]:.1f} % at {gain.index[-1]} B"
 for text, gain in gains.items()}  # fmt: skip

# %% [markdown]
# ## Credits
#
# One pair among 65 ranks sends Mediums of 1 KiB as fast as it can. Static credits belong to each peer for good. Dynamic
# credits begin with as many, and a peer that lacks credits borrows more.

# %%
grants = ("8", "16", "24", "32", "64")
credits = gm.Experiment(
    name="portals_credits",
    title="One busy pair among 65 ranks",
    series=(
        gm.Series(kernel="flood", op="am-medium", conduit="portals", machine=portals, topology="torus3d:16x8x8",
                  placement="one-per-node", ranks=65, sizes="1K", iterations=512, blocks=1,
                  options={"local": "segment", "credits": ("static", "dynamic"), "credits_per_peer": grants}),
    ),
).run(jobs=2)  # fmt: skip
assert credits.verified
frame = credits.frame().query("metric == 'bandwidth'")
frame = frame.assign(
    scheme=told(frame, "credits", "dynamic"), grant=told(frame, "credits_per_peer", "8"), MBs=frame["value"] / 1e6
)
frame[["scheme", "grant", "MBs"]].sort_values(["scheme", "MBs"]).round(1)

# %% [markdown]
# The next plot shows the memory that a rank holds, whoever its peers talk to.

# %%
held = gm.measure(
    "simulator", op="am", conduit="portals", machine="portals", topology="torus3d:16x8x8", placement="one-per-node",
    ranks=(16, 64, 256), iterations=1,
    options={"credits": ("static", "dynamic"), "credits_per_peer": ("8", "24", "64")},
)  # fmt: skip
memory = held.frame().query("metric == 'reserved_bytes'")
memory = memory.assign(scheme=told(memory, "credits", "dynamic"), grant=told(memory, "credits_per_peer", "8"))
table = memory.pivot_table(index="ranks", columns=["scheme", "grant"], values="value") / 1024
table.round(0)

# %%
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for scheme, marker in (("dynamic", "o--"), ("static", "s-")):
    for grant, column in table[scheme].items():
        axes.plot(column.index, column, marker, label=f"{scheme}, {grant} for each peer")
axes.set(xscale="log", yscale="log", xlabel="Ranks", ylabel="Memory held by a rank (KiB), log")
axes.legend()
axes.grid(alpha=0.3)

# %% [markdown]
# The table shows the bytes that one more peer costs, in multiples of 384 B: the buffer and the event of one credit.

# %%
of_ranks = table.T
each = (of_ranks[256] - of_ranks[64]) * 1024 / (256 - 64) / 384
each.round(1)

# %%
static = each["static"].rename(int).sort_index()
assert np.all(np.diff(static) > 0)  # more credits for each peer are more memory for each peer

# %% [markdown]
# How far to believe it: the price of an MD under CNL is an estimate whose range spans a factor of three, and so is the
# worth of a region. The plot above has both ends. The bytes of a credit are those of the released conduit.

# %%
[(number.key, number.low, number.high) for number in portals.estimates() if number.key.startswith("host.md")]
