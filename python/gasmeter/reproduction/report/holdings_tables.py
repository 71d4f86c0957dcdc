"""Objects that a conduit holds of its network, as a table below a figure, read from a job, never written by hand."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gasmeter.measuring.sessions import ModelSession
from gasmeter.reproduction.plan.figure import Extra
from gasmeter.reproduction.report.published_tables import PublishedTable

__all__ = ["Held", "held", "holdings_table", "settled"]

Held = Sequence[Mapping[str, str]]
"""For each object: ``kind``, ``name`` and further facts."""


def held(what: str, *, operations: int, share: float = 0.5, options: Mapping[str, str], **settings: Any) -> Held:
    """Return the objects that rank 0 of a modelled job holds in the midst of its second block.

    `share` is the instant after the block's begin, as a share of the first block's time. `what` is a kernel or an
    operation of ``ping-pong``, `operations` the length of both blocks; other settings as in `gasmeter.measure`. Raises
    UsageError if the conduit does not report objects.
    """
    with _session(what, options, settings) as session:
        took_ns = session.block(operations).elapsed_ns
        return session.holdings(operations=operations, after_ns=share * took_ns)


def settled(
    what: str, *, operations: int, options: Mapping[str, str], **settings: Any
) -> tuple[Held, Mapping[str, int]]:
    """Return the objects that rank 0 of a modelled job holds after a block, and the counters of all ranks.

    `what` is a kernel or an operation of ``ping-pong``; other settings as in `gasmeter.measure`.
    """
    with _session(what, options, settings) as session:
        session.block(operations)
        return session.holdings(), session.counters()


@contextlib.contextmanager
def _session(what: str, options: Mapping[str, str], settings: Mapping[str, Any]) -> Iterator[ModelSession]:
    from gasmeter.trace.virtual import points_of  # noqa: PLC0415 - loads pandas

    session = ModelSession(points_of(what, options=dict(options), **settings)[0])
    try:
        yield session
    finally:
        session.close()


def holdings_table(title: str, kind: str, objects: Held, published: PublishedTable | None = None) -> Extra:
    """Return objects of a kind as a table in which equal objects share a row, beside the published facts.

    Published facts stand in columns of their own, and a column says whether all agree. An object that only the paper
    names has a row of 0 objects.
    """
    table = published or PublishedTable()
    of_kind = [each for each in objects if each["kind"] == kind]
    keys = list(dict.fromkeys(key for each in of_kind for key in each if key not in {"kind", "name"}))
    rows = [
        (name, str(count), *cells, *_beside(name, dict(zip(keys, cells, strict=True)), table))
        for (name, *cells), count in Counter(
            (each["name"], *(each.get(key, "") for key in keys)) for each in of_kind
        ).items()
    ]
    names = {each["name"] for each in of_kind}
    rows += [
        (name, "0", *("" for _ in keys), *cells, "not there") for name, cells in table.rows.items() if name not in names
    ]
    beside = (*(f"{head}, published" for head in table.heads), "as published") if table.rows else ()
    return Extra(title, (kind, "live", *keys, *beside), rows)


def _beside(name: str, cells: Mapping[str, str], table: PublishedTable) -> tuple[str, ...]:
    """Return the published facts of an object, and whether the model has the same.

    A paper may print a letter in place of a number: any number agrees with it.
    """
    if not table.rows:
        return ()
    stated = table.rows.get(name)
    if stated is None:
        return (*("" for _ in table.heads), "not named")
    pairs = [(cells.get(head, ""), cell) for head, cell in zip(table.heads, stated, strict=True)]
    alike = all(
        modelled == cell or (modelled.isdigit() and cell.isalpha() and cell != "none") for modelled, cell in pairs
    )
    return (*stated, "yes" if alike else "no")
