"""The text of ucx_perftest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gasmeter.exchange.quantities import MIB, Quantity, bad_line, number, slug, whole

__all__ = ["read_ucx"]

_FIELD = re.compile(r"\|\s*(?P<key>Test|Message size):\s*(?P<value>.+?)\s*\|?\s*$")
_TEST = r"(?P<test>(?:ucp_)?(?:am|put|get|add|fadd|swap|cswap|tag|tag_sync|stream)(?:_(?:lat|bw|mr))?)\b"
_RULE = re.compile(rf"\W*==+\s*{_TEST}\s*==+\s*$")
_COMMAND = re.compile(rf".*\bucx_perftest\b.*\s-t\s*{_TEST}")
_TIME = re.compile(r"\|\s*(?P<what>latency|overhead) \(usec\)\s*\|")
_HEADS = re.compile(r"\|\s*Stage\s*\|")
_USUAL = ("# iterations", "50.0%ile", "average", "overall", "average", "overall", "average", "overall")
_OVERALL = "overall"


def read_ucx(text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs of ucx_perftest: each line ``Final``.

    Times are in ns, bandwidths in B/s (its MB are 2^20 B), and messages per second. The test is named in the header, in
    a command line (``-t tag_lat``) or in a rule above (``=== tag_lat ===``). `notes` gets a line for each omission.
    Raises UsageError with file and line if a run has no ``Final`` line or it is damaged.
    """
    test, what, begun = op, "", 0
    size: int | None = None
    heads: tuple[str, ...] = _USUAL
    for line, words in enumerate(text.splitlines(), 1):
        match = _FIELD.match(words)
        if match and match["key"] == "Message size":
            size = whole(match["value"].partition(" ")[0], name, line)
        elif match or (match := _RULE.match(words) or _COMMAND.match(words)):
            if begun:
                raise bad_line(name, begun, "a run without a line Final: it was cut off")
            begun = line if match.re is _FIELD else 0
            test, size = match["value"] if begun else match["test"], None
        elif match := _TIME.search(words):
            if what:
                raise bad_line(name, line, "heads of another run, though the one before has no line Final")
            what = match["what"]
        elif _HEADS.match(words):
            heads = tuple(cell.strip() for cell in words.strip().strip("|").split("|")[1:])
        elif words.startswith("Final:"):
            yield from _final(test, size, what, heads, words.split()[1:], name=name, line=line)
            test, size, what, begun = op, None, "", 0
    if begun:
        raise bad_line(name, begun, "a run without a line Final: it was cut off")


def _final(
    test: str, size: int | None, what: str, heads: tuple[str, ...], cells: list[str], *, name: str, line: int
) -> Iterator[Quantity]:
    if len(cells) != len(heads):
        raise bad_line(name, line, f"{len(cells)} columns behind Final instead of {len(heads)}; is the file cut off?")
    if not what:
        raise bad_line(name, line, "no head says whether its times are latencies or overheads; is the file cut off?")
    values = [number(cell, name, line) for cell in cells]
    overall = [value for head, value in zip(heads, values, strict=True) if head == _OVERALL]
    figures = (
        ("latency" if what == "latency" else "time_per_message", "ns", 1e3, f"{what} (usec), overall"),
        ("bandwidth", "B/s", MIB, "bandwidth (MB/s), overall"),
        ("rate", "1/s", 1.0, "message rate (msg/s), overall"),
    )
    if heads[0] != _USUAL[0] or len(overall) != len(figures):
        raise bad_line(name, line, f"heads {', '.join(heads)!r} are not known; allowed: iterations and three overall")
    for (metric, unit, factor, meaning), value in zip(figures, overall, strict=True):
        yield Quantity(
            op=slug(test), metric=metric, unit=unit, value=value * factor, semantics=f"{test}: {meaning}",
            size_bytes=size, ranks=2, n=whole(cells[0], name, line), line=line,
        )  # fmt: skip
