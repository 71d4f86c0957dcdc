"""How claims are judged, by machine: published/predicates.toml, each claim in one to three readings."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gasmeter.choices import Blind
from gasmeter.errors import UsageError
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.series import SeriesKey, X

__all__ = [
    "MOST_READINGS", "Condition", "Predicate", "Reading", "predicates", "predicates_digest", "read_predicates",
]  # fmt: skip

_FILE = Path(__file__).resolve().parent.parent / "published" / "predicates.toml"
_FACTOR = 3.0

MOST_READINGS = 3
"""Of one claim: more would let some of them hold by chance."""

_FIELDS = {"on", "unit", "withheld", "undecidable", "suite", "reading"}
_READING_FIELDS = {
    "name", "quote", "rule", "tolerance", "quantity", "holds", "over", "between", "and", "direction", "needs",
    "differs", "ablation", "series",
}  # fmt: skip
_CONDITION_FIELDS = {"quantity", "holds", "over", "between"}
_SERIES_FIELDS = {
    "metric", "kernel", "conduit", "op", "variant", "machine", "overrides", "topology", "placement", "size", "ranks",
    "options", "optional",
}  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """A quantity and the intervals, ends included, in one of which it has to lie.

    Attributes
    ----------
    quantity : Expression
        Made of the reading's series.
    holds : tuple of tuple of float
        The intervals.
    over : tuple of X
        x values that must be there, and the only ones that count; empty for all that there are.
    between : tuple of float
        Of those only x values in this interval count.
    """

    quantity: Expression
    holds: tuple[tuple[float, float], ...]
    over: tuple[X, ...] = ()
    between: tuple[float, float] = (-math.inf, math.inf)

    def holds_for(self, value: float) -> bool:
        """Return whether a value satisfies it.

        Parameters
        ----------
        value : float
            Of the quantity.

        Returns
        -------
        bool
            Whether it lies in one of the intervals.
        """
        return any(low <= value <= high for low, high in self.holds)

    def margin(self, value: float) -> float:
        """Return how far inside its intervals a value lies.

        Parameters
        ----------
        value : float
            Of the quantity.

        Returns
        -------
        float
            The distance to the nearer end of the interval that it is deepest in; below 0 outside of all.
        """
        return max(min(value - low, high - value) for low, high in self.holds)


@dataclass(frozen=True)
class Reading:
    """One way to read a claim, in the paper's own words.

    Attributes
    ----------
    name : str
        Of the reading, for people.
    quote : str
        The paper's words that it rests on.
    rule, tolerance : str
        What the quantity is, in words, and what is allowed of it.
    conditions : tuple of Condition
        All of them have to hold; the first one's quantity is what is reported.
    direction : Condition or None
        The statement without its magnitude; None where the conditions are that already.
    series : dict of str to SeriesKey
        What the quantities name.
    optional : frozenset of str
        Series that may be missing.
    needs : str
        A claim whose first reading has to hold on the same case, or this one does not; or empty.
    differs : tuple of tuple of str
        In what the programs of its series differ, and the paper's words for it; see `gasmeter.reproduction.facets`.
    ablation : str
        Name of the paper's mechanism without which it is looked at again: if it still holds it does by construction.
    """

    name: str
    quote: str
    rule: str
    tolerance: str
    conditions: tuple[Condition, ...]
    direction: Condition | None
    series: Mapping[str, SeriesKey]
    optional: frozenset[str] = frozenset()
    needs: str = ""
    differs: tuple[tuple[str, str], ...] = ()
    ablation: str = ""

    @property
    def every_condition(self) -> tuple[Condition, ...]:
        """The conditions and the direction."""
        return (*self.conditions, *([self.direction] if self.direction else []))


@dataclass(frozen=True)
class Predicate:
    """How one claim is judged.

    Attributes
    ----------
    claim : str
        Its id.
    on : str
        The independent quantity that it rests on: claims on one count once in scores.
    unit : str
        Of the quantity.
    readings : tuple of Reading
        The first is the primary one, whose verdict is the claim's; empty if nothing can be judged here.
    withheld : str
        The fact that the paper withholds, without which no program is the paper's; empty otherwise.
    undecidable : str
        Why nobody can judge it; empty otherwise.
    suite : str
        The conduit on which the conformance suite has to pass; empty otherwise.
    digest : str
        Hash of everything the file says of it.
    """

    claim: str
    on: str
    unit: str
    readings: tuple[Reading, ...]
    withheld: str
    undecidable: str
    suite: str
    digest: str


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_predicates(text: str) -> dict[str, Predicate]:
    """Return the predicates of a file.

    Parameters
    ----------
    text : str
        TOML.

    Returns
    -------
    dict of str to Predicate
        By id of the claim, in the order written.

    Raises
    ------
    UsageError
        If a field is missing or unknown, a reading has no quote, or an expression names a series that is not there.
    """
    return {name: _predicate(name, _inherited(entry)) for name, entry in tomllib.loads(text).items()}


def _inherited(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give every reading the fields of the first one that it lacks; an empty field takes one away."""
    if not entry.get("reading"):
        return entry
    first, *others = entry["reading"]
    full = [{key: part for key, part in {**first, **other}.items() if part or key not in first} for other in others]
    return {**entry, "reading": [first, *full]}


def _predicate(name: str, entry: Mapping[str, Any]) -> Predicate:
    where = f"predicates.toml: {name}"
    judged = [key for key in ("reading", "undecidable", "suite") if key in entry]
    if set(entry) - _FIELDS or len(judged) != 1:
        raise UsageError(
            f"{where}: it has {', '.join(sorted(entry))}; allowed: one of reading, undecidable and suite, and of"
            f" {', '.join(sorted(_FIELDS))}",
            name,
        )
    readings = tuple(_reading(part, where) for part in entry.get("reading", []))
    if len(readings) > MOST_READINGS or len({one.name for one in readings}) < len(readings):
        raise UsageError(
            f"{where}: {len(readings)} readings ({', '.join(one.name for one in readings)}); allowed: 1 to"
            f" {MOST_READINGS}, each with a name of its own",
            name,
        )
    return Predicate(
        name, entry.get("on", name), entry.get("unit", "ratio"), readings, entry.get("withheld", ""),
        entry.get("undecidable", ""), entry.get("suite", ""), _digest([name, entry]),
    )  # fmt: skip


def _reading(entry: Mapping[str, Any], where: str) -> Reading:
    there = f"{where}: reading {entry.get('name', '?')!r}"
    needed = {"name", "quote", "rule", "tolerance", "quantity", "holds", "series"}
    if set(entry) - _READING_FIELDS or needed - set(entry):
        wrong = [*sorted(set(entry) - _READING_FIELDS), *(f"no {key}" for key in sorted(needed - set(entry)))]
        raise UsageError(f"{there}: {', '.join(wrong)}; allowed: {', '.join(sorted(_READING_FIELDS))}", wrong[0])
    if not str(entry["quote"]).strip():
        raise UsageError(f"{there}: its quote is empty; allowed: the paper's own words", "quote")
    series = {key: _series(spec, f"{there}: series {key}") for key, spec in entry["series"].items()}
    own = {key: part for key, part in entry.items() if key in _CONDITION_FIELDS}
    shared: dict[str, Any] = {key: own[key] for key in ("over", "between") if key in own}
    conditions = tuple(_condition({**shared, **part}, there) for part in (own, *entry.get("and", [])))
    direction = _condition({**shared, **entry["direction"]}, there) if "direction" in entry else None
    reading = Reading(
        entry["name"], entry["quote"], entry["rule"], entry["tolerance"], conditions, direction, series,
        frozenset(key for key, spec in entry["series"].items() if spec.get("optional")), entry.get("needs", ""),
        tuple(sorted((str(key), str(words)) for key, words in entry.get("differs", {}).items())),
        str(entry.get("ablation", "")),
    )  # fmt: skip
    for key in (key for condition in reading.every_condition for key in condition.quantity.names):
        if key not in series:
            raise UsageError(f"{there}: there is no series {key!r}; allowed: {', '.join(series)}", key)
    for facet, words in reading.differs:
        if not words.strip():
            raise UsageError(f"{there}: differs in {facet} without words of the paper; allowed: a quote", facet)
    return reading


def _condition(part: Mapping[str, Any], where: str) -> Condition:
    if set(part) - _CONDITION_FIELDS or "quantity" not in part:
        raise UsageError(
            f"{where}: a condition has {', '.join(sorted(part))}; allowed: {', '.join(sorted(_CONDITION_FIELDS))}"
        )
    intervals = tuple((float(low), float(high)) for low, high in part.get("holds", ()))
    if not intervals or any(not low <= high for low, high in intervals):
        raise UsageError(f"{where}: quantity {part['quantity']!r} has no interval; allowed: holds = [[low, high]]")
    low, high = part.get("between", (-math.inf, math.inf))
    return Condition(Expression(part["quantity"]), intervals, tuple(part.get("over", ())), (float(low), float(high)))


def _series(spec: Mapping[str, Any], where: str) -> SeriesKey:
    if set(spec) - _SERIES_FIELDS or not {"metric", "kernel", "conduit"} <= set(spec):
        raise UsageError(f"{where} has {', '.join(sorted(spec))}; allowed: {', '.join(sorted(_SERIES_FIELDS))}")
    given: dict[str, Any] = {
        key: spec[key] for key in ("op", "variant", "machine", "topology", "placement") if key in spec
    }
    given |= {key: int(spec[key]) for key in ("size", "ranks") if key in spec}
    return SeriesKey(
        spec["metric"], spec["kernel"], spec["conduit"], **given,
        overrides=_pairs(spec.get("overrides", {})), options=_pairs(spec.get("options", {})),
    )  # fmt: skip


def _pairs(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(key), str(value)) for key, value in given.items()))


@functools.cache
def _installed() -> Mapping[str, Predicate]:
    # An installation without published values runs every figure and judges none.
    return read_predicates(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}


def predicates(*, blind: Blind | None = None) -> dict[str, Predicate]:
    """Return every installed predicate.

    Parameters
    ----------
    blind : {"removed", "tripled"}, optional
        What a blind run does: without the predicates, or with their intervals tripled.

    Returns
    -------
    dict of str to Predicate
        By id of the claim.
    """
    if blind == "removed":
        return {}
    if blind == "tripled":
        return {name: _tripled(predicate) for name, predicate in _installed().items()}
    return dict(_installed())


def _tripled(predicate: Predicate) -> Predicate:
    def wider(condition: Condition) -> Condition:
        return replace(condition, holds=tuple((low * _FACTOR, high * _FACTOR) for low, high in condition.holds))

    readings = tuple(
        replace(
            reading, conditions=tuple(map(wider, reading.conditions)), tolerance=f"tripled: {reading.tolerance}",
            direction=wider(reading.direction) if reading.direction else None,
        )
        for reading in predicate.readings
    )  # fmt: skip
    return replace(predicate, readings=readings)


def predicates_digest(chosen: Iterable[Predicate] | None = None) -> str:
    """Return the hash of predicates, as it stands in every report.

    Parameters
    ----------
    chosen : iterable of Predicate, optional
        Those of the installed file by default.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    return _digest({one.claim: one.digest for one in (_installed().values() if chosen is None else chosen)})
