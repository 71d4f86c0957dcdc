"""Load of each link of a modelled network: tables of the last block, packed in the journal, one frame for readers.

A table stands in the journal as compressed columns and is unpacked on demand: a sweep over thousands of links stays
small, in the store and in memory.
"""

from __future__ import annotations

import base64
import io
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from gasmeter.arguments.sizes import format_size
from gasmeter.catalogue import topology as shape_of
from gasmeter.rows.parquet import read_parquet
from gasmeter.sweeps.placement import ONE_PER_NODE
from gasmeter.sweeps.point import Point

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

__all__ = [
    "KEYS",
    "LINK_COLUMNS",
    "MOST_LINK_ROWS",
    "Table",
    "busiest",
    "fitting",
    "links_frame",
    "links_parquet",
    "links_title",
    "pack",
    "packed_tables",
    "port_names",
    "unpack",
    "whole_table",
]

KEYS = (
    "run_id", "kernel", "op", "variant", "conduit", "machine", "topology", "placement", "ranks", "size_bytes",
)  # fmt: skip
"""Columns that name the point of a table."""

LINK_COLUMNS = (
    *KEYS, "vertex", "port", "port_name", "to", "packets", "bytes", "busy", "longest_wait_ns", "blocked",
)  # fmt: skip
"""Columns of links.parquet, in order: one row per direction of a link."""

MOST_LINK_ROWS = 4_000_000
"""Rows of all tables of a store; later tables are left out."""

Table = Mapping[str, npt.NDArray[Any]]
"""Columns as the compiled core returns them."""

_TYPES = {
    "vertex": "uint32",
    "port": "uint32",
    "to": "uint32",
    "packets": "uint64",
    "bytes": "uint64",
    "busy": "float64",
    "longest_wait_ns": "float64",
    "blocked": "uint64",
}
_LEVEL = 6


def pack(point: Point, table: Table) -> dict[str, Any]:
    """Return a table of links for the journal: the columns of `KEYS`, ``rows``, and compressed columns."""
    columns = {name: _text(np.asarray(table[name], dtype=kind)) for name, kind in _TYPES.items()}
    return {
        **{name: getattr(point, "id" if name == "run_id" else name) for name in KEYS},
        "rows": len(table["vertex"]),
        **columns,
    }


def _text(values: npt.NDArray[Any]) -> str:
    little = values.astype(values.dtype.newbyteorder("<"))
    return base64.b85encode(zlib.compress(little.tobytes(), _LEVEL)).decode()


def unpack(packed: Mapping[str, Any]) -> pd.DataFrame:
    """Return one packed table with `LINK_COLUMNS`."""
    import pandas as pd  # noqa: PLC0415 - most runs build no frame

    frame = pd.DataFrame(
        {
            name: np.frombuffer(zlib.decompress(base64.b85decode(packed[name])), np.dtype(kind).newbyteorder("<"))
            for name, kind in _TYPES.items()
        }
    )
    return _with_keys(frame, packed)


def _with_keys(frame: pd.DataFrame, packed: Mapping[str, Any]) -> pd.DataFrame:
    """Return links with the names of their ports and of their point."""
    frame = frame.astype(_TYPES)
    frame["port_name"] = port_names(str(packed["topology"]), frame["vertex"].to_numpy(), frame["port"].to_numpy())
    return frame.assign(**{name: packed[name] for name in KEYS})[list(LINK_COLUMNS)]


def whole_table(packed: Mapping[str, Any]) -> pd.DataFrame:
    """Return one packed table with its dead links, which carry nothing and have no row of their own.

    Each direction of a dead link has a row behind the others. Column ``times`` is the factor on the time of bytes: 1,
    more for slow links, infinite for dead ones.
    """
    import pandas as pd  # noqa: PLC0415 - most runs build no frame

    table = unpack(packed)
    shape = shape_of(str(packed["topology"]))
    table["times"] = 1.0
    for link in shape["slow_links"]:
        table.loc[(table["vertex"] == link["vertex"]) & (table["port"] == link["port"]), "times"] = link["times"]
    if not shape["dead_links"]:
        return table
    dead = pd.DataFrame(shape["dead_links"])
    dead = _with_keys(dead.assign(**{name: 0 for name in _TYPES if name not in dead}), packed)
    return pd.concat([table, dead.assign(times=math.inf)], ignore_index=True)


def links_frame(packed: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the tables of several points below each other, with `LINK_COLUMNS`."""
    import pandas as pd  # noqa: PLC0415 - most runs build no frame

    frames = [unpack(entry) for entry in packed]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=pd.Index(LINK_COLUMNS))


def links_parquet(packed: Iterable[Mapping[str, Any]]) -> bytes:
    """Return links.parquet for one or more tables, with a row group for each, made a table at a time."""
    import pyarrow as pa  # noqa: PLC0415 - most runs write no links
    import pyarrow.parquet as pq  # noqa: PLC0415

    buffer = io.BytesIO()
    writer: pq.ParquetWriter | None = None
    for entry in packed:
        table = pa.Table.from_pandas(unpack(entry), preserve_index=False)
        writer = writer or pq.ParquetWriter(buffer, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return buffer.getvalue()


def packed_tables(content: bytes) -> list[dict[str, Any]]:
    """Return the tables of links.parquet, one per point, as a journal holds them."""
    tables = []
    for run_id, rows in read_parquet(content).to_pandas(use_threads=False).groupby("run_id", sort=False):
        first = rows.iloc[0]
        keys = {name: value.item() if hasattr(value := first[name], "item") else value for name in KEYS}
        point = SimpleNamespace(**keys, id=run_id)
        tables.append(pack(cast("Point", point), {name: rows[name].to_numpy() for name in rows.columns}))
    return tables


def links_title(packed: Mapping[str, Any]) -> str:
    """Return one line about a table of links: kernel, conduit, machine, topology, and that it is modelled."""
    what = dict.fromkeys(text for text in (packed["kernel"], packed["op"], packed["variant"]) if text)
    size = [format_size(packed["size_bytes"])] if packed["size_bytes"] else []
    placement = [f"placement {packed['placement']}"] if packed["placement"] not in {"", ONE_PER_NODE} else []
    parts = [f"{packed['conduit']}, machine {packed['machine']}", packed["topology"], *placement]
    return f"{' '.join([*what, *size])} on {', '.join(parts)}, {packed['ranks']} ranks (modelled)"


def busiest(packed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the table with the largest mean link load, the first of several."""
    return max(packed, key=lambda table: float(unpack(table)["busy"].mean())) if len(packed) > 1 else packed[0]


def fitting(packed: Sequence[Mapping[str, Any]], rows: int) -> list[Mapping[str, Any]]:
    """Return the tables that a store still takes, `MOST_LINK_ROWS` rows altogether, in order.

    `rows` counts those that the store holds already. A table that does not fit takes no room.
    """
    kept = []
    for entry in packed:
        if rows + entry["rows"] <= MOST_LINK_ROWS:
            rows += entry["rows"]
            kept.append(entry)
    return kept


def port_names(topology: str, vertices: npt.NDArray[Any], ports: npt.NDArray[Any]) -> list[str]:
    """Return the names of a topology's ports, for instance ``+x``, ``up 1``, ``global 0``."""
    shape = shape_of(topology)
    names, terminals = list(shape["ports"]), int(shape["terminals"])
    switch = _switch_ports(topology)
    return [
        names[port] if vertex < terminals else switch(int(port)) for vertex, port in zip(vertices, ports, strict=True)
    ]


def _switch_ports(topology: str) -> Callable[[int], str]:
    """Return a function that names the ports of vertices without a node, numbered as in each family."""
    kind, _, size = topology.partition("/")[0].partition(":")
    numbers = [int(part) for part in size.split("x")]
    # Number of ports of each kind below the last kind.
    if kind == "dragonfly":
        below, last = {"terminal": numbers[2], "local": numbers[1] - 1}, "global"
    elif kind == "xc":
        chassis, slots = numbers[1:] or (6, 16)
        below, last = {"terminal": 4, "backplane": slots - 1, "copper": 3 * (chassis - 1)}, "optical"
    else:
        below, last = {"down": numbers[0]}, "up"

    def name(port: int) -> str:
        for of, count in below.items():
            if port < count:
                return f"{of} {port}"
            port -= count
        return f"{last} {port}"

    return name
