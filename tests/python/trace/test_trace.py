"""Traces: exact sums in virtual time on every modelled network, the phases' order, and what is written."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.errors import CheckFailed, UsageError
from gasmeter.stores.pictures import verify_picture
from gasmeter.trace import PHASES, Operation, Step, Trace, chrome_events, steps_frame, sums_table, trace, trace_table
from gasmeter.trace.drawing import draw_steps

CONDUITS = ("ideal", "extoll", "ibv", "gm", "udp@ethernet", "mpi@extoll", "mpi@ibv")
SIZES = (1, 8, 100, 512, 1000, 4000)


def steps_of(traced):
    return {step.name for step in traced.shown.steps}


@pytest.mark.parametrize("conduit", CONDUITS)
@pytest.mark.parametrize("op", ["am-short", "am-medium", "am-long", "put", "get"])
def test_steps_sum_to_the_time_of_every_operation(conduit, op):
    # trace() itself raises where they do not, or where the operations do not sum to what the kernel measured.
    for traced in trace(op, conduit=conduit, sizes=SIZES, iterations=4):
        assert len(traced.operations) == 4
        for operation in traced.operations:
            assert sum(step.ps for step in operation.steps) == operation.ps > 0
            assert operation.steps[-1].phase == "completion"
            assert operation.steps[-1].where == "rank 0"
            phases = [step.phase for step in operation.steps]
            assert set(phases) <= set(PHASES)
            if conduit in {"ideal", "extoll"}:  # one exchange, and nothing of the operation before is in the way
                order = [PHASES.index(phase) for phase in phases]
                assert order[0] == 0
                assert {"request", "ack"} <= set(phases)
                assert order == sorted(order), [(step.phase, step.name) for step in operation.steps]


@pytest.mark.parametrize("conduit", ["extoll", "ibv", "gm", "udp@ethernet"])
def test_large_transfers_sum_up(conduit):
    for op in ("put", "get"):
        for traced in trace(op, conduit=conduit, sizes="20000,256K", iterations=2):
            assert all(sum(step.ps for step in operation.steps) == operation.ps for operation in traced.operations)


def test_golden_steps_of_a_short_message():
    # tests/golden/ideal.md: header 20, post 200, 16 B and 1000 on the wire, a look after 10 at most, take 200.
    shown = trace("am-short", conduit="ideal", iterations=1)[0].shown
    taken = [(step.phase, step.name, step.ps) for step in shown.steps]
    request = [("initiate", "header", 20_000), ("initiate", "doorbell", 200_000), ("request", "wire", 1_016_000)]
    assert taken[:3] == request
    assert ("target", "dispatch", 20_000) in taken
    assert ("target", "header", 20_000) in taken
    assert ("target", "doorbell", 200_000) in taken
    assert ("ack", "wire", 1_016_000) in taken
    assert taken[-1] == ("completion", "dispatch", 20_000)


def test_what_software_around_an_interface_pays_has_names():
    # tests/golden/taken_time.md: each way 30 and 11 behind the packet, 17, 23 and 29 on its way.
    prices = {"check": 30, "flag": 11, "scan": 17, "search": 23, "translate": 29}
    plain = trace("am-long", conduit="ideal", sizes="8", iterations=4)[0].shown
    named = trace("am-long", conduit="ideal", sizes="8", iterations=4, options=prices)[0].shown
    assert not {step.name for step in plain.steps} & set(prices)
    for name in ("scan", "search", "translate"):
        results = [(step.where, step.ps) for step in named.steps if step.name == name]
        assert results == [("rank 1", 1000 * prices[name]), ("rank 0", 1000 * prices[name])]
    assert (plain.ps, named.ps) == (2_981_600, 3_121_600)


def test_a_price_that_grows_grows_its_step():
    def copied(size):
        return sum(
            step.ps for step in trace("am-medium", conduit="ideal", sizes=size)[0].shown.steps if step.name == "copy"
        )

    assert copied(2008) - copied(1008) == 2 * 100_000  # 0.1 ns a byte, by the request and by the reply


def test_handlers_links_and_kernels_have_their_names():
    assert "handler" in steps_of(trace("fetch-add", conduit="ideal", op="latency", iterations=2)[0])
    message = steps_of(trace("am-medium", conduit="extoll", sizes=64)[0])
    assert {"doorbell", "device", "hop", "wire", "poll", "dispatch", "lock"} <= message
    assert "driver" in steps_of(trace("am-medium", conduit="udp@ethernet", sizes=64)[0])
    assert "two-sided" in steps_of(trace("am-medium", conduit="mpi@ibv", sizes=64)[0])
    # Ranks of one node, where somebody wants them there.
    assert "hop" not in steps_of(trace("am-medium", conduit="extoll", sizes=64, placement="fill")[0])


def test_other_kernels():
    assert trace("fetch-add", conduit="extoll", op="latency", iterations=2)[0].operations
    assert trace("barrier", conduit="ibv", ranks=4, iterations=2)[0].operations
    assert trace("am", conduit="ideal", op="np-medium", sizes=64, iterations=2)[0].operations
    with pytest.raises(UsageError, match="one by one"):
        trace("flood", conduit="ideal", op="am-short")
    with pytest.raises(UsageError, match="operation already"):
        trace("put", conduit="ideal", op="get")


def test_gaps_are_found():
    steps = (Step("copy", "initiate", "rank 0", 0, 5), Step("poll", "completion", "rank 0", 6, 9))
    with pytest.raises(CheckFailed, match="begins at 6"):
        Operation(0, 9, steps).check()
    with pytest.raises(CheckFailed, match="end at 5"):
        Operation(0, 9, steps[:1]).check()
    with pytest.raises(CheckFailed, match="nobody"):
        Operation(0, 5, (Step("unknown", "initiate", "rank 0", 0, 5),)).check()


EVENT = {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"}


def check_chrome(content):
    """Check the demands of Chrome's Trace Event Format: names of processes and threads, then complete events."""
    assert set(content) == {"traceEvents", "displayTimeUnit"}
    assert content["displayTimeUnit"] in {"ns", "ms"}
    named = set()
    for event in content["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in {"process_name", "thread_name"}
            assert isinstance(event["args"]["name"], str)
            named.add((event["pid"], event["tid"]))
        else:
            assert event["ph"] == "X"
            assert set(event) == EVENT
            assert event["dur"] > 0 <= event["ts"]
            assert (event["pid"], event["tid"]) in named
            assert event["args"]["end_ps"] - event["args"]["begin_ps"] == round(event["dur"] * 1e6)


def test_what_is_written(tmp_path):
    folder = tmp_path / "steps"
    arguments = ["trace", "am-medium", "--conduit", "ideal,extoll", "--sizes", "8,512", "--iterations", "2"]
    done = CliRunner().invoke(cli, [*arguments, "--out", str(folder)])
    assert done.exit_code == 0, done.output
    assert "sum of the steps" in done.stdout
    assert {path.name for path in folder.iterdir()} == {
        "steps.csv",
        "trace.json",
        "table.txt",
        "steps.svg",
        "steps.png",
    }
    check_chrome(json.loads((folder / "trace.json").read_text()))
    rows = list(csv.DictReader(io.StringIO((folder / "steps.csv").read_text())))
    assert {row["operation"] for row in rows} == {"0", "1"}
    done = CliRunner().invoke(cli, [*arguments, "--format", "chrome"])
    check_chrome(json.loads(done.stdout))
    done = CliRunner().invoke(cli, [*arguments, "--format", "csv"])
    assert done.stdout == (folder / "steps.csv").read_text()
    done = CliRunner().invoke(cli, ["trace", "nothing", "--conduit", "ideal"])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = CliRunner().invoke(cli, [*arguments, "--out", str(blocked / "below")])
    assert done.exit_code == 2
    assert done.stderr.startswith("Error:")


def test_the_pictures_say_what_they_are_and_whether_their_steps_are_the_same(tmp_path):
    trace("put", conduit="ideal", sizes="8,512", out=tmp_path)
    for name in ("steps.svg", "steps.png"):
        origin = verify_picture(tmp_path / name)
        assert origin.same, origin.text
        sentence = (
            "is what one operation's time is made of, modelled: ping-pong put 8 B on ideal, 2 ranks and 1 more point,"
        )
        assert f"{sentence} drawn by revision " in origin.text
        assert f"; the digest of steps.csv is the same ({tmp_path})" in origin.text
        assert "\n" not in origin.text
    (tmp_path / "steps.csv").write_text((tmp_path / "steps.csv").read_text().replace("wire", "hop", 1))
    assert f"; steps.csv changed ({tmp_path})" in verify_picture(tmp_path / "steps.svg").text
    (tmp_path / "steps.csv").unlink()
    assert "; steps.csv not there: `gasmeter verify steps.svg FOLDER`" in verify_picture(tmp_path / "steps.svg").text


def test_the_title_of_a_picture_says_the_operation():
    traces = [traced for op in ("put", "get") for traced in trace(op, conduit="ideal", sizes="8,4K")]
    figure = draw_steps(traces)
    assert figure.get_suptitle() == "ping-pong get, ping-pong put on ideal: who spends what (modelled)"
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == [
        f"{size}\nping-pong {op}" for size in ("8 B", "4 KiB") for op in ("get", "put")
    ]
    (flag,) = trace("am-short", conduit="ideal")
    assert draw_steps([flag]).get_suptitle().startswith("ping-pong am-short on ideal: ")


def test_tables_show_the_median_operation():
    def operation(begin, length):
        return Operation(begin, begin + length, (Step("copy", "initiate", "rank 0", begin, begin + length),))

    traced = Trace("x", "ideal", "modelled", 8, (operation(0, 30), operation(30, 10), operation(40, 20)))
    assert traced.shown.ps == 20
    assert "median of 3, 0.01 to 0.03 ns" in trace_table(traced)
    assert steps_frame([traced])["ps"].tolist() == [30, 10, 20]
    check_chrome(chrome_events([traced]))


def test_sums_are_of_phases_and_of_steps_in_them(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    steps = (
        Step("copy", "initiate", "rank 0", 0, 10_000), Step("lock", "initiate", "rank 0", 10_000, 15_000),
        Step("copy", "initiate", "rank 0", 15_000, 20_000), Step("hop", "request", "node 0 to 1", 20_000, 30_000),
        Step("hop", "request", "node 1 to 2", 30_000, 40_000),
    )  # fmt: skip
    lines = sums_table(Trace("x", "ideal", "modelled", 8, (Operation(0, 40_000, steps),))).splitlines()
    assert lines[0] == "x (modelled)"
    assert [line.split() for line in lines[4:9]] == [
        ["initiate", "rank", "0", "3", "20", "50.0"],
        ["copy", "rank", "0", "2", "15", "37.5"],
        ["lock", "rank", "0", "1", "5", "12.5"],
        ["request", "2", "places", "2", "20", "50.0"],
        ["hop", "2", "places", "2", "20", "50.0"],
    ]
    assert "sum of the steps 40 ns" in lines[-1]
