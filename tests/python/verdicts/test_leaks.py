"""No figure knows what papers state: no constant of a claim is in what is run, every figure follows its machine."""

import importlib.util
import re
from pathlib import Path

import pytest

import gasmeter as gm
from gasmeter.catalogue import core
from gasmeter.machines import draws
from gasmeter.machines.machine import TOPOLOGY
from gasmeter.machines.provenance import ledger, ledger_problems
from gasmeter.verdicts.claims import RESULT, claims, papers

ROOT = Path(__file__).resolve().parents[3]
RUN = (
    *(f"cpp/gasmeter/{room}" for room in ("kernels", "bench", "networks", "services", "core")),
    "python/gasmeter/machines", "python/gasmeter/papers",
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.#])(\d+\.?\d*(?:e[-+]?\d+)?)(?![\w.])")
NEEDS_CORE = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")


QUANTITY = re.compile(r"value = \"(\d+\.?\d*) (\S+)\"")
WITH_UNIT = re.compile(r"\"\d+\.?\d* [^\"]+\"")
# Units in which a program may count: times in nanoseconds and picoseconds, bandwidths in bytes.
SCALES = {"us": (1, 1e3, 1e6), "MB/s": (1, 1e6)}
SMALL = 100  # smaller whole numbers, and powers of two, are counts, bits and sizes everywhere
# Numbers that equal published ones by chance. The SCI paper's machines have estimates in microseconds, older than the
# Aries paper's numbers. Ranges of XC40 processors have such middles and ends (hw.haswell.*, hw.knl.*); EXTOLL's and
# SCI's figures do not use them. Machines of the XLUPC paper have the end of a card's range and the middle of a
# processor's (hw.gm.*, hw.js21.*), in microseconds and nanoseconds.
COINCIDENCES = {
    ("python/gasmeter/machines/gm-marenostrum.toml", "1.8"),
    ("python/gasmeter/machines/gm-marenostrum.toml", "190"),
    ("python/gasmeter/machines/gm.toml", "4.9"),
    ("python/gasmeter/machines/sci.toml", "4.9"),
    ("python/gasmeter/machines/hosts/xc40-haswell.toml", "0.035"),
    ("python/gasmeter/machines/hosts/xc40-knl.toml", "190"),
}


def stated(paper=None):
    """Every result that is a number: its claim, number and unit."""
    for claim in claims(paper, kind=RESULT):
        for text in claim.value.split(".."):
            try:
                yield claim, float(text)
            except ValueError:
                continue


def telling(paper=None, *, shares=True):
    """The numbers of results that say something by themselves, in the forms in which a program could have them."""
    statements = {}
    for claim, value in stated(paper):
        if claim.unit == "%" and not shares:
            continue
        # Nothing that is run counts in per cent.
        forms = [1 + value / 100, value / 100] if claim.unit == "%" else [
            value * scale for scale in SCALES.get(claim.unit, (1,))
        ]  # fmt: skip
        for form in forms:
            few = form == int(form) and (form < SMALL or int(form).bit_count() == 1)
            digits = f"{form:.6g}".partition("e")[0].replace(".", "").strip("0")
            if not few and len(digits) > 1:  # 100, 0.5 or 4e6 tell nothing
                statements.setdefault(f"{form:.6g}", claim.id)
    return statements


def literals(text):
    """Numbers of a source, without those in comments."""
    code = re.sub(
        r"//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|source = \"[^\"]*\"|summary = \"[^\"]*\"", "", text, flags=re.S | re.M
    )
    return {f"{float(number):.6g}" for number in NUMBER.findall(code.replace("'", ""))}


def leaks(texts):
    """Return published numbers in sources that must not know them.

    A paper's module may not hold the numbers of its own claims. Machine files may not hold small numbers with their
    unit, either.
    """
    small = {(f"{value:g}", claim.unit): claim.id for claim, value in stated() if value < SMALL}
    leaked = []
    for name, text in texts.items():
        path = Path(name)
        of = path.stem if path.parent.name == "papers" and path.stem in papers() else None
        statements = telling(of)
        numbers = literals(text)
        if path.suffix == ".toml":  # a number with a unit of its own is no share
            numbers = (numbers & set(telling(of, shares=False))) | literals(WITH_UNIT.sub("", text))
        leaked += [(name, number, statements[number]) for number in sorted(numbers & set(statements))]
        if path.suffix == ".toml":
            leaked += [
                (name, " ".join(quantity), small[quantity]) for quantity in QUANTITY.findall(text) if quantity in small
            ]
    return [leak for leak in leaked if (leak[0], leak[1].split()[0]) not in COINCIDENCES]


def sources():
    paths = (path for folder in RUN for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in {".cpp", ".hpp", ".ipp", ".toml", ".py"} and path.name != "ledger.toml")  # fmt: skip
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_claims_have_numbers_that_would_tell():
    assert {"1.53", "0.53", "0.035", "0.028"} <= set(telling("extoll"))
    assert {"213", "2.13e+08", "1.12", "12000"} <= set(telling("sci"))
    assert not {"12", "13", "32"} & set(telling("sci"))
    assert {"1.085", "0.035"} <= set(telling("portals"))
    assert not telling("portals", shares=False)
    assert {"1.667", "0.93", "429", "2900"} <= set(telling("aries"))
    assert "512" not in telling("aries")
    assert {"1.015", "1.16", "0.35"} <= set(telling("xlupc"))
    assert not {"4e+06", "100", "0.3"} & set(telling("xlupc"))


def test_no_constant_of_a_claim_stands_in_what_is_run():
    assert leaks(sources()) == []


@pytest.mark.parametrize(
    ("name", "planted", "claim"),
    [
        ("cpp/gasmeter/kernels/random_access.cpp", "  result.elapsed /= 1.53;\n", "extoll-fig3-am2-gain"),
        ("cpp/gasmeter/kernels/flood.cpp", "  result.bandwidth = 213e6;\n", "sci-fig8-sci-128k"),
        ("cpp/gasmeter/kernels/ping_pong.cpp", "  elapsed += SimTime{12'000'000};\n", "sci-fig4-overhead"),
        ("python/gasmeter/machines/extoll.toml", '[host.leak]\nvalue = "0.035 us"\n', "extoll-fig3-yrange"),
        ("python/gasmeter/machines/sci.toml", '[host.leak]\nvalue = "12 us"\n', "sci-fig4-overhead"),
        ("python/gasmeter/papers/sci.py", "_MOST_OF_MPI = 190\n", "sci-fig8-mpi-max"),
        ("cpp/gasmeter/bench/raw_card_flood.hpp", "  result.bandwidth *= 1.085;\n", "portals-fig5-peak"),
        ("python/gasmeter/machines/ibv.toml", "[host.leak]\nfactor = 1.035\n", "portals-fig5-asym"),
        ("python/gasmeter/papers/aries.py", "_RATES = 429\n", "aries-tab1-u32-tput-ref"),
        ("cpp/gasmeter/kernels/vis.cpp", "  result.bandwidth *= 1.667;\n", "aries-fig5-indexed"),
        ("python/gasmeter/papers/xlupc.py", "_SHORT = 0.16\n", "xlupc-fig6-get-small-lapi"),
        ("cpp/gasmeter/kernels/ping_pong.cpp", "  elapsed *= 1.015;\n", "xlupc-miss-typ"),
        ("python/gasmeter/machines/gm.toml", '[host.leak]\nvalue = "2 MB"\n', "xlupc-fig6-lapi-fade"),
    ],
)
def test_a_planted_constant_is_found(name, planted, claim):
    assert [(where, claim_named) for where, _, claim_named in leaks({name: sources()[name] + planted})] == [
        (name, claim)
    ]


def test_a_number_that_changes_without_a_line_is_found():
    extoll = gm.machine("extoll")
    assert ledger_problems(ledger(), [extoll]) == []
    planted = gm.machine("extoll").with_(host_lock="35.3 ns")
    assert ledger_problems(ledger(), [planted]) != []


# ---- every figure follows its machine: twice the times are twice the time

POINTS = (
    ("ping-pong", "am-medium", "extoll", "extoll", 2, 512, {}),
    ("ping-pong", "am-medium", "raw@extoll", "extoll", 2, 512, {}),
    ("ping-pong", "am-medium", "raw@mpi@extoll", "extoll", 2, 512, {}),
    ("ping-pong", "am-medium", "ibv", "ibv", 2, 512, {}),
    ("ping-pong", "am-medium", "raw@ibv", "ibv", 2, 512, {}),
    ("ping-pong", "am-medium", "gm", "gm", 2, 512, {}),
    ("ping-pong", "am-medium", "raw@gm", "gm", 2, 512, {}),
    ("ping-pong", "am-medium", "udp@ibv", "ipoib", 2, 256, {"protocol": "amudp"}),
    ("ping-pong", "am-medium", "udp@ethernet", "ethernet", 2, 256, {"protocol": "amudp", "caches": "false"}),
    ("random-access", "update", "extoll", "extoll", 16, 16 << 10, {"window": "16"}),
    ("random-access", "update", "raw@extoll", "extoll", 16, 16 << 10, {"window": "16"}),
    ("random-access", "update", "raw@mpi@extoll", "extoll", 16, 16 << 10, {}),
    ("ping-pong", "am-medium", "sci", "sci", 2, 512, {}),
    ("ping-pong", "am-long", "sci", "sci", 2, 4096, {}),
    ("ping-pong", "am-medium", "raw@sci", "sci", 2, 512, {"path": "pio"}),
    ("ping-pong", "am-long", "raw@sci", "sci", 2, 4096, {"path": "dma"}),
    ("ping-pong", "am-medium", "mpi@sci", "sci", 2, 512, {"protocol": "ammpi"}),
    ("ping-pong", "put", "portals", "portals", 2, 512, {}),
    ("ping-pong", "am-long", "portals", "portals", 2, 4096, {"credits": "static"}),
    ("flood", "put", "mpi@portals", "portals", 2, 512, {"protocol": "ammpi"}),
    ("ping-pong", "am-medium", "gm", "gm", 2, 512, {}),
    ("ping-pong", "am-long", "gm", "gm", 2, 8192, {}),
)
SLOWER = 2.0


def slowed(machine):
    """A machine on which everything takes twice as long."""
    kinds = {number.key: number.kind for number in machine.numbers}
    values = dict(machine.values())
    for key, value in values.items():
        if key != TOPOLOGY and kinds[key] in {"time", "bandwidth", "rate"}:
            values[key] = value * SLOWER if kinds[key] == "time" else value / SLOWER
    return values


def elapsed(point, values, leak=0.0):
    kernel, op, conduit, _, ranks, size, options = point
    job = core().ModelJob(kernel=kernel, op=op, conduit=conduit, variant="", size_bytes=size, seed=2, ranks=ranks,
                          options=options, machine=values)  # fmt: skip
    time = job.block(200)["elapsed_ns"] + leak
    job.close()
    return time


@NEEDS_CORE
@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point[0]}-{point[2]}")
def test_twice_the_times_are_twice_the_time(point):
    machine = draws.draw(gm.machine(point[3]), 17)
    once, twice = elapsed(point, machine.values()), elapsed(point, slowed(machine))
    assert twice == pytest.approx(SLOWER * once, rel=2e-3)  # whole picoseconds are rounded


@NEEDS_CORE
def test_a_time_that_is_no_price_of_the_machine_is_found():
    machine = draws.draw(gm.machine("extoll"), 17)
    once = elapsed(POINTS[0], machine.values(), leak=53_000.0)
    twice = elapsed(POINTS[0], slowed(machine), leak=53_000.0)
    assert twice != pytest.approx(SLOWER * once, rel=2e-3)
