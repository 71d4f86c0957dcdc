"""Machines by name: installed ones, files by their path, and what-ifs by their label."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from gasmeter.arguments.names import MachineName
from gasmeter.errors import UsageError, unknown
from gasmeter.machines.folder import installed, lacking, read_file
from gasmeter.machines.machine import WHERE, Machine

__all__ = ["is_draw", "is_file", "machine", "machines"]

_FILE = ".toml"
_DRAWS = ("draw", "null")
_DRAW = re.compile(r"(\d{1,9})(?:@(\d{1,9}))?", re.ASCII)


def machines() -> list[str]:
    """Return the names of all machines whose network this build of gasmeter has, usually all.

    Returns
    -------
    list of str
        Sorted names; `gasmeter.machine` takes each.

    Examples
    --------
    >>> "extoll" in gm.machines()
    True
    """
    left_out = lacking()
    return [name for name in installed() if name not in left_out]


def is_file(name: str) -> bool:
    """Tell whether a machine's name is the path of a file; installed machines have other names."""
    return name.endswith(_FILE)


def is_draw(label: str) -> bool:
    """Tell whether a label such as ``extoll+draw=17`` names a draw, also of the null model, without look-up.

    Overrides alone make no draw.
    """
    return any(change.partition("=")[0].strip() in _DRAWS for change in label.split("+")[1:])


def machine(name: MachineName | str | Machine) -> Machine:
    """Return a machine.

    Parameters
    ----------
    name : str or Machine
        Name of a machine, path of a machine file, which ends in ``.toml``, or a label with overrides such as
        ``"extoll+link.bandwidth=1.25 GB/s"``, with a draw of the machine's estimates such as ``"extoll+draw=17"``, or
        with one of the null model such as ``"extoll+null=17"`` (`gasmeter.machines.draws`).

    Returns
    -------
    Machine
        Its numbers with their sources; `Machine.with_` makes variants of it.

    Raises
    ------
    UsageError
        If there is no such machine or draw, its file has a mistake, or an override is not allowed.

    Examples
    --------
    >>> gm.machine("extoll+link.bandwidth=1.25 GB/s")["link.bandwidth"].in_file.text
    '625 MB/s'
    """
    if isinstance(name, Machine):
        return name
    if not isinstance(name, str):
        raise UsageError(
            f"machine {name!r} is not allowed; allowed: a name, a label such as extoll+link.bandwidth=1.25 GB/s, the"
            f" path of a file, or a Machine (see `{WHERE}`)",
            str(name),
        )
    base, *changes = (part.strip() for part in name.split("+"))
    return _labelled(base, tuple(changes), _stamp(base) if is_file(base) else ())


def _stamp(path: str) -> tuple[int, ...]:
    """Return a stamp that changes when a file changes."""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise UsageError(
            f"machine file {path}: {error.strerror}; allowed: the path of a file, or one of {', '.join(machines())}"
            f" (see `{WHERE}`)",
            path,
        ) from error
    return status.st_mtime_ns, status.st_size, status.st_ino


@functools.lru_cache(maxsize=4096)
def _labelled(base: str, changes: tuple[str, ...], stamp: tuple[int, ...]) -> Machine:
    name = "+".join([base, *changes])
    overrides: dict[str, object] = {}
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise UsageError(
                f"machine {name!r}: {change!r} is not key=value; allowed: for instance {base}+link.bandwidth=1.25 GB/s",
                name,
            )
        if key in overrides:
            raise UsageError(f"machine {name!r}: {key} is given twice; allowed: once", name)
        overrides[key] = text
    drawn = [key for key in _DRAWS if key in overrides]
    if len(drawn) > 1:
        raise UsageError(f"machine {name!r} is a draw and the null model's; allowed: one of both", name)
    installed = _from_file(base, stamp)
    for key in drawn:
        installed = _draw(installed, key, str(overrides.pop(key)), name)
    return installed.with_(overrides)


def _draw(installed: Machine, key: str, text: str, name: str) -> Machine:
    """Return a draw from its number, which may have a seed behind it."""
    from gasmeter.machines import draws  # noqa: PLC0415 - loads NumPy and SciPy, which other machines do without

    match = _DRAW.fullmatch(text)
    if match is None:
        raise UsageError(
            f"machine {name!r}: {key}={text} is no draw; allowed: a whole number from 0 to {draws.DRAWS - 1}", name
        )
    take = draws.null if key == "null" else draws.draw
    return take(installed, int(match[1]), seed=draws.DRAW_SEED if match[2] is None else int(match[2]))


@functools.lru_cache(maxsize=64)
def _from_file(name: str, stamp: tuple[int, ...]) -> Machine:
    from gasmeter.machines.files import read_machine  # noqa: PLC0415 - loads pydantic, which real ranks do without

    if not stamp and name not in installed():
        raise unknown("machine", name, machines(), WHERE)
    return read_machine(_text(name) if stamp else read_file(name), name)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"machine file {path}: {error}; allowed: a TOML file that can be read", path) from error
