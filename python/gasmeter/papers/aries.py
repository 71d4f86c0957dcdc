"""The paper on what GASNet-EX gained by code made for the Aries network: which of its figures are run, and how.

published/predicates.toml defines how claims are judged. Options follow the paper. Where it is silent, they are those of
the release that it measured, GASNet-EX 2018.3.0, which are the conduit's defaults:

| of the conduit | as run here | source |
|---|---|---|
| largest Medium (`medium`) | 4032 + 8 * floor((16 - n) / 2) B with n arguments | S: 4096 B without a header of 64 |
| | 65472 B in Figure 1 above 4 KiB | P, App. C |
| request area of a peer | 12 KiB in slots of 256 B: three of 4032 B | S; P, App. D: at most three |
| reply slots | 64 of a rank | S |
| post descriptors | 512, at least 32 | S |
| source copied into a descriptor | up to 128 B | S |
| source copied into a bounce buffer | up to 4096 B, 64 buffers of 4 KiB | S |
| memory registered on the way | in pieces of 8 MB, 3072 regions | S |
| by FMA, above by BTE | up to 4096 B | S of 2018.3.0; 1023 B from 2018.9.0 on |
| largest Long | 8 MB | S |
| taken by one poll | 10 completions and 20 messages | S |
| FMA descriptors | a rank's own, not shared | S |
| `np_am`, `immediate`, `local_completion`, `atomics` | specialised; reference where P compares with it | P, II to V |
| `poll_at_injection` | on where requests are sent | P, III: successful immediate calls lack that poll |
| `neighbourhood` | on: messages of a node go through its memory | P, VI.A: XPMEM |
| `atomics=messages` in Figure 4 | between ranks of a node, too | P, App. F: the reference lacked the shortcut |

S: sources and README of GASNet's gemini/aries-conduit, 1.32.0 to 2019.3.0. P: the paper.

The programs are GASNet's testam, testimm, testsmall, testfaddperf and testvisperf. The reference of negotiated payload
hands a temporary to the fixed-payload message, as transfers of many pieces over fixed payload do: np_am=reference is
both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Figure, Line, Paper, Without
from gasmeter.verdicts.expressions import Expression

__all__ = ["ARIES"]

Pairs = tuple[tuple[str, str], ...]
Program = tuple[str, str, str]

# Theta, whose cores are those of Figures 1, 2 and 4; Cori-I and Cori-II.
_THETA, _HASWELL, _KNL = "aries", "aries-cori1", "aries-cori2"
_RAW, _CONDUIT = "raw@aries", "aries"
_NOTHING, _ENDLESS = "1 ps", "1 TB/s"
_MADE, _REFERENCE = "specialised", "reference"
# GASNet polls before it sends a request, except for an immediate one.
_POLLING = {"poll_at_injection": "true"}

# Costs that are removed, in lines of their own and by the paper's mechanisms below.
_FREE_COPIES: Pairs = (("host.copy_bandwidth", _ENDLESS), ("host.copy_start", _NOTHING))
_FREE_SOFTWARE: Pairs = (("host.instruction", _NOTHING),)
_FREE_RECEPTION: Pairs = (
    *_FREE_SOFTWARE, ("host.cq_event", _NOTHING), ("host.line_transfer", _NOTHING), ("host.poll_miss", _NOTHING),
)  # fmt: skip
_FREE_TRANSLATION: Pairs = (("host.translation", _NOTHING),)
# The machine's row for a piece contains a turn of a loop.
_FREE_LOOPS: Pairs = (("host.loop_level", _NOTHING),)


def _line(
    label: str, program: Program, options: Mapping[str, str], *, machine: str, conduit: str = _CONDUIT,
    overrides: Pairs = (), drawn_to: float = math.inf,
) -> Line:  # fmt: skip
    """Return a line: kernel, operation and options of the ranks."""
    kernel, op, metric = program
    return Line(
        label, kernel, conduit, machine, op=op, metric=metric, options=tuple(sorted(options.items())),
        overrides=tuple(sorted(overrides)), drawn_to=drawn_to,
    )  # fmt: skip


def _doublings(first: int, last: int, factor: int = 2) -> tuple[int, ...]:
    sizes = [first]
    while sizes[-1] * factor <= last:
        sizes.append(sizes[-1] * factor)
    return tuple(sizes)


def _over(label: str, above: Line, below: Line) -> Derived:
    return Derived(label, Expression("above / below"), (("above", above), ("below", below)), "Ratio", "x")


def _gain(label: str, better: Line, worse: Line) -> Derived:
    formula = Expression("100 * (better / worse - 1)")
    return Derived(label, formula, (("better", better), ("worse", worse)), "Gain", "%")


# ---- Figure 1: round trips of Mediums, each payload generated


def _medium(label: str, op: str, np_am: str, **options: str) -> Line:
    asked = {"generate": "fill", "np_am": np_am, **_POLLING, **options}
    return _line(label, ("am", op, "round_trip"), asked, machine=_THETA)


_KINDS = (
    ("FP-AM", "medium", _MADE), ("NP-AM, Aries", "np-medium", _MADE), ("NP-AM, reference", "np-medium", _REFERENCE),
)  # fmt: skip
_FP, _NP, _NP_REFERENCE = (_medium(*kind) for kind in _KINDS)
_FP_REFERENCE = _medium("FP-AM, build with the reference", "medium", _REFERENCE)
_LARGE_FP, _LARGE_NP, _LARGE_NP_REFERENCE = (
    _medium(f"{label}, larger Mediums", op, np_am, medium="65472") for label, op, np_am in _KINDS
)
(_FP_HERE, _NP_HERE), _ON_UDP = (
    tuple(
        _line(f"{label}, {conduit}, measured", ("am", op, "round_trip"), {"generate": "fill"}, machine="",
              conduit=conduit)
        for label, op in (("FP-AM", "medium"), ("NP-AM", "np-medium"))
    )
    for conduit in ("smp", "udp")
)  # fmt: skip
_RAW_MEDIUM = _line("GNI, round trip", ("ping-pong", "am-medium", "round_trip"), {}, machine=_THETA, conduit=_RAW)

# ---- Figure 2: Mediums to receivers that sleep

_BLOCKS = (("0", "full block"), ("5", "blocksize 5"), ("1", "cyclic"))


def _exchange(label: str, op: str, block: str, metric: str = "latency", **options: str) -> Line:
    """Return an exchange of 20000 Mediums of 4032 B, receivers asleep for 500 us between polls, up to the barrier."""
    asked = {"block": block, "finish": "barrier", "immediate": _MADE, **_POLLING, **options}
    return _line(label, ("immediate", op, metric), asked, machine=_THETA)


_STATIC, _DYNAMIC = (
    tuple(_exchange(f"{suffix}, {op}", op, block) for block, suffix in _BLOCKS) for op in ("static", "dynamic")
)
_UNPOLLED = _exchange("cyclic, static, no poll at injection", "static", "1", poll_at_injection="false")
_REFUSALS = _exchange("cyclic, dynamic, attempts without room", "dynamic", "1", "counter:stalls")
# Fewer messages, since receivers sleep in real time.
_EXCHANGED_HERE = tuple(
    _line(f"{suffix}, {op}, {conduit}, measured", ("immediate", op, "latency"),
          {"block": block, "finish": "barrier", "messages": "2000"}, machine="", conduit=conduit)
    for conduit in ("smp", "udp") for block, suffix in _BLOCKS for op in ("static", "dynamic")
)  # fmt: skip

# ---- Figure 3: non-bulk puts

# More puts under way than there are descriptors: the conduit holds them back.
_WINDOW = {"window": "1024"}
_PUTS: Program = ("local-completion", "now", "bandwidth")
_NEW, _OLD = (
    _line(label, _PUTS, {"local_completion": how, **_WINDOW}, machine=_HASWELL)
    for label, how in (("with local events", _MADE), ("without", _REFERENCE))
)
_WAITING = _line(
    "with local events, each put waited for", ("local-completion", "defer", "bandwidth"),
    {"local_completion": _MADE, **_WINDOW}, machine=_HASWELL,
)  # fmt: skip
_RAW_PUTS = _line("GNI, puts", ("flood", "put", "bandwidth"), {}, machine=_HASWELL, conduit=_RAW)

# ---- Table 1 and Figure 4: fetch-and-add

_BY_MESSAGE: Mapping[str, str] = {"atomics": _REFERENCE, **_POLLING}
_BY_CARD: Mapping[str, str] = {"atomics": _MADE}
_WAYS = (("AM reference", _BY_MESSAGE), ("Aries", _BY_CARD))
_MEASURES = (("latency", "latency"), ("rate", "throughput"))
_PAIR = tuple(
    _line(f"{word}, {suffix}, {label}", ("fetch-add", op, op), {**asked, "type": word}, machine=_KNL)
    for word in ("u32", "u64") for op, suffix in _MEASURES for label, asked in _WAYS
)  # fmt: skip
_RAW_PAIR = tuple(
    _line(f"u64, {suffix}, GNI", ("fetch-add", op, op), {}, machine=_KNL, conduit=_RAW) for op, suffix in _MEASURES
)
_HOT: Program = ("fetch-add", "hot-spot", "rate")
# Messages between ranks of a node go through its memory. The reference adds there by messages, too, except where the
# line has the shortcut. The card adds for all ranks, including node mates of the word.
_SHARED = {"neighbourhood": "true", "type": "u64"}
_TO_ALL = {**_BY_MESSAGE, **_SHARED, "atomics": "messages"}
_HOT_REFERENCE = _line("AM reference", _HOT, _TO_ALL, machine=_THETA, drawn_to=512)
_HOT_CARD = _line("Aries", _HOT, {**_BY_CARD, "type": "u64"}, machine=_THETA)
_HOT_SHORTCUT = _line("AM reference, with the shortcut", _HOT, {**_BY_MESSAGE, **_SHARED}, machine=_THETA)
_HOT_FREE = _line("AM reference, reception free", _HOT, _TO_ALL, machine=_THETA, overrides=_FREE_RECEPTION)
_FOUND = _line("a poll that finds a message", ("poll", "found", "latency"), {"neighbourhood": "true"}, machine=_THETA)
_RAW_HOT = _line("GNI", _HOT, {}, machine=_THETA, conduit=_RAW)

# ---- Figures 5 and 6: transfers of many pieces

_EX, _GASNET1 = "ex", "gasnet1"
_FORMS = (("Indexed", "indexed-put", "1"), *((f"{levels}d", "strided-put", levels) for levels in ("3", "8", "32")))
_WITHIN = {"density": "0.25", "neighbourhood": "true", "piece": "8"}


def _pieces(
    form: tuple[str, str, str], how: str, *, machine: str = _KNL, conduit: str = _CONDUIT, suffix: str = "",
    overrides: Pairs = (), options: Mapping[str, str] = _WITHIN,
) -> Line:  # fmt: skip
    """Return puts of many pieces between two ranks of a node, by GASNet-EX or in the manner of GASNet-1."""
    label, op, levels = form
    words = f"{label}, {'EX' if how == _EX else 'GASNet-1'}{suffix}"
    asked = {**options, "implementation": how, "levels": levels}
    return _line(words, ("vis", op, "bandwidth"), asked, machine=machine, conduit=conduit, overrides=overrides)


_NEAR_EX, _NEAR_GASNET1 = (tuple(_pieces(form, how) for form in _FORMS) for how in (_EX, _GASNET1))
_UNTRANSLATED = tuple(
    _pieces(_FORMS[0], how, suffix=", translation free", overrides=_FREE_TRANSLATION) for how in (_EX, _GASNET1)
)
_ON_HASWELL = tuple(
    _pieces(form, how, machine=_HASWELL, suffix=", Haswell") for form in _FORMS for how in (_EX, _GASNET1)
)
# Ranks that share memory have no other way on smp.
_NEIGHBOURS: Mapping[str, Mapping[str, str]] = {
    "smp": {"density": "0.25", "piece": "8"}, "udp": _WITHIN,
}  # fmt: skip
_HERE = tuple(
    _pieces(form, how, machine="", conduit=conduit, suffix=f", {conduit}, measured", options=options)
    for conduit, options in _NEIGHBOURS.items() for form in _FORMS for how in (_EX, _GASNET1)
)  # fmt: skip

_FAR = {"density": "0.25", "mechanism": "pack", "piece": "64", "levels": "3", **_POLLING}
_SENT: tuple[tuple[str, str, str], ...] = (
    ("GASNet-1", _GASNET1, _MADE), ("EX, FP-AM", _EX, _REFERENCE), ("EX, NP-AM", _EX, _MADE),
)  # fmt: skip


def _packed(suffix: str = "", *, metric: str = "bandwidth", overrides: Pairs = (), **options: str) -> tuple[Line, ...]:
    """Return strided puts by messages between two nodes: as GASNet-1, with fixed and with negotiated payload."""
    return tuple(
        _line(f"{label}{suffix}", ("vis", "strided-put", metric),
              {**_FAR, "implementation": how, "np_am": np_am, **options}, machine=_KNL, overrides=overrides)
        for label, how, np_am in _SENT
    )  # fmt: skip


_FAR_GASNET1, _FAR_FP, _FAR_NP = _packed()
_, _FP_UNCOPIED, _NP_UNCOPIED = _packed(", copies free", overrides=_FREE_COPIES)
_UNFOLDED_GASNET1, _UNFOLDED_FP, _ = _packed(", levels that do not fold", foldable="false")
_MESSAGES = _packed(", messages", metric="counter:messages")[:2]
_BYTES = _packed(", bytes in messages", metric="counter:payload_bytes")[:2]

# ---- how long

_SMALL, _FEW_SMALL = (0, *_doublings(1, 4096)), (0, 1, 8, 64, 256, 1024, 2048, 4096)
_LARGER = (*_doublings(4096, 32768), 65472)
_JOBS, _FEW_JOBS = _doublings(2, 64), (2, 8, 16, 64)
_PAYLOADS, _FEW_PAYLOADS = _doublings(1, 1 << 21), (1, 128, 1024, 4096, 8192, 16384, 32768, 131072, 1 << 21)
# One rank, whose rate gives the perfect line, then all 64 cores of 1 to 128 nodes. Draws go up to 32 nodes, those of
# the reference up to 8.
_RANKS = (1, *_doublings(64, 8192))
_DRAWN_RANKS = _RANKS[: _RANKS.index(2048) + 1]
_NEAR_SIZES, _FEW_NEAR = _doublings(16, 1 << 21), _doublings(16, 1 << 20, 4)
_FAR_SIZES, _FEW_FAR = _doublings(128, 1 << 21), _doublings(128, 1 << 21, 4)
_HERE_SIZES = (64, 4096, 262144)
# Quick runs leave out lines measured here, as they time this computer.
_NOT_QUICKLY = Effort((), 0)


# The paper's perfect line: one rank's rate times the ranks.
_PERFECT = Derived(
    "perfect scaling", Expression("x * at(card, 1)"), (("card", _HOT_CARD),), "Operations", "1/s", behind=True
)

ARIES = Paper(
    name="aries",
    about="GASNet-EX on Cray XC40 with Aries cards: Theta, Cori-I and Cori-II. Each feature runs by the code for all"
    " networks and by the code made for Aries",
    machine=_THETA,
    cite=(
        "For the published statements: P. Hargrove, D. Bonachea, the paper on GASNet-EX performance improvements due to"
        " specialization for the Cray Aries network (PAW-ATM 2018).",
    ),
    without=(
        Without("injection copy", "the price of copies",
                (_FP, _NP, _NP_REFERENCE, _FP_REFERENCE, _LARGE_FP, _LARGE_NP, _LARGE_NP_REFERENCE, _FAR_FP, _FAR_NP),
                machine=_FREE_COPIES),
        Without("refusals", "refusals: immediate calls wait as others do", (*_DYNAMIC, _REFUSALS),
                options=(("immediate", _REFERENCE),)),
        Without("polls at injection", "polls of the static schedules before each message", _STATIC,
                options=(("poll_at_injection", "false"),)),
        Without("sleeps", "the sleep of receivers", _STATIC, options=(("sleep", "0"),)),
        Without("local events", "the card's local events", (_NEW,), options=(("local_completion", _REFERENCE),)),
        Without("the card's atomics", "the card's atomics, by messages", (*_PAIR[1::2], _HOT_CARD),
                options=(("atomics", _REFERENCE),)),
        Without("software", "the time of the reference's own instructions", (*_PAIR[::2], _HOT_REFERENCE),
                machine=_FREE_SOFTWARE),
        Without("translation", "the price of translating addresses", (*_NEAR_EX, *_NEAR_GASNET1),
                machine=_FREE_TRANSLATION),
        Without("loops", "the price of loops", (*_NEAR_EX, *_NEAR_GASNET1), machine=_FREE_LOOPS),
        Without("loops and translation", "the price of loops and of translating addresses",
                (*_NEAR_EX, *_NEAR_GASNET1), machine=(*_FREE_LOOPS, *_FREE_TRANSLATION)),
        Without("folding", "levels that fold into one", (*_NEAR_EX, *_NEAR_GASNET1, _FAR_GASNET1, _FAR_FP, _FAR_NP),
                options=(("foldable", "false"),)),
    ),
    figures=(
        Figure("1", "Round trips of Mediums whose payload the program writes", (_FP, _NP, _NP_REFERENCE, _FP_REFERENCE),
               ("aries-fig1-ref-order", "aries-fig1-aries-order", "aries-fig1-4k", "aries-fig1-fp-same"),
               Effort(_SMALL, 8, 64, _FEW_SMALL), Effort(_FEW_SMALL, 4), 30, 3, axis=SIZE,
               beside=(_RAW_MEDIUM,),
               derived=(_over("Aries over FP-AM", _FP, _NP), _over("reference over FP-AM", _FP, _NP_REFERENCE)),
               says="The ratio of two times is that of bandwidths, also at 0 B. A payload that a program makes in the"
                    " library's buffer is not copied there."),
        Figure("1-larger", "Round trips of Mediums of up to 65472 B", (_LARGE_FP, _LARGE_NP, _LARGE_NP_REFERENCE),
               ("aries-fig1-64k", "aries-fig1-grow", "aries-abs-npam"), Effort(_LARGER, 8, 64), Effort(_LARGER, 4),
               20, 3, axis=SIZE, beyond=("1",),
               derived=(_over("Aries over FP-AM", _LARGE_FP, _LARGE_NP),
                        _over("reference over FP-AM", _LARGE_FP, _LARGE_NP_REFERENCE)),
               says="The paper's shaded part, whose largest Medium is not the default."),
        Figure("1-here", "Negotiated payload by the reference code through shared memory, measured",
               (_FP_HERE, _NP_HERE), ("aries-npam-rewrite",), Effort(_FEW_SMALL, 8, 64), _NOT_QUICKLY, 30, 0, axis=SIZE,
               beside=_ON_UDP,
               says="The old reference is not described; the present one should cost no more than fixed payload."),
        Figure("2", "Exchanges with receivers that sleep, by schedule", (*_STATIC, *_DYNAMIC),
               ("aries-fig2-outlier", "aries-fig2-full", "aries-fig2-b5", "aries-fig2-cyclic", "aries-fig2-order",
                "aries-fig2-cyclic-best", "aries-abs-imm"),
               Effort(_JOBS, 1, 4, _FEW_JOBS), Effort(_FEW_JOBS, 1), 900, 20,
               derived=tuple(
                   Derived(f"{suffix}: reduction", Expression("100 * (1 - dynamic / static)"),
                           (("dynamic", dynamic), ("static", static)), "Reduction", "%")
                   for (_, suffix), static, dynamic in zip(_BLOCKS, _STATIC, _DYNAMIC, strict=True)),
               says="A receiver's memory holds three of these messages. Immediate senders go elsewhere meanwhile."),
        Figure("2-polls", "Polls and refused messages in the schedule cyclic", (_UNPOLLED, _REFUSALS),
               ("aries-fig2-cyclic-cause",), Effort(_JOBS, 1, 4, _FEW_JOBS), Effort(_FEW_JOBS, 1), 200, 5,
               beyond=("2",), says="A static schedule without a poll before each message, and the count of refused"
                                   " messages."),
        Figure("2-here", "Exchanges with receivers that sleep, measured on this computer", _EXCHANGED_HERE, (),
               Effort((2, 4), 1), _NOT_QUICKLY, 60, 0,
               says="A tenth of the messages, between ranks that share memory or sockets."),
        Figure("3", "Bandwidth of non-bulk puts from outside the segment", (_NEW, _OLD, _WAITING),
               ("aries-fig3-order", "aries-fig3-peak", "aries-fig3-cause", "aries-abs-put"),
               Effort(_PAYLOADS, 32, 2048, _FEW_PAYLOADS), Effort(_FEW_PAYLOADS, 32), 60, 4, axis=SIZE,
               beside=(_RAW_PUTS,), derived=(_gain("gain", _NEW, _OLD),),
               says="A source that the card has read may change; the target's answer takes longer to come."),
        Figure("table-1", "Fetch-and-add between two nodes", _PAIR,
               ("aries-tab1-u32-lat-ref", "aries-tab1-u32-lat-aries", "aries-tab1-u32-lat-ratio",
                "aries-tab1-u32-tput-ref", "aries-tab1-u32-tput-aries", "aries-tab1-u32-tput-ratio",
                "aries-tab1-u64-lat-ref", "aries-tab1-u64-lat-aries", "aries-tab1-u64-lat-ratio",
                "aries-tab1-u64-tput-ref", "aries-tab1-u64-tput-aries", "aries-tab1-u64-tput-ratio",
                "aries-tab1-min", "aries-abs-atomics"),
               Effort((2,), 64, 4096), Effort((2,), 64), 20, 2, table=True, beside=_RAW_PAIR,
               says="By messages a handler of the target adds; otherwise the card adds."),
        Figure("4", "All ranks add to one word of rank 0", (_HOT_REFERENCE, _HOT_CARD),
               ("aries-fig4-ref", "aries-fig4-aries-1", "aries-fig4-aries-2", "aries-fig4-knee", "aries-fig4-perfect",
                "aries-abs-hotspot"),
               Effort(_RANKS, 16, 1024, _DRAWN_RANKS), Effort(_DRAWN_RANKS, 16), 600, 20, beside=(_RAW_HOT,),
               placements=("fill",), derived=(_PERFECT,),
               says="Fewer operations of a rank than the paper's 250000, of two lengths; 64 ranks a node."),
        Figure("4-cause", "Work of rank 0 with atomics by messages", (_HOT_FREE, _FOUND), ("aries-fig4-ref-cause",),
               Effort((128, 256), 16, 1024), Effort((128, 256), 16), 40, 5, placements=("fill",), beyond=("4",),
               says="If reception takes the time, the hot spot scales without its cost."),
        Figure("4-shortcut", "Ranks of one node that add to the word in shared memory, without messages",
               (_HOT_SHORTCUT,), ("aries-fig4-noshm-effect",), Effort((64,), 16, 1024), Effort((64,), 16), 10, 2,
               placements=("fill",), beyond=("4",),
               says="Node mates then add to the word by the processor's own instruction."),
        Figure("5", "Puts of many pieces within a node", (*_NEAR_EX, *_NEAR_GASNET1),
               ("aries-fig5-indexed", "aries-fig5-3d", "aries-fig5-8d", "aries-fig5-32d", "aries-fig5-peak",
                "aries-fig5-order", "aries-fig5-ex-flat", "aries-fig5-g1-degrade", "aries-abs-vis"),
               Effort(_NEAR_SIZES, 8, 64, _FEW_NEAR), Effort(_FEW_NEAR, 4), 240, 10, axis=SIZE, placements=("fill",),
               derived=tuple(_over(f"{form[0]}: speed-up", ex, old)
                             for form, ex, old in zip(_FORMS, _NEAR_EX, _NEAR_GASNET1, strict=True)),
               says="All descriptions mean the same bytes. One loop, or as many as it has levels; one translation, or"
                    " one for each piece."),
        Figure("5-translation", "Indexed puts with free translation of addresses", _UNTRANSLATED,
               ("aries-fig5-cause-indexed",), Effort(_FEW_NEAR, 8, 64), Effort(_FEW_NEAR, 4), 20, 2, axis=SIZE,
               placements=("fill",), beyond=("5",),
               says="If translations cost GASNet-1 its speed, free ones restore it."),
        Figure("5-haswell", "Puts of many pieces within a node of Cori-I", _ON_HASWELL, (), Effort(_HERE_SIZES, 8, 64),
               Effort(_HERE_SIZES, 4), 40, 4, axis=SIZE, placements=("fill",),
               says="Other cores run the same programs, so that the gain is software's."),
        Figure("5-here", "Puts of many pieces within this computer, measured", _HERE, ("aries-fig5-general",),
               Effort(_HERE_SIZES, 8, 64), _NOT_QUICKLY, 90, 0, axis=SIZE, placements=("fill",), beyond=("5-haswell",),
               says="Between ranks that share memory, by the conduits smp and udp."),
        Figure("6", "Strided puts of three dimensions between two nodes", (_FAR_GASNET1, _FAR_FP, _FAR_NP),
               ("aries-fig6-fp-avg", "aries-fig6-fp-peak", "aries-fig6-np-avg", "aries-fig6-order", "aries-fig6-abs",
                "aries-conc-order"),
               Effort(_FAR_SIZES, 8, 256, _FEW_FAR), Effort(_FEW_FAR, 8), 60, 4, axis=SIZE,
               beyond=("1", "1-larger", "2", "3", "table-1", "5"),
               derived=(_over("FP-AM: speed-up", _FAR_FP, _FAR_GASNET1),
                        _over("NP-AM: speed-up", _FAR_NP, _FAR_GASNET1)),
               says="Pieces are packed into messages; negotiated payload is packed in the buffer it leaves from."),
        Figure("6-cause", "Strided puts with free copies, and with levels that folding cannot merge",
               (_FP_UNCOPIED, _NP_UNCOPIED, _UNFOLDED_FP, _UNFOLDED_GASNET1), ("aries-fig6-np-cause",),
               Effort(_FEW_FAR, 8, 256), Effort(_FEW_FAR, 8), 40, 4, axis=SIZE, beyond=("6",),
               says="If negotiated payload saves a copy only, it saves nothing with free copies."),
        Figure("6-messages", "Messages of a strided put, and the bytes in them", (*_MESSAGES, *_BYTES),
               ("aries-fig6-fp-cause",), Effort(_FEW_FAR, 64, 512), Effort(_FEW_FAR, 64), 20, 2, axis=SIZE,
               beyond=("6", "6-cause"),
               says="Requests and their answers; a description of one level is shorter than one of three."),
    ),
)  # fmt: skip
"""Lines and figures of the paper that are run."""
