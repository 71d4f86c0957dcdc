"""Parameters and options that have another name now: the old one works, and whoever gives it is told in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from types import FrameType

__all__ = ["renamed", "warn_renamed"]

_PACKAGE = "gasmeter"


def renamed(old: str, new: str) -> str:
    """Return what is said to whoever gives an old name.

    Parameters
    ----------
    old, new : str
        As one writes them.

    Returns
    -------
    str
        One line.
    """
    return f"{old} is called {new} now; the old name still works"


def warn_renamed(given: Iterable[str], names: Mapping[str, str], what: str, caller: FrameType) -> None:
    """Warn for each old name that a caller outside of this package gives.

    Parameters
    ----------
    given : iterable of str
        Names of arguments.
    names : mapping of str to str
        New names by old ones.
    what : str
        Whose arguments, for instance ``"Series"``.
    caller : types.FrameType
        Who gives them: modules of gasmeter go on with the names of fields.
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
