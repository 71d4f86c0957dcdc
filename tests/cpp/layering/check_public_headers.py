"""Check the list of headers that the CMake package installs: closed, and nothing in it that no kernel needs.

usage: check_public_headers.py LIST CPP_FOLDER | --control

The first section of the list names what a kernel of one's own includes, the second what these include, directly or not.
Exits with 1 and one line per fault; ``--control`` runs the check on lists with faults and fails if one is not found.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"gasmeter/([^"]+)"', re.MULTILINE)
# Written and installed by CMake.
GENERATED = {"base/version.hpp"}


def sections(text: str) -> list[list[str]]:
    """Return the names of each section; a section begins with a line ``# ----``."""
    parts = re.split(r"^# ----.*$", text, flags=re.MULTILINE)[1:]
    return [[line for line in part.splitlines() if line and not line.startswith("#")] for part in parts]


def included_by(faces: list[str], root: Path) -> set[str]:
    """Return what ``faces`` include, directly or not, themselves among it."""
    reached: set[str] = set()
    waiting = list(faces)
    while waiting:
        header = waiting.pop()
        if header in reached or header in GENERATED:
            continue
        reached.add(header)
        if (root / header).is_file():
            waiting += INCLUDE.findall((root / header).read_text())
    return reached


def check(listing: str, root: Path) -> list[str]:
    """Return the faults of a list of headers of ``root``, the folder ``gasmeter``."""
    faces, inner = sections(listing)
    listed = [*faces, *inner]
    reached = included_by(faces, root)
    faults = [f"{header}: listed twice" for header in sorted({h for h in listed if listed.count(h) > 1})]
    faults += [f"{header}: does not exist" for header in listed if not (root / header).is_file()]
    faults += [f"{header}: missing; a public header includes it" for header in sorted(reached - set(listed))]
    faults += [f"{header}: no public header includes it" for header in sorted(set(inner) - reached)]
    return faults


CONTROL_TREE = {
    "kernels/kernel.hpp": '#include "gasmeter/core/endpoint.hpp"\n#include "gasmeter/base/version.hpp"\n',
    "core/endpoint.hpp": '#include <vector>\n#include "gasmeter/core/token.ipp"\n',
    "core/token.ipp": "",
    "run/conduits.hpp": "",
}
CONTROL_LISTS = [
    ("core/endpoint.hpp core/token.ipp", ""),
    ("core/endpoint.hpp", "core/token.ipp: missing"),
    ("core/endpoint.hpp core/token.ipp run/conduits.hpp", "run/conduits.hpp: no public header includes it"),
    ("core/endpoint.hpp core/token.ipp core/token.ipp", "core/token.ipp: listed twice"),
    ("core/endpoint.hpp core/token.ipp core/gone.hpp", "core/gone.hpp: does not exist"),
]


def control() -> int:
    """Check that every fault is found."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in CONTROL_TREE.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        for inner, expected in CONTROL_LISTS:
            listing = "# ---- faces\nkernels/kernel.hpp\n# ---- inner\n" + "\n".join(inner.split()) + "\n"
            faults = check(listing, root)
            right = any(fault.startswith(expected) for fault in faults) if expected else not faults
            if not right:
                print(f"CONTROL '{inner}': expected '{expected}', found {faults}")
                missed += 1
    return 1 if missed else 0


def main() -> int:
    """Run the check from the command line."""
    if sys.argv[1:] == ["--control"]:
        return control()
    listing, folder = sys.argv[1:]
    faults = check(Path(listing).read_text(), Path(folder) / "gasmeter")
    for fault in faults:
        print(f"FAULT {listing}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
