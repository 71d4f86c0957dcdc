"""Check that includes go downwards only, and what else every header promises.

usage: check_layering.py CPP_FOLDER | --control

    base < launch, sim, conduit < services < bench < networks | core < pgas < kernels < run < bindings

A layer is a folder of ``gasmeter``. Layers on one level do not include each other. Rooms are folders of a layer, and
includes between rooms go one way, too. Exits with 1 and one line per fault; ``--control`` runs the check on a tree with
one of every fault and fails if one is not found.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

LEVELS = [
    ["base", "probe"],
    ["launch", "sim", "conduit"],
    ["services"],
    ["bench"],
    ["networks", "core"],
    ["pgas"],
    ["kernels"],
    ["run"],
    ["bindings"],
]
LEVEL_OF = {layer: level for level, layers in enumerate(LEVELS) for layer in layers}

# Narrower than the order: the layers that core is made of know nothing but what they name here.
ONLY = {
    "base": {"base"},
    "probe": set(),  # a program of its own, which no change of the library may move
    "launch": {"base", "launch"},
    "conduit": {"base", "conduit"},
    "sim": {"base", "sim", "conduit/host.hpp", "conduit/charges.hpp"},
    "core": {"base", "conduit", "services", "core"},
    "pgas": {"base", "conduit", "core", "pgas"},
    "kernels": {"base", "conduit", "sim/engine/model_host.hpp", "bench", "core", "pgas", "kernels"},
}
# Sources of templates that are instantiated for the modelled host, too.
ALSO_IN_SOURCES = {"core": {"sim/engine/model_host.hpp"}, "pgas": {"sim/engine/model_host.hpp"}}
# Rooms of a layer, and the rooms that each may include beside itself; "" is the layer's own folder.
ROOMS: dict[str, dict[str, set[str]]] = {
    "sim": {
        "": set(),
        "topology": set(),
        "fibres": set(),
        "trace": {""},
        "engine": {"", "topology", "fibres", "trace"},
        "fabric": {"", "topology", "trace", "engine"},
    },
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
# Written by CMake.
GENERATED = {"base/version.hpp"}


def faults_of_include(source: Path, delimiter: str, included: str, root: Path) -> str | None:
    """Return what is wrong with one include of ``source`` (relative to ``root``), or nothing."""
    target = included.removeprefix("gasmeter/")
    if target == included:
        wrong = delimiter == '"'
        return f'includes "{included}"; the project\'s own headers are named from "gasmeter/"' if wrong else None
    if delimiter == "<":
        return f"includes <{included}>; the project's own headers stand in quotes"
    if target not in GENERATED and not (root / target).is_file():
        return f"includes {target}, which does not exist"
    return faults_of_direction(source, target) or faults_of_definitions(source, target)


def faults_of_direction(source: Path, target: str) -> str | None:
    """Return why ``source`` must not include the header ``target`` of the project, or nothing."""
    layer, target_layer = source.parts[0], target.split("/", 1)[0]
    fault = None
    if target_layer not in LEVEL_OF:
        fault = f"includes {target} of no layer"
    elif layer in ONLY:
        allowed = ONLY[layer] | (ALSO_IN_SOURCES.get(layer, set()) if source.suffix == ".cpp" else set())
        if target_layer not in allowed and target not in allowed:
            fault = f"includes {target}; {layer} includes only {', '.join(sorted(allowed)) or 'system headers'}"
    elif layer == target_layer:
        # A network has a folder of its own and includes no other network. Files beside the folders serve all networks.
        other = target.split("/")[1:-1]
        if layer == "networks" and other and list(source.parts[1:-1])[:1] != other[:1]:
            fault = f"includes {target}; a network does not include another one"
    elif LEVEL_OF[target_layer] >= LEVEL_OF[layer]:
        fault = f"includes {target}; {layer} is not above {target_layer}"
    return fault or fault_between_rooms(source, Path(target))


def fault_between_rooms(source: Path, target: Path) -> str | None:
    """Return why ``source`` must not include a header of another room of its layer, or nothing."""
    layer, *inside = source.parts[:-1]
    target_layer, *target_inside = target.parts[:-1]
    if layer != target_layer or layer not in ROOMS:
        return None
    room, target_room = "/".join(inside), "/".join(target_inside)
    allowed = ROOMS[layer].get(room)
    if allowed is None:
        return f"lies in {room}, which is no room of {layer}"
    if target_room in allowed | {room}:
        return None
    rooms = ", ".join(str(Path(layer, other)) for other in sorted(allowed | {room}))
    return f"includes {target}; {Path(layer, room)} includes only {rooms} of its layer"


def faults_of_definitions(source: Path, target: str) -> str | None:
    """Return why ``source`` must not include definitions of templates, or nothing: the templates' own folder may."""
    if target.endswith(".ipp") and source.parent != Path(target).parent:
        return f"includes {target}; definitions of templates are for the folder of their templates"
    return None


def faults_of_header(text: str) -> list[str]:
    """Return what is wrong with a header apart from its includes."""
    faults = []
    directives = [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]
    if not directives or directives[0] != "#pragma once":
        faults.append("does not begin with #pragma once")
    if re.search(r"^\s*using\s+namespace\b", text, re.MULTILINE):
        faults.append("has a `using namespace`")
    return faults


def check(root: Path) -> list[str]:
    """Return the faults of every file below ``root``, the folder ``gasmeter``."""
    faults = []
    files = sorted(path for path in root.rglob("*") if path.suffix in (".hpp", ".ipp", ".cpp"))
    for path in files:
        source = path.relative_to(root)
        if source.parts[0] not in LEVEL_OF:
            faults.append(f"{source}: lies in no layer")
            continue
        text = path.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            if include := INCLUDE.match(line):
                fault = faults_of_include(source, include[1], include[2], root)
                if fault is not None:
                    faults.append(f"{source}:{number}: {fault}")
        if source.suffix in (".hpp", ".ipp"):
            faults += [f"{source}: {fault}" for fault in faults_of_header(text)]
    print(f"{len(files)} files, {len(faults)} faults")
    return faults


# A file, its text, and what has to be said of it ("" for nothing).
ONCE = "#pragma once\n"
CONTROL_TREE = [
    ("base/units.hpp", ONCE, ""),
    ("conduit/host.hpp", ONCE + '#include "gasmeter/base/units.hpp"\n', ""),
    ("conduit/conduit.hpp", ONCE, ""),
    ("sim/engine/model_host.hpp", ONCE + '#include "gasmeter/conduit/host.hpp"\n', ""),
    ("core/endpoint.hpp", ONCE + '#include "gasmeter/conduit/conduit.hpp"\n#include <vector>\n', ""),
    ("core/endpoint.cpp", '#include "gasmeter/sim/engine/model_host.hpp"\n', ""),
    ("core/token.ipp", ONCE, ""),
    ("core/token.cpp", '#include "gasmeter/core/token.ipp"\n', ""),
    ("core/teams/foreign.cpp", '#include "gasmeter/core/token.ipp"\n', "for the folder of their templates"),
    ("core/twice.ipp", "#include <vector>\n#pragma once\n", "does not begin with #pragma once"),
    ("core/sibling.ipp", ONCE + '#include "gasmeter/sim/engine/model_host.hpp"\n', "core includes only"),
    ("networks/shm/device.hpp", ONCE + '#include "gasmeter/sim/engine/model_host.hpp"\n', ""),
    ("networks/shm/conduit.cpp", '#include "gasmeter/networks/shm/device.hpp"\n', ""),
    (
        "kernels/kernel.hpp",
        ONCE + '#include "gasmeter/core/endpoint.hpp"\n#include "gasmeter/sim/engine/model_host.hpp"\n',
        "",
    ),
    ("run/worker.cpp", '#include "gasmeter/kernels/kernel.hpp"\n#include "gasmeter/base/version.hpp"\n', ""),
    ("base/up.hpp", ONCE + '#include "gasmeter/conduit/host.hpp"\n', "base includes only"),
    ("probe/probe_main.cpp", "#include <atomic>\n", ""),
    ("probe/sideways.cpp", '#include "gasmeter/base/units.hpp"\n', "probe includes only"),
    ("launch/sideways.cpp", '#include "gasmeter/conduit/host.hpp"\n', "launch includes only"),
    ("sim/action.hpp", ONCE, ""),
    ("sim/trace/tracer.hpp", ONCE + '#include "gasmeter/sim/action.hpp"\n', ""),
    ("sim/engine/engine.cpp", '#include "gasmeter/sim/trace/tracer.hpp"\n', ""),
    ("sim/trace/up.cpp", '#include "gasmeter/sim/engine/model_host.hpp"\n', "sim/trace includes only sim, sim/trace"),
    ("sim/attic/old.cpp", '#include "gasmeter/sim/action.hpp"\n', "which is no room of sim"),
    ("sim/more.hpp", ONCE + '#include "gasmeter/conduit/conduit.hpp"\n', "sim includes only"),
    ("core/header.hpp", ONCE + '#include "gasmeter/sim/engine/model_host.hpp"\n', "core includes only"),
    ("core/sibling.cpp", '#include "gasmeter/networks/shm/device.hpp"\n', "core includes only"),
    ("networks/udp/sibling.cpp", '#include "gasmeter/core/endpoint.hpp"\n', "networks is not above core"),
    ("networks/udp/other.cpp", '#include "gasmeter/networks/shm/device.hpp"\n', "does not include another one"),
    ("kernels/gone.cpp", '  #  include "gasmeter/core/gone.hpp"\n', "does not exist"),
    ("kernels/up.cpp", '#include "gasmeter/run/request.hpp"\n', "kernels includes only"),
    ("run/request.hpp", ONCE + '#include "gasmeter/bindings/numpy.hpp"\n', "run is not above bindings"),
    ("bindings/numpy.hpp", ONCE, ""),
    ("pgas/space.cpp", '#include "gasmeter/core/endpoint.hpp"\n#include "gasmeter/sim/engine/model_host.hpp"\n', ""),
    ("pgas/up.cpp", '#include "gasmeter/kernels/kernel.hpp"\n', "pgas includes only"),
    ("misc/file.cpp", "", "lies in no layer"),
    ("base/relative.cpp", '#include "units.hpp"\n', 'are named from "gasmeter/"'),
    ("base/angle.cpp", "#include <gasmeter/base/units.hpp>\n", "stand in quotes"),
    ("base/twice.hpp", "#include <vector>\n#pragma once\n", "does not begin with #pragma once"),
    ("base/namespace.hpp", ONCE + "  using namespace std;\n", "has a `using namespace`"),
]


def control() -> list[str]:
    """Return what the check does not find in a tree with one of every fault, or finds where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text, _ in CONTROL_TREE:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        faults = check(Path(folder))
    missed = []
    for name, _, expected in CONTROL_TREE:
        message = [fault for fault in faults if fault.startswith(f"{name}:")]
        if (expected == "") != (message == []) or not all(expected in fault for fault in message):
            missed.append(f"{name}: expected '{expected}', found {message}")
    return missed


def main() -> int:
    """Run the check from the command line."""
    faults = control() if sys.argv[1] == "--control" else check(Path(sys.argv[1], "gasmeter"))
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
