"""Run clang-tidy over the library: all files of a folder in one go, which reads their common headers once.

    python tests/checks/clang_tidy.py BUILD [--warnings]

BUILD is a folder that CMake has configured with -DGASMETER_UNITY=OFF. With --warnings the compiler alone reads the
files, with the warnings of that build (-DGASMETER_WARNINGS_AS_ERRORS=ON). If the files of a folder do not compile
together (two anonymous namespaces with one name), the script tries each half of the folder.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLANG, TIDY = "clang++-14", "clang-tidy-14"
LEFT_OUT = "bindings"  # most of its code is pybind11's own headers
# A warning of the compiler, which takes a tenth of the time of the check of the same name.
RESERVED = "-Wreserved-identifier"
ALLOWED = "-bugprone-suspicious-include"  # the file that holds a folder's files includes them
WARNINGS = "--warnings"


def sources() -> dict[Path, list[Path]]:
    """Return the library's files by folder."""
    listed = subprocess.run(
        ["git", "ls-files", "cpp/gasmeter/*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders: dict[Path, list[Path]] = defaultdict(list)
    for name in listed:
        path = ROOT / name
        if LEFT_OUT not in path.parts:
            folders[path.parent].append(path)
    return folders


def flags(build: Path) -> dict[Path, list[str]]:
    """Return what each file of the build is compiled with that changes how it reads: paths, macros, the language."""
    kept: dict[Path, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        flags_of_line = [
            word for word in words if word.startswith(("-I", "-D", "-std=", "-W")) and not word.startswith("-Wa,")
        ]
        for option in ("-isystem", "-include"):
            flags_of_line += [word for at, name in enumerate(words) if name == option for word in words[at : at + 2]]
        # Precompiled headers belong to another build; clang has other options for them.
        kept[Path(entry["file"])] = [
            word
            for word in flags_of_line
            if "cmake_pch" not in word and word not in {"-include", "-Xclang", "-Winvalid-pch"}
        ]
    return kept


def checked(files: list[Path], arguments: list[str], scratch: Path, *, by_compiler: bool) -> list[str]:
    """Check files that share their flags, in as few goes as they allow; return what was found in them."""
    together = scratch / f"{len(list(scratch.iterdir()))}.cpp"
    together.write_text("".join(f'#include "{path}"\n' for path in files))
    quiet = [] if by_compiler else ["-w"]
    source = str(together if len(files) > 1 else files[0])
    parsed = subprocess.run(
        [CLANG, "-fsyntax-only", *arguments, *quiet, source], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if parsed.returncode != 0 and len(files) > 1:
        half = len(files) // 2
        return [
            text
            for part in (files[:half], files[half:])
            for text in checked(part, arguments, scratch, by_compiler=by_compiler)
        ]
    if by_compiler:
        return [] if parsed.returncode == 0 else [parsed.stderr]
    # Name the configuration: clang-tidy finds none beside the file that includes all others.
    command = [TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", f"--checks={ALLOWED}"]
    command += [source, "--", *arguments, RESERVED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [done.stdout or done.stderr]


def main() -> int:
    """Check everything that the build folder given compiles."""
    given = [word for word in sys.argv[1:] if word != WARNINGS]
    by_compiler = WARNINGS in sys.argv
    if len(given) != 1:
        print("Error: give the build folder whose compile_commands.json is to be used", file=sys.stderr)
        return 2
    arguments_of = flags(Path(given[0]))
    groups: list[tuple[list[Path], list[str]]] = []
    skipped = 0
    for files in sources().values():
        alike: dict[tuple[str, ...], list[Path]] = defaultdict(list)
        for path in files:
            if path in arguments_of:
                alike[tuple(arguments_of[path])].append(path)
            else:
                skipped += 1
        groups += [(members, list(shared)) for shared, members in alike.items()]
    if not groups:
        print("Error: that build compiles no file of the library", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = []
        for number, (members, shared) in enumerate(groups):
            scratch = Path(folder) / str(number)
            scratch.mkdir()
            jobs.append(pool.submit(checked, members, shared, scratch, by_compiler=by_compiler))
        findings = [text for job in jobs for text in job.result()]
    print(*findings, sep="")
    read = sum(len(members) for members, _ in groups)
    by = CLANG if by_compiler else TIDY
    print(f"{by}: {read} files read, findings in {len(findings)}; {skipped} are not part of that build")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
