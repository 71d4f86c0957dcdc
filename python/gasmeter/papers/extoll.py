"""The paper on the GASNet conduit for EXTOLL: which of its figures are run, and how.

published/predicates.toml defines how claims are judged. Options follow the paper. Where it is silent, a reading states
them, or they stay open: each draw has another placement of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

from gasmeter.reproduction.judge.gathering import values_of
from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper, Without
from gasmeter.reproduction.plan.planning import Spot
from gasmeter.reproduction.report.link_loads import link_loads
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.verdicts.expressions import Expression

__all__ = ["EXTOLL"]

_MESH_3D, _MESH_2D = "mesh3d:4x4x4", "mesh2d:8x8"
_RANKS = (16, 32, 64, 128, 256, 512)
# HPC Challenge's table takes half of a node's memory of 16 GB, which 16 ranks share.
_PRICED = (("priced_table_bytes", str((8 << 30) // 16)),)
_PLACEMENTS = ("fill", "round-robin")
_BYTES_PER_RANK = 1 << 14
# The rate while all ranks are active: a whole run's rate is its slowest rank's, and would need the paper's length.
_RATE, _WHOLE = "steady_gups", "gups"
# Each message has one update, with so many in flight per rank, each acknowledged; or none: HPC Challenge's buckets.
_WINDOW, _BUCKETS = (("window", "16"),), (("window", "0"),)

Pairs = tuple[tuple[str, str], ...]


def _updates(label: str, conduit: str, topology: str, flow: Pairs, *, variant: str = "", overrides: Pairs = ()) -> Line:
    """Return RandomAccess; the card carries messages within a node, too (§III.B)."""
    local = () if conduit == "raw@extoll" else (("node_local", "loop"),)
    return Line(
        label, "random-access", conduit, "extoll", topology, variant, metric=_RATE, options=(*flow, *local),
        wanted=_PRICED, overrides=overrides,
    )  # fmt: skip


def _upc(label: str, *, local: str = "loop", **options: str) -> Line:
    """Return RandomAccess in the manner of UPC: a blocking get and put for each update."""
    given = (*sorted(options.items()), ("node_local", local))
    return Line(
        label, "random-access", "extoll", "extoll", _MESH_3D, "put-get", metric=_RATE, options=given, wanted=_PRICED
    )  # fmt: skip


def _ping(label: str, conduit: str, on: str, **options: str) -> Line:
    """Return round trips of Mediums between two nodes; without a conduit, the network's own messages."""
    return Line(
        label, "ping-pong", conduit, on, op="am-medium", metric="round_trip", options=tuple(sorted(options.items()))
    )  # fmt: skip


def _trips(count: int) -> tuple[Effort, Effort]:
    """Return the full and the quick length of round trips, up to so many doublings of 8 B.

    The payloads are those that every conduit of a figure takes as one Medium; the paper names none.
    """
    sizes = tuple(8 << power for power in range(count))
    return Effort(sizes, 20, 320), Effort(sizes, 20)


def _overhead(label: str, line: Line, *raw: Line) -> Derived:
    names = tuple(f"raw{number}" for number in range(len(raw)))
    base = names[0] if len(names) == 1 else f"lower({', '.join(names)})"
    return Derived(label, Expression(f"100 * (line / {base} - 1)"), (("line", line), *zip(names, raw, strict=True)))


_AM1, _AM2 = _upc("AM 1 (early)", am="1"), _upc("AM 2 (improved)", am="2")
# Possible changes between the two implementations (networks/extoll/README.md), each early form alone.
_CANDIDATES = tuple(
    _upc(f"AM 2 but {name}={value}", am="2", **{name: value})
    for name, value in (("sections", "apart"), ("receive", "copy"), ("lock", "packet"), ("send_poll", "on"))
)
_SHARED = _upc("AM 2, ranks of a node through memory", local="shared", am="2")

_CONDUIT_3D = _updates("conduit", "extoll", _MESH_3D, _WINDOW, variant="am")
_VELO_3D = _updates("VELO", "raw@extoll", _MESH_3D, _WINDOW)
# The paper's MPI: a program on MPI itself.
_MPI = "raw@mpi@extoll"
_MPI_3D = _updates("MPI", _MPI, _MESH_3D, _WINDOW)
_CONDUIT_2D = _updates("conduit", "extoll", _MESH_2D, _WINDOW, variant="am")
_VELO_2D, _MPI_2D = _updates("VELO", "raw@extoll", _MESH_2D, _WINDOW), _updates("MPI", _MPI, _MESH_2D, _WINDOW)
_CONDUIT_BUCKETS = _updates("conduit, buckets", "extoll", _MESH_3D, _BUCKETS, variant="am")
_VELO_BUCKETS = _updates("VELO, buckets", "raw@extoll", _MESH_3D, _BUCKETS)
_MPI_BUCKETS = _updates("MPI, buckets", _MPI, _MESH_3D, _BUCKETS)
_ENDLESS = (("link.bandwidth", "1 TB/s"),)
_CONDUIT_ENDLESS = _updates("conduit, endless links", "extoll", _MESH_3D, _WINDOW, variant="am", overrides=_ENDLESS)
_VELO_ENDLESS = _updates("VELO, endless links", "raw@extoll", _MESH_3D, _WINDOW, overrides=_ENDLESS)

# With fewer updates, four times as many move rates by more than 2 %.
_UPDATES, _QUICK = Effort(_RANKS, 128, 2048), Effort(_RANKS, 64)
# A rank fills its look-ahead of 1024 updates in the first half. With more ranks a bucket holds no more than a few.
_BUCKETED, _QUICK_BUCKETED = Effort((16, 32, 64, 128), 2048, 8192), Effort((16, 64), 2048)
_POINTS = (128, 256, 512)
_JUMPING = Effort(_RANKS, 128, 2048, drawn=_POINTS)

_VELO, _RMA = (_ping(name, "raw@extoll", "extoll", path=path) for name, path in (("VELO", "velo"), ("RMA", "rma")))
_CONDUIT = _ping("conduit", "extoll", "extoll")
_MPI_PING = _ping("MPI", _MPI, "extoll")
_VERBS = _ping("verbs (OFED's ping-pong example)", "raw@ibv", "ibv", inline="off")
_INLINED = _ping("verbs, inlined (OFED's latency test)", "raw@ibv", "ibv", inline="on")
_IBV = _ping("ibv conduit", "ibv", "ibv")
_UDP = _ping("udp conduit (AMUDP)", "udp@ibv", "ipoib", protocol="amudp")
_UDP_ASKED = _ping("udp conduit, pong a request", "udp@ibv", "ipoib", protocol="amudp", pong="request")
_IBV_ASKED = _ping("ibv conduit, pong a request", "ibv", "ibv", pong="request")
_UDP_NOW = _ping("udp conduit (window)", "udp@ibv", "ipoib", protocol="window")
_SLOW = {"protocol": "amudp", "caches": "false"}
_SLOW_UDP = _ping("udp conduit, caches off", "udp@ethernet", "ethernet", **_SLOW)
_SLOW_UDP_ASKED = _ping("udp conduit, pong a request", "udp@ethernet", "ethernet", pong="request", **_SLOW)
_SLOW_SOCKETS = _ping("sockets, caches off", "raw@ethernet", "ethernet", caches="false")
_HERE = (
    _ping("udp conduit, loopback, caches on", "udp", "", protocol="amudp"),
    _ping("sockets, loopback, caches on", "raw@udp", ""),
)


_RATIO = Derived("udp over ibv", Expression("udp / ibv"), (("udp", _UDP), ("ibv", _IBV)), "Ratio", "x")
_GAIN = Derived("AM 2 over AM 1", Expression("100 * (am2 / am1 - 1)"), (("am1", _AM1), ("am2", _AM2)), "Gain", "%")
_DATAGRAM_CALLS = ("send", "receive", "input", "interrupt", "wake_up", "ioctl")


def _pace(reproduction: Reproduction, figure: Figure) -> Sequence[Extra]:
    """Return the growth of each line's rates over the last two doublings, and the load of the links."""
    rows = [
        (line.label, line.topology, placement, *(f"{number:.3f}" for number in (before, after, after / before)))
        for line in figure.lines
        for placement in figure.placements
        if all(ranks in (values := reproduction.values(line, placement)) for ranks in _POINTS)
        for before, after in [(values[256] / values[128], values[512] / values[256])]
    ]
    heads = ("line", "topology", "placement", "128 to 256", "256 to 512", "J")
    pace = [Extra("The change of pace from 256 to 512 ranks", heads, rows)] if rows else []
    return [*pace, *_whole(reproduction, figure), *link_loads(reproduction, figure)]


def _whole(reproduction: Reproduction, figure: Figure) -> Sequence[Extra]:
    """Return the results of whole runs with the most ranks, beside the rate while all ranks are active."""
    most = max(int(x) for x in reproduction.plan.effort(figure).xs)
    values = values_of(reproduction.result.rows)
    rows: list[tuple[str, ...]] = [
        (line.label, placement, str(length), f"{steady:.4g}", f"{whole:.4g}", f"{whole / steady:.2f}")
        for line in figure.lines
        for placement in figure.placements
        if (length := reproduction.gathered.lengths.get((placement, Spot(line, most))))
        for run in [reproduction.run_id(line, placement, most)]
        if (steady := values.get((run, _RATE))) and (whole := values.get((run, _WHOLE)))
    ]
    heads = ("line", "placement", "updates a rank", "while all ranks are at it (GUP/s)", "whole run (GUP/s)", "ratio")
    return [Extra(f"Cost of the slowest of {most} ranks to a whole run", heads, rows)] if rows else []


EXTOLL = Paper(
    name="extoll",
    about="GASNet's Core API on EXTOLL R1 cards, 64 nodes of 16 cores",
    machine="extoll",
    cite=(
        "For the published statements: the paper on the GASNet conduit for EXTOLL (Jornadas paper in Spanish, about"
        " 2012).",
        "For RandomAccess: the HPC Challenge benchmark suite, RandomAccess (icl.cs.utk.edu).",
    ),
    native=(("raw@extoll", "node_local", "loop"),),
    without=(
        Without("datagrams' kernel", "the price of the kernel's datagram calls and interrupts", (_UDP, _UDP_ASKED),
                machine=tuple((f"kernel.{name}", "1 ns") for name in _DATAGRAM_CALLS)),
        Without("the conduit's software", "the time of the conduit's own instructions and of its lock",
                (_CONDUIT, _IBV, _CONDUIT_3D, _CONDUIT_BUCKETS),
                machine=(("host.instruction", "1 ps"), ("host.lock", "1 ps"))),
        Without("caches off", "caches that are switched off", (_SLOW_UDP, _SLOW_UDP_ASKED, _SLOW_SOCKETS),
                options=(("caches", "true"),)),
        Without("MPI's software", "the price of matching and of MPI's own software",
                (_MPI_PING, _MPI_3D, _MPI_BUCKETS),
                machine=(("mpi.software", "1 ns"), ("mpi.match_element", "1 ns"))),
    ),
    figures=(
        Figure("1", "Latency of datagrams against verbs on InfiniBand", (_UDP, _IBV, _UDP_ASKED, _IBV_ASKED),
               ("extoll-fig1-ratio", "extoll-fig1-order", "extoll-udp-unfit"), *_trips(7), 20, 5, axis=SIZE,
               beside=(_UDP_NOW,), derived=(_RATIO,),
               says="Datagrams pay system calls and interrupts at either side; the conduit over verbs pays neither."),
        Figure("3", "UPC RandomAccess with the early and the improved active messages", (_AM1, _AM2),
               ("extoll-fig3-am2-gain", "extoll-fig3-order", "extoll-fig3-yrange", "extoll-am-matters",
                "extoll-fig3-magnitude"),
               Effort(_RANKS, 32, 512), Effort(_RANKS, 16), 190, 10, bytes_per_rank=_BYTES_PER_RANK,
               placements=_PLACEMENTS, beside=(*_CANDIDATES, _SHARED), derived=(_GAIN,),
               extras=_whole,
               says="Each update waits for a get and then a put. The first implementation is not published."),
        Figure("8", "Ping-pong of plain sockets against GASNet, caches off",
               (_SLOW_UDP, _SLOW_SOCKETS, _SLOW_UDP_ASKED), ("extoll-fig8-overhead", "extoll-fig8-order"), *_trips(7),
               20, 5, axis=SIZE, beside=_HERE,
               derived=(_overhead("udp conduit", _SLOW_UDP, _SLOW_SOCKETS),
                        _overhead("udp conduit, pong a request", _SLOW_UDP_ASKED, _SLOW_SOCKETS)),
               says="Without caches every instruction is a memory access, so that what the library adds shows most."),
        Figure("9", "Ping-pong on EXTOLL: card, conduit, MPI", (_VELO, _RMA, _CONDUIT, _MPI_PING),
               ("extoll-fig9-order", "extoll-fig9-mpi", "extoll-fig9-conduit"), *_trips(11), 60, 5, axis=SIZE,
               derived=(_overhead("conduit", _CONDUIT, _VELO, _RMA), _overhead("MPI", _MPI_PING, _VELO, _RMA)),
               says="Overheads are over the better of VELO's packets and RMA at each size."),
        Figure("10", "Ping-pong on InfiniBand: verbs, conduit", (_VERBS, _IBV, _INLINED), ("extoll-fig10-ref",),
               *_trips(9), 30, 5, axis=SIZE,
               derived=(_overhead("over the example", _IBV, _VERBS), _overhead("over inlined verbs", _IBV, _INLINED)),
               says="OFED has two programs of the kind: one inlines small payloads, the other does not."),
        Figure("11", "Overheads of the conduits of EXTOLL and of InfiniBand",
               (_VELO, _RMA, _CONDUIT, _VERBS, _IBV, _INLINED), ("extoll-fig11-comparable", "extoll-conc-vs-ib"),
               *_trips(9), 30, 5, axis=SIZE,
               derived=(_overhead("EXTOLL", _CONDUIT, _VELO, _RMA), _overhead("InfiniBand", _IBV, _VERBS)),
               says="Each percentage is over its own network, so that the bases differ."),
        Figure("12", "RandomAccess on the conduit against VELO, 3D mesh", (_CONDUIT_3D, _VELO_3D),
               ("extoll-fig12-marginal",), _UPDATES, _QUICK, 640, 5, bytes_per_rank=_BYTES_PER_RANK,
               heat_ranks=(256, 512), heat_lines=(_VELO_3D,), placements=_PLACEMENTS, beyond=("buckets",),
               extras=_whole, says="Each message has one update; a rank has 16 in flight, each acknowledged."),
        Figure("13", "RandomAccess on MPI against VELO, 3D mesh", (_VELO_3D, _MPI_3D), ("extoll-fig13-order",),
               _UPDATES, _QUICK, 430, 8, bytes_per_rank=_BYTES_PER_RANK, placements=_PLACEMENTS, beyond=("buckets",),
               extras=_whole, says="Each message has one update on both."),
        Figure("14", "RandomAccess on the conduit against MPI, 3D mesh", (_CONDUIT_3D, _MPI_3D),
               ("extoll-fig14-order", "extoll-conc-vs-mpi"), _UPDATES, _QUICK, 540, 8, bytes_per_rank=_BYTES_PER_RANK,
               placements=_PLACEMENTS, beyond=("9", "12", "buckets"),
               extras=_whole, says="Each message has one update on both."),
        Figure("buckets", "RandomAccess with updates collected in buckets, 3D mesh",
               (_CONDUIT_BUCKETS, _VELO_BUCKETS, _MPI_BUCKETS), (),
               _BUCKETED, _QUICK_BUCKETED, 180, 5, bytes_per_rank=_BYTES_PER_RANK, placements=_PLACEMENTS,
               extras=_whole,
               says="HPC Challenge's look-ahead of 1024 updates, in buckets of a message's largest payload."),
        Figure("jump", "RandomAccess on the 3D mesh, with links as they are and with endless links",
               (_CONDUIT_3D, _VELO_3D, _MPI_3D, _CONDUIT_ENDLESS, _VELO_ENDLESS), ("extoll-fig12-14-jump",),
               Effort(_POINTS, 128, 2048), Effort(_POINTS, 64), 900, 5, bytes_per_rank=_BYTES_PER_RANK,
               placements=_PLACEMENTS, extras=_pace,
               says="If the mesh makes the rates jump from 256 to 512 ranks, endless links remove the jump."),
        Figure("15", "RandomAccess on the 2D mesh", (_CONDUIT_2D, _VELO_2D, _MPI_2D), ("extoll-fig15-nojump",),
               _JUMPING, _QUICK, 370, 8, bytes_per_rank=_BYTES_PER_RANK, heat_ranks=(256, 512),
               heat_lines=(_VELO_2D,), placements=_PLACEMENTS, extras=_pace, beyond=("jump",),
               says="The same programs with the same cards in a mesh of two dimensions."),
        Figure("text", "GASNet's own tests", claims=("extoll-tests-pass",),
               left_out="no figure: gasmeter's conformance suite stands for GASNet's own tests"),
    ),
)  # fmt: skip
"""Lines and figures of the paper that are run."""
