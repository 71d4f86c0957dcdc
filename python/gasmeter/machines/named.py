"""Machines by name: those that have a file, and what-ifs by their label."""

from __future__ import annotations

import functools
from pathlib import Path

from gasmeter.errors import UsageError, unknown
from gasmeter.machines.machine import WHERE, Machine

__all__ = ["machine", "machines"]

_FOLDER = Path(__file__).resolve().parent
_LEDGER = "ledger"


def machines() -> list[str]:
    """Return the names of all machines.

    Returns
    -------
    list of str
        Sorted; `machine` takes each.
    """
    return sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != _LEDGER)


def machine(name: str | Machine) -> Machine:
    """Return a machine.

    Parameters
    ----------
    name : str or Machine
        Name of a machine, or a label with overrides such as ``"extoll+link.bandwidth=1.25 GB/s"``.

    Returns
    -------
    Machine
        Its numbers with their sources; `Machine.with_` makes variants of it.

    Raises
    ------
    UsageError
        If there is no such machine, or an override is not allowed.
    """
    return name if isinstance(name, Machine) else _labelled(name)


@functools.lru_cache(maxsize=1024)
def _labelled(name: str) -> Machine:
    base, *changes = (part.strip() for part in name.split("+"))
    if base not in machines():
        raise unknown("machine", base, machines(), WHERE)
    found: dict[str, object] = {}
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise UsageError(
                f"machine {name!r}: {change!r} is not key=value; allowed: for instance {base}+link.bandwidth=1.25 GB/s",
                name,
            )
        if key in found:
            raise UsageError(f"machine {name!r}: {key} is given twice; allowed: once", name)
        found[key] = text
    return _from_file(base).with_(found)


@functools.cache
def _from_file(name: str) -> Machine:
    from gasmeter.machines.files import read_machine  # noqa: PLC0415 - loads pydantic, which real ranks do without

    return read_machine((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name)
