"""A page for every machine: each number with its range, its source and the published facts that it rests on."""

from __future__ import annotations

import gasmeter as gm
from extension.text import below, code, plain, table
from gasmeter.catalogue import catalogue
from gasmeter.machines.hardware import facts
from gasmeter.machines.number import Number
from gasmeter.units import quantity_text

__all__ = ["pages"]


def pages() -> dict[str, str]:
    """Return a page for each machine, and one that lists them.

    Returns
    -------
    dict of str to str
        Markdown by name below ``generated``.
    """
    names = gm.machines()
    lines = [
        [f"[{name}](machines/{name}.md)", code(one.network), plain(one.summary), str(len(one.numbers)),
         str(len(one.estimates()))]
        for name in names for one in [gm.machine(name)]
    ]  # fmt: skip
    listed = (
        "# All machines\n\nLook up every number of every simulated machine. Each number has a source. An estimate also"
        " has a range, from which draws are taken. [Machines](/machines.md) says how to change a number or write a"
        " machine of your own. The [glossary](/glossary.md) explains the words.\n\n"
    )
    heads = ("machine", "network", "what it is", "numbers", "estimates")
    contents = "\n".join(f"machines/{name}" for name in names)
    index = f"{listed}{table(heads, lines)}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    return {"machines": index, **{f"machines/{name}": page(name) for name in names}}


def page(name: str) -> str:
    """Return the page of one machine.

    Parameters
    ----------
    name : str
        As `gasmeter.machine` takes it.

    Returns
    -------
    str
        Markdown.
    """
    one = gm.machine(name)
    summaries = {parameter.key: parameter.summary for parameter in catalogue().networks[one.network].parameters}
    numbers = [
        [below(code(number.key), plain(summaries.get(number.key, ""))),
         below(plain(number.text), plain(_range(number))),
         below(f"*{number.confidence}* · {plain(number.source)}", ", ".join(map(code, number.hardware)))]
        for number in one.numbers
    ]  # fmt: skip
    known = facts()
    rests_on = [known[key] for key in dict.fromkeys(key for number in one.numbers for key in number.hardware)]
    published = [
        [below(code(fact.id), plain(fact.parameter)), plain(f"{fact.value} {fact.unit}"),
         below(f"*{fact.confidence}* · {plain(fact.source)}",
               "claims that had touched it: " * bool(fact.tainted_by) + ", ".join(map(code, fact.tainted_by)))]
        for fact in rests_on
    ]  # fmt: skip
    heads = ("parameter", "value, range of an estimate", "confidence, source, published facts")
    fact_heads = ("fact", "value", "confidence, source")
    facts_below = f"## Published facts that they rest on\n\n{table(fact_heads, published)}\n" if published else ""
    return (
        f"# {name}\n\n{plain(one.summary)}. Modelled network {code(one.network)}, {len(one.numbers)} numbers,"
        f" {len(one.estimates())} of them estimates.\n\n```sh\ngasmeter list machines {name}\n```\n\n"
        f"## Numbers\n\n{table(heads, numbers)}\n\n{facts_below}"
    )


def _range(number: Number) -> str:
    if not number.estimate:
        return ""
    low, high = (quantity_text(end, number.kind) for end in number.ends())
    return f"{low} to {high}"
