"""Measure transfers of many pieces: every line is a ratio of blocks that alternate in one run, or a bandwidth."""

from functools import partial

import gasmeter as gm

put = partial(gm.Series, kernel="vis", op="strided-put", sizes="64K", ci="1%", max_time_s=4)
GIB = 2.0**30

experiment = gm.Experiment(
    name="vis_speed",
    title="Transfers of many pieces: strided, indexed, vector",
    question=(
        "What do puts of 64 KiB in pieces reach, at half density on both sides, against plain nests of loops"
        " around the same copies of elements, against each other and against what GASNet-1 did?"
    ),
    series=(
        put(
            conduit="smp",
            target=gm.Target(line="smp, strided put in 8 B pieces", at_least=20 * GIB),
        ),
        put(
            conduit="smp",
            against="raw@shm",
            options={"piece": 512},
            target=gm.Target(line="smp, strided put in 512 B pieces / plain loops over the same pieces", at_least=0.9),
        ),
        put(
            op="indexed-put",
            conduit="smp",
            against={"op": "strided-put"},
            options={"piece": (8, 64, 512)},
            target=gm.Target(line="smp, indexed put / strided put", at_least=0.8),
        ),
        put(
            conduit="smp",
            against={"levels": "1"},
            options={"piece": (8, 512), "levels": 32},
            target=gm.Target(line="smp, 32 levels that fold / one level", at_least=0.95),
        ),
        put(
            conduit="raw@shm",
            against="smp",
            options={"piece": (8, 64)},
            target=gm.Target(line="plain loops / smp, strided put in one level", at_least=0.95),
        ),
        put(
            conduit="smp",
            against="raw@shm",
            options={"implementation": "gasnet1", "piece": 8, "levels": (1, 3, 8, 32)},
            target=gm.Target(line="smp, GASNet-1 baseline / plain nested loops", at_least=0.9),
        ),
        put(
            conduit="smp",
            against={"implementation": "gasnet1"},
            options={"piece": (8, 64), "levels": (1, 3, 8, 32), "implementation": "ex"},
            target=gm.Target(line="smp, strided put / GASNet-1 baseline"),
        ),
        put(
            op="indexed-put",
            conduit="smp",
            against={"implementation": "gasnet1"},
            options={"piece": (8, 64), "implementation": "ex"},
            target=gm.Target(line="smp, indexed put / GASNet-1 baseline"),
        ),
        put(
            conduit="udp",
            target=gm.Target(line="udp, strided put in 8 B pieces", at_least=3 * GIB),
        ),
        put(
            conduit="udp",
            against={"implementation": "gasnet1"},
            options={"piece": (8, 64, 512), "levels": 3, "implementation": "ex"},
            target=gm.Target(line="udp, strided put / GASNet-1 baseline"),
        ),
    ),
)
