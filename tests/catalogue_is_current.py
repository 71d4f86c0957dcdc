"""Checks that the catalogue of the Python tests is that of the program; ``--write`` writes it down.

What a build decides is left out: which makers of fibres it has.
"""

from __future__ import annotations

import difflib
import json
import sys
from pathlib import Path
from typing import Any

from gasmeter import _core

FILE = Path(__file__).parent / "python" / "data" / "catalogue.json"


def text_of(catalogue: dict[str, Any]) -> str:
    """Return a catalogue as it is written down."""
    for conduit in catalogue["conduits"]:
        for option in conduit["options"]:
            if option["name"] == "fibres":
                option["choices"] = [option["default"]]
    return json.dumps(catalogue, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Compare the file with the program, or write it; return the exit status."""
    meant = text_of(_core.catalogue())
    if "--write" in sys.argv[1:]:
        FILE.write_text(meant, encoding="utf-8")
    said = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    changes = list(difflib.unified_diff(said.splitlines(), meant.splitlines(), "file", "program", n=0, lineterm=""))
    for line in changes:
        print(line, file=sys.stderr)
    state = "is not current; run `python tests/catalogue_is_current.py --write`" if changes else "is current"
    print(f"catalogue of the Python tests: {FILE.name} {state}")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
