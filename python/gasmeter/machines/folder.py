"""Installed files beside these modules: one for each machine, and shared parts in `hosts`."""

from __future__ import annotations

import re
from pathlib import Path

from gasmeter.catalogue import declared

__all__ = ["FOLDER", "hosts", "installed", "lacking", "network_of", "read_file"]

FOLDER = Path(__file__).resolve().parent
_HOSTS = "hosts"
_LEDGER = "ledger"
_SETTING = re.compile(r'^(network|base)\s*=\s*"([^"\n]*)"', re.MULTILINE)


def installed() -> list[str]:
    """Return the sorted names of all machine files, also those whose network this build lacks."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != _LEDGER)


def network_of(name: str) -> str:
    """Return the network that an installed machine's file, or else its base, names; empty without one.

    Nothing else in the files is read.
    """
    seen: set[str] = set()
    while name not in seen and name in installed():  # readers of the files report a circle of bases
        seen.add(name)
        settings = dict(_SETTING.findall(read_file(name)))
        if "network" in settings:
            return str(settings["network"])
        name = settings.get("base", "")
    return ""


def lacking() -> dict[str, str]:
    """Return the networks, by machine, of installed machines that this build lacks (CMake ``GASMETER_NETWORKS``)."""
    networks = {name: network_of(name) for name in installed()}
    return {name: network for name, network in networks.items() if network and network not in declared().networks}


def hosts() -> list[str]:
    """Return the sorted names of hosts that several machines share; ``hosts`` in a machine file takes them."""
    return sorted(path.stem for path in (FOLDER / _HOSTS).glob("*.toml"))


def read_file(name: str, *, shared: bool = False) -> str:
    """Return the TOML text of an installed machine, or of shared hosts if `shared`."""
    return ((FOLDER / _HOSTS if shared else FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
