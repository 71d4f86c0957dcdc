"""gasmeter: measures and characterises one-sided communication.

``gasmeter.measure`` measures one kernel, ``gasmeter.Experiment`` describes a sweep, ``gasmeter.machine`` returns a
modelled installation, ``gasmeter.launch`` runs a Python program on ranks. ``gasmeter.kernels``, ``conduits`` and
``topologies`` list everything available. ``gasmeter.reproduce``, ``compare``, ``check``, ``trace``, ``dashboard`` and
``fit`` are the commands of these names. Names are loaded on first use, so that a rank process starts light.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from gasmeter.errors import (
        BrokenJob,
        CheckFailed,
        Deadlock,
        EnvironmentLacks,
        GasmeterError,
        ProgramError,
        ResourceError,
        Timeout,
        UsageError,
    )
    from gasmeter.functions.comparing import check, compare
    from gasmeter.functions.figures import reproduce
    from gasmeter.functions.fitting import fit
    from gasmeter.functions.listing import conduits, kernels, topologies
    from gasmeter.functions.pages import dashboard
    from gasmeter.machines.machine import Machine
    from gasmeter.machines.named import machine, machines
    from gasmeter.measuring.experiment import Experiment
    from gasmeter.measuring.measurement import measure
    from gasmeter.measuring.runner import Runner
    from gasmeter.programs.flags import IMMEDIATE
    from gasmeter.programs.launch import launch
    from gasmeter.programs.shared import shared_space
    from gasmeter.programs.stressmark import stressmark
    from gasmeter.stores.result import Result
    from gasmeter.stores.store import merge_stores, open_result
    from gasmeter.sweeps.series import Plot, Series, Target
    from gasmeter.trace.virtual import trace

    __version__: str

__all__ = [
    "IMMEDIATE",
    "BrokenJob",
    "CheckFailed",
    "Deadlock",
    "EnvironmentLacks",
    "Experiment",
    "GasmeterError",
    "Machine",
    "Plot",
    "ProgramError",
    "RemoteArray",
    "ResourceError",
    "Result",
    "Runner",
    "Series",
    "Target",
    "Timeout",
    "UsageError",
    "__version__",
    "check",
    "compare",
    "conduits",
    "dashboard",
    "fit",
    "kernels",
    "launch",
    "machine",
    "machines",
    "measure",
    "merge_stores",
    "open_result",
    "reproduce",
    "shared_space",
    "stressmark",
    "topologies",
    "trace",
]

_HOME = {
    **dict.fromkeys(
        (
            "BrokenJob",
            "CheckFailed",
            "Deadlock",
            "EnvironmentLacks",
            "GasmeterError",
            "ProgramError",
            "ResourceError",
            "Timeout",
            "UsageError",
        ),
        "errors",
    ),
    **dict.fromkeys(("Plot", "Series", "Target"), "sweeps.series"),
    "Experiment": "measuring.experiment",
    "Machine": "machines.machine",
    **dict.fromkeys(("machine", "machines"), "machines.named"),
    "IMMEDIATE": "programs.flags",
    "RemoteArray": "_core",
    "Result": "stores.result",
    "Runner": "measuring.runner",
    **dict.fromkeys(("check", "compare"), "functions.comparing"),
    **dict.fromkeys(("conduits", "kernels", "topologies"), "functions.listing"),
    "dashboard": "functions.pages",
    "fit": "functions.fitting",
    "launch": "programs.launch",
    "measure": "measuring.measurement",
    "merge_stores": "stores.store",
    "open_result": "stores.store",
    "reproduce": "functions.figures",
    "shared_space": "programs.shared",
    "stressmark": "programs.stressmark",
    "trace": "trace.virtual",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from gasmeter.version import package_version  # noqa: PLC0415 - a rank process needs none

        return package_version()
    if name not in _HOME:
        raise AttributeError(f"module 'gasmeter' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gasmeter.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(types.ModuleType):
    """Module that keeps functions such as ``gasmeter.machines``: importing a room of that name would replace them."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str], types.ModuleType], tuple[str]]:
        """Pickle the module by its name, as every module, since programs of notebooks refer to it."""
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
