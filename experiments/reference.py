"""Every modelled conduit, a little of everything: figures that have to be equal on every machine and in every build.

CI runs it and holds it against results/reference: one picosecond that moved fails, and is named. A change that is meant
to move one renews that folder (python/gasmeter/guard/README.md).
"""

import gasmeter as gm

MODELLED = "ideal,extoll,ibv,mpi@extoll,mpi@ibv,udp@ethernet"

experiment = gm.Experiment(
    name="reference",
    title="every modelled conduit, a little of everything",
    question="Has a change moved any figure of virtual time?",
    series=(
        gm.Series(kernel="ping-pong", conduit=MODELLED, op="am-short"),
        gm.Series(kernel="ping-pong", conduit=MODELLED, op="am-medium", size="8,512,2K"),
        gm.Series(kernel="ping-pong", conduit=MODELLED, op="am-long", size="8,2K"),
        gm.Series(kernel="ping-pong", conduit=MODELLED, op="put,get", size="8,4K,64K"),
        gm.Series(kernel="flood", conduit=MODELLED, op="am-medium,put", size="8,2K"),
        gm.Series(kernel="barrier", conduit=MODELLED, ranks="2,5"),
        gm.Series(kernel="random-access", conduit=MODELLED, ranks="4", size="4K"),
    ),
)
