"""A file to which finished groups are appended, one line each; a line that was cut off by a crash does no harm."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gasmeter.errors import GasmeterError, ResourceError, UsageError
from gasmeter.formats import json_value
from gasmeter.rows import Record

__all__ = ["Journal", "read_journal", "refused"]


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the groups of a journal, without a last line that is cut off.

    Parameters
    ----------
    path : Path
        The file; none yet means no groups.

    Returns
    -------
    list of dict
        Records as dictionaries, in the order written; of a group written twice the last.
    """
    if not path.exists():
        return []
    entries = {entry["group"]: entry for entry, _ in _whole_lines(path.read_bytes())}
    return list(entries.values())


def _whole_lines(content: bytes) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each entry with the offset at which it ends, up to the first line that is not whole."""
    position = 0
    while (end := content.find(b"\n", position)) >= 0:
        try:
            entry = json.loads(content[position:end])
        except ValueError:
            return
        if not isinstance(entry, Mapping) or "group" not in entry:
            return
        position = end + 1
        yield dict(entry), position


class Journal:
    """The open journal of a store; one writer at a time.

    Parameters
    ----------
    path : Path
        The file, created if need be; a cut-off last line is removed.

    Raises
    ------
    UsageError
        If another process has it open, or the folder refuses it.
    ResourceError
        If the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("a+b")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise UsageError(
                f"{path.parent} is being written by another run; allowed: another --out, or wait for it",
                str(path.parent),
            ) from None
        except OSError as error:
            raise refused(path, error) from error
        self._file.seek(0)
        ends = [end for _, end in _whole_lines(self._file.read())]
        self._end = ends[-1] if ends else 0
        self._file.truncate(self._end)

    def append(self, record: Record) -> None:
        """Write one group; on return it survives a kill of this process.

        Parameters
        ----------
        record : Record
            What the group left.

        Raises
        ------
        ResourceError
            If the disk is full or the file cannot be written; what stood in it before is unchanged.
        """
        text = json.dumps(json_value(vars(record)), separators=(",", ":"))
        line = text.encode() + b"\n"
        try:
            self._file.write(line)
            self._file.flush()
            os.fdatasync(self._file.fileno())
        except OSError as error:
            self._cut_back()
            raise _cannot_write(self.path, error) from error
        self._end += len(line)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._file.fileno(), self._end)
        except OSError:
            return  # the torn line is recognised when the journal is read

    def close(self) -> None:
        """Close the file and let others write it."""
        try:
            self._file.close()
        except OSError:
            return  # buffered bytes of a refused line; the file holds every whole line


def refused(place: Path, error: OSError) -> GasmeterError:
    """Return the error for a file or folder that the file system refuses to write.

    Parameters
    ----------
    place : Path
        What was to be written, unless the error names a file.
    error : OSError
        What the file system says.

    Returns
    -------
    GasmeterError
        `ResourceError` if the disk is full or broken, else `UsageError`: it is the folder that was named.
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    return (ResourceError if full else UsageError)(
        f"cannot write {error.filename or place}: {error.strerror or error}; allowed: a folder with room that you may"
        " write (--out)"
    )


def _cannot_write(path: Path, error: OSError) -> ResourceError:
    return ResourceError(
        f"cannot write {path}: {error.strerror or error}; what was measured before is kept, continue with --resume"
        " when there is room or permission, or choose another --out"
    )
