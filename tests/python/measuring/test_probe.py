"""The program that probes: what it says, where it runs, what happens when it does not."""

import subprocess

import pytest

from gasmeter.environment.limits import cpus
from gasmeter.errors import BrokenJob, EnvironmentLacks, UsageError
from gasmeter.measuring import probe
from gasmeter.measuring.probe import probe_digest, probe_program, round_trip_ns

TWO_CORES = pytest.mark.skipif(len(cpus()) < 2, reason="needs two cores")


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@TWO_CORES
def test_the_probe_takes_the_time_of_a_cache_line_between_two_cores():
    assert 10 < round_trip_ns(probe_program()) < 1e6


@TWO_CORES
def test_ranks_and_probe_use_the_same_processors(tmp_path, monkeypatch):
    message = program(tmp_path / "probe", 'echo "$1.$2"')
    first, second = cpus()[:2]
    for policy, words in (
        ("", f"{first}.{second}"),
        (f"{second},{first}", f"{second}.{first}"),
        (f"{first}-{second}", f"{first}.{second}"),
        ("junk", f"{first}.{second}"),
    ):
        monkeypatch.setenv("GASMETER_PIN", policy)
        assert round_trip_ns(message) == float(words)
    monkeypatch.setenv("GASMETER_PIN", "none")
    message = program(message, '[ "$1 $2" = "-1 -1" ] && echo 1')
    assert round_trip_ns(message) == 1.0


@pytest.mark.parametrize(
    ("arguments", "status"), [((), 2), (("0", "99999", "1"), 1), (("99999", "0", "1"), 1), (("0", "0", "1"), 0)]
)
def test_the_program_ends_whatever_it_is_given(arguments, status):
    if status == 0:
        arguments = (str(cpus()[0]), str(cpus()[0]), "1")
    done = subprocess.run([probe_program(), *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == status
    assert (float(done.stdout) > 0) if status == 0 else done.stderr


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("echo no such processor >&2; exit 1", BrokenJob, "failed with status 1: no such processor"),
        ("echo fast", BrokenJob, "failed with status 0: fast"),
        ("exec sleep 5", BrokenJob, "did not end within 0 s"),
        (None, EnvironmentLacks, "cannot be run: Permission denied"),
    ],
)
def test_a_program_that_is_no_probe_is_named(tmp_path, monkeypatch, text, error, message):
    monkeypatch.setattr(probe, "_LATE_S", 0.2)
    path = program(tmp_path / "bad", text or "")
    if text is None:
        path.chmod(0o644)
    with pytest.raises(error, match=message) as caught:
        round_trip_ns(path)
    assert str(path) in str(caught.value)


def test_a_kept_probe_may_be_named(tmp_path, monkeypatch):
    kept = program(tmp_path / "kept", "echo 1")
    installed = probe_digest()
    monkeypatch.setenv("GASMETER_PROBE", str(kept))
    assert probe_program() == kept
    assert probe_digest() not in {"", installed}
    monkeypatch.setenv("GASMETER_PROBE", str(tmp_path / "gone"))
    with pytest.raises(UsageError, match="GASMETER_PROBE="):
        probe_program()
    assert probe_digest() == ""


def test_the_probe_is_no_part_of_the_library():
    """A probe inside the library would slow down with it, and hide both changes."""
    assert b"gasmeter" not in probe_program().read_bytes().replace(b"gasmeter-probe", b"")
