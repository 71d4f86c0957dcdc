"""The paper on the GASNet conduit for SCI: which of its figures are run, and how.

published/predicates.toml defines how claims are judged. Options follow the paper. Where it is silent, a reading states
them. The programs are GASNet's: testam sends from segment to segment, testsmall and testlarge have memory outside, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gasmeter.measuring.measurement import measurement
from gasmeter.measuring.sessions import ModelSession
from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper, Without
from gasmeter.reproduction.report.step_tables import step_table
from gasmeter.reproduction.run.running import Reproduction
from gasmeter.sweeps.placement import ONE_PER_NODE
from gasmeter.verdicts.expressions import Expression

__all__ = ["SCI"]

Pairs = tuple[tuple[str, str], ...]

_RAW, _CONDUIT, _GM, _MPI = "raw@sci", "sci", "gm", "mpi@sci"
_MACHINES = {_RAW: "sci", _CONDUIT: "sci", _GM: "gm", _MPI: "sci"}
# The conduits of 2004: every copy by stores in a loop of start and check of its sequence, as in the released sources;
# AMMPI. A reading says so if a statement may also mean a check per message.
_AS_THEN: Mapping[str, Mapping[str, str]] = {_CONDUIT: {"check": "transaction"}, _MPI: {"protocol": "ammpi"}}
_NOTHING, _AT_ONCE, _ENDLESS = "1 ps", "1 ns", "1 TB/s"

# Costs that are removed, in lines of their own and by the paper's mechanisms below.
_FREE_SOFTWARE: Pairs = (("host.instruction", _NOTHING),)
_FREE_CHECKS: Pairs = (*_FREE_SOFTWARE, ("host.uncached_read", _NOTHING))
_FREE_COPIES: Pairs = (("host.copy_bandwidth", _ENDLESS), ("host.copy_start", _NOTHING))
_FREE_STORES: Pairs = (("host.pio_bandwidth", _ENDLESS), ("host.pio_start", _NOTHING))
_ONE_OPEN: Pairs = (("bridge.outstanding", "1"),)
_FREE_DMA: Pairs = (("dma.bandwidth", _ENDLESS), ("dma.start", _AT_ONCE))
_BY_MESSAGE: Pairs = (("check", "message"),)


def _line(
    label: str, conduit: str, program: tuple[str, str, str], options: Mapping[str, str], overrides: Pairs = ()
) -> Line:
    """Return a line: kernel, operation and options of two ranks."""
    kernel, op, metric = program
    return Line(
        label, kernel, conduit, _MACHINES[conduit], op=op, metric=metric, options=_asked(conduit, options),
        overrides=tuple(sorted(overrides)),
    )  # fmt: skip


def _asked(conduit: str, options: Mapping[str, str]) -> Pairs:
    return tuple(sorted({**_AS_THEN.get(conduit, {}), **options}.items()))


def _ping(label: str, conduit: str, op: str = "am-medium", overrides: Pairs = (), **options: str) -> Line:
    """Return testam's round trips, from segment to segment."""
    return _line(label, conduit, ("ping-pong", op, "round_trip"), {"local": "segment", **options}, overrides)


def _single(label: str, conduit: str, op: str, **options: str) -> Line:
    """Return testsmall: one put or get and its end."""
    return _line(label, conduit, ("ping-pong", op, "latency"), {"local": "segment", **options})


def _many(label: str, conduit: str, op: str, overrides: Pairs = (), **options: str) -> Line:
    """Return one-way bandwidth: testam's Longs, testlarge's puts and gets, or SCI's own programs."""
    return _line(label, conduit, ("flood", op, "bandwidth"), {"local": "segment", **options}, overrides)


def _sizes(first: int, last: int) -> tuple[int, ...]:
    """Return doublings."""
    return tuple(first << power for power in range((last // first).bit_length()))


_SHORT = (
    _ping("SCI raw, PIO", _RAW, "am-short", path="pio"),
    _ping("MPI conduit", _MPI, "am-short"),
    _ping("SCI conduit", _CONDUIT, "am-short"),
    _ping("Myrinet conduit", _GM, "am-short"),
)
_SHORT_SOFTWARE = _ping("SCI conduit, its software free", _CONDUIT, "am-short", overrides=_FREE_SOFTWARE)
_SHORT_CHECKS = _ping("SCI conduit, software and checks' reads free", _CONDUIT, "am-short", overrides=_FREE_CHECKS)
_SHORT_WAITS = _ping(
    "SCI conduit, software and checks' reads free, one check", _CONDUIT, "am-short", overrides=_FREE_CHECKS,
    check="message",
)  # fmt: skip

_SCIPP = _ping("SCI raw, PIO (scipp)", _RAW, path="pio")
_SCI = _ping("SCI conduit", _CONDUIT)
_SCI_BY_MESSAGE = _ping("SCI conduit, one check per message", _CONDUIT, check="message")
_GM_MEDIUM, _MPI_MEDIUM = _ping("Myrinet conduit", _GM), _ping("MPI conduit", _MPI)
_MPI_GATHERED = _ping("MPI conduit of today (gathered)", _MPI, protocol="gathered")
_TOGETHER = _ping("1 transaction", _CONDUIT, medium="one-transaction")
_TOGETHER_BY_MESSAGE = _ping(
    "1 transaction, one check per message", _CONDUIT, check="message", medium="one-transaction"
)


def _overlap(what: str, overrides: Pairs) -> tuple[Line, ...]:
    """Return Mediums in one and in two transactions, with a check for each and for the message."""
    return tuple(
        _ping(f"{count}, {what}{', one check per message' if checks else ''}", _CONDUIT, overrides=overrides,
              **dict(checks), **medium)
        for checks in ((), _BY_MESSAGE)
        for count, medium in (("2 transactions", {}), ("1 transaction", {"medium": "one-transaction"}))
    )  # fmt: skip


_WITHOUT_COPY, _ALONE = _overlap("copies free", _FREE_COPIES), _overlap("one open at a time", _ONE_OPEN)
_NEITHER = _overlap("copies free, one open at a time", (*_FREE_COPIES, *_ONE_OPEN))

_LONG_PIO, _LONG_DMA = (_ping(f"SCI raw, {path.upper()}", _RAW, "am-long", path=path) for path in ("pio", "dma"))
_LONG = _ping("SCI conduit", _CONDUIT, "am-long")
_LONG_BY_MESSAGE = _ping("SCI conduit, one check per message", _CONDUIT, "am-long", check="message")
_LONG_BY_DMA = _ping("SCI conduit, all by DMA", _CONDUIT, "am-long", long_pio="0")
_LONG_UNALIGNED = _ping("SCI conduit, unaligned", _CONDUIT, "am-long", offset="4")
_UNALIGNED_BY_MESSAGE = _ping(
    "SCI conduit, unaligned, one check per message", _CONDUIT, "am-long", check="message", offset="4"
)
_LONG_BY_64 = _ping("SCI conduit, DMA of 64 B, 8 B behind a page", _CONDUIT, "am-long", dma_alignment="64", offset="8")
_GM_LONG, _MPI_LONG = _ping("Myrinet conduit", _GM, "am-long"), _ping("MPI conduit", _MPI, "am-long")
_MPI_LONG_FREE = _ping("MPI conduit, stores free", _MPI, "am-long", overrides=_FREE_STORES)

_STREAM_PIO = _many("SCI raw, PIO", _RAW, "put", path="pio")
_STREAM_DMA = _many("SCI raw, DMA (dma_bench)", _RAW, "put", path="dma")
_STREAM, _GM_STREAM, _MPI_STREAM = (
    _many(label, conduit, "am-long")
    for label, conduit in (("SCI conduit", _CONDUIT), ("Myrinet conduit", _GM), ("MPI conduit", _MPI))
)
_STREAM_BY_MESSAGE = _many("SCI conduit, one check per message", _CONDUIT, "am-long", check="message")
_MPI_STREAM_FREE = _many("MPI conduit, stores free", _MPI, "am-long", overrides=_FREE_STORES)

# Each conduit's largest payload. Naming an option's default distinguishes these lines from those above, which a
# predicate without a payload means.
_LARGEST = ((_CONDUIT, "SCI conduit", 131072), (_MPI, "MPI conduit", 65000))
_MOST = tuple(
    replace(_many(f"{name}, {size} B", conduit, "am-long", window="0"), size=size) for conduit, name, size in _LARGEST
)
_MOST_TRIPS = tuple(
    replace(_ping(f"{name}, {size} B", conduit, "am-long", answer="same"), size=size)
    for conduit, name, size in _LARGEST
)

_NAMES = ((_CONDUIT, "SCI conduit"), (_MPI, "MPI conduit"))
_PUT, _GET, _MPI_PUT, _MPI_GET = (
    _single(f"{name}, {op}", conduit, op) for conduit, name in _NAMES for op in ("put", "get")
)
_OUTSIDE = tuple(
    _single(f"{name}, {op}, outside the segment", conduit, op, local="outside")
    for conduit, name in _NAMES for op in ("put", "get")
)  # fmt: skip
_ONE_BY_MESSAGE = tuple(
    _single(f"SCI conduit, {op}, one check per message", _CONDUIT, op, check="message") for op in ("put", "get")
)
_ANSWERED = tuple(_ping(f"{name}, Medium, empty answer", conduit, answer="empty") for conduit, name in _NAMES)
_BULK = tuple(_many(f"{name}, {op}", conduit, op) for conduit, name in _NAMES for op in ("put", "get"))
_BULK_BY_MESSAGE = tuple(
    _many(f"SCI conduit, {op}, one check per message", _CONDUIT, op, check="message") for op in ("put", "get")
)
_BLOCKING = tuple(
    _many(f"{name}, {op}, blocking", conduit, op, window="1") for conduit, name in _NAMES for op in ("put", "get")
)

# Enough nodes for every number of ranks; their wiring costs no memory and no poll. From some 250 ranks on, command
# segments exceed the contiguous memory that the driver can get.
_MANY_NODES = "oneway-torus2d:32x32"
_LARGE_SEGMENTS = {"big_area": "on"}
_SCHEMES = ("paired", "ibel", "ibel-split")
_RANKS = (2, 4, 16, 64, 256, 1024)
_POLLS = tuple(
    replace(
        _line(f"{queues}, {words}", _CONDUIT, ("poll", op, "latency"), {"queues": queues, **_LARGE_SEGMENTS}),
        topology=_MANY_NODES,
    )
    for queues in _SCHEMES
    for op, words in (("empty", "nothing there"), ("found", "a message"))
)
_HOLDERS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    *((f"SCI conduit, {queues}", _CONDUIT, {"queues": queues, **_LARGE_SEGMENTS}) for queues in _SCHEMES),
    ("MPI conduit", _MPI, {}),
)

_PAYLOADS, _FEW_PAYLOADS = _sizes(8, 2048), (8, 512, 2048)
# A Long of the MPI conduit has 65000 B at most.
_LONGS, _FEW_LONGS = (*_sizes(8, 32768), 65000), (8, 2048, 4096, 32768, 65000)
_GM_LONGS, _FEW_GM_LONGS = (*_sizes(8, 32768), 61440), (8, 2048, 61440)
_LARGER, _LARGE = (32768, 65000, 131072, 262144, 524288), (131072,)
_BLOCKS, _FEW_BLOCKS = _sizes(256, 262144), (256, 16384, 32768, 131072)

_ADDED = Derived(
    "conduit over raw", Expression("(conduit - raw) / 1000"), (("conduit", _SCI), ("raw", _SCIPP)), "Added", "us"
)
_ADDED_HALF = Derived(
    "half of it", Expression("(conduit - raw) / 2000"), (("conduit", _SCI), ("raw", _SCIPP)), "Added", "us"
)
_SAVED = Derived(
    "saved by 2 transactions", Expression("100 * (one / two - 1)"), (("one", _TOGETHER), ("two", _SCI)), "Saved", "%"
)
_SAVED_BY_MESSAGE = Derived(
    "one check per message", Expression("100 * (one / two - 1)"),
    (("one", _TOGETHER_BY_MESSAGE), ("two", _SCI_BY_MESSAGE)), "Saved", "%",
)  # fmt: skip
_UNALIGNED = Derived(
    "unaligned over aligned, one way", Expression("(unaligned - aligned) / 2000"),
    (("unaligned", _LONG_UNALIGNED), ("aligned", _LONG)), "Added", "us",
)  # fmt: skip
_SHARE = Derived(
    "of dma_bench", Expression("100 * conduit / raw"), (("conduit", _STREAM), ("raw", _STREAM_DMA)), "Share", "%"
)
_AHEAD = tuple(
    Derived(f"{op}, SCI over MPI", Expression("sci / mpi"), (("sci", sci), ("mpi", mpi)), "Ratio", "x")
    for op, sci, mpi in zip(("put", "get"), _BULK[:2], _BULK[2:], strict=True)
)


def _steps(title: str, options: Mapping[str, str], **settings: Any) -> Extra:
    """Return the steps of one operation with their times: the paper's drawings."""
    asked = dict(_asked(_CONDUIT, {"local": "segment", **options}))
    return step_table(title, "ping-pong", conduit=_CONDUIT, machine="sci", options=asked, **settings)


def _short_by_step(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return the flow of a message (the paper's Fig. 3) with what each step takes."""
    return [
        _steps("A Short and its reply, step by step", {}, op="am-short"),
        _steps("A Short and its reply with one check per message, step by step", dict(_BY_MESSAGE), op="am-short"),
        _steps("A Long of 4096 B and its reply, step by step", {}, op="am-long", sizes=4096),
    ]


def _mediums_by_step(_reproduction: Reproduction, _figure: Figure) -> Sequence[Extra]:
    """Return a Medium in one and in two transactions (the paper's Fig. 5) with what each step takes."""
    ways = (("two-transactions", "2 transactions"), ("one-transaction", "1 transaction"))
    return [
        _steps(f"A Medium of 512 B and its reply in {words} each", {"medium": medium}, op="am-medium", sizes=512)
        for medium, words in ways
    ]


def _memory(reproduction: Reproduction, figure: Figure) -> Sequence[Extra]:
    """Return the memory that conduits hold: the segments of the paper's Fig. 2 and other objects.

    It comes from jobs of its own, not from kernel simulator's rows, which time this computer. Each rank sends one
    message to another, so that queues that can deadlock do not.
    """
    effort = reproduction.plan.effort(figure)
    ranks = [int(figure.x_of(x, effort)) for x in effort.xs]
    held = {label: _reserved(conduit, options, ranks) for label, conduit, options in _HOLDERS}
    heads = ("conduit", *(f"{count} ranks" for count in ranks))
    return [
        Extra("Bytes that the conduit of a rank holds", heads,
              [(label, *(f"{size:.0f}" for size in bytes_)) for label, bytes_ in held.items()]),
        Extra("Bytes of all ranks together", heads,
              [(label, *(f"{size * count:.0f}" for size, count in zip(bytes_, ranks, strict=True)))
               for label, bytes_ in held.items()]),
    ]  # fmt: skip


def _reserved(conduit: str, options: Mapping[str, str], ranks: Sequence[int]) -> list[float]:
    asked = measurement("simulator", op="am", conduit=conduit, ranks=ranks, machine="sci", topology=_MANY_NODES,
                        placement=ONE_PER_NODE, options=dict(_asked(conduit, options)), iterations=1)  # fmt: skip
    entries = []
    for point in (point for group in asked.groups() for point in group.points):
        session = ModelSession(point)
        try:
            entries.append(session.block(1).metrics["reserved_bytes"])
        finally:
            session.close()
    return entries


_CONDUITS_OWN = (
    *(_SHORT[2], _SCI, _SCI_BY_MESSAGE, _TOGETHER, _LONG, _LONG_BY_MESSAGE, _STREAM, _STREAM_BY_MESSAGE, _PUT, _GET),
    *(*_ONE_BY_MESSAGE, *_BULK[:2], *_BULK_BY_MESSAGE, _ANSWERED[0]),
)  # fmt: skip

SCI = Paper(
    name="sci",
    about="GASNet's Core API on Dolphin's SCI cards, two tori of 8 nodes with two Xeons each",
    machine="sci",
    cite=(
        "For the published statements: H. Su, B. Gordon, S. Oral, A. George, the paper on the SCI conduit for GASNet"
        " (HSLN, LCN 2004).",
    ),
    without=(
        Without("software and checks", "the conduit's own instructions and all but one of a message's checks",
                _CONDUITS_OWN, machine=_FREE_CHECKS, options=_BY_MESSAGE),
        Without("copy and overlap", "the price of copies, with one transaction open at a time",
                (_SCI, _SCI_BY_MESSAGE, _TOGETHER, _TOGETHER_BY_MESSAGE), machine=(*_FREE_COPIES, *_ONE_OPEN)),
        Without("DMA engine", "the start and the time of the DMA engine",
                (_LONG_DMA, _LONG, _LONG_BY_DMA, _STREAM_DMA, _STREAM, *_BULK[:2], *_BLOCKING[:2]),
                machine=_FREE_DMA),
        Without("stores", "the price of the MPI conduit's stores to the card",
                (_MPI_LONG, _MPI_STREAM, *_MOST[1:], *_MOST_TRIPS[1:], *_BULK[2:]), machine=_FREE_STORES),
        Without("copies", "the price of copies", (_PUT, _GET, _MPI_PUT, _MPI_GET, *_OUTSIDE, *_ANSWERED, _SCI,
                _MPI_MEDIUM), machine=_FREE_COPIES),
        Without("bounce through the slot", "the price of stores, copies and checks of Longs",
                (_LONG, _LONG_UNALIGNED, _LONG_BY_MESSAGE, _UNALIGNED_BY_MESSAGE),
                machine=(*_FREE_STORES, *_FREE_COPIES, *_FREE_CHECKS), options=_BY_MESSAGE),
    ),
    figures=(
        Figure("4", "Latency of Shorts and Mediums", (_SCIPP, _MPI_MEDIUM, _SCI, _GM_MEDIUM, _SCI_BY_MESSAGE),
               ("sci-fig4-overhead", "sci-fig4-order-mpi", "sci-fig4-myrinet", "sci-conc-order"),
               Effort(_PAYLOADS, 8, 64, _FEW_PAYLOADS), Effort(_FEW_PAYLOADS, 4), 20, 1, axis=SIZE,
               beside=(_MPI_GATHERED,), derived=(_ADDED, _ADDED_HALF), beyond=("short",),
               says="A message of the conduit takes four writes and their checks; scipp's takes one."),
        Figure("short", "Time of a Short by cause",
               (*_SHORT, _SHORT_SOFTWARE, _SHORT_CHECKS, _SHORT_WAITS), ("sci-fig4-cause",),
               Effort((2,), 8, 64), Effort((2,), 4), 5, 1, extras=_short_by_step,
               says="The time that remains with free software, free checks, and one check a message."),
        Figure("6", "Mediums in one and in two transactions",
               (_SCI, _TOGETHER, _SCI_BY_MESSAGE, _TOGETHER_BY_MESSAGE), ("sci-fig6-order",),
               Effort(_PAYLOADS, 8, 64, _FEW_PAYLOADS), Effort(_FEW_PAYLOADS, 4), 15, 1, axis=SIZE,
               derived=(_SAVED, _SAVED_BY_MESSAGE), extras=_mediums_by_step,
               says="A transaction costs a copy; two cost a second start and, if each is checked, a second check."),
        Figure("overlap", "Mediums in one and in two transactions, with free copies and without overlap",
               (*_WITHOUT_COPY, *_ALONE, *_NEITHER), ("sci-fig6-reasons",),
               Effort((64, 512, 2048), 8, 64, (512,)), Effort((512, 2048), 4), 20, 1, axis=SIZE, beyond=("6",),
               says="The paper's two reasons, each removed alone and both together."),
        Figure("7", "Latency of Longs", (_LONG_DMA, _MPI_LONG, _LONG, _LONG_PIO, _LONG_BY_MESSAGE), (),
               Effort(_LONGS, 8, 64, _FEW_LONGS), Effort(_FEW_LONGS, 2), 30, 1, axis=SIZE,
               says="Up to 65000 B, the most that a Long of the MPI conduit carries; from 2048 B on DMA moves the"
                    " conduit's."),
        Figure("7-large", "Latency of Longs above the MPI conduit's limit of 65000 B", (_LONG_DMA, _LONG),
               ("sci-fig7-trend",), Effort(_LARGER, 4, 32, _LARGE), Effort(_LARGE, 2), 25, 1, axis=SIZE,
               beyond=("7",), says="The DMA engine starts once; its bandwidth decides the rest."),
        Figure("7-gm", "Latency of Longs against the Myrinet conduit", (_LONG, _GM_LONG, _LONG_BY_MESSAGE),
               ("sci-fig7-myrinet",), Effort(_GM_LONGS, 8, 64, _FEW_GM_LONGS), Effort(_FEW_GM_LONGS, 2), 15, 1,
               axis=SIZE, says="A Long of the Myrinet conduit has 61440 B at most: a buffer of 64 KiB less a page."),
        Figure("pio", "Longs below 2048 B by stores and by DMA", (_LONG, _LONG_BY_DMA), ("sci-long-pio-better",),
               Effort((*_sizes(8, 1024), 2040), 8, 64, (8, 2040)), Effort((8, 2040), 4), 10, 1, axis=SIZE,
               says="Stores pay for every 64 B, DMA once for its start."),
        Figure("unaligned", "Longs whose addresses are not aligned",
               (_LONG, _LONG_UNALIGNED, _LONG_BY_MESSAGE, _UNALIGNED_BY_MESSAGE),
               ("sci-unaligned-ovh", "sci-unaligned-gain"), Effort(_sizes(4096, 65536), 4, 32, (4096, 65536)),
               Effort((4096, 65536), 2), 15, 1, axis=SIZE, beside=(_LONG_BY_64,), derived=(_UNALIGNED,),
               says="Both sides begin 4 B behind a page: 4 B at either end go through the slot, the rest by DMA."),
        Figure("8", "Bandwidth of Longs",
               (_STREAM_DMA, _MPI_STREAM, _STREAM, _STREAM_PIO, _STREAM_BY_MESSAGE),
               ("sci-fig8-order-small", "sci-fig8-mpi-max"), Effort(_LONGS, 16, 128, _FEW_LONGS),
               Effort(_FEW_LONGS, 8), 40, 2, axis=SIZE, derived=(_SHARE,), beyond=("7",),
               says="Data flow one way, as in dma_bench. The MPI conduit stores all its messages into buffers."),
        Figure("8-large", "Bandwidth of Longs above the MPI conduit's limit of 65000 B", (_STREAM_DMA, _STREAM),
               ("sci-fig8-trend", "sci-fig8-sci-128k"),
               Effort(_LARGER, 8, 64, _LARGE), Effort(_LARGE, 4), 25, 1, axis=SIZE, derived=(_SHARE,),
               beyond=("7", "7-large"),
               says="The conduit copies into its staging segment before the engine starts, and stays below it."),
        Figure("8-gm", "Bandwidth of Longs against the Myrinet conduit", (_STREAM, _GM_STREAM), ("sci-fig8-myrinet",),
               Effort(_GM_LONGS, 16, 128, (61440,)), Effort(_FEW_GM_LONGS, 8), 15, 1, axis=SIZE, beyond=("7-gm",),
               says="Up to 2048 B Longs of the Myrinet conduit are packed into messages; beyond, sent directly."),
        Figure("8-most", "The largest Longs of the SCI and the MPI conduit", (*_MOST, *_MOST_TRIPS),
               ("sci-fig8-order-large", "sci-fig8-ratio"), Effort((2,), 16, 128), Effort((2,), 8), 10, 1,
               beyond=("7", "8"),
               says="The SCI conduit at 128 KiB, as in the paper; the MPI conduit at its largest Long."),
        Figure("8-cause", "The MPI conduit's Longs with stores as they are and with free stores",
               (_MPI_STREAM, _MPI_STREAM_FREE, _MPI_LONG, _MPI_LONG_FREE), ("sci-fig8-mpi-cause",),
               Effort((16384, 65000), 16, 128, (65000,)), Effort((65000,), 8), 10, 1, axis=SIZE, beyond=("8",),
               says="If stores slow MPI, free ones speed it up."),
        Figure("9", "Latency of put and get", (_PUT, _GET, _MPI_PUT, _MPI_GET, *_ONE_BY_MESSAGE, *_OUTSIDE, *_ANSWERED),
               ("sci-fig9-eq-am", "sci-fig9-order", "sci-fig9-inout"), Effort(_PAYLOADS, 8, 64, _FEW_PAYLOADS),
               Effort(_FEW_PAYLOADS, 4), 25, 1, axis=SIZE, beyond=("4",),
               says="Put and get are a request and a reply of the Core API; one of the two carries the payload."),
        Figure("10", "Bandwidth of bulk put and get", (*_BULK, *_BULK_BY_MESSAGE, *_BLOCKING),
               ("sci-fig10-cross", "sci-fig10-small", "sci-fig10-modes", "sci-conc-putget"),
               Effort(_BLOCKS, 16, 128, _FEW_BLOCKS), Effort(_FEW_BLOCKS, 4), 60, 2, axis=SIZE, derived=_AHEAD,
               beyond=("9",), says="From segment to segment; blocking calls have one transfer under way."),
        Figure("polls", "Time of a poll, and memory of conduits, by ranks", _POLLS[:2], (),
               Effort(_RANKS, 2048, drawn=(2,)), Effort((2, 16, 64), 1024), 30, 2, beside=_POLLS[2:], extras=_memory,
               says="A successful poll reads the flags of all ranks. A vain one reads one flag or, in Ibel's schemes,"
                    " every queue. Command segments of a rank grow with the number of ranks."),
    ),
)  # fmt: skip
"""Lines and figures of the paper that are run."""
