"""The paper on XLUPC's variable directory and its cache of remote addresses: which of its figures are run, and how.

published/predicates.toml defines how claims are judged. Options follow the paper. Where it is silent, they follow a
source of the networks, or are a choice made without a result in view. The programs are its microbenchmarks (kernel
shared-access) and four stressmarks of the DIS suite (kernel stressmark):

| option | default | source |
|---|---|---|
| `cache` | on; lines say what they have | P, 4: with and without; P, 6: miss, at each access |
| `capacity` | 100 entries, by handle and node; or unlimited | P, 3 and 4.5 |
| `replacement` | lru | choice: P does not tell |
| `cached_puts` | true; false in stressmarks on LAPI | P, 4.3 |
| `pinning` | everything at first touch, until it is freed | P, 3.1 |
| `chunk` | 128 KiB, with pinning=chunks | choice: two or more of a node's part; P does not tell |
| `copy_limit` | 8192 B, above it rendezvous | H: 4 to 32 KB of GM layers, lapi-conduit pins from 4 to 16 KB on |
| `near` | direct: node mates through memory | P, 2 and 4.6 |
| `warm` | true: a first run fills caches, untimed and uncounted; more below | P, 4.4: done several times |
| `objects` (shared-access) | 1, in turn | choice; 256 where the cache is to be too small |
| `chains` | all ranks of a node follow one | P, 4.4; 1 as in microbenchmarks |
| `window` | 1 word in Pointer, 3 in Update (named) | P, 4.4: one location, and more than one; DIS: odd |
| `words` | 8192 of 8 B a thread | DIS: 2^24 words at most, on the largest job |
| `distance`, `rows` | 10 pixels, 40 rows a thread | P, 4.6: of the accesses about 3/16 may be remote |
| `columns`, `bits` | 1024 pixels of 8 bits | choice: as many as memory and time allow; DIS: 7 to 15 bits |
| `bytes` | 32768 a thread | choice: P does not tell |
| `width` | 4 B a token | DIS: 1 to 8 |
| `progress` (conduits) | gm: poll; lapi: interrupt | P, 4.6 and 4.7 |
| threads of a node | 4 on gm-marenostrum, 16 on lapi | P, 4.6 and 4.2 |

P: the paper. DIS: specification and reference code of the suite. H: hw.gm.copy-through-send-buffer-up-to,
hw.hps.pin-threshold-lapi-conduit; 8 KiB lies in the middle of the latter and is the lower power of two about that of
the former.

An operation is a GET or PUT, a hop of Pointer or Update, a pair of pixels of Neighborhood, or a token of Field. Its
latency is the time of a run over the operations of a rank. In Pointer it is the mean of all chains, each over its own
hops, since the slowest of short chains is much slower. In Neighborhood it excludes rank 0's output of the histograms,
which takes as long for 16 columns as for all. Chains as short as these would fit into 100 entries: after the first run,
ranks of Pointer and Update read words anywhere until these alone fill their cache, or are all in it. A GET ends with
its data, a PUT with local completion. The microbenchmark has one active thread a node: rank 0, which accesses the part
of the last rank while others wait.

Counters cover all ranks unless stated otherwise: `lookups` of the cache and `hits` among them (the others are
`misses`). `entries` and `pins` are the entries in use of a rank's cache and of its table of pinned memory, summed over
its lookups. `remote_accesses` leave the node, `local_accesses` do not. `waits` are nanoseconds of remote accesses from
the call to completion. `seeded_lookups` and `seeded_hits` belong to a single rank, drawn by the seed among the ranks
with lookups. Each counter is a sum over operations: longer runs do not change its value per operation. No figure reads
`evictions` and `invalidations`.

All counters except `waits` count events of the program, independent of a machine's estimates. A few draws show this,
and the values as given replace the others. Timed lines are drawn with up to 128 threads, Pointer and Update with 448: a
draw of Neighborhood or Field takes seconds there, and there are hundreds.

Machine numbers that lines remove: `adapter.rdma_latency` is the extra time of RDMA mode over packet mode on HPS,
`host.header_handler` the time in which LAPI starts a header handler.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Figure, Line, Paper, Without
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.series import COUNTER

__all__ = ["XLUPC"]

Pairs = tuple[tuple[str, str], ...]
Program = tuple[str, str, str]

_GM, _LAPI = "gm", "lapi"
_RAW_GM, _RAW_LAPI = "raw@gm", "raw@lapi"
_MACHINES = {_GM: "gm-marenostrum", _RAW_GM: "gm-marenostrum", _LAPI: "lapi", _RAW_LAPI: "lapi"}
_NAMES = {_GM: "GM", _LAPI: "LAPI"}
_BOTH = (_GM, _LAPI)
_NOTHING, _ENDLESS = "1 ps", "1 TB/s"
_ON, _OFF = "on", "off"
_WAITED = f"{COUNTER}waits"
_CACHE_WORDS = {_ON: "with the cache", _OFF: "without", "miss": "each access a miss"}

# Costs that are removed, in lines of their own and by the paper's mechanisms below.
_FREE_COPIES: Pairs = (("host.copy_bandwidth", _ENDLESS), ("host.copy_start", _NOTHING))
_FREE_SOFTWARE: Pairs = (("host.instruction", _NOTHING),)
_FREE_RDMA: Pairs = (("adapter.rdma_latency", _NOTHING),)
_FREE_HANDLERS: Pairs = (("host.header_handler", _NOTHING),)
_FREE_BANDWIDTH: Pairs = (("link.bandwidth", _ENDLESS),)
_FREE_BUS: Pairs = (*_FREE_BANDWIDTH, ("pci.bandwidth", _ENDLESS))
# Wires, cards, and the time of GM's library and of the bus to the card per message.
_FREE_NETWORK: Pairs = tuple(
    (key, _NOTHING)
    for key in ("link.latency", "lanai.packet", "lanai.directed", "lanai.acknowledgement", "lanai.dma_start",
                "host.gm_send", "host.gm_receive", "host.pio_start", "host.line_transfer", "host.poll_miss")
)  # fmt: skip


def _line(
    label: str, conduit: str, program: Program, options: Mapping[str, str], *, overrides: Pairs = (), size: int = 0,
    drawn_to: float = math.inf, times: int = 1,
) -> Line:  # fmt: skip
    """Return a line: kernel, operation and options of the ranks."""
    kernel, op, metric = program
    return Line(
        label, kernel, conduit, _MACHINES[conduit], op=op, metric=metric, options=tuple(sorted(options.items())),
        overrides=tuple(sorted(overrides)), size=size, drawn_to=drawn_to,
        counted=metric.startswith(COUNTER) and metric != _WAITED, times=times,
    )  # fmt: skip


def _access(conduit: str, op: str, cache: str, suffix: str = "", *, overrides: Pairs = (), size: int = 0,
            **options: str) -> Line:  # fmt: skip
    """Return a microbenchmark: accesses of one rank to another node's part of a shared array, one after the other."""
    label = f"{_NAMES[conduit]}, {op.upper()}, {_CACHE_WORDS[cache]}{suffix}"
    program = ("shared-access", op, "latency")
    return _line(label, conduit, program, {"cache": cache, **options}, overrides=overrides, size=size)


def _pair(conduit: str, op: str, suffix: str = "", *, overrides: Pairs = (), size: int = 0,
          **options: str) -> tuple[Line, Line]:  # fmt: skip
    """Return the line without the cache and the line with it."""
    off, on = (_access(conduit, op, cache, suffix, overrides=overrides, size=size, **options) for cache in (_OFF, _ON))
    return off, on


def _doublings(first: int, last: int) -> tuple[int, ...]:
    return tuple(first << power for power in range((last // first).bit_length()))


def _gain(label: str, off: Line, on: Line) -> Derived:
    return Derived(label, Expression("100 * (1 - on / off)"), (("on", on), ("off", off)), "Gain", "%")


# ---- Figures 6 and 7: GETs and PUTs by size

_GETS, _PUTS = ({conduit: _pair(conduit, op) for conduit in _BOTH} for op in ("get", "put"))
_LIMITS = {
    limit: {conduit: _pair(conduit, "get", f", copied to {limit} B", copy_limit=limit) for conduit in _BOTH}
    for limit in ("4096", "32768")
}  # fmt: skip
_UNCOPIED = {conduit: _pair(conduit, "get", ", copies free", overrides=_FREE_COPIES) for conduit in _BOTH}
_UNCOPIED_TO_32K = tuple(
    _access(conduit, "get", _OFF, ", copied to 32768 B, copies free", overrides=_FREE_COPIES, copy_limit="32768")
    for conduit in _BOTH
)
_PUT_BY_FAST_RDMA = _access(_LAPI, "put", _ON, ", RDMA mode as fast as packet mode", overrides=_FREE_RDMA)
_PUT_UNHANDLED = _access(_LAPI, "put", _OFF, ", header handlers free", overrides=_FREE_HANDLERS)
_PORTS = tuple(
    _line(f"{name}, round trip between ports", conduit, ("ping-pong", "am-medium", "round_trip"), {})
    for name, conduit in (("GM", _RAW_GM), ("LAPI", _RAW_LAPI))
)
_RDMA_GETS = tuple(
    _line(f"{name}, RDMA get", conduit, ("ping-pong", "get", "latency"), {})
    for name, conduit in (("GM", _RAW_GM), ("LAPI", _RAW_LAPI))
)

# ---- cost of a miss, and accesses within a node

_MISSES = tuple(_access(conduit, "get", "miss") for conduit in _BOTH)
# More objects in turn than entries: the wanted entry has always been evicted.
_TOO_MANY = tuple(line for conduit in _BOTH for line in _pair(conduit, "get", ", 256 objects in turn", objects="256"))
# Naming a default distinguishes them from the lines of Figure 6, which a predicate without it means.
_WITHIN = {conduit: _pair(conduit, "get", ", within a node", near="direct") for conduit in _BOTH}

# ---- Figures 8 and 9: stressmarks

_OPS = ("pointer", "update", "neighborhood", "field")
_PROGRAMS: Mapping[str, Mapping[str, str]] = {"update": {"window": "3"}}
_CUSTOMS: Mapping[str, Mapping[str, str]] = {_LAPI: {"cached_puts": "false"}}
_MOST_DRAWN = {"neighborhood": 128, "field": 128}  # threads
# Each hop and each token leads elsewhere; hops of Update, which one thread does, cost little.
_LONGER = {"pointer": 4, "update": 16}
_AWAY = tuple(f"{COUNTER}{counted}" for counted in ("waits", "remote_accesses", "local_accesses"))


def _mark(
    conduit: str,
    op: str,
    cache: str,
    suffix: str = "",
    *,
    metric: str = "latency",
    overrides: Pairs = (),
    **options: str,
) -> Line:
    """Return a stressmark of all ranks."""
    label = f"{op.capitalize()} on {_NAMES[conduit]}, {_CACHE_WORDS[cache]}{suffix}"
    asked = {"cache": cache, **_PROGRAMS.get(op, {}), **_CUSTOMS.get(conduit, {}), **options}
    drawn_to = _MOST_DRAWN.get(op, math.inf) if metric in {"latency", _WAITED} else math.inf
    times = 4 if metric in _AWAY else _LONGER.get(op, 1)
    return _line(label, conduit, ("stressmark", op, metric), asked, overrides=overrides, drawn_to=drawn_to, times=times)


def _marks(conduit: str, op: str, suffix: str = "", **options: str) -> tuple[Line, Line]:
    """Return the line without the cache and the line with it."""
    off, on = (_mark(conduit, op, cache, suffix, metric="latency", overrides=(), **options) for cache in (_OFF, _ON))
    return off, on


_CAPACITIES = ("4", "10", "30", "100", "unlimited")
_HITS = {
    op: tuple(
        _mark(_GM, op, _ON, f", {capacity} entries, {counted}{whose}", metric=f"{COUNTER}{prefix}{counted}",
              capacity=capacity)
        for prefix, whose in (("", ""), ("seeded_", " of one thread"))
        for capacity in _CAPACITIES for counted in ("lookups", "hits")
    )
    for op in ("pointer", "neighborhood")
}  # fmt: skip
_ENTRIES = tuple(
    _mark(_GM, op, _ON, f", {counted}", metric=f"{COUNTER}{counted}", capacity="unlimited")
    for op in _OPS for counted in (("entries",) if op in _HITS else ("lookups", "entries"))
)  # fmt: skip
_PINS = tuple(
    _mark(_GM, op, _ON, ", pins", metric=f"{COUNTER}pins", capacity="unlimited") for op in ("neighborhood", "field")
)


def _quotient(label: str, part: Line, whole: Line, label_y: str, *, percent: bool = False) -> Derived:
    text = "100 * part / whole" if percent else "part / whole"
    return Derived(label, Expression(text), (("part", part), ("whole", whole)), label_y, "%" if percent else "1")


def _ratios(op: str) -> tuple[Derived, ...]:
    """Return the hit ratios of a figure's lines: look-ups and hits by capacity, of all threads, then of one."""
    pairs = list(zip(_HITS[op][::2], _HITS[op][1::2], strict=True))
    owners = [whose for whose in ("Hits of all threads", "Hits of one thread") for _ in _CAPACITIES]
    return tuple(
        _quotient("no limit" if capacity == "unlimited" else f"{capacity} entries", hits, lookups, whose, percent=True)
        for (lookups, hits), capacity, whose in zip(pairs, 2 * _CAPACITIES, owners, strict=True)
    )


_LOOKUPS = {op: _HITS[op][2 * _CAPACITIES.index("unlimited")] for op in _HITS} | {
    op: next(line for line in _ENTRIES if line.op == op) for op in _OPS if op not in _HITS
}
_IN_USE = (
    *(_quotient(line.op.capitalize(), line, _LOOKUPS[line.op], "Cache entries in use")
      for line in _ENTRIES if line.metric == f"{COUNTER}entries"),
    *(_quotient(line.op.capitalize(), line, _LOOKUPS[line.op], "Pinned pieces in use") for line in _PINS),
)  # fmt: skip
_ON_GM, _ON_LAPI = ({op: _marks(conduit, op) for op in _OPS} for conduit in _BOTH)
# Inputs that the paper leaves open, with other values.
_OTHER_INPUTS = tuple(
    line
    for conduit, op, suffix, options in (
        (_GM, "pointer", ", windows of 3", {"window": "3"}), (_GM, "update", ", windows of 5", {"window": "5"}),
        (_GM, "neighborhood", ", 10 rows a thread", {"rows": "10"}),
        (_GM, "field", ", 128 KiB a thread", {"bytes": "131072"}),
        (_LAPI, "field", ", 128 KiB a thread", {"bytes": "131072"}),
    )
    for line in _marks(conduit, op, suffix, **options)
)  # fmt: skip
# As above, the named default distinguishes them from the lines of Figure 6.
_BESIDE_MARKS = {op: _pair(_GM, op, " of 8 B among many", size=8, objects="1") for op in ("get", "put")}
_BESIDE_LAPI = _access(_LAPI, "get", _OFF, " of 8 B among many", size=8, objects="1")
_ALONE = _marks(_GM, "pointer", ", one chain a blade", chains="1")
_SPREAD = _marks(_GM, "update", ", one thread a blade", near="direct")
_INTERRUPTED = _marks(_GM, "field", ", interrupted by what comes", progress="interrupt")
_POLLED = _marks(_LAPI, "field", ", polled", progress="poll")
_WAITS = tuple(
    _mark(conduit, "field", _OFF, f", {counted.replace('_', ' ')}", metric=f"{COUNTER}{counted}")
    for conduit in _BOTH for counted in ("waits", "remote_accesses")
)  # fmt: skip
_STAYING = _mark(_LAPI, "field", _OFF, ", local accesses", metric=f"{COUNTER}local_accesses")
_NEAR_AT_ONCE = _mark(_GM, "pointer", _ON, ", network and overheads free", overrides=_FREE_NETWORK)
_UNHELD = _mark(_GM, "pointer", _ON, ", bytes free", overrides=_FREE_BUS)
_IN_CHUNKS = tuple(_mark(conduit, op, _ON, ", pinned in pieces", pinning="chunks") for conduit in _BOTH for op in _OPS)

# ---- how long

_SIZES = _doublings(1, 4 << 20)
_FEW_SIZES = (1, 8, 64, 256, *_doublings(1024, 4 << 20))
_MIDDLE_SIZES = (1, 8, 64, 256, *_doublings(1024, 32768))
_NEAR_SIZES = (8, 1024, 65536)
# All four threads of 2 to 512 blades; 448, the most on LAPI, stand on more blades than the cache has entries.
_BLADES, _FEW_BLADES = _doublings(8, 2048), _doublings(8, 512)
_THREADS = (4, *_doublings(8, 256), 448, *_doublings(512, 2048))
_FEW_THREADS = (4, 8, 32, 128, 448)
_P5_THREADS, _FEW_P5_THREADS = (16, 32, 64, 128, 256, 448), (16, 32, 128, 448)
_SHARED_THREADS, _FEW_SHARED_THREADS = (32, 128, 448), (32, 128)
_SPREAD_THREADS = (8, 32, 128)

_BY_SIZE = (Effort(_SIZES, 16, 128, _FEW_SIZES), Effort(_FEW_SIZES, 16))
# PUTs that wait for their source only: the time of the next ones appears once the card's queue is full.
_PUTS_BY_SIZE = (Effort(_SIZES, 16, 4096, _FEW_SIZES), Effort(_FEW_SIZES, 16))
# The length of stressmarks is bounded by the draws: a point of 2048 threads within a minute of processor time.
_TOGETHER = 8192
_BY_BLADES = (Effort(_BLADES, 16, 16, _FEW_BLADES, _TOGETHER), Effort(_FEW_BLADES, 16))
_OF_BOTH = (Effort(_SHARED_THREADS, 16, 16, _FEW_SHARED_THREADS, _TOGETHER), Effort(_FEW_SHARED_THREADS, 16))
# If one thread accesses and the others wait, longer runs cost little.
_OF_ONE = (Effort(_SHARED_THREADS, 512, 2048, _FEW_SHARED_THREADS), Effort(_FEW_SHARED_THREADS, 512))

_CACHED = (
    *(pair[1] for pairs in (_GETS, _PUTS, _WITHIN, _BESIDE_MARKS) for pair in pairs.values()),
    *(pair[1] for pairs in (_ON_GM, _ON_LAPI) for pair in pairs.values()),
    *_OTHER_INPUTS[1::2], *(pairs[conduit][1] for pairs in _LIMITS.values() for conduit in _BOTH),
)  # fmt: skip
_COPIED = tuple(line for pair in _GETS.values() for line in pair)
_POINTERS = (*_HITS["pointer"], _ENTRIES[0])

XLUPC = Paper(
    name="xlupc",
    about="shared arrays of XLUPC with and without a cache of remote addresses: GM in MareNostrum, LAPI on Power5",
    machine=_MACHINES[_GM],
    cite=(
        "For the published statements: M. Farreras, G. Almasi, C. Cascaval, T. Cortes, the paper on scalable RDMA"
        " performance in PGAS languages (IPDPS 2009).",
    ),
    without=(
        Without("cache", "the address cache", _CACHED, options=(("cache", _OFF),)),
        Without("copies", "the price of copies", _COPIED, machine=_FREE_COPIES),
        Without("bandwidth", "the limits of links", _COPIED, machine=_FREE_BANDWIDTH),
        Without("RDMA mode", "what RDMA mode takes longer", _PUTS[_LAPI], machine=_FREE_RDMA),
        Without("software", "the time of instructions", (*_MISSES, *_TOO_MANY), machine=_FREE_SOFTWARE),
        Without("polling", "polling: what comes interrupts", _ON_GM["field"], options=(("progress", "interrupt"),)),
        Without("interrupts", "interrupts: what comes waits for a poll", _ON_LAPI["field"],
                options=(("progress", "poll"),)),
        Without("capacity", "the limit of the cache", (*_POINTERS, _ON_GM["pointer"][1], _ON_GM["update"][1]),
                options=(("capacity", "unlimited"),)),
        Without("shared card", "the chains of a node but one", _ON_GM["pointer"], options=(("chains", "1"),)),
        Without("shared memory", "memory that node mates share", (*_WITHIN[_GM], *_WITHIN[_LAPI], *_ON_GM["pointer"]),
                options=(("near", "remote"),)),
    ),
    figures=(
        Figure("6", "GETs with and without the cache", (*_GETS[_GM], *_GETS[_LAPI]),
               ("xlupc-fig6-get-small-gm", "xlupc-fig6-get-small-lapi", "xlupc-fig6-get-mid", "xlupc-fig6-mid-gt-small",
                "xlupc-fig6-lapi-fade", "xlupc-fig6-gm-fade", "xlupc-fig6-large", "xlupc-fig6-saving",
                "xlupc-intro-short"),
               *_BY_SIZE, 60, 4, axis=SIZE, beside=_RDMA_GETS, beyond=("6-limits",),
               derived=tuple(_gain(f"{_NAMES[conduit]}: gain of GET", *_GETS[conduit]) for conduit in _BOTH),
               says="Without the cache the target translates, and copies short data; with it the card reads."),
        Figure("6-limits", "GETs that are copied up to 4 and 32 KiB without the cache",
               tuple(line for pairs in _LIMITS.values() for pair in pairs.values() for line in pair), (),
               Effort(_MIDDLE_SIZES, 16, 128), Effort(_MIDDLE_SIZES, 16), 60, 4, axis=SIZE, beyond=("6",),
               says="The paper does not give the size at which rendezvous replaces copies."),
        Figure("6-put", "PUTs with and without the cache, to local completion", (*_PUTS[_GM], *_PUTS[_LAPI]),
               ("xlupc-fig6-put-gm", "xlupc-fig6-put-lapi"), *_PUTS_BY_SIZE, 60, 4, axis=SIZE,
               derived=tuple(_gain(f"{_NAMES[conduit]}: gain of PUT", *_PUTS[conduit]) for conduit in _BOTH),
               says="The target's work is hidden behind the next PUT."),
        Figure("6-copies", "GETs with free copies",
               (*_UNCOPIED[_GM], *_UNCOPIED[_LAPI], *_UNCOPIED_TO_32K), ("xlupc-fig6-cause-mid",),
               Effort(_MIDDLE_SIZES, 16, 128), Effort(_MIDDLE_SIZES, 16), 40, 3, axis=SIZE, beyond=("6", "6-limits"),
               says="If copies explain the larger gain of medium GETs, free copies remove it."),
        Figure("6-cause", "PUTs on LAPI with an RDMA mode as fast as packets, and with free handlers",
               (_PUT_BY_FAST_RDMA, _PUT_UNHANDLED), ("xlupc-fig6-put-cause",), *_PUTS_BY_SIZE, 30, 2, axis=SIZE,
               beyond=("6-put",), says="The latency of RDMA mode is an estimate with a wide range."),
        Figure("7", "Round trips of messages between ports", _PORTS,
               ("xlupc-hw-rtt", "xlupc-fig7-order"), Effort(_doublings(1, 1024), 16, 128, (1, 8, 64, 256, 1024)),
               Effort((1, 8, 64, 256, 1024), 16), 20, 2, axis=SIZE, beyond=("6", "6-limits"),
               says="Yardstick of the GETs of Figure 6."),
        Figure("8a", "Hits of Pointer by capacity of the cache", _HITS["pointer"], ("xlupc-fig8-pointer",),
               *_BY_BLADES, 150, 10, placements=("fill",), derived=_ratios("pointer"), only_derived=True,
               says="Ratios of all threads, and of one drawn at random. Chains lead to any node: an entry for each."),
        Figure("8b", "Hits of Neighborhood by capacity of the cache", _HITS["neighborhood"], ("xlupc-fig8-neigh",),
               *_BY_BLADES, 300, 10, placements=("fill",), beyond=("8-entries",), derived=_ratios("neighborhood"),
               only_derived=True,
               says="Ratios of all threads, and of one drawn at random among those with remote neighbours."),
        Figure("8-entries", "Entries in use in a cache without a limit", (*_ENTRIES, *_PINS),
               ("xlupc-fig8-classes", "xlupc-fig8-grow", "xlupc-fig8-field", "xlupc-pc-pinned-table"),
               *_BY_BLADES, 150, 10, placements=("fill",), beyond=("8a", "8b"), derived=_IN_USE, only_derived=True,
               says="Means over the look-ups of all threads that make any."),
        Figure("9a", "Stressmarks on GM with and without the cache", tuple(line for op in _OPS for line in _ON_GM[op]),
               ("xlupc-fig9-gm-pointer", "xlupc-fig9-gm-update", "xlupc-fig9-gm-neigh", "xlupc-fig9-gm-field",
                "xlupc-fig9-gm-pointer-share", "xlupc-abs-mn"),
               Effort(_THREADS, 16, 16, _FEW_THREADS, _TOGETHER), Effort(_FEW_THREADS, 16), 1400, 20,
               placements=("fill",), beyond=("9-inputs",),
               derived=tuple(_gain(f"{op.capitalize()}: gain", *_ON_GM[op]) for op in _OPS),
               says="Four threads share the card of a blade. A single blade has no remote access."),
        Figure("9b", "Stressmarks on LAPI with and without the cache",
               tuple(line for op in _OPS for line in _ON_LAPI[op]),
               ("xlupc-fig9-lapi-others", "xlupc-fig9-lapi-field", "xlupc-fig9-field-contrast", "xlupc-abs-p5",
                "xlupc-cache100-gain"),
               Effort(_P5_THREADS, 16, 16, _FEW_P5_THREADS, _TOGETHER), Effort(_FEW_P5_THREADS, 16), 550, 15,
               placements=("fill",), beyond=("9a", "9-inputs"),
               derived=tuple(_gain(f"{op.capitalize()}: gain", *_ON_LAPI[op]) for op in _OPS),
               says="PUTs do not use the cache, and messages interrupt computing threads."),
        Figure("9-inputs", "Stressmarks with other inputs", _OTHER_INPUTS, (), *_OF_BOTH, 500, 5,
               placements=("fill",), beyond=("9a", "9b"),
               says="Other windows, rows and lengths, as the paper names none."),
        Figure("9-micro", "GETs and PUTs of one active thread", (*_BESIDE_MARKS["get"], *_BESIDE_MARKS["put"]),
               ("xlupc-hybrid-order", "xlupc-fig9-gm-update-micro", "xlupc-fig9-gm-neigh-micro"), *_OF_ONE, 40, 3,
               placements=("fill",), beyond=("9a", "9-inputs"),
               says="Accesses of 8 B over as many crossbars as in stressmarks, with no other user of the card."),
        Figure("9-chains", "Pointer with one active thread a blade", _ALONE, ("xlupc-hybrid-4x",), *_OF_BOTH,
               80, 2, placements=("fill",), beyond=("9a",),
               says="The same array on the same blades; a thread has the card for itself."),
        Figure("9-spread", "Update with one thread a blade", _SPREAD, ("xlupc-fig9-gm-update-nocont",),
               Effort(_SPREAD_THREADS, 16, 16, (), _TOGETHER), Effort(_SPREAD_THREADS, 16), 40, 3, beyond=("9a",),
               says="Comparable to four times as many threads: both have as many blades."),
        Figure("9-waits", "Field with interrupts on GM and polls on LAPI, and its waits",
               (*_INTERRUPTED, *_POLLED, *_WAITS, _STAYING, _BESIDE_LAPI),
               ("xlupc-fig9-field-cause", "xlupc-fig9-lapi-field-cause"), *_OF_BOTH, 500, 5, placements=("fill",),
               beyond=("9a", "9b", "9-micro"),
               says="If Field gains by shorter waits for computing threads, it gains little with interrupts."),
        Figure("9-latency", "Pointer with a free network, and with links and bus without a limit of bandwidth",
               (_NEAR_AT_ONCE, _UNHELD), ("xlupc-pointer-gated",), *_OF_BOTH, 80, 2, placements=("fill",),
               beyond=("9a",), says="The thread's own computing remains."),
        Figure("9-pinning", "Stressmarks with memory pinned in pieces", _IN_CHUNKS, ("xlupc-pin-chunks-similar",),
               *_OF_BOTH, 330, 4, placements=("fill",), beyond=("9a", "9b"),
               says="An entry and a pinned region for each piece of an object on a node."),
        Figure("miss", "Accesses that miss the cache", (*_MISSES, *_TOO_MANY), ("xlupc-miss-typ", "xlupc-miss-max"),
               *_BY_SIZE, 60, 4, axis=SIZE, beyond=("6",),
               says="A miss is a look-up, an address in the answer, a new entry, and an evicted one."),
        Figure("blade", "GETs between two threads of a node", (*_WITHIN[_GM], *_WITHIN[_LAPI]),
               ("xlupc-shared-node",), Effort(_NEAR_SIZES, 16, 128), Effort(_NEAR_SIZES, 16), 10, 1, axis=SIZE,
               placements=("fill",), beyond=("9a",), says="Both threads use memory, so that no message is sent."),
    ),
)  # fmt: skip
"""Lines and figures of the paper that are run."""
