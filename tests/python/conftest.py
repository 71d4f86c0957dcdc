"""Fixtures that put the fake machine where the real one would be."""

import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

from fakes import Core, Machine
from gasmeter import catalogue
from gasmeter.environment import limits
from gasmeter.measuring import host, probe, runner, sessions

# Builds share their machine: a test that once takes long is no failure.
hypothesis.settings.register_profile("quick", deadline=None)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("GASMETER_TEST_PROFILE", "quick"))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # As in a job that a shell runs in the background: tests press Ctrl-C, and what they start inherits this.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def wide_lines(monkeypatch):
    """Tables are as wide as they have to be; tests of terminals have widths of their own."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def machine(monkeypatch):
    """A fake machine: every pool, modelled job, probe and clock of the test is its."""
    fake, real = Machine(), catalogue.core
    monkeypatch.setattr(catalogue, "core", Core)
    for read in (catalogue.declared, catalogue.catalogue):
        read.cache_clear()
    monkeypatch.setattr(sessions, "_start_pool", fake.start_pool)
    monkeypatch.setattr(runner, "_clock", fake.clock)
    monkeypatch.setattr(runner, "Load", fake.load)
    monkeypatch.setattr(probe, "round_trip_ns", lambda _: float(fake.probe()))
    monkeypatch.setattr(host, "ROOT", Path("/no such folder"))  # the kernel of the fake machine reports nothing
    monkeypatch.setattr(limits, "cpus", lambda: tuple(range(fake.cores)))
    monkeypatch.setattr(runner, "cpus", lambda: tuple(range(fake.cores)))
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda _: None)  # a disk that is asked again and again takes most of the time
    yield fake
    for module in list(sys.modules.values()):  # modules that the test imported first would keep the fake core
        if getattr(module, "__name__", "").startswith("gasmeter") and vars(module).get("core") is Core:
            module.core = real
    for read in (catalogue.declared, catalogue.catalogue):
        read.cache_clear()


def pytest_sessionfinish():
    if (programs := sys.modules.get("programs")) is not None:
        programs.KeptPool.close_all()
