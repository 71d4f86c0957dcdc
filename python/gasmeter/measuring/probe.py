"""The placement probe: the current distance of two cores.

On virtual machines cores move: a cache line's round trip between the same two cores changes up to tenfold within
minutes. The probe's value is stored with every row. Only blocks between which it moved by at most 15 % are compared.

The probe is a program of its own, `gasmeter-probe`, apart from the build under test: a slower build must not move the
yardstick, too. Stores keep its digest.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from gasmeter.environment.installed import installed_program
from gasmeter.environment.limits import cpus
from gasmeter.errors import BrokenJob, EnvironmentLacks, GasmeterError

__all__ = ["INTERVAL_S", "PROGRAM", "TOLERANCE", "Probe", "probe_digest", "probe_program", "same_state"]

INTERVAL_S = 1.0
"""The probe runs at most once in this time; rows in between share its value."""
TOLERANCE = 0.15
"""Blocks are compared only if the probe moved by at most this share between them."""
PROGRAM = "gasmeter-probe"
_MILLISECONDS = 50
_LATE_S = 10.0
_ANY = -1


def same_state(first_ns: float, second_ns: float) -> bool:
    """Tell whether the larger of two probe values in ns is at most 15 % above the smaller; NaN counts as the same."""
    if math.isnan(first_ns) or math.isnan(second_ns):
        return True
    larger, smaller = max(first_ns, second_ns), min(first_ns, second_ns)
    return larger <= (1 + TOLERANCE) * smaller or math.isclose(larger, (1 + TOLERANCE) * smaller)


def probe_program() -> Path:
    """Return the probe: ``GASMETER_PROBE`` if set (for instance a kept baseline), else ``bin/gasmeter-probe``.

    Raises UsageError if the variable names no executable file, EnvironmentLacks if the installation has no probe.
    """
    return installed_program(PROGRAM, "GASMETER_PROBE", "probe program")


def probe_digest(program: Path | None = None) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a probe's file, which tell probes apart; empty without a file."""
    try:
        return _digest_of(program or probe_program())
    except (GasmeterError, OSError):
        return ""


@functools.cache
def _digest_of(program: Path) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()[:16]


def _processors() -> tuple[int, int]:
    """Return where the first two ranks of a job run, as the launcher places them."""
    policy = os.environ.get("GASMETER_PIN", "")
    if policy == "none":
        return _ANY, _ANY
    chosen: list[int] = []
    try:
        for word in filter(None, policy.split(",")):
            first, _, last = word.partition("-")
            chosen.extend(range(int(first), int(last or first) + 1))
    except ValueError:
        chosen = []  # the launcher reports the mistake
    placed = chosen if len(chosen) > 1 else cpus()
    return placed[0], placed[1]


def round_trip_ns(program: Path) -> float:
    """Run the probe; return the round trip of a cache line between the processors of ranks 0 and 1 in ns.

    Raises EnvironmentLacks if the program cannot run, BrokenJob if it fails, hangs or prints something else.
    """
    command = [os.fspath(program), *map(str, _processors()), str(_MILLISECONDS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LATE_S, check=False)
    except OSError as error:
        raise EnvironmentLacks(f"probe program {program} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise BrokenJob(f"probe program {program} did not end within {_LATE_S:.0f} s") from error
    try:
        if done.returncode == 0:
            return float(done.stdout)
    except ValueError:
        pass
    lines = (done.stderr or done.stdout).strip().splitlines()
    raise BrokenJob(
        f"probe program {program} failed with status {done.returncode}: {lines[-1] if lines else 'no word'}"
    )


class Probe:
    """Cache-line round trip between two processors, measured again when the last value is too old.

    With fewer than two usable cores there is nothing to probe. `clock` returns monotonic seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, cores: int = 2, program: Path | None = None
    ) -> None:
        self._clock = clock
        self._possible = cores >= 2
        self._program = program
        self._value_ns = math.nan
        self._taken: float | None = None
        self._failure = ""
        self._told = False

    @property
    def due(self) -> bool:
        """Whether the last value is older than `INTERVAL_S`."""
        return self._taken is None or self._clock() - self._taken >= INTERVAL_S

    def value_ns(self) -> float:
        """Return the round trip in ns, probing again if it is due; NaN where no probe is possible.

        Raises GasmeterError if the probe cannot run or fails.
        """
        if self._possible and self.due:
            self._value_ns = round_trip_ns(self._program or probe_program())
            self._taken = self._clock()
        return self._value_ns

    def try_value_ns(self) -> float:
        """Return the round trip in ns, or NaN if the probe cannot run."""
        try:
            return self.value_ns()
        except GasmeterError as error:
            self._failure = str(error)
            return math.nan

    def complaints(self) -> list[str]:
        """Return the reason why a probe failed, a single time: one line or none."""
        if self._told or not self._failure:
            return []
        self._told = True
        return [f"no core-to-core probe, so that nobody knows whether the cores moved: {self._failure}"]
