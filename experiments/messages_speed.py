"""Compare messages and atomics with their limits: every line is a ratio of blocks that alternate in one run."""

from functools import partial

import gasmeter as gm

beside_raw = partial(gm.Series, conduit="smp", against="raw@shm")
negotiated = partial(gm.Series, kernel="am", op="np-medium", options={"generate": "fill"}, against={"op": "medium"})
dynamic = partial(gm.Series, kernel="immediate", op="dynamic", ranks=16, against={"op": "static"})
# Requests in flight to one receiver in the original experiment. EXTOLL's cards alone set no limit.
OUTSTANDING = {"outstanding": 3}

experiment = gm.Experiment(
    name="messages_speed",
    title="Atomics, negotiated payload and immediate messages against their limits",
    question=(
        "What do remote atomics cost beside the processor's own instruction, what does a payload win that comes into"
        " being where it is sent from, and what does a sender win that is refused instead of made to wait?"
    ),
    series=(
        beside_raw(
            kernel="fetch-add",
            op="latency",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Fetch-and-add / the processor's instruction", at_most=1.1),
        ),
        beside_raw(
            kernel="fetch-add",
            op="rate",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Rate of fetch-and-adds / the processor's instruction", at_least=0.9),
        ),
        beside_raw(
            kernel="fetch-add",
            op="hot-spot",
            ci="2%",
            max_time_s=4,
            target=gm.Target(line="All ranks at one word / raw ranks", at_least=0.9),
        ),
        # The limit is two million per second, because there is no raw program to compare with.
        gm.Series(kernel="fetch-add", op="rate", conduit="udp", time_s=1.0),
        negotiated(
            conduit=("smp", "udp"),
            sizes="8:32K",
            time_s=0.4,
            quick={"sizes": "64,4K"},
            target=gm.Target(line="Negotiated / fixed payload, generated, round trip", at_most=1.0),
        ),
        negotiated(
            conduit=("smp", "udp"),
            sizes="64K",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Negotiated / fixed payload, generated, round trip of 64 KiB", at_most=1 / 1.1),
        ),
        dynamic(
            conduit="smp",
            blocks=5,
            iterations=1,
            quick={"options": {"messages": 1500}},
            target=gm.Target(line="Dynamic / static schedule, receivers that sleep 500 us, whole blocks", at_most=0.2),
        ),
        dynamic(
            conduit="extoll",
            placement="one-per-node",
            options=OUTSTANDING,
            blocks=1,
            iterations=1,
            quick={"options": {"messages": 1500, **OUTSTANDING}},
            target=gm.Target(line="Dynamic / static schedule, receivers that sleep 500 us, whole blocks", at_most=0.2),
        ),
    ),
    plots=(
        gm.Plot(
            kind="latency", op=("medium", "np-medium"), title="Round trips of generated payload, fixed and negotiated"
        ),
        gm.Plot(kind="bandwidth", title="Bandwidth of generated payload, fixed and negotiated"),
    ),
)
