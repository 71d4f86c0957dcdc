"""`gasmeter list`: names and descriptions of everything that exists."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gasmeter.catalogue import catalogue, declared, topologies
from gasmeter.cli.common import Choice, option, out
from gasmeter.cli.completion import complete_listed
from gasmeter.errors import GasmeterError, unknown
from gasmeter.option import Option
from gasmeter.rendering.terminal import shortened, wrapped
from gasmeter.units import format_duration, quantity_text

if TYPE_CHECKING:
    from gasmeter.verdicts.predicates import Predicate

__all__ = ["list_command"]

Entry = dict[str, Any]


def _options(options: tuple[Option, ...]) -> list[Entry]:
    return [
        {"name": entry.name, "type": entry.type, "default": entry.default, "unit": entry.unit,
         "choices": list(entry.choices), "summary": entry.summary}
        for entry in options
    ]  # fmt: skip


def _kernels() -> list[Entry]:
    return [
        {
            "name": kernel.name,
            "summary": kernel.summary,
            "ops": [
                {"name": op.name, "summary": op.summary, "sized": op.sized,
                 "metrics": [{"name": m.name, "unit": m.unit, "semantics": m.semantics} for m in op.metrics]}
                for op in kernel.ops
            ],
            "options": _options(kernel.options),
            "variants": list(kernel.variants),
            "raw": [f"raw@{network}" for network in kernel.raw],
        }
        for kernel in catalogue().kernels.values()
    ]  # fmt: skip


def _conduits() -> list[Entry]:
    from gasmeter.functions.listing import all_conduits

    return [
        {"name": conduit.name, "summary": conduit.summary, "ops": [], "options": _options(conduit.options),
         "network": conduit.network, "kind": conduit.kind}
        for conduit in all_conduits()
    ]  # fmt: skip


def _experiments(*, planned: bool = True) -> list[Entry]:
    from gasmeter.sweeps.shipped import experiment_files

    return [_experiment_file(path, planned=planned) for path in experiment_files().values()]


def _experiment_file(path: Path, *, run: bool = False, planned: bool = True) -> Entry:
    """Describe a file: an experiment with its plan, a program with its command, or its mistake.

    Declarations are read without running the file; `run` does run it, for values that its own code computes. Planning
    all points of all files takes longer than reading them.
    """
    from gasmeter.sweeps.declarations import read_declaration
    from gasmeter.sweeps.loading import ProgramFile, load_experiment
    from gasmeter.sweeps.sweep import estimated_seconds

    entry: Entry = {"name": path.stem, "summary": "", "ops": [], "options": [], "state": "", "file": str(path)}
    try:
        declaration = read_declaration(path)
        if isinstance(declaration, ProgramFile):
            return entry | {"summary": declaration.summary, "state": "program", "command": declaration.command}
        entry |= {"name": declaration.name, "summary": declaration.summary or declaration.title}
        experiment = load_experiment(path) if run and declaration.experiment is None else declaration.experiment
        if experiment is None:
            return entry | {"state": "not read", "ask": f"gasmeter list experiments {declaration.name}"}
        if not planned:
            return entry | {"state": "ready"}
        groups = experiment.groups()
    except GasmeterError as error:
        return entry | {"summary": str(error), "state": "broken"}
    return entry | {
        "name": experiment.name,
        "summary": entry["summary"] or experiment.title,
        "ops": sorted({point.op for group in groups for point in group.points}),
        "state": "ready",
        "points": sum(len(group.points) for group in groups),
        "seconds": round(estimated_seconds(groups), 1),
    }


def _machines() -> list[Entry]:
    from gasmeter.machines.folder import lacking
    from gasmeter.machines.named import machines

    entries = [_machine(name) for name in machines()]
    return [*entries, *(_lacking_machine(name, network) for name, network in lacking().items())]


def _lacking_machine(name: str, network: str) -> Entry:
    """Describe a machine whose network this build lacks; its numbers are unknown then."""
    from gasmeter.machines.folder import read_file

    return {
        "name": name, "summary": tomllib.loads(read_file(name)).get("summary", ""), "ops": [], "options": [],
        "network": network, "state": f"not in this build, which has no network {network}", "parameters": [],
    }  # fmt: skip


def _machine(name: str) -> Entry:
    from gasmeter.machines.named import machine

    shown = machine(name)
    summaries = {parameter.key: parameter for parameter in declared().networks[shown.network].parameters}
    parameters = [
        {"name": key, "kind": summaries[key].kind, "summary": summaries[key].summary,
         **{field: value for field, value in facts.items() if field != "origin"}}
        for key, facts in shown.effective().items()
    ]  # fmt: skip
    return {
        "name": name, "summary": shown.summary, "ops": [], "options": [], "network": shown.network,
        "digest": shown.digest, "parameters": parameters,
    }  # fmt: skip


def _topologies() -> list[Entry]:
    return [{**entry, "ops": [], "options": []} for entry in topologies()]


def _figures() -> list[Entry]:
    from gasmeter.papers.registry import PAPERS
    from gasmeter.reproduction.plan.figure import describe

    return [
        {"name": f"{paper.name} {figure.number}", "summary": figure.title, "ops": [], "options": [],
         "state": figure.state, "paper": paper.name, "figure": figure.number, "left_out": figure.left_out,
         "lines": [describe(line) for line in figure.lines], "claims": list(figure.claims),
         **({"seconds": figure.seconds, "quick_seconds": figure.quick_seconds} if figure.lines else {})}
        for paper in PAPERS.values() for figure in paper.figures
    ]  # fmt: skip


def _claims() -> list[Entry]:
    from gasmeter.verdicts.claims import claims
    from gasmeter.verdicts.predicates import predicates

    by_claim = predicates()
    return [
        {"name": claim.id, "summary": claim.statement, "ops": [], "options": [], "kind": claim.kind,
         "paper": claim.paper, "figure": claim.figure, "published": claim.published,
         **(_judged_by(by_claim[claim.id]) if claim.id in by_claim else {})}
        for claim in claims()
    ]  # fmt: skip


def _judged_by(predicate: Predicate) -> Entry:
    """Return how a claim is judged: the primary reading, and the names of all."""
    first = predicate.readings[0] if predicate.readings else None
    return {
        "tolerance": first.tolerance if first else "", "rule": first.rule if first else predicate.undecidable,
        "readings": [reading.name for reading in predicate.readings], "digest": predicate.digest,
    }  # fmt: skip


_LISTS: dict[str, Callable[[], list[Entry]]] = {
    "conduits": _conduits,
    "kernels": _kernels,
    "machines": _machines,
    "topologies": _topologies,
    "experiments": _experiments,
    "figures": _figures,
    "claims": _claims,
}
_SUMMARY_AT = 17
_SHORT = ("kernels", "conduits", "experiments")


@click.command("list")
@click.argument("what", type=Choice(list(_LISTS)), required=False)
@click.argument("name", required=False, shell_complete=complete_listed)
@option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print an array of {name, summary, ops, options, …} instead of text.",
)
def list_command(what: str | None, name: str | None, as_json: bool) -> None:
    """List what exists, a line each; with a NAME its options, units and defaults.

    Without an argument: kernels, conduits and the experiments in ./experiments and those that come with gasmeter, whose
    points and times `list experiments` tells. With a NAME: all about that one; the figures or claims of that paper; of
    a machine, which may be the path of a machine file, a label with overrides, or a draw of its estimates
    (extoll+draw=17), with the sources of its numbers, too. Machines whose network was left out of this build stand
    last. Experiments are read, not run. Values that a file computes by its own code are listed when the file is named,
    which runs its top level.
    """
    wanted = [what] if what else list(_SHORT)
    lists = {each: _entries(each, name) for each in wanted if each != "experiments"}
    if "experiments" in wanted:
        lists["experiments"] = _experiments(planned=as_json or what is not None)
    if what and name:
        of_paper = [entry for entry in lists[what] if entry.get("paper") == name]
        lists[what] = of_paper or [_whole(_named(lists[what], what, name))]
    if as_json:
        entries = [entry if what else {**entry, "list": each} for each in wanted for entry in lists[each]]
        out(json.dumps(entries, indent=1))
        return
    for each in wanted:
        out(f"{each}:")
        if not lists[each]:
            where = " in ./experiments or with gasmeter" if each == "experiments" else " in this version of gasmeter"
            out(f"  none{where}")
        if name is not None:
            for entry in lists[each]:
                _print(entry)
            continue
        _print_lines(lists[each])
        if lists[each]:
            out(f"  all about one: `gasmeter list {each} NAME`")


def _entries(what: str, name: str | None) -> list[Entry]:
    """Return the entries of a list; a machine given by path or label is not among them."""
    from gasmeter.machines.named import is_file

    return [_machine(name)] if what == "machines" and name and (is_file(name) or "+" in name) else _LISTS[what]()


def _named(entries: list[Entry], what: str, name: str) -> Entry:
    for entry in entries:
        if entry["name"] == name:
            return entry
    singular = what.removesuffix("ies") + "y" if what.endswith("ies") else what.removesuffix("s")
    raise unknown(singular, name, [entry["name"] for entry in entries], f"gasmeter list {what}")


def _whole(entry: Entry) -> Entry:
    """Return a named entry; an experiment that could not be read is run for it."""
    return _experiment_file(Path(entry["file"]), run=True) if "ask" in entry else entry


def _run(entry: Entry) -> str:
    return f"`gasmeter run {Path(entry['file']).stem}`"


def _detail(entry: Entry) -> list[str]:
    detail = [entry[key] for key in ("kind", "state") if entry.get(key)]
    if entry.get("state") == "ready" and "points" not in entry and "file" in entry:
        detail.append(_run(entry))
    if "points" in entry:
        detail.append(f"{entry['points']} points, about {format_duration(entry['seconds'])}: {_run(entry)}")
    if "quick_seconds" in entry:
        times = (format_duration(entry[key]) for key in ("seconds", "quick_seconds"))
        detail.append("about {}, --quick {}".format(*times))
    if entry.get("left_out"):
        detail.append(entry["left_out"])
    if "published" in entry:
        detail.append(f"{entry['figure']}, published: {entry['published']}")
    if "ask" in entry:
        detail.append(f"{_run(entry)}; its points are worked out by its code: `{entry['ask']}` runs that")
    if "command" in entry:
        detail.append(f"run it with `{entry['command']}`")
    return detail


def _print_lines(entries: list[Entry]) -> None:
    """Write a line for each entry: its name, a short fact, its summary."""
    names = max((len(entry["name"]) for entry in entries), default=0)
    shorts = max((len(_short(entry)) for entry in entries), default=0)
    for entry in entries:
        short = f"{_short(entry):<{shorts}}  " if shorts else ""
        out(shortened(f"  {entry['name']:<{names}}  {short}{' '.join(entry['summary'].split())}".rstrip()))


def _short(entry: Entry) -> str:
    """Return the fact that distinguishes an entry from its neighbours at a glance."""
    if "points" in entry:
        return f"{entry['points']} points, {format_duration(entry['seconds'])}"
    if "published" in entry:
        return str(entry["figure"])
    state = str(entry.get("state", "")).partition(",")[0]
    return str(state or entry.get("kind") or entry.get("network") or entry.get("example") or "")


def _print(entry: Entry) -> None:
    detail = _detail(entry)
    line = f"  {entry['name']:<14} {entry['summary']}{' (' + ', '.join(detail) + ')' if detail else ''}"
    out(wrapped(line, _SUMMARY_AT - 2))
    for op in entry["ops"]:
        if isinstance(op, dict):
            metrics = ", ".join(
                f"{metric['name']} [{metric['unit']}]: {metric['semantics']}" for metric in op["metrics"]
            )
            out(wrapped(f"    op {op['name']:<12} {op['summary']}; {metrics}{'' if op['sized'] else ' (no size)'}", 4))
    for key in ("variants", "raw"):
        if entry.get(key):
            out(wrapped(f"    {key}: {', '.join(entry[key])}", 4))
    if "example" in entry:
        out(wrapped(f"    example: {entry['example']}", 4))
    if "link_classes" in entry:
        out(wrapped(f"    classes of links: {entry['link_classes']}", 4))
    for number in entry.get("parameters", ()):
        _print_number(number)
    for item in entry["options"]:
        allowed = " | ".join(item["choices"]) or item["type"]
        unit = f" {item['unit']}" if item["unit"] else ""
        out(
            wrapped(
                f"    option {item['name']}={allowed}{unit} (default {item['default']})  {item['summary']}".rstrip(), 4
            )
        )


def _print_number(number: Entry) -> None:
    kind = number["kind"]
    bounded = number["low"] is not None
    bounds = (quantity_text(number[end], kind) for end in ("low", "high")) if bounded else ()
    between = f" ({' to '.join(bounds)})" if bounded else ""
    if "share" in number:
        between = f" ({number['share']} of {number['of']})"
    out(wrapped(f"    {number['name']} = {number['text']}{between}  {number['summary']}", 4))
    out(wrapped(f"      {number['confidence']} confidence: {number['source']}"))
