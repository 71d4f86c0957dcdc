"""Shares, durations, dates, quantities: parsed from what people type, and formatted for people; sizes are in sizes.py.

Everything is SI inside and scaled only where it is shown. A quantity (a number of a
machine) always names its unit, decimal (``kB``) or binary (``KiB``).
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from gasmeter.errors import UsageError
from gasmeter.sizes import format_bytes, parse_size

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
    """Return the numbers of ranks that a list names, in the order given, each once.

    Parameters
    ----------
    value : str, int or iterable of these
        ``"2"`` or ``"1,2,4"``.

    Returns
    -------
    tuple of int
        Each at least 1.

    Raises
    ------
    UsageError
        If an entry is not a whole number of 1 or more.
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
    """Return the seeds that a list names, in the order given, each once.

    Parameters
    ----------
    value : str, int or iterable of these
        ``"1"`` or ``"1,2,3"``.

    Returns
    -------
    tuple of int
        Each from 0 to 2^64-1, at least one.

    Raises
    ------
    UsageError
        If an entry is not such a number.
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
    """Return a share such as ``2%`` or ``0.02`` as a number.

    Parameters
    ----------
    text : str or float
        Above 0 and at most 100 %.

    Returns
    -------
    float
        The share, 0.02 for 2 %.

    Raises
    ------
    UsageError
        If it is no number or outside that range.
    """
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
    """Return a duration such as ``30s``, ``2m`` or ``500ms`` in seconds.

    Parameters
    ----------
    text : str or float
        A number with an optional unit ns, us, ms, s, m (or min), h; without unit seconds.

    Returns
    -------
    float
        Seconds, above 0.

    Raises
    ------
    UsageError
        If it is no duration or not above 0.
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
    """Return a date as stores have it.

    Parameters
    ----------
    text : str
        ISO 8601, with or without a time; UTC where it names no zone.

    Returns
    -------
    str
        In UTC, to the second or finer.

    Raises
    ------
    UsageError
        If there is no such date.

    Examples
    --------
    >>> parse_date("2026-11-21"), parse_date("2026-11-21T09:30+01:00")
    ('2026-11-21T00:00:00+00:00', '2026-11-21T08:30:00+00:00')
    """
    stripped = text.strip()
    try:
        given = datetime.datetime.fromisoformat(stripped)
        known = given if given.tzinfo else given.replace(tzinfo=datetime.UTC)
        return known.astimezone(datetime.UTC).isoformat()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"date {stripped!r} is not allowed; allowed: a date of ISO 8601, UTC unless it names a zone, for instance"
            " 2026-11-21 or 2026-11-21T09:30+01:00", stripped,
        ) from error  # fmt: skip


def parse_in(text: str, unit: str) -> Decimal:
    """Return a number in a given unit, whichever unit of that kind it was written with.

    Parameters
    ----------
    text : str
        For instance ``500``, ``500us``, ``0.5 ms`` for ``us``; ``4K`` for ``B``; ``4%`` for ``ratio``.
    unit : str
        What the number is in if it names no unit. Of a unit that has no others (``messages``) the number may name it.

    Returns
    -------
    Decimal
        Exact.

    Raises
    ------
    UsageError
        If it is no number, or has a unit of another kind.
    """
    found = _split(text)
    if found is not None:
        number, given = found
        if given in {"", unit}:
            return number
        if given in (units := units_beside(unit)):
            return number * units[given] / units[unit]
        if unit == "B":
            return Decimal(parse_size(text))
    raise UsageError(f"{text!r} is not a number{f' of {unit}' if unit else ''}", text)


def units_beside(unit: str) -> Mapping[str, Decimal]:
    """Return the units that a number in this unit may be written with, too.

    Parameters
    ----------
    unit : str
        For instance ``us``.

    Returns
    -------
    mapping of str to Decimal
        By unit, in one of them; the unit itself among them. Bytes have those of `parse_size` instead.
    """
    if unit in _TIMES:
        return _TIMES
    if unit in {"", "ratio"}:
        return {unit: Decimal(1), "%": Decimal("0.01")}
    kinds = (quantity.units for quantity in QUANTITIES.values() if not quantity.whole and unit in quantity.units)
    return next(kinds, {unit: Decimal(1)})


def format_duration(seconds: float) -> str:
    """Return a duration for people: ``450 ms``, ``12 s``, ``3 min 20 s``.

    Parameters
    ----------
    seconds : float
        0 or more.

    Returns
    -------
    str
        Rounded to what one reads at a glance.
    """
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
    """Return the unit in which a value has few digits, for tables and axes alike.

    Parameters
    ----------
    value : float
        In `unit`.
    unit : str
        One of the row units (``ns``, ``B/s``, ``1/s``, ``GUP/s``); others stay.

    Returns
    -------
    tuple of float and str
        How many of `unit` it has, and its name.

    Examples
    --------
    >>> scale_of(14550.0, "ns"), scale_of(2.1e9, "B/s")
    ((1000.0, 'µs'), (1000000000.0, 'GB/s'))
    """
    if unit == "GUP/s":
        return (1e-3, "MUP/s") if 0 < abs(value) < 1e-3 else (1.0, unit)
    scales = _SCALES.get(unit, ())
    return next(((factor, scaled) for factor, scaled in scales if abs(value) >= factor), (1.0, unit))


def format_quantity(value: float, unit: str, metric: str = "") -> str:
    """Return a value with its unit, scaled to three or four digits.

    Parameters
    ----------
    value : float
        In `unit`; NaN gives a dash.
    unit : str
        One of the row units (``ns``, ``B/s``, ``1/s``, ``GUP/s``, ``B``, ``ratio``); others are not scaled.
    metric : str, default ""
        What the number is, since ratios are shown by it: an overhead is a share with its sign, from 1000 % on a factor;
        a speedup is a factor; any other is a share.

    Returns
    -------
    str
        For instance ``1.23 µs``, ``+12.3 %``, ``4.55 x``.
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
    """A kind of number that a machine is made of.

    Attributes
    ----------
    unit : str
        SI unit of the value.
    expected : str
        What to write, for messages.
    example : str
        A value that is allowed.
    units : mapping of str to Decimal
        What each unit that people may write stands for, in `unit`.
    shown : tuple of str
        Units a value is shown in, the largest that keeps it at least 1; the last one otherwise.
    zero : bool
        Whether 0 is allowed.
    whole : bool
        Whether it is a whole number in `unit`.
    """

    unit: str
    expected: str
    example: str
    units: Mapping[str, Decimal]
    shown: tuple[str, ...]
    zero: bool = False
    whole: bool = False


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
    """Return a number with its unit in SI base units.

    Parameters
    ----------
    given : object
        For instance ``"0.3 us"``, ``"1.25 GB/s"``, ``"4 KiB"``; a count may be a number.
    kind : str
        One of `QUANTITIES`.
    what : str
        What the number is, for the message.

    Returns
    -------
    float
        In the unit of its kind: s, B/s, B, Hz or 1.

    Raises
    ------
    UsageError
        If it is no number, has no unit or another one, or is not positive where it must be.

    Examples
    --------
    >>> parse_quantity("0.3 us", "time", "latency")
    3e-07
    """
    quantity = QUANTITIES[kind]
    text = str(given).strip()
    found = _split(text)
    value = math.nan
    reason = ""
    if found is None or isinstance(given, bool):
        reason = f"is not a number{' with a unit' if '' not in quantity.units else ''}"
    else:
        number, unit = found
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
    """Return a quantity in its one spelling, which reads back as the same number.

    Parameters
    ----------
    value : float
        In the unit of its kind.
    kind : str
        One of `QUANTITIES`.

    Returns
    -------
    str
        For instance ``300 ns``, ``1.25 GB/s``, ``4 KiB``.
    """
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
