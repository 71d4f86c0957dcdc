"""The paper on the GASNet conduit for EXTOLL: which of its figures are run, and how.

Nothing here was chosen by what came out of it; how claims are judged stands in published/predicates.toml.
"""

from __future__ import annotations

from gasmeter.reproduction.figure import Effort, Figure, Line, Paper

__all__ = ["EXTOLL"]

_MESH_3D, _MESH_2D = "mesh3d:4x4x4", "mesh2d:8x8"
_RANKS = (16, 32, 64, 128, 256, 512)
# HPC Challenge's table takes half of a node's memory of 16 GB, which 16 ranks share.
_PRICED = (("priced_table_bytes", str((8 << 30) // 16)),)
_PLACEMENTS = ("fill", "round-robin")
_EVERYWHERE = (
    "topology", "ranks_per_node", "link.*", "velo.*", "host.pio_*", "host.line_transfer", "host.poll_miss",
    "host.update*", "host.cache*",
)  # fmt: skip
_LIBRARY = (
    "host.call", "host.header_build", "host.dispatch", "host.copy_*", "host.line_store", "host.lock",
    "host.memory_bandwidth",
)  # fmt: skip


Pairs = tuple[tuple[str, str], ...]


def _line(label: str, conduit: str, topology: str, variant: str = "", **options: str) -> Line:
    uses = _EVERYWHERE if conduit.startswith("raw@") else (*_EVERYWHERE, *_LIBRARY)
    given = tuple(sorted(options.items()))
    # Conduit and VELO alike: a message for each update, 16 of a rank on their way.
    wanted = _PRICED if variant == "put-get" else (*_PRICED, ("window", "16"))
    return Line(
        label, "random-access", conduit, "extoll", topology, variant, options=given, wanted=wanted, uses=uses
    )  # fmt: skip


def _ping(label: str, conduit: str, on: str, *, overrides: Pairs = (), **options: str) -> Line:
    """Return round trips of Mediums between two nodes; without a conduit, of what the network itself has for them."""
    return Line(
        label, "ping-pong", conduit, on, op="am-medium", metric="round_trip", options=tuple(sorted(options.items())),
        overrides=overrides,
    )  # fmt: skip


_UPC = (
    _line("am=1 (early)", "extoll", _MESH_3D, "put-get", am="1"),
    _line("am=2 (improved)", "extoll", _MESH_3D, "put-get", am="2"),
)
# What may have changed between the two implementations (networks/extoll/README.md), each early form alone.
_CANDIDATES = tuple(
    _line(f"am=2 but {name}={value}", "extoll", _MESH_3D, "put-get", am="2", **{name: value})
    for name, value in (("sections", "apart"), ("receive", "copy"), ("lock", "packet"), ("send_poll", "on"))
)
# Ranks of a node through memory (judged) or through the card: nobody published which.
_LOOPED = tuple(
    _line(f"{name}, node_local=loop", "extoll", _MESH_3D, variant, node_local="loop", **options)
    for name, variant, options in (("am=2", "put-get", {"am": "2"}), ("conduit", "am", {}))
)
_CONDUIT_3D, _VELO_3D = _line("conduit", "extoll", _MESH_3D, "am"), _line("VELO", "raw@extoll", _MESH_3D)
_CONDUIT_2D, _VELO_2D = _line("conduit", "extoll", _MESH_2D, "am"), _line("VELO", "raw@extoll", _MESH_2D)

_FULL = Effort(_RANKS, 1000, (64, 128, 256, 512), 50, factor_xs=(64,), longer=(64, 128))
_FULL_UPC = Effort(_RANKS, 1000, (64, 512), 50, factor_xs=(64,), longer=(64, 128))
_QUICK = Effort(_RANKS, 100)
_MPI_LATER = "the line of MPI comes with the two-sided service"

# Mediums of up to the least that all conduits of a figure take; the paper names no sizes.
_SIZES = tuple(8 << power for power in range(11))
_PAIR = ("one-per-node",)
_ROUND_TRIPS = Effort(_SIZES, 100, (8, 64, 1024, 8192), 20, factor_xs=(64, 1024))
_QUICK_TRIPS = Effort(_SIZES, 20)
_EXTOLL_CARD, _EXTOLL_CONDUIT = _ping("VELO/RMA", "raw@extoll", "extoll"), _ping("conduit", "extoll", "extoll")

EXTOLL = Paper(
    name="extoll",
    about="GASNet's Core API on EXTOLL R1 cards, 64 nodes of 16 cores",
    machine="extoll",
    cite=(
        "For the published statements: the paper on the GASNet conduit for EXTOLL (Jornadas paper in Spanish, about"
        " 2012).",
        "For RandomAccess: the HPC Challenge benchmark suite, RandomAccess (icl.cs.utk.edu).",
    ),
    figures=(
        Figure("1", "Latency of datagrams against verbs on InfiniBand",
               claims=("extoll-fig1-ratio", "extoll-fig1-order", "extoll-udp-unfit"),
               left_out="needs the modelled conduits udp@ibv and ibv"),
        Figure("3", "UPC RandomAccess with the early and the improved active messages", _UPC,
               ("extoll-fig3-am2-gain", "extoll-fig3-order", "extoll-fig3-yrange", "extoll-am-matters",
                "extoll-fig3-magnitude"),
               _FULL_UPC, _QUICK, 850, 20, placements=_PLACEMENTS, beside=(*_CANDIDATES, _LOOPED[0])),
        Figure("8", "Ping-pong of plain sockets against GASNet, caches off",
               claims=("extoll-fig8-overhead", "extoll-fig8-order"),
               left_out="needs the modelled conduit udp@ethernet"),
        Figure("9", "Ping-pong on EXTOLL: card, conduit, MPI", (_EXTOLL_CARD, _EXTOLL_CONDUIT),
               ("extoll-fig9-order", "extoll-fig9-mpi", "extoll-fig9-conduit"), _ROUND_TRIPS, _QUICK_TRIPS, 60, 5,
               placements=_PAIR, axis="size", overheads=((_EXTOLL_CONDUIT, _EXTOLL_CARD),), left_out=_MPI_LATER),
        Figure("10", "Ping-pong on InfiniBand: verbs, conduit", claims=("extoll-fig10-ref",),
               left_out="needs the modelled conduit ibv"),
        Figure("11", "Overheads of the conduits of EXTOLL and of InfiniBand",
               claims=("extoll-fig11-comparable", "extoll-conc-vs-ib"), left_out="needs the modelled conduit ibv"),
        Figure("12", "RandomAccess on the conduit against VELO, 3D mesh", (_CONDUIT_3D, _VELO_3D),
               ("extoll-fig12-marginal", "extoll-fig12-14-jump"), _FULL, _QUICK, 240, 15,
               heat_ranks=(256, 512), heat_lines=(_VELO_3D,), placements=_PLACEMENTS, beside=_LOOPED[1:]),
        Figure("13", "RandomAccess on VELO (of MPI against VELO), 3D mesh", (_VELO_3D,), ("extoll-fig13-order",),
               _FULL, _QUICK, 50, 8, left_out=_MPI_LATER, placements=_PLACEMENTS),
        Figure("14", "RandomAccess on the conduit against MPI, 3D mesh",
               claims=("extoll-fig14-order", "extoll-conc-vs-mpi"), left_out=_MPI_LATER),
        Figure("15", "RandomAccess on the 2D mesh", (_CONDUIT_2D, _VELO_2D, _CONDUIT_3D, _VELO_3D),
               ("extoll-fig15-nojump",), _FULL, _QUICK, 480, 15, heat_ranks=(256, 512), heat_lines=(_VELO_2D,),
               left_out=_MPI_LATER, placements=_PLACEMENTS),
        Figure("text", "GASNet's own tests", claims=("extoll-tests-pass",),
               left_out="judged by the conformance suite (tests/conformance), which ctest runs on conduit extoll"),
    ),
)  # fmt: skip
