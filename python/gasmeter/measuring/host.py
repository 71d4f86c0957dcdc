"""Facts of a host that disturb measurements, from its kernel: clock rates, siblings, addresses, stolen time, load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gasmeter.environment.limits import cpus
from gasmeter.rows.record import Row

__all__ = ["BUSY_LOAD", "MOST_STOLEN", "TRAITS", "Trait", "Watch", "host_traits", "stolen_since_boot", "told_against"]

ROOT = Path("/")
"""Folder with ``proc`` and ``sys``."""
BUSY_LOAD = 0.5
"""Load of the last minute above which other programs disturb."""
MOST_STOLEN = 0.01
"""Share of a run's processor time above which stolen time is reported."""

_CPU = "sys/devices/system/cpu"
_NOT_RANDOM = 0x0040000  # ADDR_NO_RANDOMIZE of linux/personality.h
_STEAL = 7  # column of a processor's line in /proc/stat; the two behind it are parts of earlier ones


@dataclass(frozen=True)
class Trait:
    """A fact of a host that measurements depend on."""

    key: str  # key in run.json below ``host``
    name: str  # for people
    is_bad: Callable[[Any], bool]  # tells whether a value speaks against the host
    advice: str  # the consequence, and the remedy

    def shown(self, value: object) -> str:
        """Return a value in words: ``on`` or ``off`` for settings, ``yes`` or ``no`` for a virtual machine."""
        if value is None:
            return "the kernel does not say"
        if self.key == "aslr":
            return {0: "off", 1: "on, heap left out"}.get(int(str(value)), "on")
        words = ("no", "yes") if self.key == "virtual_machine" else ("off", "on")
        return words[value] if isinstance(value, bool) else str(value)


TRAITS = (
    Trait("governor", "governor", lambda value: value != "performance",
          "clock rates follow the load; `cpupower frequency-set --governor performance`"),
    Trait("boost", "boost", bool,
          "clock rates follow temperature and neighbours; write 1 to intel_pstate/no_turbo or 0 to cpufreq/boost"),
    Trait("smt", "SMT", bool,
          "siblings share one core; give ranks one of each (taskset), or write off to smt/control"),
    Trait("aslr", "ASLR", bool,
          "addresses differ from start to start; measure many starts (--starts), or keep one layout (setarch -R)"),
    Trait("huge_pages", "huge pages", lambda value: value == "always",
          "the kernel may merge pages while blocks run; write madvise to transparent_hugepage/enabled"),
    Trait("virtual_machine", "virtual machine", bool,
          "neighbours and the hypervisor disturb; measure on the hardware itself, or compare in one run"),
)  # fmt: skip
"""Traits in display order."""


def host_traits(root: Path | None = None, usable: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the kernel's facts of this host by the keys of `TRAITS`, and ``siblings``; None where it has none.

    ``siblings`` holds each set of usable processors that share a core.
    """
    base = ROOT if root is None else root
    processors = tuple(cpus() if usable is None else usable)
    return {
        "governor": _governor(base, processors),
        "boost": _boost(base),
        "smt": _flag(base / _CPU / "smt/active"),
        "siblings": _siblings(base, processors),
        "aslr": _aslr(base),
        "huge_pages": _huge_pages(base),
        "virtual_machine": _virtual_machine(base),
    }


class Watch:
    """Watch a host during a run: its state before, and the processor time stolen meanwhile.

    `facts` holds `host_traits` and the load before the run.
    """

    def __init__(self, root: Path | None = None, usable: Sequence[int] | None = None) -> None:
        self._root = ROOT if root is None else root
        self._usable = tuple(cpus() if usable is None else usable)
        self._before = _ticks(self._root, self._usable)
        load = _load(self._root)
        self.facts = host_traits(self._root, self._usable) | ({"load": load} if load else {})

    def ended(self, rows: Iterable[Row]) -> dict[str, Any]:
        """Return ``steal_share``, ``most_ranks``, ``ranks_on_siblings`` of a run that ended; None if unknown.

        ``ranks_on_siblings`` tells whether two ranks of a job shared a core.
        """
        siblings = self.facts["siblings"]
        measured = [row for row in rows if row["label"] == "measured"]
        places = {row["placement"] for row in measured if row["placement"].startswith("cpus ")}
        pairs = [set(map(int, place.split()[1:])) for place in places]
        shared = any(len(pair & set(core)) > 1 for pair in pairs for core in siblings or ())
        return {
            "steal_share": _share(self._before, _ticks(self._root, self._usable)),
            "most_ranks": max((row["ranks"] for row in measured), default=None),
            "ranks_on_siblings": shared if pairs and siblings is not None else None,
        }


def stolen_since_boot(root: Path | None = None, usable: Sequence[int] | None = None) -> float | None:
    """Return the share of the usable processors' time that a hypervisor took since boot; None if unknown."""
    after = _ticks(ROOT if root is None else root, tuple(cpus() if usable is None else usable))
    return _share((0, 0), after)


def told_against(facts: Mapping[str, Any], usable: Sequence[int], *, starts: int = 0) -> str:
    """Return in one line what speaks against the host of measured rows; empty if nothing does.

    With several `starts` each start has addresses of its own, as it should.
    """
    ranks, load, stolen = (facts.get(key) for key in ("most_ranks", "load", "steal_share"))
    if not ranks:
        return ""
    complaints = [_complaint(trait, facts[trait.key]) for trait in TRAITS if _speaks_against(trait, facts, starts)]
    if facts.get("ranks_on_siblings"):
        complaints.append("ranks share a core (SMT siblings)")
    if ranks > len(usable):
        complaints.append(f"{ranks} ranks on {len(usable)} usable processors")
    if load and load[0] > BUSY_LOAD:
        complaints.append(f"load {load[0]:.2f} before the run")
    if stolen is not None and stolen > MOST_STOLEN:
        complaints.append(f"{100 * stolen:.1f} % of its time stolen by a hypervisor")
    return f"against this host: {', '.join(complaints)}; what to do: `gasmeter doctor`" if complaints else ""


def _speaks_against(trait: Trait, facts: Mapping[str, Any], starts: int) -> bool:
    value = facts.get(trait.key)
    if value is None or (trait.key == "aslr" and starts > 1):
        return False
    # Siblings are harmless if ranks stand on different cores, and are reported once otherwise.
    return trait.is_bad(value) and not (trait.key == "smt" and facts.get("ranks_on_siblings") is not None)


def _complaint(trait: Trait, value: object) -> str:
    return trait.name if trait.key == "virtual_machine" else f"{trait.name} {trait.shown(value)}"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _flag(path: Path) -> bool | None:
    return {"0": False, "1": True}.get(_text(path) or "")


def _governor(root: Path, usable: Sequence[int]) -> str | None:
    """Return the governor of all usable processors, or the list of different ones."""
    texts = (_text(root / _CPU / f"cpu{number}/cpufreq/scaling_governor") for number in usable)
    return " and ".join(sorted({text for text in texts if text})) or None


def _boost(root: Path) -> bool | None:
    no_turbo = _flag(root / _CPU / "intel_pstate/no_turbo")
    return _flag(root / _CPU / "cpufreq/boost") if no_turbo is None else not no_turbo


def _siblings(root: Path, usable: Sequence[int]) -> list[list[int]] | None:
    texts = [_text(root / _CPU / f"cpu{number}/topology/thread_siblings_list") for number in usable]
    if not all(texts):
        return None
    cores = ({*_numbers(text or "")} & {*usable} for text in texts)
    return [list(core) for core in sorted({tuple(sorted(core)) for core in cores if len(core) > 1})]


def _numbers(text: str) -> Iterable[int]:
    """Return the processors in a kernel's list such as ``0,4-6``."""
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def _aslr(root: Path) -> int | None:
    """Return how much of the address space is placed at random: 0 nothing, 1 all but the heap, 2 all."""
    text = _text(root / "proc/sys/kernel/randomize_va_space")
    if text not in {"0", "1", "2"}:
        return None
    personality = _text(root / "proc/self/personality")  # `setarch -R` sets it, and processes of a job inherit it
    return (
        0 if re.fullmatch("[0-9a-f]+", personality or "") and int(personality or "0", 16) & _NOT_RANDOM else int(text)
    )


def _huge_pages(root: Path) -> str | None:
    match = re.search(r"\[(\w+)\]", _text(root / "sys/kernel/mm/transparent_hugepage/enabled") or "")
    return match.group(1) if match else None


def _virtual_machine(root: Path) -> bool | None:
    """Return the hypervisor flag of an x86 processor; None for others."""
    flags = re.search(r"^flags\s*:(.*)$", _text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return "hypervisor" in flags.group(1).split() if flags else None


def _load(root: Path) -> list[float] | None:
    match = re.match(r"([\d.]+) ([\d.]+) ([\d.]+) ", _text(root / "proc/loadavg") or "")
    return [float(text) for text in match.groups()] if match else None


def _ticks(root: Path, usable: Sequence[int]) -> tuple[int, int] | None:
    """Return the stolen and the total ticks of the usable processors since boot."""
    lines = [line.split() for line in (_text(root / "proc/stat") or "").splitlines()]
    processor_names = {f"cpu{number}" for number in usable}
    counts = [[int(word) for word in words[1:]] for words in lines if words and words[0] in processor_names]
    if not counts or any(len(numbers) <= _STEAL for numbers in counts):
        return None
    return sum(numbers[_STEAL] for numbers in counts), sum(sum(numbers[: _STEAL + 1]) for numbers in counts)


def _share(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float | None:
    """Return the stolen share between two readings; None for less than a tick."""
    if before is None or after is None or after[1] <= before[1]:
        return None
    return max(0.0, (after[0] - before[0]) / (after[1] - before[1]))
