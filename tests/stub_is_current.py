"""Checks that the hand-tidied stub of the extension names exactly what the extension offers."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from gasmeter import _core

STUB = Path(__file__).parent.parent / "python" / "gasmeter" / "_core.pyi"


def public(names: list[str]) -> set[str]:
    """Return the names that do not start with an underscore."""
    return {name for name in names if not name.startswith("_")}


def main() -> int:
    """Compare the stub's names with the extension's; return the exit status."""
    tree = ast.parse(STUB.read_text())
    problems = []
    top = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    offered = public(dir(_core))
    problems += [f"{name}: in the extension, not in the stub" for name in sorted(offered - public(list(top)))]
    problems += [f"{name}: in the stub, not in the extension" for name in sorted(public(list(top)) - offered)]
    for name in sorted(offered & set(top)):
        node = top[name]
        if not isinstance(node, ast.ClassDef):
            continue
        members = public([item.name for item in node.body if isinstance(item, ast.FunctionDef)])
        actual = public(list(vars(getattr(_core, name))))
        problems += [f"{name}.{member}: in the extension, not in the stub" for member in sorted(actual - members)]
        problems += [f"{name}.{member}: in the stub, not in the extension" for member in sorted(members - actual)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"stub of the extension: {len(offered)} names compared, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
