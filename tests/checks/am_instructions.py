"""Count the instructions of an active message's path through core and conduit, by callgrind and source line.

    python tests/checks/am_instructions.py PROGRAM

PROGRAM is `am_paths`, which a build of the tests with -DCMAKE_CXX_FLAGS=-g1 leaves in its folder `tests/cpp` (line
numbers alone: the code is the same without). The script runs each part of the path twice, with different numbers of
exchanges (see tests/cpp/instructions/am_paths.cpp). It counts only sources of layers that a real machine would execute.
The accounts of simulated devices and hosts stand in other files. The script prints the instructions of one exchange, by
conduit and part, apart for core and the conduit. Status 3 without valgrind.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CONDUITS = ("smp", "extoll", "ibv", "ibv-rings", "gm", "lapi", "sci", "portals", "aries", "udp", "amudp")
PARTS = ("request", "reply", "handler", "after", "answered", "miss")
ZEROS = (0, 8, 512, 1024)
"""Bytes whose zeros are counted."""
FEW, MANY = 20, 120
"""Exchanges of the two runs: few enough that no heuristic of a protocol sets in between."""

_ACCOUNTS = ("conduit/charges.hpp", "conduit/host.hpp", "conduit/counting", "sim/", "tests/")
_TAGS = ("networks/udp/wire.cpp", "base/keyed_hash", "base/universal_hash")
"""Code that authenticates datagrams. Virtual time does not charge it, because the scheme of 2003 had none."""
_DEVICES = ("services/event_queue", "services/registered_memory")
"""Files of modelled devices outside the folders of their networks."""
_PROTOCOL = {
    "core": ("core/", "conduit/"),
    "conduit": (
        "networks/aries/aries_conduit", "networks/aries/aries_receive", "networks/aries/am_wire",
        "networks/aries/descriptors", "networks/aries/transfers", "networks/aries/local_memory",
        "networks/aries/request_slots", "networks/aries/job_memory",
        "networks/extoll/extoll_conduit", "networks/extoll/extoll_receive", "networks/extoll/am_options",
        "networks/extoll/wire", "networks/extoll/message_store",
        "networks/gm/gm_conduit", "networks/gm/gm_receive", "networks/gm/am_",
        "networks/ibv/ibv_conduit", "networks/ibv/ibv_receive", "networks/ibv/am_",
        "networks/lapi/lapi_conduit", "networks/lapi/lapi_receive", "networks/lapi/am_wire", "networks/lapi/transfers",
        "networks/portals/portals_conduit", "networks/portals/portals_receive", "networks/portals/am_wire",
        "networks/portals/credits", "networks/portals/transfers", "networks/portals/local_memory",
        "networks/portals/request_buffers",
        "networks/sci/sci_conduit", "networks/sci/sci_receive", "networks/sci/am_wire",
        "networks/udp/", "services/",
    ),
}  # fmt: skip
_LINE = re.compile(r"^(?:\+|-|\*|0x|\d)\S* (\d+)$")
_NAME = re.compile(r"^\((\d+)\)(?: (.*))?$")


def _place(file: str) -> str | None:
    """Return the owner of a source file: a part of the protocol, `other` (the rest of this project), or nothing."""
    match = re.search(r"/(?:cpp/gasmeter|(?=tests/cpp))/?(.*)$", file)
    if match is None:
        return None
    inside = match[1]
    if inside.startswith((*_ACCOUNTS, *_TAGS, *_DEVICES)):
        return "other"
    for whose, starts in _PROTOCOL.items():
        if inside.startswith(starts):
            return whose
    return None if inside.startswith("base/") else "other"


def tally(profile: str) -> Counter[str]:
    """Return the instructions of each part of the protocol in one profile.

    Parameters
    ----------
    profile : str
        A callgrind profile of one event, with lines.

    Returns
    -------
    Counter of str
        Instructions. Code inlined from a header without an owner counts for the surrounding function.
    """
    files: dict[str, str] = {}
    sums: Counter[str] = Counter()
    function = line = ""
    skip = False
    for text in profile.splitlines():
        key, mark, value = text.partition("=")
        if mark and key in ("fl", "fi", "fe"):
            named = _NAME.match(value)
            if named is None:
                raise RuntimeError(f"no file name: {text}")
            line = files.setdefault(named[1], named[2] or "")
            if key == "fl":
                function = line
        elif mark and key in ("cfi", "cfl"):
            named = _NAME.match(value)
            if named is not None and named[2]:
                files.setdefault(named[1], named[2])
        elif mark and key == "calls":
            skip = True  # the next line has what the callee took
        elif match := _LINE.match(text):
            if not skip:
                sums[_place(line) or _place(function) or "other"] += int(match[1])
            skip = False
    return sums


def _counted(program: str, conduit: str, part: str, count: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = [
            "valgrind", "--tool=callgrind", "--collect-atstart=no", "--dump-line=yes",
            f"--callgrind-out-file={profile}", program, conduit, part, str(count),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not profile.exists():
            raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-300:]}")
        return tally(profile.read_text())


def main() -> int:
    """Print the counts."""
    if len(sys.argv) != 2:
        print("usage: am_instructions.py PROGRAM", file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print("Error: no valgrind; install the package valgrind", file=sys.stderr)
        return 3
    cases = [(conduit, part) for conduit in CONDUITS for part in PARTS] + [("zeros", str(size)) for size in ZEROS]
    print(f"{'conduit':<9} {'part':<9} {'core':>7} {'conduit':>8} {'sum':>7}")
    for conduit, part in cases:
        try:
            few, many = (_counted(sys.argv[1], conduit, part, count) for count in (FEW, MANY))
        except RuntimeError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 1
        counts = [(many[whose] - few[whose]) / (MANY - FEW) for whose in ("core", "conduit")]
        print(f"{conduit:<9} {part:<9} {counts[0]:>7.1f} {counts[1]:>8.1f} {sum(counts):>7.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
