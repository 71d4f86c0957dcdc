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
# # What can a network take from a rank that computes?
#
# Rank 1 computes for 20 us while rank 0 puts eight words into its segment. Then both meet. On some networks, messages
# wait for a poll: the work takes its own time, and the messages wait. On others, arrivals interrupt the core: the work
# takes longer, and the messages do not wait. If the interface puts by itself, nobody waits.
#
# Everything here is *modelled* on the toy network `ideal`, whose round numbers describe no real machine. Each line of
# `effects` switches one effect on. Change the numbers and run the cell again.

# %%
import matplotlib.pyplot as plt

import gasmeter as gm
from gasmeter.trace import trace
from gasmeter.trace.drawing import draw_steps

WORK_NS = 20_000
PUTS = 8


# %%
def program(ep):
    word = bytes(8)  # of the rank's own, outside the segment
    yield ep.barrier()
    start = ep.now_ns()
    if ep.rank == 1:
        yield ep.compute(WORK_NS)
    else:
        for place in range(PUTS):
            yield ep.put(1, 8 * place, word)
    took = ep.now_ns() - start
    yield ep.barrier()
    return took


effects: dict[str, dict[str, str | int]] = {
    "none": {},
    "interrupts": {"interrupt": 500},
    "interrupts, another core": {"interrupt": 500, "interrupts": "other"},
    "handlers by interrupt": {"interrupt": 500, "handlers": "interrupt"},
    "a poll costs 200 ns more": {"poll": 200},
    "a load stalls 400 ns": {"load": 400},
    "one node, messages by its memory": {"node_local": "shared", "nodes": 1},
    "puts by the interface": {"put": "native"},
    "... out of registered memory": {"put": "native", "registration": "cached"},
}
times = {name: gm.launch(program, conduit="ideal", ranks=2, options=options) for name, options in effects.items()}
{name: f"puts {puts / 1e3:.1f} us, work {work / 1e3:.1f} us" for name, (puts, work) in times.items()}

# %%
figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
places = range(len(times))
axes.barh([at - 0.2 for at in places], [puts / 1e3 for puts, _ in times.values()], 0.38, label="eight puts, rank 0")
axes.barh([at + 0.2 for at in places], [work / 1e3 for _, work in times.values()], 0.38, label="20 us of work, rank 1")
axes.set_yticks(list(places), list(times))
axes.invert_yaxis()
axes.set_xlabel("time (us, modelled)")
axes.set_title("what an effect of the network costs either side", fontsize=10)
figure.legend(frameon=False, loc="outside lower center", ncols=2)
plt.show()

# %% [markdown]
# Without interrupts, the first put is answered when the work is done, and rank 0 waits for all of it. With interrupts
# alone, the work is longer by their time, and the puts still wait for a poll. Only handlers that run by interrupt
# answer at once, and the work pays for each of them. Ranks of one node leave messages in its memory: they need no
# network, but still a poll. Puts by the interface ask nothing of the computing rank. Their source memory may have to be
# registered, once.

# %%
assert times["none"][1] == WORK_NS
assert times["interrupts"][1] > WORK_NS
assert times["interrupts, another core"][1] == WORK_NS
assert times["handlers by interrupt"][0] < times["none"][0]
assert times["handlers by interrupt"][1] > times["interrupts"][1]
assert WORK_NS < times["one node, messages by its memory"][0] < times["none"][0]
assert times["one node, messages by its memory"][1] == WORK_NS
assert times["puts by the interface"][0] < times["handlers by interrupt"][0]
assert times["puts by the interface"][1] == WORK_NS
registered = times["... out of registered memory"][0] - times["puts by the interface"][0]
assert 1000 < registered < 1500

# %% [markdown]
# ## Where the time of one message goes
#
# A trace names each price of the software around an interface. A check asks whether a packet has gone, and a flag
# follows the packet. A scan looks through the flags. A search finds the owner of a message, and a translation makes an
# address of its target.

# %%
prices = {"check": 30, "flag": 110, "scan": 170, "search": 230, "translate": 290}
traces = trace("am-long", conduit="ideal", sizes="8,512,4096", iterations=1, options=prices)
draw_steps(traces)

# %% [markdown]
# The sender's own check and flag are missing: it pays them while its packet is on the way, and nobody waits for them.

# %%
for traced in traces:
    paid = {step.name: step.ps / 1000 for step in traced.shown.steps}
    assert [paid[name] for name in ("scan", "search", "translate")] == [170, 230, 290]
    assert not paid.keys() & {"check", "flag"}

# %% [markdown]
# ## What does one more level of a strided transfer cost?
#
# 512 pieces of 8 B are put into a neighbour's memory. They lie on one line, whatever the levels of their description.
# The library folds the levels, and pays for one loop and one translation of an address. The baseline does as GASNet-1
# did: a loop per level, a translation per piece. Prices are in ns, and 0 switches a price off.

# %%
PRICES = {"piece_copy": 3, "loop_turn": 2, "loop_level": 10, "near_translation": 2}
PIECES = 512


def ns_per_piece(implementation):
    options = {"nodes": 1, "neighbourhood": True, "levels": (1, 3, 8, 32), "implementation": implementation, **PRICES}
    result = gm.measure("vis", conduit="ideal", op="strided-put", sizes=8 * PIECES, iterations=10, options=options)
    assert result.verified
    frame = result.frame()
    rates = frame[frame["metric"] == "rate"]["value"]
    return [1e9 / rate / PIECES for rate in rates]


folded, nested = ns_per_piece("ex"), ns_per_piece("gasnet1")
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(["1", "3", "8", "32"], nested, "o-", label="a loop per level, a translation per piece")
axes.plot(["1", "3", "8", "32"], folded, "s-", label="folded into one loop")
axes.set_ylim(0)
axes.set_xlabel("levels of the description")
axes.set_ylabel("time per piece (ns, modelled)")
figure.legend(frameon=False, loc="outside lower center", ncols=2)
plt.show()

# %% [markdown]
# Folded, a piece takes the same time at any depth: its copy, the bytes, and a turn of the one loop. A nest of loops
# also pays a turn and a beginning for every turn of an outer loop, and a translation for every piece.

# %%
assert max(folded) - min(folded) < 1e-9
assert nested == sorted(nested)
assert abs(nested[0] - folded[0] - PRICES["near_translation"] * (PIECES - 1) / PIECES) < 1e-6
