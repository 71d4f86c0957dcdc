"""Columns of numbers as short text that a small script in a page unpacks.

A column becomes whole numbers (multiples of a quantum), their differences, seven bits a byte, base 64. A history of
1000 noisy values takes some 3 kB, a constant only its number.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from gasmeter.dashboard.history import Floats

__all__ = ["pack_column", "pack_integers", "quantum", "unpack_integers"]

_MOST = 2**52
"""Larger numbers are no longer exact in a page."""

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


def quantum(values: Floats, *, exact: bool) -> float:
    """Return the unit, a power of ten, in which a column is counted; not finite values do not count.

    With `exact` (virtual time) it keeps twelve digits and is at most 0.001, so that picoseconds stay (times are in ns);
    else five digits.
    """
    finite = np.abs(values[np.isfinite(values) & (values != 0)])
    if finite.size == 0:
        return 1.0
    digits = 12 if exact else 5
    exponent = math.floor(math.log10(float(np.median(finite)))) + 1 - digits
    if exact:
        exponent = min(exponent, -3)
    while float(finite.max()) / 10.0**exponent >= _MOST:
        exponent += 1
    return float(10.0**exponent)


def pack_integers(values: Integers) -> str:
    """Return whole numbers below 2**52 in size as text.

    The text is base 64 of the zigzag differences, seven bits a byte, the least significant first.
    """
    moves = np.diff(values, prepend=np.int64(0))
    zigzag = np.where(moves < 0, -2 * moves - 1, 2 * moves).astype(np.uint64)
    lengths = np.ones(zigzag.size, dtype=np.int64)
    rest = zigzag >> np.uint64(7)
    while rest.any():
        lengths += rest > 0
        rest >>= np.uint64(7)
    ends = np.cumsum(lengths)
    packed = np.zeros(int(ends[-1]) if ends.size else 0, dtype=np.uint8)
    for byte in range(int(lengths.max()) if lengths.size else 0):
        has = lengths > byte
        bits = (zigzag[has] >> np.uint64(7 * byte)) & np.uint64(127)
        more = np.where(lengths[has] > byte + 1, 128, 0)
        packed[(ends - lengths)[has] + byte] = bits.astype(np.uint8) | more.astype(np.uint8)
    return base64.b64encode(packed.tobytes()).decode()


def unpack_integers(text: str) -> list[int]:
    """Return the numbers of a text of `pack_integers`."""
    values, value, shift, total = [], 0, 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            total += -((value + 1) >> 1) if value & 1 else value >> 1
            values.append(total)
            value = shift = 0
    return values


def pack_column(values: Floats, unit: float) -> Any:
    """Return a column for a page in units: a constant as its number, anything else as text.

    Values that are not finite become 0; another column marks them.
    """
    counts = np.rint(np.where(np.isfinite(values), values, 0.0) / unit)
    whole = np.clip(counts, -_MOST, _MOST).astype(np.int64)
    if whole.size and (whole == whole[0]).all():
        return int(whole[0])
    return pack_integers(whole)
