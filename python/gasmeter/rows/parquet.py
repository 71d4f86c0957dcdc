"""Read parquet without Arrow's thread pools.

A pool thread that is alive when the process ends aborts it: a command that read a file and ended at once sometimes died
by SIGABRT.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_parquet"]


def read_parquet(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a table in the order of the file; raise OSError or ValueError if it is no parquet, or damaged."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads a large library

    file = pq.ParquetFile(io.BytesIO(content), pre_buffer=False)
    return file.read(columns=list(columns) if columns is not None else None, use_threads=False)
