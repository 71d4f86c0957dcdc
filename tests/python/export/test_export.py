"""Exports of recorded runs: GOAL executed without a network, SimGrid's files read back and, where it is there, run."""

import importlib.util
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import defaultdict, deque

import numpy as np
import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli

if importlib.util.find_spec("gasmeter._core") is None:
    pytest.skip("needs the compiled core", allow_module_level=True)

from gasmeter import _core
from gasmeter.export import Record, recording, write_goal, write_simgrid
from gasmeter.export.record import Kind, Operation

RUNS = {
    "short": {"kernel": "ping-pong", "conduit": "ideal", "op": "am-short"},
    "medium": {"kernel": "ping-pong", "conduit": "ideal", "op": "am-medium", "sizes": "512"},
    "put": {"kernel": "ping-pong", "conduit": "ideal", "op": "put", "sizes": "20000"},
    "get": {"kernel": "ping-pong", "conduit": "ideal", "op": "get", "sizes": "64"},
    "flood": {"kernel": "flood", "conduit": "ideal", "op": "am-long", "sizes": "100", "iterations": 60},
    "updates": {"kernel": "random-access", "conduit": "ideal", "variant": "am", "sizes": "4096", "ranks": 5,
                "options": {"nodes": 3}, "iterations": 40},
    "barrier": {"kernel": "barrier", "conduit": "ideal", "ranks": 7},
    "lines": {"kernel": "simulator", "conduit": "raw@fabric", "op": "ping-pong", "topology": "ring:2"},
    "random lines": {"kernel": "simulator", "conduit": "raw@fabric", "op": "random-put", "ranks": 8,
                     "topology": "torus3d:2x2x2", "iterations": 50},
    "hot spot": {"kernel": "simulator", "conduit": "raw@fabric", "op": "fetch-add", "ranks": 9,
                 "topology": "mesh2d:3x3", "iterations": 30},
}  # fmt: skip


@pytest.fixture(scope="module")
def records():
    made = {}

    def get(name):
        if name not in made:
            made[name] = recording(**RUNS[name])
        return made[name]

    return get


# ---- GOAL: a reader and an executor of its own

LINE = re.compile(
    r"(?P<label>l\d+): (?:calc (?P<calc>\d+)|(?P<verb>send|recv) (?P<size>\d+)b (?:to|from) (?P<peer>\d+)"
    r" tag (?P<tag>\d+)(?: cpu (?P<cpu>\d+))?)|(?P<after>l\d+) requires (?P<before>l\d+)"
)


def read_goal(path):
    """Return the operations and dependencies of each rank; every line has to fit the grammar."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("//")]
    count = int(re.fullmatch(r"num_ranks (\d+)", lines.pop(0)).group(1))
    ranks = []
    for number in range(count):
        assert lines.pop(0) == f"rank {number} {{"
        operations, needs = {}, defaultdict(list)
        while (line := lines.pop(0)) != "}":
            match = LINE.fullmatch(line)
            assert match, line
            if match["after"]:
                assert match["after"] in operations
                assert match["before"] in operations
                needs[match["after"]].append(match["before"])
            else:
                assert match["label"] not in operations
                operations[match["label"]] = match
        ranks.append((operations, needs))
    assert not lines
    return ranks


def execute(ranks, latency, notice):
    """Run a schedule whose messages take what `latency` says; return when each operation ends.

    Every operation has to run (no deadlock), every send has to meet exactly one receive of its size.
    """
    ends, waiting, sent = {}, {}, {}
    followers, ready = defaultdict(list), deque()
    receives = {}
    for rank, (operations, needs) in enumerate(ranks):
        for label, operation in operations.items():
            waiting[rank, label] = len(needs[label])
            for other in needs[label]:
                followers[rank, other].append((rank, label))
            if operation["verb"] == "recv":
                key = (int(operation["peer"]), rank, int(operation["tag"]))
                assert key not in receives, f"two receives for {key}"
                receives[key] = (rank, label)
                waiting[rank, label] += 1
            if waiting[rank, label] == 0:
                ready.append((rank, label))
    while ready:
        rank, label = ready.popleft()
        operations, needs = ranks[rank]
        operation = operations[label]
        start = 0
        for other in needs[label]:
            before = operations[other]
            crosses = before["cpu"] == "1" and operation["cpu"] is None
            start = max(start, ends[rank, other] + (notice(rank, before) if crosses else 0))
        if operation["verb"] == "recv":
            key = (int(operation["peer"]), rank, int(operation["tag"]))
            size, at = sent[key]
            assert size == operation["size"]
            start = max(start, at + latency(key))
        ends[rank, label] = start + int(operation["calc"] or 0)
        if operation["verb"] == "send":
            key = (rank, int(operation["peer"]), int(operation["tag"]))
            assert key not in sent, f"two sends for {key}"
            assert key in receives, f"nobody receives {key}"
            sent[key] = (operation["size"], ends[rank, label])
        freed = list(followers[rank, label]) + ([receives[key]] if operation["verb"] == "send" else [])
        for each in freed:
            waiting[each] -= 1
            if waiting[each] == 0:
                ready.append(each)
    stuck = [each for each, count in waiting.items() if count]
    assert not stuck, f"deadlock: {stuck[:5]}"
    assert sent.keys() == receives.keys()
    return ends


def recorded_latency(record):
    """Return the time of each message in the record, by both ranks and tag. Interfaces take no time here."""
    took = {}
    for (rank, sequence), operation in record.ends(Kind.RECEIVE).items():
        begun = record.begun[rank, sequence]
        took[rank, begun.peer, 2 * sequence] = operation.begin_ps - begun.end_ps
    for (rank, sequence), operation in record.ends(Kind.COMPLETE).items():
        begun = record.begun[rank, sequence]
        took[begun.peer, rank, 2 * sequence + 1] = operation.begin_ps - begun.end_ps
    return took


def executed(record, path):
    """Ends of the ranks, in units of the schedule, with latencies in ps."""
    took = recorded_latency(record)
    arrivals = record.ends(Kind.ARRIVE)

    def notice(rank, taken):
        name = (int(taken["peer"]), int(taken["tag"]) // 2)
        return arrivals[name].begin_ps - record.begun[name].end_ps

    ranks = read_goal(path)
    ends = execute(ranks, lambda key: took.get(key, 0), notice)
    entry = [[ends[rank, label] for label, operation in operations.items() if operation["cpu"] is None]
           for rank, (operations, _) in enumerate(ranks)]  # fmt: skip
    return [max(all_ends, default=0) for all_ends in entry]


@pytest.mark.parametrize("name", RUNS)
def test_goal_is_free_of_deadlock_and_its_critical_path_is_the_recorded_run(records, name, tmp_path):
    record = records(name)
    path = write_goal(record, tmp_path / "run.goal", unit_ps=1)
    assert executed(record, path) == list(record.end_ps)


def test_times_in_goal_are_ns_whose_rounding_does_not_add_up(records, tmp_path):
    record = records("medium")
    text = write_goal(record, tmp_path / "run.goal").read_text()
    for rank, part in enumerate(text.split("\nrank ")[1:]):
        written = sum(int(units) for units in re.findall(r"calc (\d+)", part))
        busy_ps = record.end_ps[rank] - sum(op.idle_ps for op in record.ranks[rank] if not op.kind.begins)
        assert abs(written * 1000 - busy_ps) <= 500


def test_sleeping_ranks_do_no_work_and_messages_carry_their_headers(records, tmp_path):
    record = records("short")
    idle = sum(op.idle_ps for _, op in record.all())
    assert idle > 0
    assert record.header_bytes == 16
    text = write_goal(record, tmp_path / "run.goal").read_text()
    assert "num_ranks 2" in text
    assert re.search(r"send 16b to 1 tag \d+\n", text)
    lines = write_goal(records("lines"), tmp_path / "lines.goal").read_text()
    assert re.search(r"recv 88b from 1 tag 0 cpu 1\n", lines)
    assert re.search(r"send 24b to 1 tag 1 cpu 1\n", lines)


def test_a_unit_of_nothing_is_refused(records, tmp_path):
    with pytest.raises(gm.UsageError, match="unit of 0 ps"):
        write_goal(records("short"), tmp_path / "run.goal", unit_ps=0)


# ---- records


def test_records_of_the_same_run_are_the_same_however_it_is_simulated():
    settings = RUNS["random lines"]
    plain = recording(**settings)
    for options in ({"sync": "strict"}, {"threads": 2}):
        other = recording(**settings, options=options)
        assert other.ranks == plain.ranks
        assert other.end_ps == plain.end_ps


def made(**changes):
    """Rank 0 sends to rank 1."""
    columns = {
        "rank": [0, 1], "kind": [0, 4], "peer": [1, 0], "bytes": [8, 8], "begin_ps": [0, 50], "end_ps": [10, 60],
        "idle_ps": [0, 40], "sequence": [3, 3], "node": [0, 1], "rank_end_ps": [10, 60], **changes,
    }  # fmt: skip
    return {name: np.array(values, dtype=np.int64) for name, values in columns.items()}


def test_a_record_is_checked():
    record = Record.of(made())
    assert record.ranks[0] == (Operation(Kind.SEND, 1, 8, 0, 10, 0, 3),)
    assert record.node == (0, 1)
    with pytest.raises(gm.CheckFailed, match="that nobody began"):
        Record.of(made(sequence=[3, 4]))
    with pytest.raises(gm.CheckFailed, match="before it was sent, 70 ps"):
        Record.of(made(end_ps=[70, 60]))
    entry = {name: made()[name][:1] for name in ("rank", "kind", "peer", "bytes", "begin_ps", "end_ps", "idle_ps")}
    with pytest.raises(gm.CheckFailed, match="message 3 of rank 0 to rank 1 is not received"):
        Record.of({**made(), **entry, "sequence": np.array([3])})
    two = {"rank": [0, 1, 1], "kind": [0, 4, 4], "peer": [1, 0, 0], "bytes": [8] * 3, "begin_ps": [0, 50, 60],
           "end_ps": [10, 60, 70], "idle_ps": [0] * 3, "sequence": [3] * 3}  # fmt: skip
    with pytest.raises(gm.CheckFailed, match="ends twice"):
        Record.of(made(**two))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"conduit": "smp"}, "conduit 'smp' runs on this host"),
        ({"ranks": "2,3"}, "an export holds one run, but 2 are described"),
        ({"options": {"neighbourhood": True}}, "a record shows what conduits carry"),
        ({"conduit": "raw@ideal"}, "keeps no record"),
    ],
)
def test_what_cannot_be_recorded_is_refused(changes, words):
    with pytest.raises(gm.UsageError, match=words):
        recording(**{**RUNS["short"], **changes})


# ---- SimGrid


def platform_of(folder):
    root = ET.parse(folder / "platform.xml").getroot()
    links = {link.get("id"): link for link in root.iter("link")}
    ways = {(way.get("src"), way.get("dst")): [each.get("id") for each in way] for way in root.iter("route")}
    return [host.get("id") for host in root.iter("host")], links, ways


def test_platform_has_the_machines_links_and_our_ways(records, tmp_path):
    record = records("hot spot")
    hosts, links, ways = platform_of(write_simgrid(record, tmp_path))
    assert hosts == [f"n{node}" for node in range(9)]
    link = links["v8p1"]
    assert link.get("sharing_policy") == "SHARED"
    assert float(link.get("bandwidth").removesuffix("Bps")) == 1e9
    assert float(link.get("latency").removesuffix("s")) == 200e-9
    # x first, then y; a direction has its own link.
    assert ways["n8", "n0"] == ["v8p1", "v7p1", "v6p3", "v3p3"]
    assert ways["n0", "n8"] == ["v0p0", "v1p0", "v2p2", "v5p2"]
    assert all(name in links for way in ways.values() for name in way)


def test_ranks_of_a_node_share_its_host(tmp_path):
    record = recording(**{**RUNS["random lines"], "machine": "fabric+ranks_per_node=2 ranks"})
    assert len(set(record.node)) == 4
    folder = write_simgrid(record, tmp_path)
    assert (folder / "hosts.txt").read_text().split() == [f"n{rank // 2}" for rank in range(8)] * 2
    assert len(platform_of(folder)[0]) == 4


def test_routes_end_where_they_should():
    for shape, nodes in (
        ("torus3d:4x3x2", 24),
        ("ring:6", 6),
        ("fat-tree:2x3", 8),
        ("dragonfly:5x2x2", 20),
        ("xc:3x1x2", 24),
    ):
        pairs = [(a, b) for a in range(nodes) for b in range(nodes)]
        result = _core.routes(shape, [a for a, _ in pairs], [b for _, b in pairs])
        for (a, b), begin, end in zip(pairs, result["first"][:-1], result["first"][1:], strict=True):
            at = a
            for hop in range(begin, end):
                assert result["vertex"][hop] == at
                at = result["to"][hop]
            assert at == b
    with pytest.raises(gm.UsageError, match="ring:6 has 6"):
        _core.routes("ring:6", [0], [6])
    with pytest.raises(gm.UsageError, match="1 begins for 2 ends"):
        _core.routes("ring:6", [0], [1, 2])


def test_trace_matches_the_record(records, tmp_path):
    lines = (write_simgrid(records("random lines"), tmp_path) / "trace.txt").read_text().splitlines()
    assert lines[0] == "ranks 8 interfaces 1"
    count = {letter: sum(line.startswith(letter + " ") for line in lines) for letter in "wsra"}
    far = sum(op.kind is Kind.PUT and op.peer != rank for rank, op in records("random lines").all())
    assert count["s"] == count["r"] == count["a"] == far
    assert count["w"] > 0


def test_a_platform_needs_a_machine(tmp_path):
    with pytest.raises(gm.UsageError, match="needs a machine"):
        write_simgrid(Record.of(made()), tmp_path)


NEEDS_SIMGRID = pytest.mark.skipif(
    shutil.which("smpirun") is None or shutil.which("smpicc") is None,
    reason="needs SimGrid with SMPI (libsimgrid-dev); the files it would run are checked without it",
)


def simgrid_ends(folder):
    done = subprocess.run(["sh", "run.sh"], cwd=folder, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ends = re.findall(r"^rank (\d+) ends at ([\d.]+) ns$", done.stdout, re.MULTILINE)
    return [float(ns) for _, ns in sorted(ends, key=lambda pair: int(pair[0]))]


@NEEDS_SIMGRID
@pytest.mark.parametrize("name", ["short", "medium"])
def test_simgrid_agrees_where_nothing_is_shared(records, name, tmp_path):
    record = records(name)
    ends = simgrid_ends(write_simgrid(record, tmp_path))
    ours = [ps / 1000 for ps in record.end_ps]
    # Ours come at a poll: up to one missed poll of 10 ns later for each of the messages on the way.
    polls = sum(op.kind is Kind.RECEIVE for _, op in record.all())
    for mine, its in zip(ours, ends, strict=True):
        assert 0 <= mine - its <= 10 * polls


@NEEDS_SIMGRID
def test_simgrid_replays_eight_ranks_that_put_to_one_another(records, tmp_path):
    record = records("random lines")
    ends = simgrid_ends(write_simgrid(record, tmp_path))
    assert len(ends) == 8
    assert 1.0 < max(ends) * 1000 / max(record.end_ps) < 1.5


# ---- the command line


def run(*arguments):
    return CliRunner().invoke(cli, ["export", *map(str, arguments)])


def test_commands_write_what_the_functions_write(records, tmp_path):
    options = ["ping-pong", "--conduit", "ideal", "--op", "am-medium", "--sizes", "512"]
    done = run("goal", *options, "--out", tmp_path / "a.goal")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{tmp_path / 'a.goal'}\n"
    assert (tmp_path / "a.goal").read_text() == write_goal(records("medium"), tmp_path / "b.goal").read_text()
    done = run("simgrid", *options, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    write_simgrid(records("medium"), tmp_path / "b")
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {"README.md", "hosts.txt", "platform.xml", "replay.c", "run.sh", "trace.txt"}
    for name in names:
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()


def test_mistakes_are_one_line(tmp_path):
    done = run("goal", "ping-pong", "--conduit", "smp", "--op", "am-short", "--out", tmp_path / "a")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: conduit 'smp' runs on this host")
    done = run("goal", "ping-pong", "--conduit", "ideal", "--op", "am-short", "--out", tmp_path / "no" / "a")
    assert done.exit_code == 2
    assert "/no/a: No such file or directory; allowed: a file in a folder that you may write (--out)" in done.stderr
