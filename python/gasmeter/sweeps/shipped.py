"""Files of experiments by name: those in ./experiments, then those that come with gasmeter.

Nothing is run, and nothing heavy imported: the shell asks here when Tab is pressed.
"""

from __future__ import annotations

import ast
from pathlib import Path

from gasmeter.errors import UsageError, did_you_mean, unknown
from gasmeter.installed import EXPERIMENTS

__all__ = ["experiment_file", "experiment_files", "has_main", "sentence", "shipped_folder"]

_OWN = Path("experiments")
_PACKAGE = Path(__file__).resolve().parent.parent
_LISTED = "gasmeter list experiments"


def shipped_folder(package: Path = _PACKAGE) -> Path | None:
    """Return the folder of the experiments that come with gasmeter.

    Parameters
    ----------
    package : Path
        Folder of the package; by default this one's.

    Returns
    -------
    Path or None
        ``experiments`` in the package, where an installation has them; else that of the source tree whose
        ``python/gasmeter`` the package is (an editable installation, a clone on the path); else None.
    """
    installed = package / EXPERIMENTS
    if installed.is_dir():
        return installed
    tree = package.parent.parent
    cloned = tree / "experiments"
    of_a_tree = package.parent.name == "python" and (tree / "pyproject.toml").is_file()
    return cloned if of_a_tree and cloned.is_dir() else None


def experiment_files(own: Path = _OWN) -> dict[str, Path]:
    """Return the files of experiments that go by a name.

    Parameters
    ----------
    own : Path, default ``experiments``
        A folder of the user's, whose files are taken where both have one of a name.

    Returns
    -------
    dict of str to Path
        By name, in alphabetical order: experiments, and programs that lie among them.
    """
    shipped = shipped_folder()
    folders = ([shipped] if shipped is not None else []) + [own]
    files = {path.stem: path for folder in folders for path in folder.glob("*.py")}
    return dict(sorted(files.items()))


def experiment_file(given: str | Path) -> Path:
    """Return the file that somebody means.

    Parameters
    ----------
    given : str or Path
        A path, or the name of one of `experiment_files`: a word without folder and ending that is no file here.

    Returns
    -------
    Path
        A path as it was given; whether there is such a file is for who reads it.

    Raises
    ------
    UsageError
        If it is a word that names none.
    """
    path = Path(given)
    if str(given) != path.name or path.suffix or path.is_file() or not path.name:
        return path
    files = experiment_files()
    if path.name in files:
        return files[path.name]
    if path.is_dir():
        return path
    here = sorted(str(each) for each in Path().glob("*.py"))
    if f"{path.name}.py" in here:
        hint = did_you_mean(f"{path.name}.py", here)
        raise UsageError(f"unknown experiment {path.name!r}{hint} (see `{_LISTED}`)", path.name)
    raise unknown("experiment", path.name, [*files, *here], _LISTED)


def has_main(tree: ast.Module) -> bool:
    """Return whether a file does something only when it is run.

    Parameters
    ----------
    tree : ast.Module
        Of the file.

    Returns
    -------
    bool
        Whether ``if __name__ == "__main__":`` stands at its top level.
    """
    tests = (ast.dump(node.test) for node in tree.body if isinstance(node, ast.If))
    return any("'__name__'" in test and "'__main__'" in test for test in tests)


def sentence(tree: ast.Module) -> str:
    """Return what a file says of itself.

    Parameters
    ----------
    tree : ast.Module
        Of the file.

    Returns
    -------
    str
        The first line of its docstring; empty if it has none.
    """
    return (ast.get_docstring(tree) or "").strip().partition("\n")[0].strip()
