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
# # What does IMMEDIATE save when receivers are busy?
#
# One rank has messages for many receivers that compute for long stretches and poll only in between. A message to a
# receiver with full buffers has to wait, and everything behind it waits, too. With `gm.IMMEDIATE`, the send is refused
# instead, and the sender turns to a receiver with room. How much time does that save?
#
# Everything here is *modelled*: InfiniBand cards in exact virtual time. The same Python program would run on
# `conduit="smp"`. A receiver has room for a few messages of each sender and frees it when it polls.

# %%
import matplotlib.pyplot as plt
import numpy as np

import gasmeter as gm

MESSAGES = 40  # for each receiver
BYTES = 2048


# %% [markdown]
# Rank 0 sends in blocks: it sends that many messages to a receiver before it turns to the next. *Static*: each send
# waits for room. *Dynamic*: after a refusal, rank 0 polls once, tries once more, and then turns to the next receiver.
# Receivers sleep 500 us between two polls. The time ends when all receivers have got everything.


# %%
def program(ep, block, immediate, sleep_ns):
    got = []
    note = ep.register(lambda token: got.append(token.source))
    yield ep.barrier()
    start = ep.now_ns()
    if ep.rank == 0:
        left = dict.fromkeys(range(1, ep.size), MESSAGES)
        payload = bytes(BYTES)
        while left:
            for receiver in list(left):
                for _ in range(min(block, left[receiver])):
                    if not immediate:
                        yield ep.request(receiver, note, payload)
                    elif not (yield ep.request(receiver, note, payload, flags=gm.IMMEDIATE)):
                        yield ep.poll()
                        if not (yield ep.request(receiver, note, payload, flags=gm.IMMEDIATE)):
                            break
                    left[receiver] -= 1
                if left[receiver] == 0:
                    del left[receiver]
    else:
        while len(got) < MESSAGES:
            yield ep.sleep(sleep_ns)
            yield ep.poll()
    yield ep.barrier()
    return ep.now_ns() - start


def run_ns(block, immediate, sleep_ns, ranks=16):
    return max(gm.launch(program, conduit="ibv", ranks=ranks, segment=64, placement="one-per-node",
                         args=(block, immediate, sleep_ns)))  # fmt: skip


# %%
blocks = {"1": 1, "5": 5, "all": MESSAGES}
times = {
    (name, immediate): run_ns(block, immediate, 500e3) for name, block in blocks.items() for immediate in (False, True)
}
saved = {name: 1 - times[name, True] / times[name, False] for name in blocks}
{name: f"{share:.0%} less time" for name, share in saved.items()}

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
places = np.arange(len(blocks))
for offset, (immediate, label) in zip((-0.2, 0.2), ((False, "static"), (True, "dynamic, IMMEDIATE")), strict=True):
    left.bar(places + offset, [times[name, immediate] / 1e6 for name in blocks], 0.38, label=label)
left.set_xticks(places, list(blocks))
left.set_xlabel("messages to a receiver in a row")
left.set_ylabel("time for all messages (ms)")
left.set_title("15 receivers, asleep 500 us (modelled, ibv)", fontsize=10)
left.legend(frameon=False, loc="upper left")

sleeps_us = [0.0, 50.0, 200.0, 500.0, 1000.0]
for immediate, label in ((False, "static"), (True, "dynamic, IMMEDIATE")):
    right.plot(sleeps_us, [run_ns(MESSAGES, immediate, us * 1e3) / 1e6 for us in sleeps_us], "o-", label=label)
right.set_xlabel("sleep between polls (us)")
right.set_ylabel("time for all messages (ms)")
right.set_title("all messages to one receiver in a row (modelled, ibv)", fontsize=10)
right.legend(frameon=False)
plt.show()

# %% [markdown]
# A few messages in a row fit into the room, and nothing is saved. If rank 0 serves one receiver after the other, the
# sleeps add up. With IMMEDIATE they overlap. Only the order of the messages differs: bytes and network are the same.

# %%
assert saved["all"] > 0.5
assert times["all", True] <= times["all", False]
