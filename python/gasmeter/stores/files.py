"""Files of a store: a crash harms none, run.json holds their digests, and a changed file is refused.

A file may be compressed (``xz results.csv``), a table packed (``results.parquet``, see `gasmeter.stores.packed`).
Digests cover the content, so that the same run.json fits.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import lzma
import os
import secrets
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from gasmeter.errors import GasmeterError, ResourceError, UsageError
from gasmeter.stores.packed import packed_name, unpacked

__all__ = [
    "JOURNAL",
    "ROWS",
    "RUN",
    "SAMPLES",
    "STORE_SCHEMA",
    "check_files",
    "digests",
    "is_there",
    "making_in",
    "read_content",
    "refused",
    "sync_folder",
    "write_all",
    "write_atomically",
]

STORE_SCHEMA = 2
"""Version of the folder. Version 2 has digests in run.json, sealed lines in the journal, and the build of each row."""

RUN, JOURNAL, ROWS, SAMPLES = "run.json", "journal.jsonl", "results.csv", "samples.parquet"
_COMPRESSED = ".xz"
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)
_NO_LOCK = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP)
_PIECE = 1 << 20
_MOST_UNPACKED = 256 << 20
"""Most bytes in a compressed file without a digest; a digest states the number of bytes."""
_MOST_MEMORY = 128 << 20
"""Most bytes for the dictionary of a compressed file: twice that of the highest preset of xz."""


def write_all(handle: int, data: bytes) -> None:
    """Write every byte, however many the system takes at once.

    After an OSError some bytes may have been written.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(folder: Path) -> None:
    """Make names in a folder survive a crash of the machine; ignore file systems without this call.

    Raises OSError if the disk refuses.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


@contextmanager
def making_in(folder: Path) -> Iterator[None]:
    """Let a single process at a time make or move stores of an existing folder; others wait some milliseconds.

    File systems without locks are ignored. Raises OSError if the folder cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCK:
                raise
        yield
    finally:
        os.close(handle)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace a file so that readers see the old or the new content, also after a crash; OSError if refused."""
    data = content.encode() if isinstance(content, str) else content
    name = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)  # reduced by umask
    try:
        try:
            write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        name.replace(path)
    except BaseException:
        with suppress(OSError):
            name.unlink()
        raise
    sync_folder(path.parent)


def is_there(folder: Path, name: str) -> bool:
    """Tell whether a store has a file, plain, compressed or packed; `name` is the plain name."""
    return _place(folder, name).exists()


def read_content(folder: Path, name: str) -> bytes:
    """Return the content of ``NAME`` in a store, or else of ``NAME.xz`` or of the packed table.

    Raises OSError if none of them can be read, or if the compressed content is larger than any store's.
    """
    place = _place(folder, name)
    if place.name == name:
        return place.read_bytes()
    if place.suffix != _COMPRESSED:
        return _from_packed(folder, name)
    pieces, size = [], 0
    for piece in _decompressed(place):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_UNPACKED:
            text = f"holds more than {_MOST_UNPACKED} bytes; allowed: the file uncompressed"
            raise OSError(errno.EFBIG, text, str(place))
    return b"".join(pieces)


def _place(folder: Path, name: str) -> Path:
    """Return the file that holds the content of a name; the plain file if there is none."""
    packed = packed_name(name)
    names = (name, name + _COMPRESSED, *([packed] if packed else []))
    return next((folder / each for each in names if (folder / each).exists()), folder / name)


def _from_packed(folder: Path, name: str) -> bytes:
    try:
        return unpacked(folder, name)
    except ValueError as error:  # pyarrow's errors about damaged files are ValueErrors or OSErrors
        raise OSError(errno.EIO, f"is damaged ({error})", str(folder / packed_name(name))) from error


def _decompressed(path: Path) -> Generator[bytes]:
    """Yield the content of a compressed file piece by piece: a small file may hold gigabytes."""
    try:
        with path.open("rb") as file:
            decoder = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
            data = file.read(_PIECE)
            while data or not decoder.needs_input:
                yield decoder.decompress(data, _PIECE)
                if decoder.eof:
                    data = decoder.unused_data or file.read(_PIECE)
                    if not data:
                        return
                    decoder = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
                else:
                    data = file.read(_PIECE) if decoder.needs_input else b""
        raise lzma.LZMAError("it is cut off")
    except lzma.LZMAError as error:
        raise OSError(errno.EIO, f"is damaged ({error})", str(path)) from error


def digests(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return ``bytes`` and ``sha256`` of existing files by name, to see later whether they changed.

    Raises OSError if a file cannot be read.
    """
    contents = {name: read_content(folder, name) for name in names if is_there(folder, name)}
    return {name: {"bytes": len(data), "sha256": _sha256(data)} for name, data in contents.items()}


def check_files(
    folder: Path, run: Mapping[str, Any], names: Collection[str] | None = None, needed: Collection[str] | None = None
) -> None:
    """Raise UsageError if a store's file is missing, cut off or not as its run wrote it, naming it.

    Without digests in `run` (an older store, a run that has not ended) nothing is refused. `needed` files must exist:
    by default all but the journal, as the tables hold its content and stores are published without it.
    """
    digests_by_name = run.get("files", {})
    if not isinstance(digests_by_name, Mapping):
        raise UsageError(f"{folder / RUN}: files is no table of digests; measure it anew", str(folder))
    for name, facts in digests_by_name.items():
        if names is not None and name not in names:
            continue
        if not is_there(folder, name) and (name == JOURNAL if needed is None else name not in needed):
            continue
        if trouble := _trouble(folder, name, facts):
            raise UsageError(
                f"{folder / name} {trouble}; allowed: the file as its run wrote it: restore it, or write it again with"
                " `gasmeter run … --resume` from the journal, or measure it anew",
                str(folder),
            )


def _trouble(folder: Path, name: str, facts: Mapping[str, Any]) -> str:
    size, sha256 = 0, hashlib.sha256()
    try:
        with closing(_content(folder, name)) as pieces:
            for piece in pieces:
                size += len(piece)
                sha256.update(piece)
                if size > facts["bytes"]:
                    return f"has changed: it holds more than the {facts['bytes']} bytes that its run wrote"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if size < facts["bytes"]:
        return f"is cut off: {size} of {facts['bytes']} bytes"
    digest = sha256.hexdigest()
    return (
        ""
        if digest == facts["sha256"]
        else f"has changed: sha256 {digest[:16]}…, its run wrote {facts['sha256'][:16]}…"
    )


def _content(folder: Path, name: str) -> Generator[bytes]:
    """Yield what a file of a store holds, piece by piece where it lies on a disk as it is or compressed."""
    place = _place(folder, name)
    if place.name == name:
        yield from _pieces(place)
    elif place.suffix == _COMPRESSED:
        yield from _decompressed(place)
    else:
        yield _from_packed(folder, name)


def _pieces(path: Path) -> Generator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refused(
    place: Path, error: OSError, allowed: str = "a folder with room that you may write (--out)"
) -> GasmeterError:
    """Return the error for a refused write: ResourceError for a full or broken disk or no memory, else UsageError.

    `allowed` says which places the user may name instead.
    """
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM)
    return (ResourceError if full else UsageError)(
        f"cannot write {error.filename or place}: {error.strerror or error}; allowed: {allowed}"
    )
