"""Files of experiments by name: those in ./experiments, then those that come with gasmeter.

No file is run and no heavy module imported: the shell asks here when Tab is pressed.
"""

from __future__ import annotations

import ast
from pathlib import Path

from gasmeter.environment.installed import EXPERIMENTS
from gasmeter.errors import UsageError, did_you_mean, unknown

__all__ = ["experiment_file", "experiment_files", "has_main", "sentence", "shipped_folder"]

_OWN = Path("experiments")
_PACKAGE = Path(__file__).resolve().parent.parent
_LISTED = "gasmeter list experiments"


def shipped_folder(package: Path = _PACKAGE) -> Path | None:
    """Return the folder of shipped experiments: in the package or in its source tree, else None."""
    installed = package / EXPERIMENTS
    if installed.is_dir():
        return installed
    tree = package.parent.parent
    cloned = tree / "experiments"
    of_a_tree = package.parent.name == "python" and (tree / "pyproject.toml").is_file()
    return cloned if of_a_tree and cloned.is_dir() else None


def experiment_files(user_folder: Path = _OWN) -> dict[str, Path]:
    """Return the experiment and program files by name, in alphabetical order.

    A file in `user_folder` wins over the shipped one for the same name.
    """
    shipped = shipped_folder()
    folders = ([shipped] if shipped is not None else []) + [user_folder]
    files = {path.stem: path for folder in folders for path in folder.glob("*.py")}
    return dict(sorted(files.items()))


def experiment_file(given: str | Path) -> Path:
    """Return the file of a path or of a name among `experiment_files`; a path may not exist.

    Raises UsageError for a name (a word without folder and ending, no file here) that no experiment has.
    """
    path = Path(given)
    if str(given) != path.name or path.suffix or path.is_file() or not path.name:
        return path
    files = experiment_files()
    if path.name in files:
        return files[path.name]
    if path.is_dir():
        return path
    local_files = sorted(str(each) for each in Path().glob("*.py"))
    if f"{path.name}.py" in local_files:
        hint = did_you_mean(f"{path.name}.py", local_files)
        raise UsageError(f"unknown experiment {path.name!r}{hint} (see `{_LISTED}`)", path.name)
    raise unknown("experiment", path.name, [*files, *local_files], _LISTED)


def has_main(tree: ast.Module) -> bool:
    """Tell whether ``if __name__ == "__main__":`` stands at a file's top level."""
    tests = (ast.dump(node.test) for node in tree.body if isinstance(node, ast.If))
    return any("'__name__'" in test and "'__main__'" in test for test in tests)


def sentence(tree: ast.Module) -> str:
    """Return the first line of a file's docstring; empty if it has none."""
    return (ast.get_docstring(tree) or "").strip().partition("\n")[0].strip()
