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
# # What does a message cost over shared memory?
#
# An active message cannot be faster than a cache line that goes from one core to the other and back, and a put cannot
# be faster than a copy. Here both are measured next to each other, in small alternating blocks, so that whatever the
# machine does meanwhile hits both; the overhead is `value / reference - 1`.

# %%
import gasmeter as gm

# %% [markdown]
# One kernel, one table. `raw@shm` is the memory itself, `smp` the library over it.

# %%
result = gm.measure(
    "ping-pong", conduit="smp", op=("am-short", "put", "get"), sizes="8,512,32K", against="raw@shm", time=0.1
)
result

# %% [markdown]
# The rows are a tidy `DataFrame`; the interval is one of the median of blocks, the row names what it is compared with.

# %%
frame = result.frame()
overhead = frame[frame["metric"] == "overhead"]
overhead[["op", "size_bytes", "value", "ci_low", "ci_high", "n", "reference"]]

# %% [markdown]
# A sweep is a value: axes that are crossed, what is compared, what is drawn. The same one as
# `gasmeter run experiments/first_look.py --quick`, smaller.

# %%
look = gm.Experiment(
    name="first_look",
    title="Shared memory: smp against the memory itself",
    series=(
        gm.Series(kernel="ping-pong", op="am-short", conduit="smp", against="raw@shm"),
        gm.Series(kernel="ping-pong", op="am-medium", sizes="8,64,512,4K", conduit="smp", against="raw@shm"),
        gm.Series(kernel="ping-pong", op=("put", "get"), sizes="8,64,512,4K,32K", conduit="smp", against="raw@shm"),
        gm.Series(kernel="random-access", variant="all", sizes="1M", ranks=(1, 2), conduit="smp", against="raw@shm"),
    ),
)
len(look.points())

# %%
swept = look.run(quick=True)
swept.plot("latency")

# %% [markdown]
# Random updates of a table that is spread over the ranks: `am` sends them in buckets, `put-get` one by one, `direct`
# and the raw ranks update the words in place.

# %%
swept.plot("gups")

# %%
print(swept.disturbance())
assert swept.verified
