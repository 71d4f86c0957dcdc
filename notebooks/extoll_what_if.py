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
# # What would EXTOLL have done with a torus, a wider link, a bigger packet?
#
# The real EXTOLL R1 had 64 nodes in a 3D mesh, links of 625 MB/s and VELO packets of 56 B. RandomAccess runs here on
# the bare card in virtual time. One machine is as its file describes it, and four machines never existed. Every figure
# below is *modelled*.

# %%
from functools import partial

import gasmeter as gm

extoll = gm.machine("extoll")
{key: (extoll[key].text, extoll[key].confidence) for key in ("link.bandwidth", "link.latency", "link.packet")}

# %% [markdown]
# A what-if is the machine with another number or another topology: a link twice as wide, RMA packets twice as big, or
# half of the overhead bytes of each packet. VELO's packets stay, because software packs seven updates into each. Ranks
# are dealt round, so that 64 ranks have a node each.

# %%
whats = (extoll, extoll.with_(link_bandwidth="1.25 GB/s"), extoll.with_(link_packet="512 B"),
         extoll.with_(link_header="14 B"))  # fmt: skip
updates = partial(gm.Series, kernel="random-access", conduit="raw@extoll", placement="round-robin", sizes="1M",
                  ranks=(64, 128), iterations=300, blocks=1, seed=2)  # fmt: skip
experiment = gm.Experiment(
    name="extoll_what_if",
    title="RandomAccess on EXTOLL: as it was, and what if",
    series=(
        updates(machine=whats, topology="mesh3d:4x4x4"),
        updates(machine=extoll, topology=("torus3d:4x4x4", "mesh2d:8x8")),
    ),
)
result = experiment.run(jobs=2)
assert result.verified
result.plot("gups")

# %% [markdown]
# The next table shows the effects, the largest first. A ratio of 1 says that this number was never in the way.

# %%
moved = result.moved()
moved[["what_if", "ranks", "metric", "before", "after", "ratio"]]

# %%
rates = moved[moved["metric"] == "gups"].set_index(["what_if", "ranks"])["ratio"]
assert rates["link.packet = 512 B"].eq(1).all()  # VELO never used them

# %% [markdown]
# The picture shows the way of the packets on the mesh. Links in the middle carry the most, and the torus relieves them.

# %%
frame = result.frame()
mesh = frame[(frame["topology"] == "mesh3d:4x4x4") & (frame["machine"] == "extoll") & (frame["ranks"] == 128)]
result.plot_links(mesh["run_id"].iloc[0])

# %%
torus = frame[(frame["topology"] == "torus3d:4x4x4") & (frame["ranks"] == 128)]
result.plot_links(torus["run_id"].iloc[0])

# %% [markdown]
# A bigger packet matters for data that go by RMA: a put of 64 KiB from corner to corner.

# %%
big = gm.Experiment(
    name="extoll_big_packets",
    title="A put over nine hops: what if packets were bigger",
    series=(
        gm.Series(kernel="ping-pong", op="put", conduit="raw@extoll", sizes="4K,64K", topology="mesh3d:4x4x4",
                  machine=(extoll, extoll.with_(link_packet="512 B"), extoll.with_(link_bandwidth="1.25 GB/s")),
                  placement="list:0,63", iterations=5, blocks=1),
    ),
).run()  # fmt: skip
big.moved()[["what_if", "size_bytes", "metric", "before", "after", "ratio"]]

# %% [markdown]
# How far to believe it: most prices are estimates with a range. `gasmeter reproduce extoll` tells whether a statement
# of the paper holds over all of them.

# %%
[(number.key, number.low, number.high) for number in extoll.estimates() if number.key.startswith(("link", "velo"))]
