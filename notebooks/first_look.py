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
# An active message cannot be faster than a cache line that goes from one core to the other and back. A put cannot be
# faster than a copy. Both are measured here beside that limit, in small alternating blocks, so that every disturbance
# hits both. The overhead is `value / reference - 1`.

# %%
import gasmeter as gm

# %% [markdown]
# One kernel gives one table. `raw@shm` is the bare memory, `smp` the library above it.

# %%
result = gm.measure(
    "ping-pong", conduit="smp", op=("am-short", "put", "get"), sizes="8,512,32K", against="raw@shm", time=0.1
)
result

# %% [markdown]
# The rows are a tidy `DataFrame`. The interval belongs to the median of blocks. Each row names the row that it is
# compared with.

# %%
frame = result.frame()
overhead = frame[frame["metric"] == "overhead"]
overhead[["op", "size_bytes", "value", "ci_low", "ci_high", "n", "reference"]]

# %% [markdown]
# A sweep is a value with axes, a comparison and plots. This sweep is a smaller one than `gasmeter run
# experiments/first_look.py --quick`.

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
# RandomAccess updates random words of a table that is spread over the ranks. `am` sends the updates in buckets, `put-
# get` sends them one by one, and `direct` and the raw ranks change the words in place.

# %%
swept.plot("gups")

# %%
print(swept.disturbance())
assert swept.verified
