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

Pairs = tuple[tuple[str, str], ...]


def _line(label: str, conduit: str, topology: str, variant: str = "", **options: str) -> Line:
    given = tuple(sorted(options.items()))
    # Conduit and VELO alike: a message for each update, 16 of a rank on their way.
    # MPI fills HPC Challenge's buckets instead.
    windowed = variant == "am" or conduit == "raw@extoll"
    wanted = (*_PRICED, ("window", "16")) if windowed else _PRICED
    return Line(label, "random-access", conduit, "extoll", topology, variant, options=given, wanted=wanted)


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

# What the paper calls MPI: a program on MPI itself, RandomAccess by HPC Challenge's buckets.
_MPI = "raw@mpi@extoll"
_MPI_3D, _MPI_2D = _line("MPI", _MPI, _MESH_3D), _line("MPI", _MPI, _MESH_2D)

_FULL = Effort(_RANKS, 1000, (64, 128, 256, 512), 50, factor_xs=(64,), longer=(64, 128))
_FULL_UPC = Effort(_RANKS, 1000, (64, 512), 50, factor_xs=(64,), longer=(64, 128))
_QUICK = Effort(_RANKS, 100)

# Payloads that every conduit of a figure takes as one Medium; the paper names none.
_TO_8192, _TO_2048, _TO_512 = (tuple(8 << power for power in range(count)) for count in (11, 9, 7))
_PAIR = ("one-per-node",)


def _trips(sizes: tuple[int, ...]) -> tuple[Effort, Effort]:
    """Return how long round trips are run: in full, quick."""
    return Effort(sizes, 100, (8, 128, sizes[-1]), 20, factor_xs=(128,)), Effort(sizes, 20)


_CARD, _CONDUIT = _ping("VELO/RMA", "raw@extoll", "extoll"), _ping("conduit", "extoll", "extoll")
_MPI_PING = _ping("MPI", _MPI, "extoll")
_VERBS, _IBV = _ping("verbs", "raw@ibv", "ibv"), _ping("ibv conduit", "ibv", "ibv")
_UDP = _ping("udp conduit (AMUDP)", "udp@ibv", "ipoib", protocol="amudp")
_UDP_NOW = _ping("udp conduit (window)", "udp@ibv", "ipoib", protocol="window")
_SLOW_UDP = _ping("udp conduit, caches off", "udp@ethernet", "ethernet", protocol="amudp", caches="false")
_SLOW_SOCKETS = _ping("sockets, caches off", "raw@ethernet", "ethernet", caches="false")
_HERE = (
    _ping("udp conduit, loopback, caches on", "udp", "", protocol="amudp"),
    _ping("sockets, loopback, caches on", "raw@udp", ""),
)

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
        Figure("1", "Latency of datagrams against verbs on InfiniBand", (_UDP, _IBV),
               ("extoll-fig1-ratio", "extoll-fig1-order", "extoll-udp-unfit"), *_trips(_TO_512), 20, 5,
               placements=_PAIR, axis="size", beside=(_UDP_NOW,)),
        Figure("3", "UPC RandomAccess with the early and the improved active messages", _UPC,
               ("extoll-fig3-am2-gain", "extoll-fig3-order", "extoll-fig3-yrange", "extoll-am-matters",
                "extoll-fig3-magnitude"),
               _FULL_UPC, _QUICK, 330, 10, placements=_PLACEMENTS, beside=(*_CANDIDATES, _LOOPED[0])),
        Figure("8", "Ping-pong of plain sockets against GASNet, caches off", (_SLOW_UDP, _SLOW_SOCKETS),
               ("extoll-fig8-overhead", "extoll-fig8-order"), *_trips(_TO_512), 20, 5,
               placements=_PAIR, axis="size", overheads=((_SLOW_UDP, _SLOW_SOCKETS),), beside=_HERE),
        Figure("9", "Ping-pong on EXTOLL: card, conduit, MPI", (_CARD, _CONDUIT, _MPI_PING),
               ("extoll-fig9-order", "extoll-fig9-mpi", "extoll-fig9-conduit"), *_trips(_TO_8192), 60, 5,
               placements=_PAIR, axis="size", overheads=((_CONDUIT, _CARD), (_MPI_PING, _CARD))),
        Figure("10", "Ping-pong on InfiniBand: verbs, conduit", (_VERBS, _IBV), ("extoll-fig10-ref",),
               *_trips(_TO_2048), 30, 5, placements=_PAIR, axis="size", overheads=((_IBV, _VERBS),)),
        Figure("11", "Overheads of the conduits of EXTOLL and of InfiniBand", (_CARD, _CONDUIT, _VERBS, _IBV),
               ("extoll-fig11-comparable", "extoll-conc-vs-ib"), *_trips(_TO_2048), 30, 5,
               placements=_PAIR, axis="size", overheads=((_CONDUIT, _CARD), (_IBV, _VERBS))),
        Figure("12", "RandomAccess on the conduit against VELO, 3D mesh", (_CONDUIT_3D, _VELO_3D),
               ("extoll-fig12-marginal", "extoll-fig12-14-jump"), _FULL, _QUICK, 180, 5,
               heat_ranks=(256, 512), heat_lines=(_VELO_3D,), placements=_PLACEMENTS, beside=_LOOPED[1:]),
        Figure("13", "RandomAccess on MPI against VELO, 3D mesh", (_VELO_3D, _MPI_3D), ("extoll-fig13-order",),
               _FULL, _QUICK, 440, 8, placements=_PLACEMENTS),
        Figure("14", "RandomAccess on the conduit against MPI, 3D mesh", (_CONDUIT_3D, _MPI_3D, _VELO_3D),
               ("extoll-fig14-order", "extoll-conc-vs-mpi"), _FULL, _QUICK, 560, 8, placements=_PLACEMENTS),
        Figure("15", "RandomAccess on the 2D mesh",
               (_CONDUIT_2D, _VELO_2D, _MPI_2D, _CONDUIT_3D, _VELO_3D, _MPI_3D), ("extoll-fig15-nojump",),
               _FULL, _QUICK, 1100, 8, heat_ranks=(256, 512), heat_lines=(_VELO_2D,), placements=_PLACEMENTS),
        Figure("text", "GASNet's own tests", claims=("extoll-tests-pass",),
               left_out="no figure: gasmeter's conformance suite stands for GASNet's own tests"),
    ),
)  # fmt: skip
