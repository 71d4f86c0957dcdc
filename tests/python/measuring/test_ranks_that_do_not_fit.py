"""Ranks in virtual time that will not fit into memory are refused while they are made, with the figure."""

import re
import shutil
import subprocess
import sys

import pytest

COMMAND = (
    sys.executable, "-m", "gasmeter", "measure", "random-access", "--conduit", "extoll", "--ranks", "2048",
    "--topology", "torus3d:8x8x8", "--max-time", "2s",
)  # fmt: skip


def run_with_free_memory(folder, kibibytes, command):
    """Run a command in a mount namespace of its own, whose /proc/meminfo tells so much memory."""
    fake = folder / "meminfo"
    fake.write_text(f"MemTotal: 8388608 kB\nMemAvailable: {kibibytes} kB\n")
    inside = ("sh", "-c", f'mount --bind "{fake}" /proc/meminfo && exec "$@"', "sh", *command)
    return subprocess.run(("unshare", "-rm", *inside), capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def namespaces(tmp_path):
    if shutil.which("unshare") is None or run_with_free_memory(tmp_path, 1, ("true",)).returncode != 0:
        pytest.skip("this computer allows no mount namespaces")


@pytest.mark.usefixtures("namespaces")
def test_ranks_that_will_not_fit_are_refused_with_what_they_take_and_what_is_free(tmp_path):
    done = run_with_free_memory(tmp_path, 30_000, COMMAND)
    assert done.returncode == 3
    match = re.fullmatch(
        r"Error: .*2048 ranks take (\d+) MB, (\d+) kB each; 30 MB are free; use fewer ranks\n", done.stderr
    )
    assert match, done.stderr
    assert int(match[1]) > 30
    assert int(match[1]) == pytest.approx(2048 * int(match[2]) / 1000, rel=0.05)


@pytest.mark.usefixtures("namespaces")
def test_the_same_ranks_are_made_where_memory_is_free(tmp_path):
    assert "MB are free" not in run_with_free_memory(tmp_path, 4_000_000, COMMAND).stderr
