"""Show the gain of immediate messages over waiting for sleeping receivers, by messages in a row to one receiver."""

import gasmeter as gm

experiment = gm.Experiment(
    name="immediate",
    title="Immediate messages and receivers that sleep",
    question=(
        "Rank 0 sends 20000 messages of 4032 B to receivers that poll every 500 us. How much sooner is it done if a"
        " message that would have to wait is refused, and another receiver has its turn?"
    ),
    series=(
        gm.Series(
            kernel="immediate",
            op="compare",
            conduit=("extoll", "ideal"),
            ranks=(2, 4, 8, 16),
            placement="one-per-node",
            options={"block": (1, 5, 0)},
            blocks=1,
            iterations=1,
            quick={"ranks": "2,4", "options": {"block": 0, "messages": 600}},
        ),
        gm.Series(
            kernel="immediate",
            op="compare",
            conduit=("smp", "udp"),
            ranks=(2, 4, 8, 16),
            options={"block": (1, 5, 0)},
            blocks=3,
            iterations=1,
            quick={"ranks": "2,4", "options": {"block": 0, "messages": 600}},
        ),
    ),
)
