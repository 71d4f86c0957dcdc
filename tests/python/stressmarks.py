"""The DIS stressmarks, computed from their specification apart from the measured programs.

A run of one process returns a text. Its numbers equal those of the measured run to the last bit.
"""

from __future__ import annotations

import math

import numpy as np

_MODULUS = 2**31 - 1
_MASK = 2**64 - 1


def _splitmix64(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _MASK
    return value ^ value >> 31


class Random:
    """Park-Miller with a Bays-Durham shuffle, its multiplication by Schrage's division."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._state = 1 + _splitmix64((seed + _splitmix64(stream)) & _MASK) % (_MODULUS - 1)
        drawn = [self._step() for _ in range(40)]
        self._places = drawn[:7:-1]
        self._chooser = self._places[0]

    def _step(self) -> int:
        high, low = divmod(self._state, 127773)
        state = 16807 * low - 2836 * high
        self._state = state if state > 0 else state + _MODULUS
        return self._state

    def integer(self, least: int, most: int) -> int:
        place = self._chooser // (1 + (_MODULUS - 1) // 32)
        self._chooser = self._places[place]
        self._places[place] = self._step()
        return least + self._chooser * (most - least + 1) // _MODULUS


def _digest(data: bytes) -> int:
    """Return the 64-bit FNV-1a of bytes."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


def _words(count: int, window: int, seed: int) -> list[int]:
    random = Random(seed)
    return [random.integer(0, count - window - 1) for _ in range(count)]


def _chain(count: int, window: int, seed: int, number: int) -> tuple[int, int]:
    random = Random(seed, 1 + number)
    return random.integer(0, count - window - 1), random.integer(0, count - window - 1)


def pointer(count: int, window: int, seed: int, number: int, limit: int) -> str:
    field = _words(count, window, seed)
    index, end = _chain(count, window, seed, number)
    hops = 0
    while hops < limit and index != end:
        index = (int(np.median(field[index : index + window])) + hops) % (count - window)
        hops += 1
    return f"{hops} {index}"


def update(count: int, window: int, seed: int, limit: int) -> str:
    field = _words(count, window, seed)
    index, end = _chain(count, window, seed, 0)
    hops = 0
    while hops < limit and index != end:
        seen = field[index : index + window]
        field[index] = sum(seen) % (count - window)
        index = (int(np.median(seen)) + hops) % (count - window)
        hops += 1
    return f"{hops} {index} {_digest(np.array(field, '<u8').tobytes()):016x}"


def _image(rows: int, columns: int, bits: int, seed: int) -> np.ndarray:
    random = Random(seed)
    image = np.zeros((rows, columns), np.int64)
    for _ in range(min(max(rows * columns // 1024, 1), 65536)):
        row, column = random.integer(0, rows - 1), random.integer(0, columns - 1)
        last_row = random.integer(max(0, row - 256), min(rows - 1, row + 256))
        last_column = random.integer(max(0, column - 256), min(columns - 1, column + 256))
        thickness = random.integer(1, 8)
        values = random.integer(0, 2**bits - 1), random.integer(0, 2**bits - 1)
        steps = max(abs(last_row - row), abs(last_column - column))
        for step in range(steps + 1):
            share = (2 * step, 2 * steps) if steps else (0, 2)

            def between(first: int, last: int, share: tuple[int, int] = share) -> int:
                return first + ((last - first) * share[0] + share[1] // 2) // share[1]

            y, x, value = between(row, last_row), between(column, last_column), between(*values)
            if abs(last_row - row) >= abs(last_column - column):
                image[y, max(0, x - thickness // 2) : x - thickness // 2 + thickness] = value
            else:
                image[max(0, y - thickness // 2) : y - thickness // 2 + thickness, x] = value
    return image


def neighborhood(rows: int, columns: int, bits: int, distances: tuple[int, ...], seed: int, first_columns: int) -> str:
    image = _image(rows, columns, bits, seed)
    digests = [f"{_digest(image.astype('<u2').tobytes()):016x}"]
    most = 2**bits - 1
    for distance in distances:
        for down, aside in ((0, 1), (1, 1), (1, 0), (1, -1)):
            y, x = np.mgrid[0:rows, 0:first_columns]
            to_y, to_x = y + down * distance, x + aside * distance
            inside = (to_y < rows) & (to_x >= 0) & (to_x < columns)
            pixels, partners = image[y[inside], x[inside]], image[to_y[inside], to_x[inside]]
            entropy, energy = 0.0, 1.0
            for bins in (np.bincount(pixels + partners), np.bincount(pixels - partners + most)):
                squares = 0.0
                for times in bins[bins > 0].tolist():
                    share = times / len(pixels)
                    entropy -= share * math.log(share)
                    squares += share * share
                energy *= squares
            digests += [entropy.hex(), (energy if len(pixels) else 0.0).hex()]
    return " ".join(digests)


def field(count: int, width: int, tokens: int, seed: int) -> str:
    random = Random(seed)
    field = np.array([random.integer(0, 255) for _ in range(count)], np.uint8)
    others = Random(seed, 1)
    offset = others.integer(0, 65535)
    places = [others.integer(0, count - width) for _ in range(tokens)]
    wanted = [field[place : place + width].copy() for place in places]
    digests = []
    for token in wanted:
        at = begin = 0
        divided: list[np.ndarray] = []
        while at < count and len(divided) < 256:
            if not np.array_equal(field[at : at + width], token):
                at += 1
                continue
            divided.append(field[begin:at].copy())
            for i in range(at, at + width):
                field[i] = (int(field[i]) + int(field[(i + offset) % count])) % 256
            begin = at = at + width
        rest = field[begin:] if len(divided) < 256 else field[:0]
        for part in (*divided, rest):
            digests.append(f"{len(part)}:{part.min(initial=255)}:{int(part.sum(dtype=np.int64)) % 256}")
        digests.append("/")
    return f"{' '.join(digests)} {_digest(field.tobytes()):016x}"
