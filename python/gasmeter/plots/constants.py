"""Facts that all rows of a picture share: the line below its title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from gasmeter.arguments.sizes import format_size
from gasmeter.plots.looks import shared_options
from gasmeter.rows.record import MIXED

__all__ = ["constants"]

_DAY = len("2026-01-31")


def constants(rows: pd.DataFrame, runs: Sequence[Mapping[str, Any]] = ()) -> tuple[str, ...]:
    """Return the facts that all rows share, the most important first.

    They are operation, conduit, machine, topology, placement, ranks, size, options and, for measured rows, host and
    day.
    """
    shared = {name: str(rows[name].iloc[0]) for name in rows if rows[name].nunique(dropna=False) == 1}
    what = dict.fromkeys(shared[name] for name in ("kernel", "op", "variant") if shared.get(name))
    parts = [" ".join(what)]
    parts += [shared["conduit"]] if "conduit" in shared else []
    parts += [f"machine {shared['machine']}"] if shared.get("machine") else []
    parts += [shared[name] for name in ("topology", "placement") if shared.get(name)]
    parts += [f"{shared['ranks']} ranks"] if "ranks" in shared else []
    parts += [format_size(int(shared["size_bytes"]))] if shared.get("size_bytes", "0") != "0" else []
    parts += [f"seed {shared['seed']}"] if shared.get("seed", "1") not in {"0", "1"} else []
    parts += shared_options(rows)
    if {"measured", MIXED} & set(rows["kind"]):  # modelled rows are the same everywhere, on every day
        parts += _where_and_when(runs)
    return tuple(filter(None, parts))


def _where_and_when(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    hosts = dict.fromkeys(filter(None, (_host(run.get("host") or {}) for run in runs)))
    days = sorted({str(run["started"])[:_DAY] for run in runs if run.get("started")})
    when = [" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []
    return [*([f"host {' and '.join(hosts)}"] if hosts else []), *when]


def _host(facts: Mapping[str, Any]) -> str:
    cores = f"{facts['cores']} cores" if facts.get("cores") else ""
    inside = ", ".join(filter(None, [str(facts.get("processor") or ""), cores]))
    return f"{facts.get('name', '')} ({inside})" if inside else str(facts.get("name", ""))
