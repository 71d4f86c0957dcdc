"""Compare mpi with the MPI below it: every line is a ratio of blocks that alternate in one run, on two ranks.

It runs over both MPIs. If gasmeter was built with one of them, use `--set mpi=mpich`, or openmpi.
"""

from functools import partial

import gasmeter as gm

beside_raw = partial(gm.Series, conduit="mpi", against="raw@mpi")
BOTH = {"mpi": ("mpich", "openmpi")}
TCP = {**BOTH, "transport": "tcp"}

experiment = gm.Experiment(
    name="mpi_speed",
    title="mpi against the MPI below it",
    question="What do active messages, puts and gets cost over an MPI, and what do shared messages and one-sided calls"
    " win back?",
    series=(
        beside_raw(
            kernel="ping-pong",
            op="am-short",
            options=BOTH,
            ci="1%",
            max_time_s=6,
            target=gm.Target(line="Short AM round trip / raw 8 B round trip", at_most=1.25),
        ),
        beside_raw(
            kernel="flood",
            op="am-short",
            options=BOTH,
            time_s=2.0,
            target=gm.Target(line="Short flood", at_least=12e6, metric="rate"),
        ),
        beside_raw(
            kernel="flood",
            op="am-short",
            options=TCP,
            time_s=2.0,
            target=gm.Target(line="Short flood over TCP", at_least=1.5e6, metric="rate"),
        ),
        beside_raw(
            kernel="flood",
            op="put",
            sizes="64K,4M",
            options=BOTH,
            time_s=2.0,
            quick={"sizes": "64K"},
            target=gm.Target(line="Put flood / window of raw messages", at_least=0.95),
        ),
        beside_raw(
            kernel="flood",
            op="put",
            sizes="64K,4M",
            options={**BOTH, "rma": "off"},
            time_s=2.0,
            quick={"sizes": "64K"},
            target=gm.Target(line="Put flood by messages / window of raw messages"),
        ),
        beside_raw(
            kernel="random-access",
            variant="am",
            sizes="256M",
            options=BOTH,
            time_s=2.0,
            quick={"sizes": "4M"},
            target=gm.Target(line="RandomAccess / raw buckets", at_least=1.0),
        ),
    ),
    plots=(gm.Plot(kind="bandwidth", title="Bandwidth of puts over MPI"),),
)
