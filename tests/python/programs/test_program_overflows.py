"""Numbers that do not fit into 64 bits, planted into every public entry: one clear line, and the process lives on.

They run in a process of their own for each conduit: one that wraps ends it by a segmentation fault.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WIDE = 2**61 - 1  # times 8 and rounded up it is 0 in 64 bits
FAR = 2**62
CALLS = {
    "put": "ep.put(1, FAR, bytes(8))",
    "put_behind_the_end": "ep.put(1, 2**63 - 8, bytes(8))",
    "get": "ep.get(1, 0, FAR)",
    "get_far": "ep.get(1, FAR, 8)",
    "get_below": "ep.get(1, -FAR, 8)",
    "put_value": "ep.put_value(1, FAR, 1)",
    "get_value": "ep.get_value(1, 2**63 - 1)",
    "put_nb": "ep.put_nb(1, FAR, bytes(8))",
    "get_nbi": "ep.get_nbi(1, FAR, bytearray(8))",
    "rank": "ep.put(2**32, 0, bytes(8))",
    "fetch_add": "ep.fetch_add(1, FAR, 1)",
    "request": "ep.request(2**32 + 1, 0)",
    "request_long": "ep.request_long(1, 0, FAR, bytes(8))",
    "prepare": "ep.prepare(1, n=FAR)",
    "strided_offset": "ep.put_strided(1, gm.RemoteArray(2**63 - 8, (4,)), np.zeros(4, 'u1'))",
    "strided_strides": "ep.put_strided(1, gm.RemoteArray(0, (4, 4), 'u1', (FAR, FAR)), np.zeros((4, 4), 'u1'))",
    "strided_shape": "ep.get_strided(1, np.zeros(4, 'u1'), gm.RemoteArray(0, (WIDE, WIDE)))",
    "sleep": "ep.sleep(1e16)",
    "compute": "ep.compute(1e300)",
    "all_alloc": "space.all_alloc(WIDE, 'int64', block=0)",
    "all_alloc_one_by_one": "space.all_alloc(WIDE, 'int64', block=1)",
    "all_alloc_wide_blocks": "space.all_alloc(FAR, 'int8', block=FAR - 1)",
    "global_alloc": "space.global_alloc(WIDE, 'int64', block=0)",
    "alloc": "space.alloc(WIDE, 'int64')",
    "element": "array.put(2**40, 1)",
    "element_below": "array[-FAR]",
}
"""By name a call of rank 0 that has to be refused."""

CHILD = """
import json, sys
import numpy as np
import gasmeter as gm
WIDE, FAR = 2**61 - 1, 2**62
conduit, calls = sys.argv[1], json.loads(sys.argv[2])

def program(ep):
    space = yield gm.shared_space(ep)
    array = yield space.all_alloc(8, "int64", block=0)
    said = {}
    for name, call in calls.items():
        together = "all_alloc" in call
        if ep.rank != 0 and not together:
            continue
        try:
            yield eval(call, {"ep": ep, "gm": gm, "np": np, "space": space, "array": array, "WIDE": WIDE, "FAR": FAR})
        except (gm.UsageError, OverflowError, IndexError, ValueError, TypeError, gm.errors.GasmeterError) as error:
            said[name] = f"{type(error).__name__}: {error}"
        else:
            said[name] = "taken"
    yield ep.barrier()
    return said

print(json.dumps(gm.launch(program, conduit=conduit, ranks=2, segment="1 MB")[0]))
"""


def own_process(*arguments, timeout=240):
    done = subprocess.run(
        [sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "gm"])
def test_calls_with_numbers_that_overflow_are_refused_by_one_line(conduit):
    refusals = json.loads(own_process(CHILD, conduit, json.dumps(CALLS)))
    assert set(refusals) == set(CALLS)
    for name, text in refusals.items():
        assert text != "taken", name
        assert "\n" not in text, (name, text)


TIMES = """
import sys
import gasmeter as gm

def program(ep):
    for _ in range(12):
        yield getattr(ep, sys.argv[2])(1e15)
    yield ep.barrier()

try:
    gm.launch(program, conduit=sys.argv[1], ranks=2)
except gm.errors.GasmeterError as error:
    print(str(error).splitlines()[0])
"""


@pytest.mark.parametrize("conduit", ["ideal", "extoll", "gm", "udp@ethernet"])
@pytest.mark.parametrize("call", ["sleep", "compute"])
def test_a_program_that_passes_the_end_of_virtual_time_is_told_so(conduit, call):
    refusal = own_process(TIMES, conduit, call)
    assert "virtual time ends at 4000000 s (46 days)" in refusal


SEGMENTS = ["4611686018427387904", "9223372036854775807", "1000000 TB"]


@pytest.mark.parametrize("segment", SEGMENTS)
@pytest.mark.parametrize("conduit", ["extoll", "smp"])
def test_segments_that_no_computer_has_are_refused(conduit, segment):
    script = """
        import sys
        import gasmeter as gm
        def program(ep):
            yield ep.barrier()
        try:
            gm.launch(program, conduit=sys.argv[1], ranks=2, segment=sys.argv[2])
        except gm.errors.GasmeterError as error:
            print(str(error))
    """
    refusal = own_process(textwrap.dedent(script), conduit, segment).strip()
    assert refusal
    assert "\n" not in refusal


MACHINES = [
    ("gm", "link.latency=1e6 s"),
    ("gm", "link.latency=1e5 s"),
    ("gm", "link.bandwidth=1 B/s"),
    ("extoll", "link.latency=1e6 s"),
    ("extoll", "host.call=1e6 s"),
    ("extoll", "host.poll_miss=1e6 s"),
    ("aries", "host.copy_bandwidth=1 B/s"),
    ("portals", "nic.dma_start=1e6 s"),
    ("ibv", "link.bandwidth=1 B/s"),
    ("lapi", "link.latency=1e6 s"),
]


@pytest.mark.parametrize(("conduit", "override"), MACHINES)
def test_machines_of_extreme_numbers_give_a_result_or_one_line(conduit, override):
    program = Path(sys.executable).with_name("gasmeter")
    done = subprocess.run(
        [program, "measure", "flood", "--conduit", conduit, "--op", "put", "--machine", f"{conduit}+{override}",
         "--sizes", "64K", "--iterations", "20", "--format", "csv"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode in {0, 2}, (done.returncode, done.stderr[-2000:])
    assert "Traceback" not in done.stderr
    assert "deadlock" not in done.stderr
    assert "posted for" not in done.stderr
    if done.returncode:
        assert [line for line in done.stderr.splitlines() if line.startswith("Error: ")] == [
            line for line in done.stderr.splitlines() if line
        ]
        assert len(done.stderr.splitlines()) == 1
