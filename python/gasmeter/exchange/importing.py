"""A store from another tool's output: rows of kind measured, with the tool as label."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from gasmeter.arguments.choices import IMPORT_FORMATS, whole_number
from gasmeter.errors import UsageError, unknown
from gasmeter.exchange.fabtests import read_fabtests
from gasmeter.exchange.gasnet import read_gasnet
from gasmeter.exchange.imb import read_imb
from gasmeter.exchange.nccl import NCCL
from gasmeter.exchange.netpipe import read_netpipe
from gasmeter.exchange.osu import read_osu
from gasmeter.exchange.quantities import Quantity, bad_line, believed, slug
from gasmeter.exchange.sockperf import read_sockperf
from gasmeter.exchange.tables import read_form
from gasmeter.exchange.ucx import read_ucx
from gasmeter.exchange.verbs import PERFTEST
from gasmeter.measuring.context import command_line, now
from gasmeter.rows.record import Record, Row
from gasmeter.rows.verified import Verified
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store
from gasmeter.units import format_bytes, parse_date
from gasmeter.version import package_version

__all__ = ["import_results", "read_record"]

_Reader = Callable[[str, str, list[str], str], Iterator[Quantity]]
_READERS: dict[str, tuple[_Reader, str]] = {
    "osu": (read_osu, "raw@mpi"),
    "imb": (read_imb, "raw@mpi"),
    "perftest": (partial(read_form, PERFTEST), "raw@verbs"),
    "ucx_perftest": (read_ucx, "raw@ucx"),
    "gasnet": (read_gasnet, "gasnet"),
    "nccl-tests": (partial(read_form, NCCL), "raw@nccl"),
    "netpipe": (read_netpipe, "raw@tcp"),
    "fabtests": (read_fabtests, "raw@libfabric"),
    "sockperf": (read_sockperf, "raw@sockets"),
}
"""Reader of each format, and the conduit of its numbers by default."""

_RANKS = 2
_SHOWN = 60


def import_results(
    form: str,
    file: str | Path,
    out: str | Path,
    *,
    conduit: str = "",
    ranks: int | None = None,
    host: str = "",
    date: str = "",
    revision: str = "",
    op: str = "",
    size: int | None = None,
) -> Result:
    """Write a store with the rows in another tool's output, without samples and intervals.

    An earlier import moves to another name. `ranks` defaults to 2 if the output names none; `date` is ISO 8601, now by
    default, UTC without a zone. Rows are verified if the tool says that it compared data, else ``not_checked``. Notes
    name omissions. Raises UsageError for an unknown format, a file that is unreadable, empty or damaged, a size or
    benchmark that neither output nor arguments name, and lines that cannot be told apart.
    """
    if form not in _READERS:
        raise unknown("format", form, IMPORT_FORMATS, "gasmeter import --help")
    if op and not slug(op):
        raise UsageError(f"op {op!r} is no name; allowed: letters and digits, for instance all-reduce", op)
    ranks = ranks if ranks is None else whole_number(ranks, "ranks")
    size = size if size is None else whole_number(size, "size", 0)
    started = parse_date(date) if date else now()
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"{path} cannot be read: {why}; allowed: the text that {form} printed", str(path)) from error
    record = read_record(form, text, str(path), conduit=conduit, ranks=ranks, op=op, size=size)
    run = {
        "started": started,
        "command": command_line(),
        "git": revision,
        "host": {"name": host} if host else {},
        "versions": {"gasmeter": package_version()},
        "imported": {"format": form, "file": path.name, "sha256": _digest(text)},
    }
    store = Store(Path(out), f"imported-{form}", resume=False, run=run)
    store.append(record)
    result = Result([record], name=f"imported-{form}")
    store.finish(result, "complete", plots=False)
    return result


def read_record(
    form: str, text: str, name: str, *, conduit: str = "", ranks: int | None = None, op: str = "",
    size: int | None = None,
) -> Record:  # fmt: skip
    """Return the rows, notes on omissions and errors (wrong data) in another tool's output.

    Parameters and errors are those of `import_results`.
    """
    read, runs_on = _READERS[form]
    notes = [f"imported from the output of {form} ({Path(name).name}); measured by it, not by gasmeter"]
    quantities = [believed(quantity) for quantity in read(text, name, notes, op)]
    if not quantities:
        raise _nothing(name, form, text, notes[1:])
    complete = [_complete(quantity, name, op, size) for quantity in quantities]
    if ranks is None and any(quantity.ranks == 0 for quantity in complete):
        notes.append(f"the output does not say how many ranks there were: {_RANKS} (--ranks)")
    if not text.endswith(("\n", "\r")):
        notes.append("the last line does not end: its last number may be cut off")
    rows = _distinct_rows(form, complete, name, conduit or runs_on, ranks or _RANKS)
    notes += _lines(complete, "note", " has no value: ")
    return Record(
        group=_digest(text)[:16], rows=rows, notes=notes, errors=_lines(complete, "fault", " did not verify: ")
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _nothing(path: str, form: str, text: str, notes: Sequence[str]) -> UsageError:
    """Return the error for a file without results: its beginning, its omissions, its likely format."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    reasons = [f"its first line is {first[:_SHOWN]!r}" if first else "it is empty", *notes[:1]]
    fitting = [other for other in _READERS if other != form and _reads(other, text)]
    reasons += [f"it reads as {' or '.join(fitting)}"] if fitting else []
    return UsageError(
        f"{path} holds no result of {form}: {'; '.join(reasons)}; allowed: the text that {form} printed", path
    )


def _reads(form: str, text: str) -> bool:
    try:
        return any(True for _ in _READERS[form][0](text, "", [], ""))
    except UsageError:
        return False


def _complete(quantity: Quantity, name: str, op: str, size: int | None) -> Quantity:
    """Return a quantity with the given benchmark and size where the output lacks them."""
    quantity = replace(
        quantity, op=quantity.op or slug(op), size_bytes=size if quantity.size_bytes is None else quantity.size_bytes
    )
    if not quantity.op:
        raise bad_line(
            name,
            quantity.line,
            f"nothing says which benchmark this is ({quantity.semantics.strip(': ')}); name it by --op NAME",
        )
    if quantity.size_bytes is None:
        raise bad_line(name, quantity.line, f"nothing says the size of {quantity.op}; give it by --size BYTES")
    return quantity


def _lines(quantities: Sequence[Quantity], field: str, between: str) -> list[str]:
    """Return a line for each line of the file that has a note or a fault."""
    notes = (
        f"line {printed.line}: {printed.op}, {format_bytes(printed.size_bytes or 0)},{between}{getattr(printed, field)}"
        for printed in quantities
        if getattr(printed, field)
    )
    return list(dict.fromkeys(notes))


def _distinct_rows(form: str, quantities: Sequence[Quantity], name: str, conduit: str, ranks: int) -> list[Row]:
    """Return a row for each quantity; refuse two that differ only in their place."""
    lines: dict[tuple[object, ...], int] = {}
    rows = []
    for quantity in quantities:
        row = _row(form, quantity, conduit, ranks)
        key = tuple(row[column] for column in _IDENTITY if column != "semantics")
        if key in lines:
            raise bad_line(
                name, quantity.line,
                f"{quantity.metric} of {quantity.op}, {format_bytes(quantity.size_bytes or 0)}, stands in line"
                f" {lines[key]}, too, and"
                " nothing tells the two apart; allowed: each once; import them from files of their own",
            )  # fmt: skip
        lines[key] = quantity.line
        rows.append(row)
    return rows


_IDENTITY = ("kernel", "op", "conduit", "ranks", "size_bytes", "options", "kind", "metric", "semantics")


def _row(form: str, quantity: Quantity, conduit: str, ranks: int) -> Row:
    on = quantity.conduit or conduit
    row: Row = {
        "experiment": f"imported-{form}", "kernel": quantity.kernel or form, "op": quantity.op, "variant": "",
        "conduit": on,
        "network": on.rpartition("@")[2], "kind": quantity.kind, "label": form, "machine": "", "topology": "",
        "placement": "", "nodes": 1, "ranks": quantity.ranks or ranks, "oversubscribed": False,
        "size_bytes": quantity.size_bytes, "options": quantity.options, "semantics": quantity.semantics,
        "verified": Verified.of(quantity.verified),
        "metric": quantity.metric, "value": quantity.value, "unit": quantity.unit, "reference": "",
        "ci_low": math.nan, "ci_high": math.nan, "min": quantity.minimum, "p50": quantity.p50, "p99": quantity.p99,
        "n": quantity.n,
        "repetition": 0, "seed": 0, "host_state_ns": math.nan,
    }  # fmt: skip
    identity = "\n".join(str(row[name]) for name in _IDENTITY)
    return {**row, "run_id": hashlib.sha256(identity.encode()).hexdigest()[:16], "state": ""}
