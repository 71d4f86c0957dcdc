"""Measure Fig. 8 of the EXTOLL paper here: a UDP conduit beside a ping-pong written in C, with caches on."""

from functools import partial

import gasmeter as gm

beside_raw = partial(gm.Series, conduit=("raw@udp", "udp"), against="raw@udp")

experiment = gm.Experiment(
    name="udp_overhead",
    title="UDP over loopback: conduit against plain sockets",
    question=(
        "How much longer does a ping-pong take through the udp conduit than one written against the socket? Measured on"
        " this machine over loopback, with CPU caches on; the published figure has them off and Ethernet between nodes."
    ),
    series=(
        beside_raw(kernel="ping-pong", op="am-medium", sizes="8:16K", time_s=0.4, quick={"sizes": "8,1K"}),
        beside_raw(
            kernel="ping-pong",
            op="am-medium",
            sizes="8:512",
            options={"protocol": "amudp"},
            time_s=0.4,
            quick={"sizes": "8,512"},
        ),
        beside_raw(kernel="ping-pong", op="put", sizes="8:32K", time_s=0.4, quick={"sizes": "8,1K"}),
    ),
    plots=(gm.Plot(kind="latency", title="Ping-pong over UDP: plain socket, conduit, classic protocol"),),
)
