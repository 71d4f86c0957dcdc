"""Run a little of everything on every modelled conduit: the figures are equal on every computer and in every build.

CI compares it with results/reference: a moved picosecond fails and is named. A change that is meant to move a figure
renews that folder (docs/notes/guard.md).
"""

from functools import partial

import gasmeter as gm

# The nodes of sci and gm hold two ranks, and two ranks of a node have no card between them.
FILLED = ("ideal,extoll,ibv,mpi@extoll,mpi@ibv,udp@ethernet", "fill")
APART = ("sci,gm,mpi@sci", "one-per-node")
# The conduits whose Mediums fit a buffer of 2 KiB together with their arguments.
SMALLER = ("portals,mpi@portals", "one-per-node")


def series_of(conduit: str, placement: str, medium: str = "2K") -> tuple[gm.Series, ...]:
    modelled = partial(gm.Series, conduit=conduit, placement=placement)
    return (
        modelled(kernel="ping-pong", op="am-short"),
        modelled(kernel="ping-pong", op="am-medium", sizes=f"8,512,{medium}"),
        modelled(kernel="ping-pong", op="am-long", sizes="8,2K"),
        modelled(kernel="ping-pong", op="put,get", sizes="8,4K,64K"),
        modelled(kernel="flood", op="am-medium,put", sizes=f"8,{medium}"),
        modelled(kernel="barrier", ranks="2,5"),
        modelled(kernel="random-access", ranks="4", sizes="4K"),
    )


experiment = gm.Experiment(
    name="reference",
    title="every modelled conduit, a little of everything",
    question="Has a change moved any figure of virtual time?",
    series=(*series_of(*FILLED), *series_of(*APART), *series_of(*SMALLER, "1K")),
)
