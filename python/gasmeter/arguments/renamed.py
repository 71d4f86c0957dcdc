"""Renamed parameters and options: the old name works, and its user gets a note of one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from types import FrameType

__all__ = ["renamed", "warn_renamed"]

_PACKAGE = "gasmeter"


def renamed(old: str, new: str) -> str:
    """Return the line for users of an old name."""
    return f"{old} is called {new} now; the old name still works"


def warn_renamed(given: Iterable[str], names: Mapping[str, str], what: str, caller: FrameType) -> None:
    """Warn for each old name that a caller outside of this package gives; modules of gasmeter use field names.

    `names` maps old to new names, and `what` owns the arguments, for instance ``"Series"``.
    """
    module = str(caller.f_globals.get("__name__", ""))
    if module.partition(".")[0] == _PACKAGE:
        return
    for name in given:
        if name in names:
            warnings.warn_explicit(
                f"{what}: {renamed(name, names[name])}", DeprecationWarning, caller.f_code.co_filename,
                caller.f_lineno, module, caller.f_globals.setdefault("__warningregistry__", {}),
            )  # fmt: skip
