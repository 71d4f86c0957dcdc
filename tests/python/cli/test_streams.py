"""Standard streams that are closed, full or of another encoding: what was measured is printed all the same."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.cli.streams import plain

TABLE = "measure ping-pong --op put --conduit extoll --sizes 8,64 --iterations 1"


def shell(words, redirected="", **environment):
    """Let a shell start the program, as somebody does who redirects its streams."""
    return subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m gasmeter {words} {redirected}'], capture_output=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("redirected", ["2>&-", "2>&- <&-", "<&-", "2>/dev/full"])
def test_a_table_needs_no_other_stream(redirected):
    done = shell(TABLE, redirected)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "3.357 µs" in done.stdout.decode()


def test_an_error_that_nobody_can_read_keeps_its_status():
    done = shell("measure nosuch --conduit ideal", "2>&-")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_worker_does_not_write_its_notes_into_a_file_that_took_the_place_of_standard_error(tmp_path):
    done = shell(f"measure barrier --conduit smp --iterations 10 --time 1ms --out {tmp_path / 'out'}", "2>&-")
    assert done.returncode == 0
    assert (tmp_path / "out" / "results.csv").read_text().startswith("experiment,")


@pytest.mark.parametrize(
    ("encoding", "time"), [("ascii", "3.357 us"), ("latin-1", "3.357 µs"), ("cp437", "3.357 µs"), ("utf-8", "3.357 µs")]
)
def test_output_of_another_encoding_has_the_nearest_signs(encoding, time):
    done = shell(TABLE, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    output = done.stdout.decode(encoding)
    assert time in output
    assert "?" not in output


def test_a_locale_without_an_encoding_of_ours_is_no_traceback():
    done = shell(TABLE, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"3.357 us" in done.stdout


def test_an_error_message_is_printed_in_the_encoding_of_standard_error():
    done = shell("list conduits nosuch", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stderr.decode("ascii").startswith("Error: unknown conduit 'nosuch'; allowed: ")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "koi8-r"])
def test_columns_stay_where_they_are(encoding):
    text = "size │ 1 … 2 µs · ── 5 ± 1 → ≥ ≤ ↔ \N{NO-BREAK SPACE}é 漢 \udce9"
    encoded = plain(text, encoding)
    assert len(encoded) == len(text)
    assert encoded.encode(encoding)
    assert plain(encoded, encoding) == encoded
    assert plain("µs", None) == plain("µs", "utf-8") == "µs"


# ---- errors that no command expects


@pytest.fixture
def broken(monkeypatch):
    def fail(*_):
        raise KeyError("first line\nsecond line")

    monkeypatch.setattr("gasmeter.cli.listing.catalogue", fail)


def test_an_error_of_gasmeter_itself_is_one_line_and_has_a_status_of_its_own(broken):
    result = CliRunner().invoke(cli, ["list", "kernels"])
    assert (result.exit_code, result.stdout) == (70, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: gasmeter itself has failed: KeyError: ")
    assert " at test_streams.py:" in line
    assert "GASMETER_TRACEBACK=1" in line


def test_its_traceback_is_shown_to_who_asks_for_it(broken):
    result = CliRunner().invoke(cli, ["list", "kernels"], env={"GASMETER_TRACEBACK": "1"})
    assert result.exit_code == 70
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert "in fail" in result.stderr


def test_the_help_says_every_status():
    output = " ".join(CliRunner().invoke(cli, ["--help"]).stdout.split())
    assert "70 an error of gasmeter itself (GASMETER_TRACEBACK=1 shows its traceback), 130 Ctrl-C" in output
