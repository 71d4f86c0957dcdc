"""Compile headers alone: each includes what it uses, and may be included twice.

usage: check_headers.py COMPILER CPP_FOLDER INCLUDE_FOLDER...

A build compiles the sources of a layer together, where a header finds what those before it have included: here it does
not. Headers of the bindings need Python's and are compiled with the extension. Exits with 1 and the compiler's words.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-"]


def compile_alone(compiler: str, folders: list[str], header: str) -> str:
    """Return what the compiler says of one header; nothing if it is content."""
    includes = [f"-I{folder}" for folder in folders]
    line = f'#include "{header}"\n'
    done = subprocess.run([compiler, *includes, *FLAGS], input=line * 2, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main() -> int:
    """Run the check from the command line."""
    compiler, *folders = sys.argv[1:]
    root = Path(folders[0])
    headers = sorted(str(path.relative_to(root)) for path in root.rglob("*.hpp"))
    skipped = [header for header in headers if header.startswith("gasmeter/bindings/")]
    headers = [header for header in headers if header not in skipped]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda header: compile_alone(compiler, folders, header), headers))
    for header, answer in zip(headers, answers, strict=True):
        if answer:
            print(f"FAULT {header} does not compile alone\n{answer}")
    print(f"{len(headers)} headers compiled alone, {len(skipped)} of the bindings left out")
    return 1 if any(answers) or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
