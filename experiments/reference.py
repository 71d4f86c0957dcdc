"""Every modelled conduit, a little of everything: figures that have to be equal on every machine and in every build.

CI runs it and holds it against results/reference: one picosecond that moved fails, and is named. A change that is meant
to move one renews that folder (python/gasmeter/guard/README.md).
"""

import gasmeter as gm

# Two ranks of a node have no card between them on sci and gm, whose nodes hold two.
FILLED = {"conduit": "ideal,extoll,ibv,mpi@extoll,mpi@ibv,udp@ethernet", "placement": "fill"}
APART = {"conduit": "sci,gm,mpi@sci", "placement": "one-per-node"}
# Whose Mediums fit a buffer of 2 KiB together with their arguments.
SMALLER = {"conduit": "portals,mpi@portals", "placement": "one-per-node"}


def series_of(modelled: dict[str, str], medium: str = "2K") -> tuple[gm.Series, ...]:
    return (
        gm.Series(kernel="ping-pong", op="am-short", **modelled),
        gm.Series(kernel="ping-pong", op="am-medium", sizes=f"8,512,{medium}", **modelled),
        gm.Series(kernel="ping-pong", op="am-long", sizes="8,2K", **modelled),
        gm.Series(kernel="ping-pong", op="put,get", sizes="8,4K,64K", **modelled),
        gm.Series(kernel="flood", op="am-medium,put", sizes=f"8,{medium}", **modelled),
        gm.Series(kernel="barrier", ranks="2,5", **modelled),
        gm.Series(kernel="random-access", ranks="4", sizes="4K", **modelled),
    )


experiment = gm.Experiment(
    name="reference",
    title="every modelled conduit, a little of everything",
    question="Has a change moved any figure of virtual time?",
    series=(*series_of(FILLED), *series_of(APART), *series_of(SMALLER, "1K")),
)
