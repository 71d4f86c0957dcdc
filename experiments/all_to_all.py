"""Show the links of a mesh and of a torus that an all-to-all keeps busy, and their cost."""

import gasmeter as gm

experiment = gm.Experiment(
    name="all_to_all",
    title="All-to-all on a mesh and on a torus",
    question=(
        "Which links are busy when every rank sends to every other one, on a mesh and on a torus of 64 nodes, and how"
        " much longer does the exchange take where wrap-around links are missing? What does another algorithm change?"
    ),
    series=(
        gm.Series(
            kernel="collective",
            op="exchange",
            conduit="extoll",
            sizes="64,1K,4K",
            ranks=64,
            machine="extoll",
            topology="mesh2d:8x8,torus2d:8x8",
            placement="one-per-node",
            options={"algorithm": ("pairwise", "bruck")},
            quick={"sizes": "1K"},
        ),
    ),
    plots=(
        gm.Plot(kind="links", name="links_mesh", topology="mesh2d:8x8"),
        gm.Plot(kind="links", name="links_torus", topology="torus2d:8x8"),
    ),
)
