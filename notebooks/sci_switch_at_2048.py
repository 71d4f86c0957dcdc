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
# # Should SCI's conduit have switched to DMA at 2048 bytes?
#
# The conduit stores Longs below 2048 B into the target's command segment itself. It copies larger ones into a staging
# segment, and the card's DMA engine moves them. Stores pay for every 64 B, and the engine pays about 30 us once. At
# which size do the two cross, on this machine and on machines whose engine starts faster? Every figure below is
# *modelled*.

# %%
import matplotlib.pyplot as plt
import numpy as np

import gasmeter as gm

sci = gm.machine("sci")
{key: (sci[key].text, sci[key].confidence) for key in ("host.pio_start", "dma.start", "dma.bandwidth")}

# %% [markdown]
# The card comes first, without a conduit: a round trip by stores and a round trip by DMA at every size. The engine
# starts as the machine's file says, and faster.

# %%
starts = ("1 us", "3 us", "10 us")
machines = (*(sci.with_(dma_start=start) for start in starts), sci)
sizes = "64:512K"
card = gm.Experiment(
    name="sci_switch_card",
    title="Stores and DMA on the bare card",
    series=(
        gm.Series(kernel="ping-pong", op="am-long", conduit="raw@sci", machine=machines, sizes=sizes, iterations=4,
                  blocks=1, options={"path": ("pio", "dma")}),
    ),
).run(jobs=2)  # fmt: skip
assert card.verified
frame = card.frame().query("metric == 'round_trip'")
frame = frame.assign(
    way=np.where(frame["options"].fillna("").str.contains("path=dma"), "DMA", "stores"), us=frame["value"] / 1000
)
lines = frame.pivot_table(index="size_bytes", columns=["machine", "way"], values="us")
lines[sci.column]

# %%
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(lines.index, lines[sci.column]["stores"], "ks-", label="stores")
for machine in machines:
    axes.plot(lines.index, lines[machine.column]["DMA"], "o-", label=f"DMA that starts in {machine['dma.start'].text}")
axes.axvline(2048, color="0.6", linestyle="--", label="2048 B")
axes.set(xscale="log", yscale="log", xlabel="Payload (bytes)", ylabel="Round trip on the bare card (µs), log, modelled")
axes.legend()
axes.grid(alpha=0.3)

# %% [markdown]
# Both have nearly the same slope, so the start decides. They meet between two sizes, on a straight line over the
# logarithm of the size.


# %%
def crossing(name):
    """Return the size from which on DMA is faster."""
    gap = lines[name]["stores"] - lines[name]["DMA"]
    if gap.iloc[0] > 0:
        return float(gap.index[0])
    after = int(np.argmax(gap.to_numpy() > 0))
    if after == 0:
        return np.inf
    (x0, x1), (y0, y1) = np.log(gap.index[after - 1 : after + 1]), gap.iloc[after - 1 : after + 1]
    return float(np.exp(x0 + (x1 - x0) * -y0 / (y1 - y0)))


crossings = {machine["dma.start"].text: crossing(machine.column) for machine in machines}
{start: "never, here" if np.isinf(size) else f"{size:.0f} B" for start, size in crossings.items()}

# %%
ordered = list(crossings.values())
assert ordered == sorted(ordered)  # the sooner the engine starts, the sooner it pays
assert crossings[sci["dma.start"].text] > 2048

# %% [markdown]
# The engine pays only far beyond 2048 B. It reads memory hardly faster than a core stores, so it wins its start back
# slowly. The card would not switch at 2048 B. A slot of the command segment ends there: it holds the largest Medium.
# The conduit shows the cost for a program: Longs by stores as far as they go, and all Longs by DMA.

# %%
conduit = gm.Experiment(
    name="sci_switch_conduit",
    title="Longs on the conduit: by stores below 2048 B, and all by DMA",
    series=(
        gm.Series(kernel="ping-pong", op="am-long", conduit="sci", machine=sci,
                  sizes="256,512,1024,2040,2048,4096,8192", iterations=8, blocks=1,
                  options={"local": "segment", "long_pio": ("2048", "0")}),
    ),
).run()  # fmt: skip
assert conduit.verified
own = conduit.frame().query("metric == 'round_trip'")
own = own.assign(
    way=np.where(own["options"].fillna("").str.contains("long_pio=0"), "all by DMA", "as it is"), us=own["value"] / 1000
)
longs = own.pivot_table(index="size_bytes", columns="way", values="us")
longs

# %%
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for way, marker in (("as it is", "ks-"), ("all by DMA", "o--")):
    axes.plot(longs.index, longs[way], marker, label=way)
axes.axvline(2048, color="0.6", linestyle="--", label="2048 B")
axes.set(
    xscale="log", xlabel="Payload of a Long (bytes)", ylabel="Round trip on the conduit (µs), modelled", ylim=(0, None)
)
axes.legend()
axes.grid(alpha=0.3)

# %% [markdown]
# The table shows the step at 2048 B. With eight bytes more, the engine has to start on either side.

# %%
own_way, by_dma = longs["as it is"], longs["all by DMA"]
step = own_way[2048] - own_way[2040]
starting = 2 * float(sci["dma.start"].value) * 1e6
f"{step:.1f} us for 8 B more, of which the engine's two starts are {starting:.0f} us"

# %%
assert (own_way.loc[:2040] < by_dma.loc[:2040]).all()
assert own_way[2048] == by_dma[2048]

# %% [markdown]
# The result: below 2048 B stores are right by a wide margin, so keep Longs there if a program can. Beyond, latency
# alone would have kept the conduit storing. DMA would free the core for other work, but the conduit waited for the
# engine. Larger slots cost memory for every peer: `gasmeter reproduce sci --figures polls` has the bytes. How far to
# believe it: the start is published. The prices of stores and the engine's rate are estimates whose ranges overlap, and
# the crossing moves with them.

# %%
[(number.key, number.low, number.high) for number in sci.estimates() if number.key.startswith(("host.pio", "dma"))]
