"""Shell completion: existing names, read when Tab is pressed, without the modules for measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from gasmeter.errors import GasmeterError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

__all__ = [
    "complete_conduits", "complete_experiments", "complete_figures", "complete_kernels", "complete_kernels_or_ops",
    "complete_listed", "complete_machines", "complete_ops", "complete_papers", "complete_topologies",
]  # fmt: skip

_PING_PONG = "ping-pong"


class _Completing:
    """A parameter type with completion; the last of several names between commas is completed.

    If files are allowed and no name matches, the shell completes paths.
    """

    def __init__(
        self, names: Callable[[click.Context], Mapping[str, str]], *, several: bool = False, files: bool = False
    ) -> None:
        self._names = names
        self._several = several
        self._files = files

    def __call__(self, context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, last = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        try:
            names = self._names(context)
        except GasmeterError:  # nothing to say while a command is typed
            return []
        chosen = before.split(",")
        items = [
            CompletionItem(f"{before}{comma}{name}", help=summary or None)
            for name, summary in names.items()
            if name.startswith(last) and name not in chosen
        ]
        return items or ([CompletionItem(incomplete, type="file")] if self._files else [])


def _summaries(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: " ".join(summary.split()) for name, summary in entries}


def _kernels(_: click.Context) -> dict[str, str]:
    from gasmeter.catalogue import catalogue

    return _summaries((kernel.name, kernel.summary) for kernel in catalogue().kernels.values())


def _ops(context: click.Context) -> dict[str, str]:
    """Return the operations of the kernel typed before, or of all kernels."""
    from gasmeter.catalogue import catalogue

    all_kernels = catalogue().kernels
    typed = str(context.params.get("kernel") or context.params.get("what"))
    kernels = [all_kernels[typed]] if typed in all_kernels else list(all_kernels.values())
    return _summaries((op.name, op.summary) for kernel in kernels for op in kernel.ops)


def _kernels_or_ops(context: click.Context) -> dict[str, str]:
    from gasmeter.catalogue import catalogue

    return {**_kernels(context), **_summaries((op.name, op.summary) for op in catalogue().kernel(_PING_PONG).ops)}


def _conduits(_: click.Context) -> dict[str, str]:
    from gasmeter.catalogue import catalogue

    declarations = catalogue()
    raw = (f"raw@{network}" for network in declarations.raw_networks())
    return _summaries(
        (name, declarations.conduit(name).summary) for name in dict.fromkeys([*declarations.conduits, *raw])
    )


def _machines(_: click.Context) -> dict[str, str]:
    from gasmeter.machines.named import machine, machines

    return _summaries((name, machine(name).summary) for name in machines())


def _topologies(_: click.Context) -> dict[str, str]:
    from gasmeter.catalogue import topologies

    return _summaries((entry["name"], f"for instance {entry['example']}") for entry in topologies())


def _papers(_: click.Context) -> dict[str, str]:
    from gasmeter.papers.registry import PAPERS

    return dict.fromkeys(PAPERS, "")


def _figures(context: click.Context) -> dict[str, str]:
    from gasmeter.papers.registry import PAPERS

    chosen = PAPERS.get(context.params.get("name") or "")
    figures = chosen.figures if chosen is not None else ()
    return _summaries((figure.number, figure.title) for figure in figures if figure.lines)


def _named_files(*, programs: bool) -> Iterator[tuple[str, str]]:
    """Return experiments by name with their descriptions."""
    import ast

    from gasmeter.sweeps.shipped import experiment_files, has_main, sentence

    for name, path in experiment_files().items():
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):  # without completion
            continue
        if programs or not has_main(tree):
            yield name, sentence(tree)


def _experiments(_: click.Context) -> dict[str, str]:
    """Return the arguments of `gasmeter run`: names, and files in the working directory."""
    from pathlib import Path

    return {**_summaries(_named_files(programs=False)), **dict.fromkeys(sorted(map(str, Path().glob("*.py"))), "")}


def _experiments_and_programs(_: click.Context) -> dict[str, str]:
    return _summaries(_named_files(programs=True))


def _listed(context: click.Context) -> dict[str, str]:
    """Return the names in `gasmeter list WHAT`; claims are too many."""
    lists = {"kernels": _kernels, "conduits": _conduits, "machines": _machines, "topologies": _topologies,
             "experiments": _experiments_and_programs}  # fmt: skip
    entries = lists.get(context.params.get("what") or "")
    return entries(context) if entries is not None else {}


complete_kernels = _Completing(_kernels)
complete_kernels_or_ops = _Completing(_kernels_or_ops)
complete_ops = _Completing(_ops, several=True)
complete_conduits = _Completing(_conduits, several=True)
complete_machines = _Completing(_machines, several=True)
complete_topologies = _Completing(_topologies, several=True)
complete_experiments = _Completing(_experiments, files=True)
complete_papers = _Completing(_papers)
complete_figures = _Completing(_figures, several=True)
complete_listed = _Completing(_listed)
