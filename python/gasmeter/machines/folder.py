"""The files that are installed beside these modules: one for each machine, and in `hosts` what several share."""

from __future__ import annotations

import re
from pathlib import Path

from gasmeter.catalogue import declared

__all__ = ["FOLDER", "hosts", "installed", "lacking", "network_of", "read_file"]

FOLDER = Path(__file__).resolve().parent
_HOSTS = "hosts"
_LEDGER = "ledger"
_SAID = re.compile(r'^(network|base)\s*=\s*"([^"\n]*)"', re.MULTILINE)


def installed() -> list[str]:
    """Return the names of all machines that have a file, also of those whose network this build does not have.

    Returns
    -------
    list of str
        Sorted.
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != _LEDGER)


def network_of(name: str) -> str:
    """Return the network that an installed machine's file names, or else that of its base.

    Parameters
    ----------
    name : str
        One of `installed`.

    Returns
    -------
    str
        Its name; empty where the files say none. Nothing else of them is looked at.
    """
    seen: set[str] = set()
    while name not in seen and name in installed():  # a circle of bases is told by who reads them
        seen.add(name)
        said = dict(_SAID.findall(read_file(name)))
        if "network" in said:
            return str(said["network"])
        name = said.get("base", "")
    return ""


def lacking() -> dict[str, str]:
    """Return the installed machines whose network was left out of this build (CMake option ``GASMETER_NETWORKS``).

    Returns
    -------
    dict of str to str
        Their networks, by name.
    """
    networks = {name: network_of(name) for name in installed()}
    return {name: network for name, network in networks.items() if network and network not in declared().networks}


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
        One of `installed`.
    shared : bool, default False
        Whether it is one of `hosts` instead.

    Returns
    -------
    str
        TOML.
    """
    return ((FOLDER / _HOSTS if shared else FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
