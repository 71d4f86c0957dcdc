"""Compare smp with bare memory: every line is a ratio of blocks that alternate in one run, on two ranks."""

from functools import partial

import gasmeter as gm

beside_raw = partial(gm.Series, conduit="smp", against="raw@shm")

experiment = gm.Experiment(
    name="smp_speed",
    title="Shared memory: smp against its limits",
    question=(
        "Which share of what the memory itself reaches is left when it is used through the library? Each line is the"
        " ratio to the same work done with plain loads and stores, or the difference to it where a unit stands."
    ),
    series=(
        beside_raw(
            kernel="ping-pong",
            op="am-short",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Short AM round trip / raw round trip", at_most=1.2),
        ),
        beside_raw(
            kernel="ping-pong",
            op="am-medium",
            sizes=64,
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Medium AM round trip / raw round trip", at_most=1.4),
        ),
        beside_raw(
            kernel="flood",
            op="am-short",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Short flood / raw single-producer ring", at_least=0.5),
        ),
        beside_raw(
            kernel="ping-pong",
            op=("put", "get"),
            sizes=8,
            compare="difference",
            target=gm.Target(line="Blocking operation over a plain loop of loads and stores", at_most=1.0),
        ),
        beside_raw(
            kernel="flood",
            op=("put", "get"),
            sizes="4K:4M",
            time_s=0.3,
            quick={"sizes": "4K,64K,4M"},
            target=gm.Target(line="Bandwidth / memcpy", at_least=0.95),
        ),
        beside_raw(
            kernel="barrier",
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="Barrier / raw round trip", at_most=0.7),
        ),
        beside_raw(
            kernel="random-access",
            variant="am",
            sizes="256M",
            time_s=1.0,
            quick={"sizes": "4M"},
            target=gm.Target(line="RandomAccess / two raw ranks", at_least=0.9),
        ),
        beside_raw(
            kernel="random-access",
            variant="direct",
            sizes="256M",
            time_s=1.0,
            quick={"sizes": "4M"},
            target=gm.Target(line="RandomAccess / two raw ranks"),
        ),
    ),
    plots=(gm.Plot(kind="bandwidth", title="Bandwidth of put and get over shared memory"),),
)
