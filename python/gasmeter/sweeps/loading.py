"""Load an experiment file and report its mistakes with their line."""

from __future__ import annotations

import ast
import shlex
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from gasmeter.errors import GasmeterError, UsageError, did_you_mean
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.shipped import experiment_files, has_main, sentence

__all__ = ["ProgramFile", "load_experiment", "load_file", "locate", "parsed", "program_in"]


@dataclass(frozen=True)
class ProgramFile:
    """A program among the experiments: run with Python, it measures by itself and defines no experiment."""

    path: Path
    summary: str  # first line of its docstring, possibly empty

    @property
    def command(self) -> str:
        """Command line that runs it."""
        return f"python {shlex.quote(str(self.path))}"


def load_experiment(path: str | Path) -> Experiment:
    """Return the experiment that a Python file builds at its top level, without measuring.

    Raises UsageError with the line if there is no such file, it has a mistake, it builds no or several experiments, or
    it is a program.
    """
    loaded = load_file(path)
    if isinstance(loaded, ProgramFile):
        raise UsageError(
            f"{loaded.path} is a program, not an experiment; run it with `{loaded.command}` (see `gasmeter list"
            " experiments`)",
            str(loaded.path),
        )
    return loaded


def load_file(path: str | Path) -> Experiment | ProgramFile:
    """Return the experiment or program of a Python file, without measuring.

    A program has no `gasmeter.Experiment` at its top level, but ``if __name__ == "__main__":``. Raises UsageError with
    the line if there is no such file, it has a mistake, or it is neither.
    """
    place = Path(path)
    source, tree = parsed(place)
    module = ModuleType(f"gasmeter_experiment_{place.stem}")
    module.__file__ = str(place)
    sys.modules[module.__name__] = module  # dataclasses look up the names of annotations there
    try:
        _execute(tree, source, place, module)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    experiments = {id(value): value for value in vars(module).values() if isinstance(value, Experiment)}
    if not experiments and has_main(tree):
        return program_in(place, tree)
    if len(experiments) != 1:
        count = "no experiment" if not experiments else f"{len(experiments)} experiments"
        raise UsageError(f"{place} describes {count}; allowed: one gasmeter.Experiment at its top level", str(place))
    return next(iter(experiments.values()))


def _execute(tree: ast.Module, source: str, place: Path, module: ModuleType) -> None:
    """Run the top level of an experiment file; a mistake is reported with its line."""
    try:
        exec(compile(tree, str(place), "exec"), module.__dict__)
    except SyntaxError as error:  # in the file, or in one that it imports
        raise _misspelt(error, place) from error
    except GasmeterError as error:
        line = _line_of(error, source, place)
        raise type(error)(f"{place}:{line}: {error}", error.value) from error
    except (Exception, SystemExit) as error:
        line = _deepest_line(error, place)
        what = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise UsageError(
            f"{place}:{line}: {what}; allowed: a Python file with one gasmeter.Experiment that loads", str(place)
        ) from error


def _read(place: Path) -> str:
    if place.is_dir():
        raise UsageError(
            f"experiment {str(place)!r} is a folder; allowed: a Python file (see `gasmeter list experiments`)",
            str(place),
        )
    if not place.exists():
        beside = [str(path) for folder in (place.parent, Path("experiments")) for path in folder.glob("*.py")]
        hint = did_you_mean(str(place), beside) or did_you_mean(place.stem, experiment_files())
        text = f"experiment {str(place)!r} does not exist{hint}{' ' if hint else '; '}allowed: a Python file"
        text += " (see `gasmeter list experiments`)"
        raise UsageError(text, str(place))
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"experiment {str(place)!r} cannot be read: {_first_line(error)}", str(place)) from error


def parsed(place: Path) -> tuple[str, ast.Module]:
    """Return the text and the syntax tree of an experiment file.

    Raises UsageError if it does not exist, cannot be read, or is no Python (with the line).
    """
    source = _read(place)
    try:
        return source, ast.parse(source, str(place))
    except SyntaxError as error:
        raise _misspelt(error, place) from error
    except ValueError as error:  # a null byte
        raise UsageError(
            f"{place}:1: {error}; allowed: a Python file with one gasmeter.Experiment", str(place)
        ) from error


def _misspelt(error: SyntaxError, place: Path) -> UsageError:
    where = f"{error.filename or place}:{error.lineno or 1}"
    return UsageError(f"{where}: {error.msg}; allowed: a Python file with one gasmeter.Experiment", str(place))


def program_in(place: Path, tree: ast.Module) -> ProgramFile:
    """Return a file as a program, with the first line of its docstring."""
    return ProgramFile(place, sentence(tree))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _deepest_line(error: BaseException, place: Path) -> int:
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(place)]
    return lines[-1] if lines else 1


def _line_of(error: GasmeterError, source: str, place: Path) -> int:
    """Return the line of the field or value that an error names, inside the failed call; else that of the call."""
    call_line = _deepest_line(error, place)
    return locate(source, error.value, call_line) or call_line


def locate(source: str, value: str | None, inside: int | None = None) -> int | None:
    """Return the line number, from 1, of a value or field in an experiment file; None if it does not stand there.

    `inside` restricts the search to the call that begins at, or spans, that line.
    """
    if not value:
        return None
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    spans = [node for node in calls if inside is not None and node.lineno <= inside <= (node.end_lineno or node.lineno)]
    roots: list[ast.AST] = list(spans) if spans else [tree]
    # The innermost call comes first, as it raised the error.
    for root in sorted(roots, key=lambda node: getattr(node, "end_lineno", 0) - getattr(node, "lineno", 0)):
        for node in ast.walk(root):
            if isinstance(node, ast.keyword) and node.arg == value:
                return node.lineno
            if isinstance(node, ast.Constant) and _names(node.value, value):
                return node.lineno
    return None


def _names(constant: object, value: str) -> bool:
    if isinstance(constant, bool):
        return False
    return value in [part.strip() for part in str(constant).split(",")] or str(constant).strip() == value
