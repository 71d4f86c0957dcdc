"""Take a first look: active messages, put and get over shared memory and UDP, beside bare memory and sockets."""

from functools import partial

import gasmeter as gm

over_memory = partial(gm.Series, conduit=("raw@shm", "smp"), against="raw@shm")
over_udp = partial(gm.Series, conduit=("raw@udp", "udp"), against="raw@udp")

experiment = gm.Experiment(
    name="first_look",
    title="Shared memory and UDP: conduits against what carries them",
    question=(
        "What does a message cost over shared memory, compared with a cache line that goes from one core to the other"
        " and back (active messages) and with a plain copy (put, get)? What over UDP sockets, compared with one plain"
        " socket? How many random updates a second do they carry?"
    ),
    series=(
        over_memory(kernel="ping-pong", op="am-short", time_s=0.3),
        over_memory(kernel="ping-pong", op="am-medium", sizes="8:16K", time_s=0.2, quick={"sizes": "8,64,512,4K,16K"}),
        over_memory(
            kernel="ping-pong",
            op=("put", "get"),
            sizes="8:1M",
            time_s=0.2,
            quick={"sizes": "8,64,512,4K,32K,256K,1M"},
        ),
        over_udp(
            kernel="ping-pong",
            op="am-medium",
            sizes="8,64,512,4K,16K",
            time_s=0.2,
            quick={"sizes": "8,4K"},
        ),
        over_udp(
            kernel="ping-pong",
            op=("put", "get"),
            sizes="8,64,512,4K,32K",
            time_s=0.2,
            quick={"sizes": "8,32K"},
        ),
        over_memory(
            kernel="random-access",
            variant=("am", "put-get", "direct"),
            sizes="32M",
            ranks=(1, 2, 4),
            time_s=0.3,
            max_time_s=2.0,
            quick={"sizes": "1M"},
        ),
        over_udp(
            kernel="random-access",
            variant="am",
            sizes="32M",
            ranks=(2, 4),
            time_s=0.3,
            max_time_s=2.0,
            quick={"sizes": "1M"},
        ),
    ),
    plots=(
        gm.Plot(
            kind="latency",
            conduit=("smp", "raw@shm"),
            title="Round trip of active messages, latency of put and get over shared memory",
        ),
        gm.Plot(
            kind="latency",
            name="latency_udp",
            conduit=("udp", "raw@udp"),
            title="Round trip of active messages, latency of put and get over UDP",
        ),
        gm.Plot(kind="gups", title="RandomAccess over shared memory and UDP"),
    ),
)
