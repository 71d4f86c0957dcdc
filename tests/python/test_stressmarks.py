"""Expected outputs of the DIS stressmarks, computed from their specification apart from the measured programs.

The figures stand in tests/golden/stressmarks.txt, one output a line, which the C++ tests hold against the programs of
one process: so both agree to the last bit. ``python tests/python/test_stressmarks.py --write`` writes the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from stressmarks import Random, field, neighborhood, pointer, update

_GOLDEN = Path(__file__).parent.parent / "golden" / "stressmarks.txt"


def _lines() -> Iterator[str]:
    for seed, count, window in ((1, 500, 1), (2, 1000, 3), (3, 777, 15)):
        for number in range(3):
            lines = pointer(count, window, seed, number, 300)
            yield f"pointer {count} {window} {seed} {number} 300 = {lines}"
    for seed, count, window in ((1, 500, 3), (2, 1000, 5), (12345678901234567890, 64, 1)):
        yield f"update {count} {window} {seed} 200 = {update(count, window, seed, 200)}"
    for seed, rows, columns, bits, distances, first in (
        (1, 40, 64, 8, (1, 10), 64), (2, 33, 20, 7, (2, 25), 20), (3, 60, 90, 15, (1, 10), 7),
    ):  # fmt: skip
        lines = neighborhood(rows, columns, bits, distances, seed, first)
        yield f"neighborhood {rows} {columns} {bits} {distances[0]} {distances[1]} {seed} {first} = {lines}"
    for seed, count, width, tokens in ((1, 2000, 1, 6), (2, 1500, 2, 4), (3, 3000, 4, 8), (4, 70000, 1, 1)):
        yield f"field {count} {width} {tokens} {seed} = {field(count, width, tokens, seed)}"


def test_outputs_are_those_of_the_specification() -> None:
    assert _GOLDEN.read_text().splitlines() == list(_lines())


def test_minimal_standard_comes_to_its_published_number() -> None:
    random = Random(0)
    random._state = 1
    assert [random._step() for _ in range(10000)][-1] == 1043618065


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    _GOLDEN.write_text("".join(f"{line}\n" for line in _lines()))
