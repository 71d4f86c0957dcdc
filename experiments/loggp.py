"""Measure the smallest traffic that tells L, o, g and G apart, for `gasmeter fit loggp`, on real and modelled networks.

``gasmeter run experiments/loggp.py --out out/loggp && gasmeter fit loggp out/loggp``
"""

import gasmeter as gm

experiment = gm.Experiment(
    name="loggp",
    title="LogGP of conduits",
    question="What do latency, overheads, gap and bytes cost on each network, and where does its protocol change?",
    series=(
        gm.Series(kernel="loggp", conduit=("smp", "udp"), sizes="8:32K", time_s=0.3, quick={"time_s": 0.05}),
        gm.Series(kernel="loggp", conduit=("ideal", "extoll", "ibv"), placement="one-per-node", sizes="8:2K"),
    ),
)
