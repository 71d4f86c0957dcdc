"""How near mpi comes to the MPI below it: every line a ratio of blocks that alternate in one run, on two ranks."""

import gasmeter as gm

RAW = {"conduit": "mpi", "reference": "raw@mpi"}

experiment = gm.Experiment(
    name="mpi_speed",
    title="mpi against the MPI below it",
    question="What do active messages and puts cost over matched messages, and what does sharing messages win back?",
    series=(
        gm.Series(
            kernel="ping-pong",
            op="am-short",
            ci="1%",
            max_time_s=6,
            target=gm.Target(line="Short AM round trip / raw 8 B round trip", at_most=1.25),
            **RAW,
        ),
        gm.Series(
            kernel="flood",
            op="am-short",
            time_s=1.0,
            target=gm.Target(line="Short flood / one message each"),
            **RAW,
        ),
        gm.Series(
            kernel="flood",
            op="am-short",
            time_s=1.0,
            options={"transport": "tcp"},
            target=gm.Target(line="Short flood over TCP / one message each"),
            **RAW,
        ),
        gm.Series(
            kernel="flood",
            op="put",
            size="64K,4M",
            time_s=0.5,
            quick={"size": "64K"},
            target=gm.Target(line="Put flood / window of raw messages", at_least=0.95),
            **RAW,
        ),
        gm.Series(
            kernel="random-access",
            variant="am",
            size="256M",
            time_s=1.0,
            quick={"size": "4M"},
            target=gm.Target(line="RandomAccess / raw buckets", at_least=1.0),
            **RAW,
        ),
    ),
    plots=(gm.Plot(kind="bandwidth", title="Bandwidth of puts over MPI"),),
)
