"""The paper on the GASNet conduit for Portals: which of its figures are run, and how.

published/predicates.toml defines how claims are judged. Options follow the paper. Where it is silent, they are those of
the released conduit, which are defaults, or a reading states them. The programs are GASNet's testsmall, testlarge and
testam, an MPI ping-ack and osu_bw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper, Without
from gasmeter.reproduction.report.holdings_tables import held, holdings_table, settled
from gasmeter.reproduction.report.published_tables import published_table
from gasmeter.reproduction.report.step_tables import step_table
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.units import format_bytes
from gasmeter.verdicts.expressions import Expression

__all__ = ["PORTALS"]

Pairs = tuple[tuple[str, str], ...]
Program = tuple[str, str, str]

_MACHINE = "portals"
_RAW, _CONDUIT, _MPI, _BARE_MPI = "raw@portals", "portals", "mpi@portals", "raw@mpi@portals"
# Both conduits have memory in the segment, the default of GASNet's tests; MPI runs through AMMPI, as in the paper.
_AS_THEN: Mapping[str, Mapping[str, str]] = {
    _CONDUIT: {"local": "segment"}, _MPI: {"local": "segment", "protocol": "ammpi"},
}  # fmt: skip
_NOTHING, _AT_ONCE, _ENDLESS = "1 ps", "1 ns", "1 TB/s"

# Costs that are removed, in lines of their own and by the paper's mechanisms below.
_FREE_SOFTWARE: Pairs = (("host.instruction", _NOTHING),)
_FREE_COPIES: Pairs = (("host.copy_bandwidth", _ENDLESS), ("host.copy_start", _NOTHING))
_FREE_MPI: Pairs = (("mpi.software", _AT_ONCE),)
_FREE_MDS: Pairs = (("host.md_create", _NOTHING), ("host.md_page", _NOTHING))
_NO_INLINE: Pairs = (("nic.inline", "1 B"),)
_ELSEWHERE: Pairs = (("interrupts", "other"),)

_PUTS: Program = ("ping-pong", "put", "latency")
_MEDIUMS: Program = ("ping-pong", "am-medium", "round_trip")
_STREAM: Program = ("flood", "put", "bandwidth")


def _line(label: str, conduit: str, program: Program, overrides: Pairs = (), /, **options: str) -> Line:
    """Return a line: kernel, operation and options of two ranks."""
    kernel, op, metric = program
    asked = {**(_AS_THEN.get(conduit, {}) if kernel != "barrier" else {}), **options}
    return Line(
        label, kernel, conduit, _MACHINE, op=op, metric=metric, options=tuple(sorted(asked.items())),
        overrides=tuple(sorted(overrides)),
    )  # fmt: skip


def _asking(line: Line, words: str, options: Pairs) -> Line:
    return replace(line, label=f"{line.label}, {words}", options=tuple(sorted({*line.options, *options})))


def _doublings(first: int, last: int) -> tuple[int, ...]:
    return tuple(first << power for power in range((last // first).bit_length()))


_NATIVE, _HYBRID_NAME, _MPI_NAME = "portals-conduit", "portals-conduit, stage 1 (MPI core)", "mpi-conduit"
_PUT, _HYBRID, _MPI_PUT = (
    _line(_NATIVE, _CONDUIT, _PUTS),
    _line(_HYBRID_NAME, _CONDUIT, _PUTS, stage="hybrid"),
    _line(_MPI_NAME, _MPI, _PUTS),
)
_PING_ACK = _line("MPI ping-ack", _BARE_MPI, _PUTS, answer="empty")
_RAW_PUT = _line("Portals, put with ACK", _RAW, _PUTS)
_MEDIUM, _MPI_MEDIUM = _line(f"{_NATIVE}, Medium", _CONDUIT, _MEDIUMS), _line(f"{_MPI_NAME}, Medium", _MPI, _MEDIUMS)
_HYBRID_MEDIUM = _line(f"{_HYBRID_NAME}, Medium", _CONDUIT, _MEDIUMS, stage="hybrid")

_ELSEWHERE_LINES = tuple(
    _asking(line, "interrupts elsewhere", _ELSEWHERE) for line in (_PUT, _PING_ACK, _MPI_PUT, _MEDIUM, _MPI_MEDIUM)
)
# The rest of a put over AMMPI is MPI and the bytes of headers.
_MPI_BYTES = _line(f"{_MPI_NAME}, its instructions and copies free", _MPI, _PUTS, (*_FREE_SOFTWARE, *_FREE_COPIES))
_MEDIUM_FREE, _MPI_MEDIUM_FREE = (
    _line(f"{name}, Medium, copies free", conduit, _MEDIUMS, _FREE_COPIES)
    for name, conduit in ((_NATIVE, _CONDUIT), (_MPI_NAME, _MPI))
)

_MANY, _HYBRID_MANY, _MPI_MANY = (
    _line(_NATIVE, _CONDUIT, _STREAM),
    _line(_HYBRID_NAME, _CONDUIT, _STREAM, stage="hybrid"),
    _line(_MPI_NAME, _MPI, _STREAM),
)
_OSU = _line("osu_bw", _BARE_MPI, _STREAM, window="64")
_RAW_MANY = _line("Portals, put with ACK", _RAW, _STREAM)
_MANY_FREE, _MPI_MANY_FREE = (
    _line(f"{name}, copies free", conduit, _STREAM, _FREE_COPIES)
    for name, conduit in ((_NATIVE, _CONDUIT), (_MPI_NAME, _MPI))
)

_FIREHOSE, _TMPMD = (
    _line(name, _CONDUIT, _STREAM, local="outside", registration=registration, window="1")
    for name, registration in (("Firehose", "firehose"), ("TMPMD", "tmpmd"))
)
_INSIDE = _line("from the segment", _CONDUIT, _STREAM, window="1")

# Enough nodes for every number of ranks; their wiring costs no memory.
_SOME_NODES, _MANY_NODES = "torus3d:16x8x8", "torus3d:32x16x16"
# A rank of the smaller job has 64 peers, of the larger one 512.
_CREDITED_RANKS, _MORE_CREDITED_RANKS = 65, 513
_SCHEMES = ("dynamic", "static")


def _busy(ranks: int, scheme: str) -> Line:
    """Return a stream of Mediums of one pair among many, with the payload of four credits and a header."""
    line = _line(f"{scheme} credits, {ranks - 1} peers", _CONDUIT, ("flood", "am-medium", "bandwidth"), credits=scheme)
    return replace(line, ranks=ranks, size=1024, topology=_SOME_NODES)


_BUSY = tuple(_busy(_CREDITED_RANKS, scheme) for scheme in _SCHEMES)
_BUSY_AMONG_MORE = tuple(_busy(_MORE_CREDITED_RANKS, scheme) for scheme in _SCHEMES)
# 24 credits for each peer keep a link busy, as the conduit's authors reckon (hardware.csv).
_HELD, _LENT, _MPI_HELD = (
    replace(_line(label, conduit, ("barrier", "barrier", "reserved_bytes"), **options), topology=_MANY_NODES)
    for label, conduit, options in (
        ("static, 24 credits for each peer", _CONDUIT, {"credits": "static", "credits_per_peer": "24"}),
        ("dynamic", _CONDUIT, {"credits": "dynamic"}),
        (_MPI_NAME, _MPI, {"protocol": "ammpi"}),
    )
)

_RESERVED = _line("bytes of its buffers and event queues", _CONDUIT, ("barrier", "barrier", "reserved_bytes"))
# Blocking puts of 2 KiB, each from its own buffer on its own page: a region of Firehose for each.
_SOURCE_SIZE = 2048
_ORDERS = ("cyclic", "zipf", "sweep")
_ROUNDS = 4


def _from_buffers(label: str, metric: str, order: str, /, **options: str) -> Line:
    """Return blocking puts from as many buffers as the axis gives."""
    return replace(
        _line(label, _CONDUIT, ("ping-pong", "put", metric), local="outside", order=order, **options),
        size=_SOURCE_SIZE,
    )


_FROM_REGIONS, _MISSES = (
    tuple(_from_buffers(f"Firehose, {order}", metric, order, registration="firehose") for order in _ORDERS)
    for metric in ("latency", "counter:region_misses")
)
_FROM_MANY = (
    _from_buffers("TMPMD, cyclic", "latency", "cyclic", registration="tmpmd", bounce_limit="0"),
    _from_buffers("bounce buffers, cyclic", "latency", "cyclic", registration="tmpmd", bounce_limit="2048"),
)
_ENDS: Program = ("local-completion", "event", "latency")
# Naming a default distinguishes them from the lines above, which a predicate without a payload means.
_EVENTS = tuple(
    replace(_line(label, _CONDUIT, program, stage="native", **options), size=512)
    for label, program, options in (
        ("SEND_END: local completion of a put", _ENDS, {"window": "1"}),
        ("the copy to a bounce buffer: local completion of a small put from outside the segment", _ENDS,
         {"window": "1", "local": "outside", "registration": "tmpmd"}),
        ("ACK: remote completion of a put", _PUTS, {}),
        ("REPLY_END: completion of a get", ("ping-pong", "get", "latency"), {}),
    )
)  # fmt: skip

_SMALL, _FEW_SMALL = _doublings(1, 1024), (1, 8, 16, 32, 128, 512, 1024)
_LARGE, _FEW_LARGE = _doublings(512, 1 << 20), (512, 4096, 8192, 65536, 1 << 20)
_FEW_OUTSIDE = (512, 2048, 4096, 8192, 16384, 65536, 262144, 524288, 1 << 20)
# Firehose has 1024 regions.
_SOURCES = ("64", "512", "896", "1024", "1152", "1536", "2048")
_GRANTS = ("8", "16", "24", "32", "64")
_RANKS = (16, 64, 128, 256, 1024, 4096, 8192)

_LATENCIES = (Effort(_SMALL, 8, 64, _FEW_SMALL), Effort(_FEW_SMALL, 4))
_BANDWIDTHS = (Effort(_LARGE, 32, 2048, _FEW_LARGE), Effort(_FEW_LARGE, 32))


def _over(label: str, above: Line, below: Line) -> Derived:
    return Derived(label, Expression("above / below"), (("above", above), ("below", below)), "Ratio", "x")


_GAIN = Derived(
    "Firehose over TMPMD", Expression("100 * (firehose / tmpmd - 1)"), (("firehose", _FIREHOSE), ("tmpmd", _TMPMD)),
    "Gain", "%",
)  # fmt: skip


def _table(title: str, what: str, size: int | None = None, conduit: str = _CONDUIT, **options: str) -> Extra:
    asked = {**_AS_THEN.get(conduit, {}), **options}
    return step_table(title, what, conduit=conduit, machine=_MACHINE, options=asked, sizes=size)


def _matching(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return the search for the memory of a message (the paper's Fig. 1), with the time of each step."""
    return [
        _table("A put into the segment, step by step: the first entry of its list", "put", 8),
        _table("A Short and its reply: request buffers, behind whoever stands before them; the sender's buffer",
               "am-short"),
        _table("A Long of 64 KiB in two puts: the entry behind that of puts", "am-long", 65536),
        _table("A put of MPI ping-ack: the entries of a receive", "put", 8, _BARE_MPI, answer="empty"),
    ]  # fmt: skip


def _ends(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return the events at which puts and gets are waited for (the paper's Table 2)."""
    return [
        _table("A put of 512 B from the segment, step by step: it ends with ACK", "put", 512),
        _table("A get of 512 B into the segment: it ends with REPLY_END", "get", 512),
        _table("A put of 512 B from outside the segment, by a bounce buffer", "put", 512, local="outside",
               registration="tmpmd"),
        _table("A put of 8 KiB from outside the segment, by an MD of its own", "put", 8192, local="outside",
               registration="tmpmd"),
        _table("The same by Firehose", "put", 8192, local="outside"),
    ]  # fmt: skip


def _descriptors(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return a rank's objects during a put from outside its segment (the paper's Table 1), also with Firehose."""
    asked: dict[str, Any] = {"machine": _MACHINE, "conduit": _CONDUIT, "op": "put", "sizes": 65536}
    puts = {"local": "outside", "window": "1"}
    temporary = held("flood", operations=16, options={**puts, "registration": "tmpmd"}, **asked)
    by_regions = held("flood", operations=16, options={**puts, "registration": "firehose"}, **asked)
    printed = published_table("portals", "table-1")
    return [
        holdings_table("Memory descriptors of rank 0 in the midst of a put from outside its segment (modelled; what is"
                       " published says so)", "MD", temporary, printed),
        holdings_table("Event queues at the same instant (modelled)", "EQ", temporary),
        holdings_table("Memory descriptors where Firehose keeps regions in the place of TMPMD (modelled)", "MD",
                       by_regions),
    ]  # fmt: skip


def _regions(reproduction: Reproduction, figure: Figure) -> Sequence[Extra]:
    """Return the regions after some rounds, counted from the live descriptors, and the counters."""
    effort = reproduction.plan.effort(figure)
    rows: list[tuple[str, ...]] = []
    for line, sources in ((line, str(x)) for line in _FROM_REGIONS for x in effort.xs):
        asked = {**dict(line.options), "sources": sources}
        objects, counted = settled("put", operations=_ROUNDS * int(sources), options=asked, conduit=_CONDUIT,
                                   machine=_MACHINE, sizes=line.size)  # fmt: skip
        live = sum(each["name"] == "region of Firehose" for each in objects)
        shown = (live, *(counted.get(f"region_{name}", 0) for name in ("hits", "misses", "evictions")))
        rows.append((line.label, sources, format_bytes(int(sources) * line.size), *map(str, shown)))
    heads = ("line", "buffers", "working set", "live regions", "hits", "misses", "evictions")
    return [Extra(f"Regions after {_ROUNDS} puts for each buffer (modelled)", heads, rows)]


def _two_puts(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return a put on both conduits: one message and its ACK, or two and their copies."""
    return [
        _table("A put of 16 KiB of the Portals conduit, step by step", "put", 16384),
        _table("The same of the MPI conduit, step by step", "put", 16384, _MPI),
    ]


_ON_MPI = (_MPI_PUT, _PING_ACK, _MPI_MEDIUM, _MPI_MANY, _OSU)

PORTALS = Paper(
    name="portals",
    about="GASNet over Portals 3.3 on the Cray XT4, two nodes of Franklin with one core each",
    machine=_MACHINE,
    cite=(
        "For the published statements: the paper on the GASNet conduit for Portals on the Cray XT series (Cray User"
        " Group meeting, 2009).",
        "For osu_bw: the OSU micro-benchmarks (Ohio State University).",
    ),
    without=(
        Without("MPI's software", "the price of MPI's own software", _ON_MPI, machine=_FREE_MPI),
        Without("conduits' software", "the time of the conduits' own instructions", (_PUT, _MPI_PUT),
                machine=_FREE_SOFTWARE),
        Without("copies", "the price of copies", (_MANY, _MPI_MANY, _MEDIUM, _MPI_MEDIUM), machine=_FREE_COPIES),
        Without("inline payload", "payload in the packet of the header", (_PUT, _PING_ACK, _MPI_PUT, _MEDIUM,
                _MPI_MEDIUM), machine=_NO_INLINE),
        Without("prices of MDs", "the price of creating and destroying MDs", (_FIREHOSE, _TMPMD), machine=_FREE_MDS),
        Without("Firehose", "Firehose, by an MD for each put", (_FIREHOSE,), options=(("registration", "tmpmd"),)),
        Without("loans", "loans: what is granted at first is all there is", (_BUSY[0],),
                options=(("credits", "static"),)),
    ),
    figures=(
        Figure("1", "Search for the memory of an arrival", (_RAW_PUT,), (), Effort((8,), 8, 64), Effort((8,), 4), 5, 1,
               axis=SIZE, table=True, extras=_matching,
               says="The interrupted core reads a list entry by entry; each costs a step."),
        Figure("table-1", "Memory descriptors of the conduit", (_RESERVED,), (), Effort((2,), 1), Effort((2,), 1), 3, 1,
               table=True, extras=_descriptors,
               says="Each row below is a live object with its facts at one instant of a job of two ranks."),
        Figure("table-2", "Events and what they complete", _EVENTS, (), Effort((2,), 8, 64), Effort((2,), 4), 8, 1,
               table=True, extras=_ends,
               says="A put is locally complete before it is remotely; a get has one completion."),
        Figure("2", "Latency of blocking puts", (_MPI_PUT, _PING_ACK, _PUT, _HYBRID),
               ("portals-fig2-ratio", "portals-fig2-disc16", "portals-fig2-mpi-nodisc", "portals-fig2-flat16",
                "portals-fig2-order", "portals-fig2-margin", "portals-conc-latency"),
               *_LATENCIES, 40, 3, axis=SIZE, beside=(_RAW_PUT,), derived=(_over("mpi over portals", _MPI_PUT, _PUT),),
               beyond=("interrupts",), scale_of="4",
               says="Portals sends an ACK, MPI a second message; 16 B of payload fit into the header's packet."),
        Figure("interrupts", "Puts and Mediums whose interrupts another core handles", _ELSEWHERE_LINES, (),
               Effort((16, 32), 8, 64), Effort((16, 32), 4), 15, 1, axis=SIZE, beyond=("2", "4"),
               says="Nodes have four cores and one rank: if another core matches, it does so while the rank polls."),
        Figure("ammpi", "Puts of the MPI conduit with free instructions and copies", (_MPI_BYTES,),
               ("portals-fig2-cause-am",),
               Effort((1, 8, 16), 8, 64), Effort((1, 8, 16), 4), 5, 1, axis=SIZE, beyond=("2",),
               says="With free instructions and copies of the mpi conduit, only its headers and MPI remain."),
        Figure("3", "Bandwidth of non-blocking puts", (_MANY, _OSU, _MPI_MANY, _HYBRID_MANY),
               ("portals-fig3-ratio", "portals-fig3-osubw", "portals-conc-bw", "portals-conc-mpi-bound",
                "portals-stage1-gain"),
               *_BANDWIDTHS, 40, 3, axis=SIZE, beside=(_RAW_MANY,),
               derived=(_over("portals over mpi", _MANY, _MPI_MANY),), beyond=("2",), scale_of="5",
               says="Puts move payload to its destination; AMMPI copies it into a buffer and out of one."),
        Figure("copies", "Non-blocking puts with free copies", (_MANY_FREE, _MPI_MANY_FREE), ("portals-fig3-cause",),
               Effort((65536, 1 << 20), 32, 2048, (1 << 20,)), Effort((1 << 20,), 32), 5, 1, axis=SIZE,
               beyond=("3",), extras=_two_puts, says="If copies slow the mpi conduit, free ones speed it up."),
        Figure("4", "Round trip of Mediums", (_MPI_MEDIUM, _MEDIUM),
               ("portals-fig4-ratio", "portals-fig4-disc", "portals-fig4-mid", "portals-fig4-order",
                "portals-fig4-similar"),
               *_LATENCIES, 20, 2, axis=SIZE, beside=(_HYBRID_MEDIUM,),
               derived=(_over("mpi over portals", _MPI_MEDIUM, _MEDIUM),), beyond=("2", "interrupts"), scale_of="2",
               says="Payload goes both ways, so that the step above 16 B occurs twice."),
        Figure("4-copies", "Round trip of Mediums with free copies", (_MEDIUM_FREE, _MPI_MEDIUM_FREE),
               ("portals-fig4-1k",),
               Effort((512, 1024), 8, 64), Effort((512, 1024), 4), 5, 1, axis=SIZE, beyond=("4",),
               says="Free copies show the cost of copies between 512 and 1024 B."),
        Figure("5", "Bandwidth of blocking puts from outside the segment", (_FIREHOSE, _TMPMD),
               ("portals-fig5-order", "portals-fig5-asym", "portals-fig5-peak", "portals-fig5-range",
                "portals-fig5-absolute", "portals-conc-firehose-minor"),
               Effort(_LARGE, 8, 64, _FEW_OUTSIDE), Effort(_FEW_OUTSIDE, 8), 30, 3, axis=SIZE, derived=(_GAIN,),
               beyond=("3",), scale_of="3",
               says="All puts use one buffer: a TMPMD is created and destroyed each time, a region is found."),
        Figure("working-set", "Puts from memory that is always registered, a yardstick for Firehose", (_INSIDE,),
               ("portals-firehose-converge",), Effort((65536, 1 << 20), 8, 64), Effort((65536, 1 << 20), 8), 5, 1,
               axis=SIZE, beyond=("5",),
               says="A put of 1 MiB takes eight regions and more: the working set is the buffer."),
        Figure("sources", "Blocking puts of 2 KiB by the number of buffers that they come from", _FROM_REGIONS, (),
               Effort(_SOURCES, 1024, 8192, ("64",)), Effort(("64", "1024", "2048"), 4096), 30, 3, axis="sources",
               beside=(*_FROM_MANY, *_MISSES), beyond=("working-set",), extras=_regions,
               says="Up to 1024 buffers each has its region. Beyond, a round misses always, up and down misses"
                    " except at the turns, and random order misses for rare buffers."),
        Figure("credits", "Bandwidth of Mediums by credits: one busy pair among many", _BUSY,
               ("portals-dyncredit-burst",), Effort(_GRANTS, 256, 2048, ("8", "64")), Effort(("8", "64"), 256), 35, 4,
               axis="credits_per_peer", beside=_BUSY_AMONG_MORE,
               says="Static credits stay as they are; dynamic ones grow on demand."),
        Figure("memory", "Memory that conduits hold for messages, by ranks", (_HELD, _LENT),
               ("portals-static-memory", "portals-dyncredit-memory"), Effort(_RANKS, 1, 4, (16, 128, 1024)),
               Effort((16, 128, 1024), 1), 40, 5, beside=(_MPI_HELD,), beyond=("credits",),
               says="Each credit has 256 B of buffer and an event behind it, whether its peer ever sends or not."),
    ),
)  # fmt: skip
"""Lines and figures of the paper that are run."""
