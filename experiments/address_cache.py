"""Show the accesses to shared arrays that gain by a cache of remote addresses, over shared memory, UDP and MPI."""

import gasmeter as gm

CONDUITS = ("smp", "udp", "mpi")
OPS = ("get", "put")

experiment = gm.Experiment(
    name="address_cache",
    title="Shared arrays with and without a cache of remote addresses",
    question=(
        "How much does an access to a shared array save where the initiator knows the address, so that nobody at the"
        " target has to translate? One rank gets and puts, the other waits in a barrier. Both are on this machine and"
        " reach each other by the conduit alone (near=remote)."
    ),
    series=tuple(
        gm.Series(
            kernel="shared-access",
            op=op,
            conduit=conduit,
            sizes="8:64K",
            options={"cache": ("on", "off", "miss"), "near": "remote"},
            against={"cache": "off"},
            time_s=0.2,
            quick={"sizes": "8,4K"},
        )
        for op in OPS
        for conduit in CONDUITS
    ),
    plots=tuple(
        gm.Plot(
            kind="latency",
            name=f"{op}_{conduit}",
            title=f"{op.upper()} of a shared array by {conduit}: addresses cached, asked for, or both",
            op=op,
            conduit=conduit,
        )
        for op in OPS
        for conduit in CONDUITS
    ),
)
