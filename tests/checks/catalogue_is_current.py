"""Check the catalogue of the Python tests and its names as types against the program; ``--write`` renews them.

The catalogue leaves out the makers of fibres, because they depend on the build.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gasmeter import _core
from gasmeter.machines.folder import installed
from gasmeter.papers.registry import PAPERS

FILE = Path(__file__).parents[1] / "python" / "data" / "catalogue.json"
NAMES = Path(__file__).parents[2] / "python" / "gasmeter" / "arguments" / "names.py"
HEAD = '''"""Names of the catalogue as types, for editors; tests/checks/catalogue_is_current.py --write writes them.

A parameter for a name has a type such as `KernelName | str`: users have names of their own, too (a worker program's
kernels, machine files, labels such as ``"extoll+draw=17"``, lists such as ``"put,get"``). A type checker therefore lets
every text pass. The look-up refuses an unknown name and suggests the nearest one.
"""

from typing import Literal

__all__ = ["ConduitName", "KernelName", "MachineName", "OpName", "PaperName"]
'''


def text_of(catalogue: dict[str, Any]) -> str:
    """Return a catalogue as it is written down."""
    for conduit in catalogue["conduits"]:
        for option in conduit["options"]:
            if option["name"] == "fibres":
                option["choices"] = [option["default"]]
    return json.dumps(catalogue, indent=1, ensure_ascii=False) + "\n"


def names_of(catalogue: dict[str, Any]) -> str:
    """Return the module with the names of a catalogue, of the installed machines and of the papers."""
    kernels = catalogue["kernels"]
    raw = (f"raw@{network}" for kernel in kernels for network in kernel["raw"])
    types: dict[str, tuple[Iterable[str], str]] = {
        "KernelName": ((kernel["name"] for kernel in kernels), "Kernels."),
        "OpName": ((op["name"] for kernel in kernels for op in kernel["ops"]), "Operations of all kernels."),
        "ConduitName": (
            (*(conduit["name"] for conduit in catalogue["conduits"]), *raw),
            "Conduits, and networks without one.",
        ),
        "MachineName": (installed(), "Installed machines."),
        "PaperName": (PAPERS, "Papers."),
    }
    text = HEAD
    for name, (values, says) in types.items():
        lines = "".join(f'    "{value}",\n' for value in sorted(set(values)))
        text += f'\n{name} = Literal[\n{lines}]\n"""{says}"""\n'
    return text


def main() -> int:
    """Compare the files with the program, or write them; return the exit status."""
    status = 0
    for what, path, meant in (
        ("catalogue of the Python tests", FILE, text_of(_core.catalogue())),
        ("names as types", NAMES, names_of(_core.catalogue())),
    ):
        if "--write" in sys.argv[1:]:
            path.write_text(meant, encoding="utf-8")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        changes = list(difflib.unified_diff(text.splitlines(), meant.splitlines(), "file", "program", n=0, lineterm=""))
        for line in changes:
            print(line, file=sys.stderr)
        state = "is not current; run `python tests/checks/catalogue_is_current.py --write`" if changes else "is current"
        print(f"{what}: {path.name} {state}")
        status |= bool(changes)
    return status


if __name__ == "__main__":
    sys.exit(main())
