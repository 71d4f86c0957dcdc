"""The files that are installed beside these modules: one for each machine, and in `hosts` what several share."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOLDER", "hosts", "machines", "read_file"]

FOLDER = Path(__file__).resolve().parent
_HOSTS = "hosts"
_LEDGER = "ledger"


def machines() -> list[str]:
    """Return the names of all machines.

    Returns
    -------
    list of str
        Sorted; `gasmeter.machine` takes each.

    Examples
    --------
    >>> "extoll" in gm.machines()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != _LEDGER)


def hosts() -> list[str]:
    """Return the names of all hosts that several machines share.

    Returns
    -------
    list of str
        Sorted; ``hosts`` of a machine file takes each.
    """
    return sorted(path.stem for path in (FOLDER / _HOSTS).glob("*.toml"))


def read_file(name: str, *, shared: bool = False) -> str:
    """Return what an installed file says.

    Parameters
    ----------
    name : str
        One of `machines`.
    shared : bool, default False
        Whether it is one of `hosts` instead.

    Returns
    -------
    str
        TOML.
    """
    return ((FOLDER / _HOSTS if shared else FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
