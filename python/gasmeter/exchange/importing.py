"""A store made of another tool's output: rows of kind measured whose label is the tool."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path

from gasmeter.choices import IMPORT_FORMATS
from gasmeter.errors import UsageError, unknown
from gasmeter.exchange.gasnet import read_gasnet
from gasmeter.exchange.imb import read_imb
from gasmeter.exchange.nccl import read_nccl
from gasmeter.exchange.netpipe import read_netpipe
from gasmeter.exchange.osu import read_osu
from gasmeter.exchange.quantities import Quantity
from gasmeter.exchange.ucx import read_ucx
from gasmeter.exchange.verbs import read_perftest
from gasmeter.measuring.context import command_line, now
from gasmeter.rows.record import Record, Row
from gasmeter.rows.verified import Verified
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store
from gasmeter.version import package_version

__all__ = ["import_results"]

_Reader = Callable[[str, str], Iterator[Quantity]]
_READERS: dict[str, tuple[_Reader, str]] = {
    "osu": (read_osu, "raw@mpi"),
    "imb": (read_imb, "raw@mpi"),
    "perftest": (read_perftest, "raw@verbs"),
    "ucx_perftest": (read_ucx, "raw@ucx"),
    "gasnet": (read_gasnet, "gasnet"),
    "nccl-tests": (read_nccl, "raw@nccl"),
    "netpipe": (read_netpipe, "raw@tcp"),
}
"""By format: how it is read, and what its numbers ran on unless somebody says more."""


def import_results(
    form: str,
    file: str | Path,
    out: str | Path,
    *,
    conduit: str = "",
    ranks: int = 2,
    host: str = "",
    date: str = "",
    revision: str = "",
) -> Result:
    """Write a store with what another tool measured.

    Parameters
    ----------
    form : str
        One of `gasmeter.choices.IMPORT_FORMATS`.
    file : str or Path
        What the tool printed.
    out : str or Path
        Folder of the store; an earlier import there is kept under another name.
    conduit : str, optional
        What it ran on, for column ``conduit``; by default what the format says.
    ranks : int, default 2
        Ranks of the job, where the output does not say.
    host, date, revision : str, optional
        Name of the machine, ISO 8601 date of the run (now by default), and what was measured: outputs do not say.

    Returns
    -------
    Result
        The rows; they have no samples and no intervals.

    Raises
    ------
    UsageError
        If the format is unknown, or the file cannot be read, holds no result, or is damaged: with its line.
    """
    if form not in _READERS:
        raise unknown("format", form, IMPORT_FORMATS, "gasmeter import --help")
    read, runs_on = _READERS[form]
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"{path} cannot be read: {why}; allowed: the text that {form} printed", str(path)) from error
    quantities = list(read(text, str(path)))
    if not quantities:
        raise UsageError(f"{path} holds no result of {form}; allowed: the text that it printed", str(path))
    rows = list(
        {row["run_id"]: row for row in (_row(form, one, conduit or runs_on, ranks) for one in quantities)}.values()
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    run = {
        "started": date or now(),
        "command": command_line(),
        "git": revision,
        "host": {"name": host} if host else {},
        "versions": {"gasmeter": package_version()},
        "imported": {"format": form, "file": path.name, "sha256": digest},
    }
    notes = [f"imported from the output of {form} ({path.name}); measured by it, not by gasmeter"]
    record = Record(group=digest[:16], rows=rows, notes=notes)
    store = Store(Path(out), f"imported-{form}", resume=False, run=run)
    store.append(record)
    result = Result([record], name=f"imported-{form}")
    store.finish(result, "complete", plots=False)
    return result


def _row(form: str, one: Quantity, conduit: str, ranks: int) -> Row:
    on, verified = one.conduit or conduit, Verified.of(one.verified)
    row: Row = {
        "experiment": f"imported-{form}", "kernel": one.kernel or form, "op": one.op, "variant": "", "conduit": on,
        "network": on.rpartition("@")[2], "kind": one.kind, "label": form, "machine": "", "topology": "",
        "placement": "", "nodes": 1, "ranks": one.ranks or ranks, "oversubscribed": False,
        "size_bytes": one.size_bytes, "options": one.options, "semantics": one.semantics, "verified": verified,
        "metric": one.metric, "value": one.value if verified is not Verified.FALSE else math.nan,
        "unit": one.unit, "reference": "",
        "ci_low": math.nan, "ci_high": math.nan, "min": one.minimum, "p50": math.nan, "p99": one.p99, "n": one.n,
        "repetition": 0, "seed": 0, "host_state_ns": math.nan,
    }  # fmt: skip
    names = ("kernel", "op", "conduit", "ranks", "size_bytes", "options", "kind", "metric", "semantics")
    identity = "\n".join(str(row[name]) for name in names)
    return {**row, "run_id": hashlib.sha256(identity.encode()).hexdigest()[:16], "state": ""}
