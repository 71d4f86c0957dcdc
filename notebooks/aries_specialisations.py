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
# # What does each specialisation buy on Aries?
#
# Four features of the library have two forms. Any conduit can have the `reference` form. The `specialised` form is made
# for the network below. The features are negotiated payload, immediate messages, local completion of puts, and atomics.
# How much does the second form gain? The answers are *modelled* on the Cray XC40, and *measured* over shared memory
# (`smp`) and sockets (`udp`) of this computer.

# %%
import matplotlib.pyplot as plt
import pandas as pd

import gasmeter as gm

FORMS = ("reference", "specialised")
PLACES = {"aries": "modelled", "smp": "measured", "udp": "measured"}
theta = gm.machine("aries")
[(number.key, number.low, number.high) for number in theta.estimates() if number.key.startswith("host.")]


# %%
def both_forms(option, kernel, op, metric, *, sizes=None, options=None, ranks=2, conduits=tuple(PLACES)):
    """Measure a kernel with both forms of an option on each conduit: values by conduit, form and size."""
    frames = []
    for conduit in conduits:
        machine = "aries" if conduit == "aries" else ""
        forms = {**(options or {}), option: FORMS}
        result = gm.measure(kernel, op=op, sizes=sizes, ranks=ranks, conduit=conduit, machine=machine, options=forms)
        assert result.verified
        frame = result.frame().query("metric == @metric and conduit == @conduit")
        form = frame["options"].fillna("").str.extract(rf"(?:^|;){option}=([^;]*)")[0].fillna("specialised")
        frames.append(frame.assign(form=form.to_numpy()))
    return pd.concat(frames)


def by_form(frame, index="size_bytes"):
    """Return the values with a column for each conduit and form."""
    return frame.pivot_table(index=index, columns=["conduit", "form"], values="value")


def ratio(frame, better, index="size_bytes"):
    """Return how many times as good the specialised form is; `better`: whether more or less of the metric is."""
    table = by_form(frame, index)
    gains = {}
    for conduit, kind in PLACES.items():
        if conduit in table.columns.get_level_values(0):
            one = table[conduit]["specialised"] / table[conduit]["reference"]
            gains[f"{conduit} ({kind})"] = one if better == "more" else 1 / one
    return pd.DataFrame(gains)


def draw(table, label):
    """Draw ratios over the size, with a line where both forms are the same."""
    _, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    table.plot(ax=axes, logx=True, marker="o", grid=True)
    axes.axhline(1, color="0.4", linewidth=0.8)
    axes.set(xlabel="Payload (bytes)", ylabel=label)


# %% [markdown]
# ## Negotiated payload
#
# In the specialised form, the program makes its payload in the buffer that the network sends. In the reference form, it
# makes the payload in a temporary buffer, and the library copies it into a message like any other payload.

# %%
payload = both_forms("np_am", "am", "np-medium", "round_trip", sizes="64,256,1K,2K,4000", options={"generate": "fill"})
negotiated = ratio(payload, "less")
negotiated.round(3)

# %%
draw(negotiated, "Round trip, reference over specialised")

# %% [markdown]
# ## Immediate messages
#
# Rank 0 sends to receivers that poll once in 500 µs. A refused sender sends to another receiver meanwhile. The
# reference form refuses nobody, and the sender waits.

# %%
exchange = both_forms(
    "immediate", "immediate", "dynamic", "latency", ranks=(2, 4), conduits=("aries", "smp"),
    options={"messages": "600", "finish": "barrier"},
)  # fmt: skip
immediate = ratio(exchange, "less", index="ranks")
immediate.round(2)

# %% [markdown]
# With two ranks there is only one receiver, so there is nobody else to send to. If this computer has two cores, `smp`
# has more ranks than cores here.
#
# ## Local completion
#
# A put returns when its source may be used again. In the specialised form, the card has then read the source. In the
# reference form, the target has answered.

# %%
puts = both_forms(
    "local_completion", "local-completion", "now", "bandwidth", sizes="128,1K,4K,8K,16K,64K,256K,1M",
    conduits=("aries",), options={"window": "1024"},
)  # fmt: skip
local = ratio(puts, "more")
local.round(3)

# %%
draw(local, "Bandwidth, specialised over reference")

# %% [markdown]
# Up to the size of a bounce buffer the source is copied, and both forms may use it again at once.
#
# ## Atomics
#
# In the specialised form, the card adds by itself. In the reference form, a handler of the target adds.

# %%
adds = both_forms("atomics", "fetch-add", "latency", "latency", conduits=("aries",))
rates = both_forms("atomics", "fetch-add", "rate", "rate", conduits=("aries",))
atomics = pd.DataFrame(
    {
        "latency (µs)": adds.set_index("form")["value"] / 1000,
        "rate (M/s)": rates.set_index("form")["value"] / 1e6,
    }
)
atomics.round(2)

# %% [markdown]
# Shared memory has an instruction for it, and sockets have only messages. Each has one form, so there is nothing to
# compare.
#
# How far to believe it: prices of software on this processor are estimates, with the ranges above. `gasmeter reproduce
# aries` shows the paper's figures with their bands.

# %%
latency = adds.set_index("form")["value"]
{
    "negotiated payload, 4000 B": round(float(negotiated["aries (modelled)"].iloc[-1]), 3),
    "immediate, 3 receivers": round(float(immediate["aries (modelled)"].iloc[-1]), 3),
    "local completion, the most": round(float(local.max().iloc[0]), 3),
    "fetch-and-add, latency": round(float(latency["reference"] / latency["specialised"]), 3),
}
