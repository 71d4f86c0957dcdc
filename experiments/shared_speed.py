"""Compare a shared array whose address is cached with core's own get, and many objects with a few.

It runs over both MPIs. If gasmeter was built with one of them, use `--set mpi=mpich`, or openmpi.
"""

from functools import partial

import gasmeter as gm

CACHED = {"near": "remote", "cache": ("on", "known")}

beside_core = partial(
    gm.Series,
    kernel="shared-access",
    op="get",
    sizes=8,
    options=CACHED,
    against={"cache": "known"},
    ci="1%",
    max_time_s=4,
)

experiment = gm.Experiment(
    name="shared_speed",
    title="Shared arrays: a hit of the cache against what it calls",
    question=(
        "What does a get of a shared array add to the get that it comes to, where the cache has the address? Blocks of"
        " both alternate in one run, on two ranks; with cache=known nobody looks anything up. Ranks reach each other by"
        " the conduit alone (near=remote)."
    ),
    series=(
        beside_core(
            conduit="smp",
            compare="difference",
            target=gm.Target(line="A get that hits beyond core's get on smp", at_most=20),
        ),
        beside_core(conduit="udp", target=gm.Target(line="A get that hits / core's get on udp")),
        beside_core(
            conduit="mpi",
            options={**CACHED, "mpi": ("mpich", "openmpi")},
            target=gm.Target(line="A get that hits / core's get on mpi", at_most=1.1),
        ),
        gm.Series(
            kernel="shared-access",
            op="get",
            conduit="smp",
            sizes=8,
            options={"near": "remote", "capacity": "unlimited", "objects": ("8", "8192")},
            against={"objects": "8"},
            ci="1%",
            max_time_s=4,
            target=gm.Target(line="A get that hits, of 8192 objects / of 8", at_most=1.1),
        ),
    ),
)
