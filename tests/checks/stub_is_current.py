"""Check that the stub of the extension has the extension's names, and its operations those of their table.

``--write`` writes the operations into the stub, behind a mark in each class that has some.
"""

from __future__ import annotations

import ast
import difflib
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from gasmeter import _core

STUB = Path(__file__).parents[2] / "python" / "gasmeter" / "_core.pyi"
MARK = "    # ---- operations, written by tests/checks/stub_is_current.py --write\n"


def public(names: list[str]) -> set[str]:
    """Return the names that do not start with an underscore."""
    return {name for name in names if not name.startswith("_")}


def with_operations(text: str) -> str:
    """Return a stub with the operations that its classes have by the table."""
    methods: dict[str, str] = defaultdict(str)
    for operation in _core.operations():
        for name, stubs in operation["stubs"].items():
            decorator = "    @overload\n" if len(stubs) > 1 else ""
            methods[name] += "".join(f"{decorator}    def {operation['method']}{stub}: ...\n" for stub in stubs)
    for name, defined in methods.items():
        part = re.compile(rf"^(class {name}\b.*?{re.escape(MARK)})(.*?)(?=^\S|\Z)", re.DOTALL | re.MULTILINE)
        text = part.sub(lambda match, defined=defined: f"{match[1]}{defined}\n", text)
    return text


def problems_of(text: str) -> list[str]:
    """Return the differences between a stub and the extension."""
    tree = ast.parse(text)
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
    current, meant = (ast.unparse(ast.parse(each)).splitlines() for each in (text, with_operations(text)))
    changes = [line for line in difflib.unified_diff(current, meant, n=0) if re.match(r"[-+] .*\w", line)]
    return problems + [f"{'stub' if line[0] == '-' else 'table'}: {line[1:].strip(' :')}" for line in changes]


def main() -> int:
    """Compare the stub with the extension, or write it; return the exit status."""
    if "--write" in sys.argv[1:]:
        STUB.write_text(with_operations(STUB.read_text()))
        subprocess.run(["ruff", "format", "--quiet", STUB], check=True)
    problems = problems_of(STUB.read_text())
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"stub of the extension: {len(public(dir(_core)))} names compared, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
