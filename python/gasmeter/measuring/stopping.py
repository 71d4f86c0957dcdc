"""Stop sessions in virtual time when their share of this process's CPU time is used up.

Modelled groups last milliseconds, and thousands of them run one behind the other. One thread therefore looks at all
limits of the process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from gasmeter.errors import GasmeterError, UsageError

__all__ = ["Shares", "stopped_after"]


class Shares:
    """CPU time of this process in seconds, shared evenly by the runs that are under way side by side."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen = clock()
        self._used: dict[object, float] = {}

    def begin(self, run: object) -> None:
        """Count a run from now on."""
        with self._lock:
            self._share()
            self._used[run] = 0.0

    def used(self, run: object) -> float:
        """Return the CPU seconds that a run has used."""
        with self._lock:
            self._share()
            return self._used[run]

    def end(self, run: object) -> None:
        """Stop counting a run."""
        with self._lock:
            self._share()
            del self._used[run]

    def _share(self) -> None:
        before, self._seen = self._seen, self._clock()
        for run in self._used:
            self._used[run] += (self._seen - before) / len(self._used)


class _Watch:
    """One thread that looks at every limit of this process when it is due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._looks: dict[object, tuple[float, Callable[[], float]]] = {}
        self._next = 0.0
        self._thread: threading.Thread | None = None

    def begin(self, run: object, pause: float, look: Callable[[], float]) -> None:
        """Call `look` after `pause` seconds, and again after as many as it returns, until it returns 0."""
        with self._changed:
            due = time.monotonic() + pause
            is_working = self._thread is not None and self._thread.is_alive()
            if not is_working:  # the first limit, or a fork, whose parent looks at its own
                self._looks.clear()
            self._looks[run] = (due, look)
            if not is_working:
                self._next = due
                self._thread = threading.Thread(target=self._work, name="time limits", daemon=True)
                self._thread.start()
            elif due < self._next:
                self._changed.notify()

    def end(self, run: object) -> None:
        """Look no more."""
        with self._changed:
            self._looks.pop(run, None)

    def _work(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                self._next = min((due for due, _ in self._looks.values()), default=now + _LONGEST_LOOK_S)
                if self._next > now:
                    self._changed.wait(self._next - now)
                    continue
                run, (_, look) = min(self._looks.items(), key=lambda each: each[1][0])
            pause = 0.0
            with suppress(Exception):  # a stop that fails must not end the looks at other limits
                pause = look()
            with self._changed:
                if run in self._looks and pause > 0:
                    self._looks[run] = (time.monotonic() + pause, look)
                else:
                    self._looks.pop(run, None)


_ALL = Shares(time.process_time)
_WATCH = _Watch()
_LOOK_S = 0.01
_LONGEST_LOOK_S = 3600.0  # longest single wait: the operating system refuses very long ones


@contextmanager
def stopped_after(
    seconds: float, stops: Sequence[Callable[[], None]], refusal: Callable[[], UsageError],
    shares: Shares = _ALL,
) -> Iterator[None]:  # fmt: skip
    """Stop sessions in virtual time when `seconds` of CPU time are used up; other programs' time does not count.

    Another thread calls `stops`, which may grow meanwhile, and the sessions are unusable afterwards. `refusal` builds
    the error that replaces the sessions' errors. This error is raised even if the sessions just ended by themselves,
    because a late stop would end a session's next command.
    """
    deciding = threading.Lock()
    over, left = False, False
    cores = len(os.sched_getaffinity(0))
    run = object()
    shares.begin(run)

    def end() -> None:
        nonlocal over
        with deciding:
            if left:
                return
            over = True
            for stop in stops:
                stop()

    def pause(rest: float) -> float:
        return min(max(rest / cores, _LOOK_S), _LONGEST_LOOK_S)  # the limit cannot be reached earlier

    def look() -> float:
        with deciding:
            rest = 0.0 if left else seconds - shares.used(run)
        if rest > 0:
            return pause(rest)
        end()
        return 0.0

    def leave() -> bool:
        nonlocal left
        with deciding:
            left = True
            return over

    _WATCH.begin(run, pause(seconds), look)
    try:
        yield
    except GasmeterError:
        if leave():
            raise refusal() from None
        raise
    else:
        if leave():
            raise refusal()
    finally:
        leave()
        _WATCH.end(run)
        shares.end(run)
