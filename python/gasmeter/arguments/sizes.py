"""Sizes as people type and read them: bytes with K = 1024, lists, ranges by powers of two or a factor, neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from gasmeter.errors import UsageError

__all__ = ["format_bytes", "format_size", "parse_size", "parse_sizes"]

_SIZE = re.compile(r"^(\d+)\s*([KMGT]?)(?:i?B)?$", re.IGNORECASE)
_POWER = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZES_HELP = "allowed: 8 or 8,64,4K or 8:4M (powers of two; K = 1024), 8:4M:x4 (a factor), 64:4M~3 (3 B beside each)"
_FACTOR = re.compile(r"^x(\d+(?:\.\d+)?)$", re.IGNORECASE)
_MOST_SIZES = 1000
_LARGEST = 1 << 50


def parse_size(text: str) -> int:
    """Return a size in bytes, 0 to 2^50, from digits with an optional suffix K, M, G or T (factors of 1024).

    Raises UsageError for any other text.
    """
    stripped = text.strip()
    match = _SIZE.match(stripped)
    if match is None:
        reason = "is negative" if re.match(r"^-\s*\d", stripped) else "is not a size"
        raise UsageError(f"size {text.strip()!r} {reason}; {_SIZES_HELP}", stripped)
    size = int(match.group(1)) << _POWER[match.group(2).upper()]
    if size > _LARGEST:
        raise UsageError(f"size {stripped!r} is beyond any segment; allowed: 0 to 1024T (2^50 bytes)", stripped)
    return size


def format_bytes(size: int) -> str:
    """Return a size for people in the largest binary unit that keeps it at least 1: ``4 KiB``, ``1.5 MiB``."""
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.4g} {unit}"


def format_size(size: int) -> str:
    """Return a unique text for a size: as `format_bytes` if four digits are exact, else in bytes: ``4097 B``."""
    text = format_bytes(size)
    number, unit = text.split()
    return text if Decimal(number) * (1 << _POWER[unit.removesuffix("iB").removesuffix("B")]) == size else f"{size} B"


def _parse_range(item: str) -> list[int]:
    first, _, rest = item.partition(":")
    last, by, factor = rest.partition(":")
    try:
        low, high = parse_size(first), parse_size(last)
    except UsageError as error:
        raise UsageError(f"size range {item!r}: {error}", item) from None
    if low > high:
        raise UsageError(f"size range {item!r} is reversed; allowed: smaller:larger, for instance 8:4M", item)
    if by:
        return _by_factor(item, low, high, factor.strip())
    for end, text in ((low, first), (high, last)):
        if end < 1 or end & (end - 1):
            raise UsageError(f"size range {item!r}: {text.strip()} is not a power of two; {_SIZES_HELP}", item)
    return [1 << power for power in range(low.bit_length() - 1, high.bit_length())]


def _by_factor(item: str, low: int, high: int, text: str) -> list[int]:
    """Return the sizes from `low` to `high`, each a factor above the one before, to the nearest byte."""
    match = _FACTOR.match(text)
    factor = Decimal(match[1]) if match is not None else Decimal(0)
    if factor <= 1 or low < 1:
        wrong = repr(text) if factor <= 1 else "it begins at 0, which no factor leaves"
        raise UsageError(f"size range {item!r}: {wrong}; allowed: from 1 by x and a number above 1, as 8:4M:x4", item)
    sizes, exact = [], Decimal(low)
    while exact <= high:
        sizes.append(int(exact.to_integral_value(ROUND_HALF_UP)))
        exact *= factor
        if len(sizes) > _MOST_SIZES:
            raise UsageError(f"size range {item!r} has over {_MOST_SIZES} sizes; allowed: a larger factor", item)
    return sizes


def _beside(item: str, sizes: Iterable[int], text: str) -> list[int]:
    """Return sizes, each with its neighbours so many bytes below and above."""
    if not text.isdecimal() or not text.isascii() or not 0 < int(text) <= _LARGEST:
        raise UsageError(f"size {item!r}: {text!r} is no number of bytes; allowed: 1 or more, as 64:4M~3", item)
    apart = int(text)
    return [near for size in sizes for near in (size - apart, size, size + apart) if near >= 0]


def parse_sizes(value: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the sizes in bytes of a list or range, in the order given, each once.

    ``"8,64,4K"`` is a list, ``"8:4M"`` every power of two, ``"8:4M:x4"`` a factor of four (or ``x1.5`` to the nearest
    byte). ``"64:4M~3"`` adds 3 B less and more for sizes off powers of two. Numbers of bytes are allowed, too. Raises
    UsageError for anything else, such as a reversed range.
    """
    items: list[str] = []
    for entry in value if isinstance(value, Iterable) and not isinstance(value, str) else [value]:
        if isinstance(entry, bool):
            raise UsageError(f"size {entry!r} is not a size; {_SIZES_HELP}", str(entry))
        items.extend(str(entry).split(","))
    sizes: list[int] = []
    for item in items:
        plain, near, apart = item.strip().partition("~")
        all_sizes = _parse_range(plain) if ":" in plain else [parse_size(plain)]
        sizes.extend(_beside(item.strip(), all_sizes, apart.strip()) if near else all_sizes)
    if not sizes:
        raise UsageError(f"no size given; {_SIZES_HELP}", "")
    return tuple(dict.fromkeys(sizes))
