"""A file to which finished groups are appended, one line each; a cut-off last line does no harm.

Every line ends with its digest: damage is reported by line, and the lines behind it are kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gasmeter.errors import ResourceError, UsageError
from gasmeter.rows.formats import json_value
from gasmeter.rows.record import Record
from gasmeter.stores.files import refused, sync_folder, write_all

__all__ = ["LAZY_S", "Journal", "check_unused", "read_journal", "sealed_line"]

LAZY_S = 1.0
"""Seconds of lazily appended groups that a crash of the machine may cost."""

_SEAL = b',"sha256":"'
_DIGITS = 16


def sealed_line(entry: Mapping[str, Any]) -> bytes:
    """Return the journal line of a group: JSON whose last field is a digest of the text before it."""
    body = json.dumps(json_value(dict(entry)), separators=(",", ":")).encode()[:-1]
    return body + _SEAL + _digest(body) + b'"}\n'


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:_DIGITS].encode()


def read_journal(path: Path, *, sealed: bool = True) -> list[dict[str, Any]]:
    """Return the groups of a journal in order, without a cut-off last line; the last one of a group counts.

    No file means no groups. Lines of schema 1 have no digests (`sealed`). Raises UsageError with the number of a
    damaged line.
    """
    if not path.exists():
        return []
    entries = {entry["group"]: entry for entry, _ in _whole_lines(path, path.read_bytes(), sealed=sealed)}
    return list(entries.values())


def _whole_lines(path: Path, content: bytes, *, sealed: bool = True) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each entry with the offset of its end; text behind the last end of line was cut off."""
    position = 0
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        entry = _entry(line, sealed=sealed)
        if entry is None:
            raise UsageError(
                f"{path}:{number}: the line is damaged, the others are kept; allowed: the file as it was written, or"
                f" without this line (`sed -i {number}d {path}`): `gasmeter run … --resume` measures its group again",
                str(path.parent),
            )
        position += len(line) + 1
        yield entry, position


def _entry(line: bytes, *, sealed: bool) -> dict[str, Any] | None:
    """Return the entry in a line; None if its digest does not match."""
    body, seal, digest = line.rpartition(_SEAL)
    if sealed and (not seal or digest != _digest(body) + b'"}'):
        return None
    try:
        entry = json.loads(body + b"}" if sealed else line)
    except ValueError:
        return None
    return dict(entry) if isinstance(entry, Mapping) and "group" in entry else None


def check_unused(path: Path) -> None:
    """Raise UsageError if another process writes a journal, or the folder refuses; a missing file is unused."""
    if path.exists():
        os.close(_locked(path))


def _locked(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise refused(path, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if not isinstance(error, BlockingIOError):
            raise refused(path, error) from error
        raise UsageError(
            f"{path.parent} is being written by another run; allowed: another --out, or wait for it", str(path.parent)
        ) from None
    return handle


class Journal:
    """The open journal of a store, with one writer at a time.

    A cut-off last line is removed. `entries` holds the content at opening. Raises UsageError if another process has it
    open, the folder refuses it, or a line is damaged; ResourceError if the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = _locked(path)
        self._synced = time.monotonic()
        self._behind = False  # written data may not be on disk
        try:
            lines = list(_whole_lines(path, path.read_bytes()))
            self._end = lines[-1][1] if lines else 0
            os.ftruncate(self._handle, self._end)
            os.fsync(self._handle)
            sync_folder(path.parent)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise refused(path, error) from error
            raise
        self.entries = list({entry["group"]: entry for entry, _ in lines}.values())
        self._torn = False

    def append(self, record: Record, *, lazily: bool = False) -> None:
        """Write one group; it then survives a kill of this process and a crash of the machine.

        With `lazily`, a crash of the machine may cost the last `LAZY_S` seconds: for tens of thousands of points that
        repeat exactly, each of which would wait for the disk. Raises ResourceError if the write fails; the old content
        is unchanged.
        """
        line = sealed_line(vars(record))
        try:
            if self._torn:
                self._cut_back()
            write_all(self._handle, line)
            self._behind = True
            if not lazily or time.monotonic() - self._synced >= LAZY_S:
                self._sync()
        except OSError as error:
            with suppress(OSError):  # the rest of the line is recognised when the journal is read
                self._cut_back()
            raise _cannot_write(self.path, error) from error
        self._end += len(line)

    def _sync(self) -> None:
        os.fdatasync(self._handle)
        self._synced, self._behind = time.monotonic(), False

    def _cut_back(self) -> None:
        """Remove the rest of a failed line, before any other line is written."""
        self._torn = True
        os.ftruncate(self._handle, self._end)
        self._torn = False

    def close(self) -> None:
        """Close the file after syncing pending data, and let others write it."""
        if self._handle >= 0:
            if self._behind:
                with suppress(OSError):
                    self._sync()
            os.close(self._handle)
            self._handle = -1


def _cannot_write(path: Path, error: OSError) -> ResourceError:
    return ResourceError(
        f"cannot write {path}: {error.strerror or error}; what was measured before is kept, continue with --resume"
        " when there is room or permission, or choose another --out"
    )
