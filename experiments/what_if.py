"""Run EXTOLL as it was and with one number changed at a time, and show what moves."""

import gasmeter as gm

EXTOLL = gm.machine("extoll")
AS_IT_WAS = "mesh3d:4x4x4"
WHAT_IFS = (
    EXTOLL,
    EXTOLL.with_(link_bandwidth="1.25 GB/s"),  # twice the bandwidth of a link
    EXTOLL.with_(link_header="14 B"),  # half of what every packet carries besides its payload
    EXTOLL.with_(velo_mailbox_slots="256 slots"),  # half a mailbox
)


def series(**settings):
    """One benchmark on the machine as it was and on each what-if; the wrap-around links are a what-if of their own."""
    quick = settings.pop("quick", {})
    return (
        gm.Series(machine=WHAT_IFS, topology=AS_IT_WAS, quick=quick, **settings),
        gm.Series(machine=EXTOLL, topology="torus3d:4x4x4", quick=quick, **settings),
    )


experiment = gm.Experiment(
    name="what_if",
    title="EXTOLL as it was, and what if",
    question=(
        "What would have moved had a link of EXTOLL been twice as fast, had the mesh been a torus, had packets carried"
        " half the header, had a mailbox had half its slots?"
    ),
    series=(
        # Corner to corner of the mesh takes nine hops, and three with wrap-around links.
        *series(kernel="ping-pong", conduit="raw@extoll,extoll", op="put,get", sizes="8,1K,64K", placement="list:0,63",
                quick={"sizes": "8,64K"}),
        # 32 ranks, because half a mailbox has no room for the active messages of 64.
        *series(kernel="random-access", conduit="raw@extoll,extoll", ranks=32, sizes="256K", placement="one-per-node",
                quick={"sizes": "64K"}),
    ),
    plots=(
        gm.Plot(kind="links", name="links_mesh", topology="mesh3d:4x4x4", machine="extoll"),
        gm.Plot(kind="links", name="links_torus", topology="torus3d:4x4x4", machine="extoll"),
    ),
)  # fmt: skip
