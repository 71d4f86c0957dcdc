"""Shares, durations, dates, quantities: parsed from typed text, and formatted for people; sizes are in arguments/.

Values inside are SI and scaled only for display. A quantity (a number of a machine) always names its unit, decimal
(``kB``) or binary (``KiB``).
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from gasmeter.arguments.sizes import format_bytes, parse_size
from gasmeter.errors import UsageError

__all__ = [
    "QUANTITIES", "Quantity", "format_bytes", "format_duration", "format_quantity", "parse_date", "parse_duration",
    "parse_in", "parse_quantity", "parse_ranks", "parse_seeds", "parse_share",
    "quantity_text", "scale_of", "units_beside",
]  # fmt: skip

_SEEDS_HELP = "allowed: whole numbers from 0 to 2^64-1, for instance 1 or 1,2,3"
_TIMES = {
    **{unit: Decimal(10) ** power for unit, power in {"s": 0, "ms": -3, "us": -6, "ns": -9, "ps": -12}.items()},
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
}
_NUMBER = re.compile(r"^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(.*)$", re.ASCII)


def _split(text: str) -> tuple[Decimal, str] | None:
    """Return the number and the unit of a text, the unit in ASCII; None if it does not begin with a number."""
    match = _NUMBER.match(text.strip())
    if match is None:
        return None
    unit = match.group(2).replace("\N{MICRO SIGN}", "u").replace("\N{GREEK SMALL LETTER MU}", "u")
    return Decimal(match.group(1)), unit


def parse_ranks(value: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the rank counts in a list such as ``"1,2,4"``, in order, each once.

    Raises UsageError if an entry is no whole number of 1 or more.
    """
    ranks: list[int] = []
    for entry in value if isinstance(value, Iterable) and not isinstance(value, str) else [value]:
        for item in str(entry).split(","):
            text = item.strip()
            if not re.fullmatch(r"[+-]?\d+", text):
                raise UsageError(
                    f"ranks {text!r} is not a whole number; allowed: 1 or more, for instance 2 or 1,2,4", text
                )
            if int(text) < 1:
                raise UsageError(
                    f"ranks {text}: a job needs at least 1 rank; allowed: 1 or more, see `gasmeter doctor`", text
                )
            ranks.append(int(text))
    if not ranks:
        raise UsageError("no number of ranks given; allowed: 1 or more, for instance 2 or 1,2,4", "")
    return tuple(dict.fromkeys(ranks))


def parse_seeds(value: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the seeds in a list such as ``"1,2,3"``, each 0 to 2^64-1, in order, each once.

    Raises UsageError if an entry is no such number.
    """
    seeds: list[int] = []
    for entry in value if isinstance(value, Iterable) and not isinstance(value, str) else [value]:
        for item in str(entry).split(","):
            text = item.strip()
            if not re.fullmatch(r"\d+", text) or int(text) >= 1 << 64:
                raise UsageError(f"seed {text!r} is not allowed; {_SEEDS_HELP}", text)
            seeds.append(int(text))
    if not seeds:
        raise UsageError(f"no seed given; {_SEEDS_HELP}", "")
    return tuple(dict.fromkeys(seeds))


def parse_share(text: str | float) -> float:
    """Return a share such as ``2%`` or ``0.02`` as a number above 0 and at most 1; raise UsageError otherwise."""
    stripped = str(text).strip()
    number, scale = (stripped[:-1], 0.01) if stripped.endswith("%") else (stripped, 1.0)
    try:
        share = float(number) * scale
    except ValueError:
        share = math.nan
    if not 0.0 < share <= 1.0:
        raise UsageError(
            f"share {stripped!r} is not allowed; allowed: above 0 % and up to 100 %, for instance 2%", stripped
        )
    return share


def parse_duration(text: str | float) -> float:
    """Return a duration such as ``30s``, ``2m`` or ``500ms`` in seconds, above 0; raise UsageError otherwise.

    Units are ns, us, ms, s, m (or min) and h; without unit seconds.
    """
    stripped = str(text).strip()
    try:
        seconds = float(parse_in(stripped, "s"))
    except UsageError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(
            f"duration {stripped!r} is not allowed; allowed: above 0 with ns, us, ms, s, m or h, for instance 30s",
            stripped,
        )
    return seconds


def parse_date(text: str) -> str:
    """Return an ISO 8601 date as stores have it: in UTC, to the second or finer.

    A date without zone is UTC. Raises UsageError if there is no such date.
    """
    stripped = text.strip()
    try:
        given = datetime.datetime.fromisoformat(stripped)
        zoned = given if given.tzinfo else given.replace(tzinfo=datetime.UTC)
        return zoned.astimezone(datetime.UTC).isoformat()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"date {stripped!r} is not allowed; allowed: a date of ISO 8601, UTC unless it names a zone, for instance"
            " 2026-11-21 or 2026-11-21T09:30+01:00", stripped,
        ) from error  # fmt: skip


def parse_in(text: str, unit: str) -> Decimal:
    """Return an exact number in `unit`, from a text with any unit of that kind or none.

    For ``us`` the texts ``500``, ``500us`` and ``0.5 ms`` are equal; ``B`` takes ``4K``, ``ratio`` takes ``4%``. A unit
    without relatives (``messages``) may be named. Raises UsageError for anything else.
    """
    parsed = _split(text)
    if parsed is not None:
        number, given = parsed
        if given in {"", unit}:
            return number
        if given in (units := units_beside(unit)):
            return number * units[given] / units[unit]
        if unit == "B":
            return Decimal(parse_size(text))
    raise UsageError(f"{text!r} is not a number{f' of {unit}' if unit else ''}", text)


def units_beside(unit: str) -> Mapping[str, Decimal]:
    """Return the units that a number in `unit` may have, with the factor to each; bytes have `parse_size`."""
    if unit in _TIMES:
        return _TIMES
    if unit in {"", "ratio"}:
        return {unit: Decimal(1), "%": Decimal("0.01")}
    kinds = (quantity.units for quantity in QUANTITIES.values() if not quantity.whole and unit in quantity.units)
    return next(kinds, {unit: Decimal(1)})


def format_duration(seconds: float) -> str:
    """Return a duration for people, rounded: ``450 ms``, ``12 s``, ``3 min 20 s``."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


_LARGE_RATIO = 10.0
_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "B/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "1/s": ((1e6, "M/s"), (1e3, "k/s"), (1.0, "1/s")),
}


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """Return the unit in which a value has few digits, as its multiple of `unit` and its name.

    Units are ``ns``, ``B/s``, ``1/s`` and ``GUP/s``; others stay.
    """
    if unit == "GUP/s":
        return (1e-3, "MUP/s") if 0 < abs(value) < 1e-3 else (1.0, unit)
    scales = _SCALES.get(unit, ())
    return next(((factor, scaled) for factor, scaled in scales if abs(value) >= factor), (1.0, unit))


def format_quantity(value: float, unit: str, metric: str = "") -> str:
    """Return a value with its unit in three or four digits: ``1.23 µs``, ``+12.3 %``, ``4.55 x``; NaN as a dash.

    `metric` decides how a ratio is shown: an overhead is a share with its sign (from 1000 % a factor), a speedup a
    factor, any other ratio a share.
    """
    if not math.isfinite(value):
        return "-"
    if unit == "ratio":
        return _format_ratio(value, metric)
    if unit == "B":
        return format_bytes(round(value))
    factor, scaled = scale_of(value, unit)
    return f"{value / factor:.4g} {scaled}".strip()


def _format_ratio(value: float, metric: str) -> str:
    if metric == "speedup":
        return f"{value:.3g} x"
    if metric != "overhead":
        return f"{value * 100:.3g} %"
    return f"{value + 1:.3g} times" if value >= _LARGE_RATIO else f"{value * 100:+.1f} %"


_DECIMAL = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40}
_BYTES: dict[str, Decimal] = {
    **{f"{prefix}B": Decimal(10) ** power for prefix, power in _DECIMAL.items()},
    **{f"{prefix}B": Decimal(1 << power) for prefix, power in _BINARY.items()},
}
_BITS_PER_BYTE = 8
_LARGEST_COUNT = 1 << 53


@dataclass(frozen=True)
class Quantity:
    """A kind of number in machine files."""

    unit: str  # SI unit of the value
    expected: str  # words for messages
    example: str  # an allowed value
    units: Mapping[str, Decimal]  # factor of each unit that people may write
    shown: tuple[str, ...]  # display units; the largest that keeps a value at least 1, else the last
    zero: bool = False  # whether 0 is allowed
    whole: bool = False  # whether it is a whole number in `unit`


QUANTITIES: Mapping[str, Quantity] = {
    "time": Quantity(
        "s",
        "a time in ns, us, ms or s",
        "0.3 us",
        {unit: _TIMES[unit] for unit in ("s", "ms", "us", "ns", "ps")},
        ("s", "ms", "us", "ns", "ps"),
        zero=True,
    ),
    "bandwidth": Quantity(
        "B/s",
        "a bandwidth in B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s or Gbit/s",
        "1.25 GB/s",
        {f"{unit}/s": factor for unit, factor in _BYTES.items()}
        | {f"{prefix}bit/s": Decimal(10) ** power / _BITS_PER_BYTE for prefix, power in _DECIMAL.items()},
        ("GB/s", "MB/s", "kB/s", "B/s"),
    ),
    "bytes": Quantity("B", "bytes in B, kB, MB, KiB or MiB", "28 B", _BYTES, (), zero=True, whole=True),
    "size": Quantity("B", "bytes in B, kB, MB, KiB or MiB", "4 KiB", _BYTES, (), whole=True),
    "frequency": Quantity(
        "Hz",
        "a frequency in Hz, kHz, MHz or GHz",
        "156.25 MHz",
        {f"{prefix}Hz": Decimal(10) ** power for prefix, power in _DECIMAL.items()},
        ("GHz", "MHz", "kHz", "Hz"),
    ),
    "count": Quantity(
        "",
        "a whole number",
        "16",
        dict.fromkeys(("", "slots", "packets", "ranks", "messages", "entries"), Decimal(1)),
        (),
        whole=True,
    ),
}
"""Kinds of numbers by name; each is above 0 unless `Quantity.zero` says otherwise."""


def parse_quantity(given: object, kind: str, what: str) -> float:
    """Return a number with its unit, such as ``"0.3 us"`` or ``"4 KiB"``, in the SI base unit of its kind.

    A count may be a number. `what` names it in messages. Raises UsageError for a missing or wrong unit, or a value that
    is not positive where it must be.
    """
    quantity = QUANTITIES[kind]
    text = str(given).strip()
    parsed = _split(text)
    value = math.nan
    reason = ""
    if parsed is None or isinstance(given, bool):
        reason = f"is not a number{' with a unit' if '' not in quantity.units else ''}"
    else:
        number, unit = parsed
        if unit not in quantity.units:
            reason = f"has unit {unit!r}" if unit else "has no unit"
        else:
            exact = number * quantity.units[unit]
            value = float(exact)
            reason = _out_of_range(exact, quantity)
    if reason:
        raise UsageError(
            f"{what}: {text!r} {reason}; allowed: {quantity.expected}{'' if quantity.zero else ', above 0'}, for"
            f" instance {quantity.example}",
            text,
        )
    return value


def _out_of_range(exact: Decimal, quantity: Quantity) -> str:
    value = float(exact)
    if value < 0:
        return "is negative"
    if value == 0 and (exact != 0 or not quantity.zero):
        return "is not above 0" if exact == 0 else "is too small"
    if not math.isfinite(value) or (quantity.whole and exact > _LARGEST_COUNT):
        return "is too large"
    if quantity.whole and exact != exact.to_integral_value():
        return f"is not a whole number{' of bytes' if quantity.unit == 'B' else ''}"
    return ""


def quantity_text(value: float, kind: str) -> str:
    """Return a quantity in its canonical text, which reads back as the same number: ``300 ns``, ``1.25 GB/s``."""
    quantity = QUANTITIES[kind]
    if quantity.whole:
        whole = int(value)
        unit, shift = quantity.unit, 0
        if quantity.unit == "B" and whole:
            binary = [(f"{prefix}B", power) for prefix, power in _BINARY.items() if whole % (1 << power) == 0]
            unit, shift = binary[-1] if binary else ("B", 0)
        return f"{whole >> shift} {unit}".strip()
    exact = Decimal(repr(value))
    fitting = (unit for unit in quantity.shown if exact >= quantity.units[unit])
    unit = next(fitting, quantity.shown[-1] if value else quantity.shown[0])
    scaled = f"{exact / quantity.units[unit]:f}"
    return f"{scaled.rstrip('0').rstrip('.') if '.' in scaled else scaled} {unit}"
