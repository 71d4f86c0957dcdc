"""Compare udp with one plain UDP socket: every line is a ratio of blocks that alternate in one run, on two ranks."""

from functools import partial

import gasmeter as gm

beside_raw = partial(gm.Series, conduit="udp", against="raw@udp")

experiment = gm.Experiment(
    name="udp_speed",
    title="UDP over loopback: udp against one plain socket",
    question=(
        "What does exactly-once delivery over datagrams cost beside one unconnected socket that repairs nothing, and"
        " what do shared datagrams, segmentation and zero-copy transfers win back?"
    ),
    series=(
        beside_raw(
            kernel="ping-pong",
            op="am-short",
            ci="1%",
            max_time_s=6,
            target=gm.Target(line="Short AM round trip / raw round trip", at_most=1.08),
        ),
        beside_raw(
            kernel="flood",
            op="am-short",
            options={"mtu": 1428},
            time_s=1.0,
            target=gm.Target(line="Short flood in 1400 B datagrams / one datagram per message", at_least=25),
        ),
        beside_raw(
            kernel="flood",
            op="put",
            sizes="64K:4M",
            time_s=0.5,
            quick={"sizes": "1M"},
            target=gm.Target(line="Put flood / raw payload rate of 60 kB datagrams", at_least=0.85),
        ),
        beside_raw(
            kernel="random-access",
            variant="am",
            sizes="256M",
            time_s=1.0,
            quick={"sizes": "4M"},
            target=gm.Target(line="RandomAccess / buckets over plain sockets"),
        ),
    ),
    plots=(gm.Plot(kind="bandwidth", title="Bandwidth of puts over UDP on loopback"),),
)
