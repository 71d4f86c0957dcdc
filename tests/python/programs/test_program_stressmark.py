"""Stressmarks as rank programs: they tell what the program of one process does, which is written from DIS alone."""

from __future__ import annotations

import doctest
import functools
import inspect
from pathlib import Path

import pytest

import gasmeter as gm
import stressmarks
from gasmeter.catalogue import catalogue
from gasmeter.programs.stressmark import FieldOutput, NeighborhoodOutput, PointerOutput, SubField, UpdateOutput
from programs import launched, refused

pytestmark = pytest.mark.timeout(240)
OPS = ["pointer", "update", "neighborhood", "field"]
CONDUITS = ["ideal", "smp", "udp", "gm", "lapi"]
SEED = 42
SMALL = {"words": 64, "window": 3, "rows": 3, "columns": 20, "distance": 4, "short_distance": 1, "bytes": 500,
         "width": 1}  # fmt: skip
HOW = [{"cache": "on", "near": "remote"}, {"cache": "off", "near": "remote"}, {"near": "direct"}]
LENGTHS = {"pointer": 20, "update": 20, "neighborhood": 20, "field": 3}


@functools.cache
def expected(op: str, ranks: int) -> str:
    """Return the output of one process, as `digests_of` writes it."""
    words, length = ranks * SMALL["words"], LENGTHS[op]
    if op == "pointer":
        return " ".join(stressmarks.pointer(words, SMALL["window"], SEED, rank, length) for rank in range(ranks))
    if op == "update":
        return stressmarks.update(words, SMALL["window"], SEED, length)
    if op == "neighborhood":
        distances = (SMALL["short_distance"], SMALL["distance"])
        update = stressmarks.neighborhood(ranks * SMALL["rows"], SMALL["columns"], 8, distances, SEED, length)
        return update.partition(" ")[2]  # behind the image
    return stressmarks.field(ranks * SMALL["bytes"], SMALL["width"], length, SEED)


def statistics(part: SubField) -> str:
    return f"{part.count}:{part.minimum}:{part.checksum}"


def digests_of(output) -> str:
    """An output as the specification's program writes it."""
    match output:
        case PointerOutput(chains):
            return " ".join(f"{chain.hops} {chain.index}" for chain in chains)
        case UpdateOutput(hops, index, digest):
            return f"{hops} {index} {digest:016x}"
        case NeighborhoodOutput(pairs):
            return " ".join(f"{each.entropy.hex()} {each.energy.hex()}" for each in pairs)
        case FieldOutput(tokens, digest):
            parts = [" ".join(map(statistics, (*each.sub_fields, each.rest))) for each in tokens]
            return f"{' '.join(f'{part} /' for part in parts)} {digest:016x}"
    raise AssertionError(output)


@pytest.mark.parametrize("conduit", CONDUITS)
@pytest.mark.parametrize("ranks", [1, 2, 5, 16])
def test_programs_tell_what_one_process_does(conduit, ranks):
    for op in OPS:
        for how in HOW if ranks < 16 else HOW[:2]:  # processes by the dozen take their time
            program = gm.stressmark(op, seed=SEED, length=LENGTHS[op], **SMALL, **how)
            first, *others = launched(program, conduit=conduit, ranks=ranks)
            assert digests_of(first) == expected(op, ranks), (op, how)
            assert others == [None] * (ranks - 1)


@pytest.mark.parametrize("conduit", ["ideal", "smp"])
def test_fields_end_where_dis_says(conduit):
    """More than 256 sub-fields: of what is behind them nothing is told."""
    output, *_ = launched(gm.stressmark("field", seed=4, length=1, bytes=17500, width=1), conduit=conduit, ranks=4)
    golden = (Path(__file__).parents[2] / "golden" / "stressmarks.txt").read_text()
    assert f"field 70000 1 1 4 = {digests_of(output)}\n" in golden
    assert len(output.tokens[0].sub_fields) == 256
    assert output.tokens[0].rest == SubField(0, 255, 0)


def test_pairs_are_told_with_their_distance_and_direction():
    output, _ = launched(gm.stressmark("neighborhood", **SMALL), conduit="ideal", ranks=2)
    degrees = (0, 45, 90, 135)
    assert [(each.distance, each.degrees) for each in output.pairs] == [
        (distance, each) for distance in (1, 4) for each in degrees
    ]


def test_chains_are_of_as_many_ranks_of_a_node_as_are_asked_for():
    program = gm.stressmark("pointer", seed=SEED, length=LENGTHS["pointer"], chains=1, **SMALL)
    output, *_ = launched(program, conduit="ideal", ranks=8, options={"nodes": 2})
    assert [chain.rank for chain in output.chains] == [0, 4]
    chains = expected("pointer", 8).split()
    assert digests_of(output).split() == chains[:2] + chains[8:10]


def test_what_is_left_out_is_as_the_kernel_has_it():
    signature = inspect.signature(gm.stressmark).parameters
    fields = {"op", "seed", "length"}
    options = {each.name: each for each in catalogue().kernel("stressmark").options}
    assert set(signature) - fields == set(options) - {"warm"}
    for name, option in options.items():
        if name != "warm":
            assert option.parse(signature[name].default, "kernel stressmark") == option.default


def test_the_example_is_right():
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=False).find(gm.stressmark, "stressmark"):
        assert len(example.examples) > 2
        assert runner.run(example).failed == 0


# ---- refusals


@pytest.mark.parametrize(
    ("op", "options", "wrong"),
    [
        ("pointr", {}, "unknown op of kernel stressmark 'pointr'; did you mean 'pointer'? allowed: pointer, update"),
        (
            "pointer",
            {"cache": "warm"},
            "option cache='warm' of kernel stressmark is not allowed; allowed: on | off | miss",
        ),
        ("pointer", {"words": "many"}, "option words='many' of kernel stressmark is not allowed"),
        ("pointer", {"near": "far"}, "allowed: direct | remote"),
    ],
)
def test_what_does_not_exist_is_one_line_at_once(op, options, wrong):
    with pytest.raises(gm.UsageError) as caught:
        gm.stressmark(op, **options)
    assert wrong in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("op", "options", "wrong"),
    [
        ("pointer", {"window": 2}, "option 'window=2': an odd number is allowed"),
        ("update", {"words": 5}, "option 'words=5' with 2 ranks: DIS allows 16 to 16777216 words together"),
        ("neighborhood", {"bits": 6}, "option 'bits=6': allowed are 7 to 15"),
        ("field", {"width": 9}, "option 'width=9': allowed are 1 to 8"),
        ("field", {"capacity": 0}, "option 'capacity=0': allowed are 1 entry or more, and unlimited"),
        ("pointer", {"chains": 0}, "option 'chains=0': allowed are 1 rank of a node or more, and all"),
        ("field", {"length": 0}, "length 0; at least 1"),
        ("field", {"seed": -1}, "seed -1; allowed: 0 to 18446744073709551615"),
        ("field", {"bytes": 1 << 20}, "in segments of 65536 B"),
    ],
)
def test_what_dis_does_not_have_is_one_line(op, options, wrong):
    assert wrong in refused(gm.stressmark(op, **options), conduit="ideal", ranks=2)


def test_processes_refuse_in_the_same_words():
    program = gm.stressmark("pointer", window=2)
    words = [refused(program, conduit=conduit, ranks=2).partition(": ")[2] for conduit in ("ideal", "smp")]
    assert words[0] == words[1] == "kernel stressmark: option 'window=2': an odd number is allowed"


def test_a_mark_beside_a_space_is_refused():
    def program(ep):
        yield gm.shared_space(ep)
        yield from gm.stressmark("field")(ep)

    assert "a program has one" in refused(program, conduit="ideal", ranks=2, segment="1M")
