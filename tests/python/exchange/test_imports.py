"""Imports do not lie: no value that the tool did not print, no row in place of another, no check that nobody made.

Each test stands for a kind of input that was read wrongly. The forms are the tools', the numbers are invented.
"""

import json
import math

import pytest
from click.testing import CliRunner
from other_tools import (
    SOCKPERF,
    SOCKPERF_THROUGHPUT,
    fabtests,
    fi_pingpong,
    imb,
    nccl,
    omb_py,
    osu,
    perftest,
    ucx,
)

import gasmeter as gm
from gasmeter.cli import cli
from gasmeter.dashboard import read_history
from gasmeter.errors import UsageError
from gasmeter.exchange import import_results
from gasmeter.exchange.importing import read_record
from gasmeter.stores.store import open_result

MIB = 2**20


@pytest.fixture
def imported(tmp_path):
    def read(form, text, **stated):
        file = tmp_path / f"{form}.txt"
        file.write_bytes(text.encode())
        return import_results(form, file, tmp_path / f"{form}-store", **stated)

    return read


@pytest.fixture
def refused(imported):
    def read(form, text, **stated):
        with pytest.raises(UsageError) as error:
            imported(form, text, **stated)
        assert "\n" not in str(error.value)
        return str(error.value)

    return read


def columns_of(result, *columns):
    """Columns of the rows that have a value, in order."""
    rows = [row for row in result.rows if math.isfinite(row["value"])]
    return [tuple(row[column] for column in columns) for row in rows]


def stated(row):
    return dict(part.split("=", 1) for part in row["options"].split(";") if part)


PUT = osu(
    "MPI_Put Latency", (8, "2.00"), settings=("Window creation: MPI_Win_allocate", "Synchronization: MPI_Win_flush")
) + osu(
    "MPI_Put Latency", (8, "3.00"),
    settings=("Window creation: MPI_Win_allocate", "Synchronization: MPI_Win_lock/unlock"),
)  # fmt: skip


def test_i1_window_and_synchronisation_tell_rows_apart(imported):
    result = imported("osu", PUT)
    assert columns_of(result, "op", "value") == [("mpi-put-latency", 2000.0), ("mpi-put-latency", 3000.0)]
    assert [stated(row) for row in result.rows] == [
        {"window": "MPI_Win_allocate", "synchronization": "MPI_Win_flush"},
        {"window": "MPI_Win_allocate", "synchronization": "MPI_Win_lock/unlock"},
    ]
    assert len({row["run_id"] for row in result.rows}) == 2


@pytest.mark.parametrize(
    ("form", "text", "lines"),
    [
        ("osu", osu("MPI Latency", (8, "2.00")) * 2, (6, 3)),
        ("imb", imb("PingPong", "       8         1000         0.50         0.00") * 2, (12, 6)),
        ("perftest", perftest("Send BW", "#bytes     #iterations    BW average[MiB/sec]", "8 100 1.0") * 2, (15, 7)),
        ("nccl-tests", nccl((8, 2, "float", "sum", -1, 1, 1, 1, 0, 1, 1, 1, 0)) * 2, (14, 7)),
        ("gasnet", "A:   0 -  8 byte :  10 iters, latency  15 us total,  1.5 us ave. (put latency)\n" * 2, (2, 1)),
        ("netpipe", "       1      0.80   0.00001000\n" * 2, (2, 1)),
        ("fabtests", fi_pingpong((64, "1.2k", 1.77, 36.25, 0.03)) * 2, (4, 2)),
        ("ucx_perftest", ucx(1000, "2.000") * 2, (12, 6)),
        ("sockperf", SOCKPERF * 2, (34, 14)),
    ],
)
def test_what_nothing_tells_apart_is_refused_with_both_lines(refused, form, text, lines):
    refusal = refused(form, text, op="ping-pong" if form in {"ucx_perftest", "sockperf"} else "", size=64)
    assert f"{form}.txt:{lines[0]}: " in refusal
    assert f"stands in line {lines[1]}, too, and nothing tells the two apart" in refusal


def test_i2_types_and_reductions_tell_rows_apart(imported):
    rest = ("0.10", "0.10", 0, "21.00", "0.10", "0.10", 0)
    rows = [
        (4096, 1024, "float", "sum", -1, "20.00", *rest), (4096, 2048, "half", "sum", -1, "40.00", *rest),
        (4096, 1024, "float", "max", -1, "60.00", *rest),
    ]  # fmt: skip
    result = imported("nccl-tests", nccl(*rows))
    assert len(result.rows) == 18
    outside = [row for row in result.rows if row["metric"] == "latency" and stated(row)["place"] == "out-of-place"]
    assert [(row["value"], stated(row)["type"], stated(row)["redop"]) for row in outside] == [
        (20e3, "float", "sum"), (40e3, "half", "sum"), (60e3, "float", "max"),
    ]  # fmt: skip
    assert {row["verified"] for row in result.rows} == {True}


THREE = "".join(
    f"=== {test} ===\n{ucx(1000, overall, what)}"
    for test, overall, what in (("tag_bw", "10.000", "overhead"), ("tag_lat", "2.000", "latency"),
                                ("put_lat", "1.500", "latency"))
)  # fmt: skip


def test_i3_a_size_that_is_nowhere_is_asked_for(imported, refused):
    refusal = refused("ucx_perftest", THREE)
    assert "ucx_perftest.txt:7: nothing says the size of tag-bw; give it by --size BYTES" in refusal
    result = imported("ucx_perftest", THREE, size=64)
    times = [row for row in result.rows if row["unit"] == "ns"]
    assert [(row["op"], row["metric"], row["value"], row["size_bytes"]) for row in times] == [
        ("tag-bw", "time_per_message", 10e3, 64), ("tag-lat", "latency", 2e3, 64), ("put-lat", "latency", 1.5e3, 64),
    ]  # fmt: skip
    assert len(result.rows) == 9
    box = "| Test:         tag match latency     |\n| Message size: 8      |\n"
    mixed = ucx(1000, "2.000", box=box) + ucx(1000, "3.000")
    assert "ucx_perftest.txt:14: nothing says which benchmark this is" in refused("ucx_perftest", mixed)
    assert columns_of(imported("ucx_perftest", mixed, op="other", size=16), "op", "size_bytes")[::3] == [
        ("tag-match-latency", 8), ("other", 16)
    ]  # fmt: skip


def test_i4_sizes_have_more_than_one_head(imported):
    result = imported("osu", omb_py("Latency", (1, "1.50"), (2, "1.60"), (4, "1.70")))
    assert columns_of(result, "op", "size_bytes", "value") == [
        ("mpi-latency", 1, 1500.0), ("mpi-latency", 2, 1600.0), ("mpi-latency", 4, 1700.0),
    ]  # fmt: skip


ERRORS = ((8, 2, "float", "sum", -1, 20, 1, 1, "1e-07", 21, 1, 1, "5e-07"),)


@pytest.mark.parametrize(
    ("verdict", "verified", "faults"), [("0 OK", {True}, 0), ("1 FAILED", {False}, 1), ("", {"not_checked"}, 0)]
)
def test_i5_rounding_errors_are_no_defects(imported, verdict, verified, faults):
    result = imported("nccl-tests", nccl(*ERRORS, check="error", verdict=verdict))
    assert [row["value"] for row in result.rows if row["metric"] == "latency"] == [20e3, 21e3]
    assert len(columns_of(result, "value")) == 6
    assert {row["verified"] for row in result.rows} == verified
    assert len(result.errors) == faults


def test_i6_pairs_are_ranks(imported):
    text = "".join(
        osu("MPI Multiple Bandwidth / Message Rate", (1, rate, "8000000.00"), heads=("MB/s", "Messages/s"),
            settings=(f"[ pairs: {pairs} ] [ window size: 64 ]",))
        for pairs, rate in ((4, "8.00"), (8, "16.00"))
    )  # fmt: skip
    result = imported("osu", text)
    assert [
        (row["ranks"], row["value"], row["options"]) for row in result.rows if row["metric"] == "bandwidth"
    ] == [(8, 8e6, "window_size=64"), (16, 16e6, "window_size=64")]  # fmt: skip


@pytest.mark.parametrize(
    "why",
    [
        'out-of-mem.; needed X=   1.234 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)',
        "int-overflow.; The production rank*size caused int overflow for given sample",
        "time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over",
    ],
)
def test_i7_words_in_place_of_numbers_are_a_row_without_a_value(imported, why):
    result = imported("imb", imb(
        "PingPong", "            8         1000         0.50         16.00",
        "      1000000           40       100.00     10000.00", f"      4194304 {why}",
    ))  # fmt: skip
    assert columns_of(result, "size_bytes", "metric") == [
        (8, "latency"), (8, "bandwidth"), (1000000, "latency"), (1000000, "bandwidth"),
    ]  # fmt: skip
    lost = [row for row in result.rows if math.isnan(row["value"])]
    assert {(row["size_bytes"], row["verified"]) for row in lost} == {(4194304, "not_checked")}
    (note,) = (line for line in result.notes if "has no value" in line)
    assert note == f"line 8: pingpong, 4 MiB, has no value: {why}"


def test_i8_size_and_time_tell_the_unit_of_small_rates(imported):
    rows = (
        "      1048576           10    100000.00        10.49",
        "      4194304           10    400000.00        10.49",
    )
    bandwidth = [row["value"] for row in imported("imb", imb("PingPong", *rows)).rows if row["metric"] == "bandwidth"]
    assert bandwidth == pytest.approx([10.49e6] * 2)
    result = imported("imb", imb("PingPong", *(row.replace("10.49", "7.77") for row in rows)))
    assert {row["metric"] for row in result.rows} == {"latency"}
    assert any("bandwidth of 'PingPong' is left out" in note for note in result.notes)


def test_i9_groups_tell_rows_apart(imported):
    text = imb(
        "Multi-PingPong", "       0            8         1000         1.00         8.00",
        "       1            8         1000         9.00         0.89",
        processes="( 2 groups of 2 processes each running simultaneous )",
        heads=" Group       #bytes #repetitions      t[usec]   Mbytes/sec",
    )  # fmt: skip
    result = imported("imb", text)
    times = [row for row in result.rows if row["metric"] == "latency"]
    assert [(row["op"], row["value"], row["options"], row["ranks"]) for row in times] == [
        ("multi-pingpong", 1e3, "group=0", 4), ("multi-pingpong", 9e3, "group=1", 4),
    ]  # fmt: skip


def test_i10_a_table_with_other_heads_is_read(imported):
    gather = osu(
        "MPI Non-blocking Gather Latency", (1, "9.00", "6.00", "5.00", "40.00"),
        heads=("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)"),
        settings=("Overall = Coll. Init + Compute + MPI_Test + MPI_Wait",),
    )  # fmt: skip
    result = imported("osu", osu("MPI Latency", (8, "2.00")) + gather)
    assert columns_of(result, "op", "metric", "value", "unit") == [
        ("mpi-latency", "latency", 2000.0, "ns"),
        ("mpi-non-blocking-gather-latency", "overall", 9000.0, "ns"),
        ("mpi-non-blocking-gather-latency", "compute", 6000.0, "ns"),
        ("mpi-non-blocking-gather-latency", "pure_comm", 5000.0, "ns"),
        ("mpi-non-blocking-gather-latency", "overlap", 40.0, "%"),
    ]  # fmt: skip


def test_a_table_that_is_not_known_is_named(imported, refused):
    atomics = "# OSU OpenSHMEM Atomic Operation Rate Test v7.3\n# Operation    Million ops/s    Latency (us)\n"
    atomics += "shmem_int_fadd          0.50            2.00\n"
    result = imported("osu", osu("MPI Latency", (8, "2.00")) + atomics)
    assert columns_of(result, "op") == [("mpi-latency",)]
    assert "line 4: 'OpenSHMEM Atomic Operation Rate' is left out: no row of it is known" in result.notes
    assert "'OpenSHMEM Atomic Operation Rate' is left out" in refused("osu", atomics)
    other = "# Somebody's Message Test v1\n# Size          Latency (us)\n8                       5.00\n"
    assert "osu.txt:6: nothing says which benchmark this is" in refused("osu", osu("MPI Latency", (8, "2.00")) + other)
    column = osu("MPI Latency", (8, "2.00", "1"), heads=("Latency (us)", "Colour"))
    assert "line 2: column 'Colour' is left out: it is not known" in imported("osu", column).notes


def test_i11_what_is_below_0_has_no_value(imported):
    result = imported("osu", osu("MPI Latency", (0, "-0.42"), (8, "0.00"), (16, "-0.00")))
    assert [(row["size_bytes"], row["verified"]) for row in result.rows] == [
        (0, "not_checked"), (8, "not_checked"), (16, "not_checked"),
    ]  # fmt: skip
    assert columns_of(result, "size_bytes", "value") == [(8, 0.0), (16, 0.0)]
    assert math.copysign(1, result.rows[2]["value"]) == 1
    assert "line 3: mpi-latency, 0 B, has no value: latency is -420 ns" in result.notes


def test_i12_what_is_not_finite_has_no_value(imported):
    result = imported("osu", osu("MPI Bandwidth", (1, "inf"), (2, "-nan"), (4, "8.00"), heads=("Bandwidth (MB/s)",)))
    assert [row["size_bytes"] for row in result.rows] == [1, 2, 4]
    assert columns_of(result, "size_bytes", "value") == [(4, 8e6)]
    assert [note for note in result.notes if "has no value" in note] == [
        "line 3: mpi-bandwidth, 1 B, has no value: bandwidth is inf B/s",
        "line 4: mpi-bandwidth, 2 B, has no value: bandwidth is nan B/s",
    ]


FORMS = {
    "osu": osu("MPI Latency", (8, "{}")),
    "imb": imb("PingPong", "            8         1000         {}         0.00"),
    "perftest": perftest("Send Latency", "#bytes #iterations    t_avg[usec]    tps average", "8 100 {} 100.0"),
    "ucx_perftest": ucx(1000, "{}"),
    "gasnet": "A:   0 -  8 byte :  10 iters, latency  15 us total,  {} us ave. (put latency)\n",
    "nccl-tests": nccl((8, 2, "float", "sum", -1, "{}", 1, 1, 0, 1, 1, 1, 0)),
    "netpipe": "       8      0.80   {}\n",
    "fabtests": fabtests(("8", "10", "80", 1.0, 1.0, 1.0)).replace(
        "       1.00       1.00\n", "       {}       1.00\n"
    ),
    "sockperf": SOCKPERF.replace("Latency is 20.000", "Latency is {}"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("printed", ["-1.00", "inf", "-inf", "nan", "-nan"])
def test_one_rule_of_plausibility_holds_for_all_readers(form, printed):
    record = read_record(form, FORMS[form].replace("{}", printed), "out.txt", op="given", size=8)
    time = next(row for row in record.rows if row["metric"] == "latency")
    assert math.isnan(time["value"])
    assert any("has no value: latency is " in note for note in record.notes)


def test_i13_a_byte_order_mark_is_no_text(imported):
    assert columns_of(imported("osu", "\ufeff" + PUT), "op") == [("mpi-put-latency",)] * 2
    assert columns_of(imported("osu", "\ufeff" + PUT.replace("\n", "\r\n")), "op") == [("mpi-put-latency",)] * 2


def test_i14_a_blank_cell_stays_blank(imported):
    heads = ("size", "count", "type", "redop")
    text = nccl((4096, 1024, "float", None, "20.00", 1, 2, 0, "30.00", 3, 4, 0), heads=heads, name="alltoall_perf")
    result = imported("nccl-tests", text)
    assert len(result.rows) == 6
    assert {tuple(stated(row).items()) for row in result.rows} == {
        (("type", "float"), ("place", "out-of-place")), (("type", "float"), ("place", "in-place")),
    }  # fmt: skip
    assert columns_of(result, "value")[:2] == [(20e3,), (1e9,)]
    collapsed = "\n".join(" ".join(line.split()) for line in text.splitlines())
    assert columns_of(imported("nccl-tests", collapsed), "value") == columns_of(result, "value")
    root = nccl((8, 2, "float", None, -1, 20, 1, 2, 0, 30, 3, 4, 0))
    assert stated(imported("nccl-tests", root).rows[0]) == {"type": "float", "root": "-1", "place": "out-of-place"}


def test_a_blank_number_is_a_row_without_a_value(imported, refused):
    heads = ("MB/s", "Messages/s")
    result = imported("osu", osu("MPI Multiple Bandwidth", (8, "", "1000.00"), heads=heads))
    assert [(row["metric"], row["value"] > 0) for row in result.rows] == [("bandwidth", False), ("rate", True)]
    assert any("has no value: bandwidth is blank" in note for note in result.notes)
    assert "is the file cut off?" in refused("osu", osu("MPI Multiple Bandwidth", (8, "1.00", ""), heads=heads))


def test_i15_data_that_the_tool_calls_wrong_keep_their_value(imported, tmp_path):
    text = osu("MPI Latency", (8, "2.00", "Pass"), (16, "3.00", "Fail"), heads=("Latency (us)", "Validation"))
    result = imported("osu", text)
    assert columns_of(result, "size_bytes", "value", "verified") == [(8, 2000.0, True), (16, 3000.0, False)]
    assert result.errors == ["line 4: mpi-latency, 16 B, did not verify: Validation says Fail"]
    done = CliRunner().invoke(cli, ["import", "osu", str(tmp_path / "osu.txt"), "--out", str(tmp_path / "again")])
    assert done.exit_code == 0
    assert "2 rows, measured by osu, 1 not verified" in done.stderr
    assert result.errors[0] in done.stderr
    assert json.loads((tmp_path / "again/run.json").read_text())["errors"] == result.errors


def test_defects_of_imb_are_told(imported):
    heads = "       #bytes #repetitions      t[usec]   Mbytes/sec      defects"
    rows = ("            8         1000         0.50        16.00         0.00",
            "           16         1000         0.50        32.00         1.00")  # fmt: skip
    result = imported("imb", imb("PingPong", *rows, heads=heads))
    assert {(row["size_bytes"], row["verified"]) for row in result.rows} == {(8, True), (16, False)}
    assert result.errors == ["line 7: pingpong, 16 B, did not verify: defects says 1.00"]


def test_a_row_without_a_value_is_no_figure_of_a_check(imported, tmp_path):
    for name, last in (("before", "20.00"), ("after", "-nan")):
        result = imported("osu", osu("MPI Latency", (8, "2.00"), (16, last)))
        (tmp_path / "osu-store").rename(tmp_path / name)
        assert len(result.rows) == 2
    judged = gm.check(baseline=tmp_path / "before", new=tmp_path / "after")
    assert [finding.verdict for finding in judged.findings if finding.key.size_bytes == 16] == ["missing"]
    again = gm.check(baseline=tmp_path / "after", new=tmp_path / "after")
    assert {finding.key.size_bytes for finding in again.findings} >= {8}


def test_i16_latency_by_duration_is_read(imported):
    heads = "#bytes        #iterations       t_avg[usec]    tps average"
    row = "2             1000000          1.50           333333.33"
    result = imported("perftest", perftest("Send Latency", heads, row))
    assert columns_of(result, "op", "metric", "value", "n") == [
        ("send-latency", "latency", 1500.0, 1000000), ("send-latency", "rate", 333333.33, 1000000),
    ]  # fmt: skip
    assert {row["verified"] for row in result.rows} == {"not_checked"}


def test_service_levels_tell_rows_apart(imported):
    heads = "#bytes    #sl      #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
    rows = (
        f"65536     {level}         1000           3.00               {2 - level}.00               0.1"
        for level in (0, 1)
    )
    result = imported("perftest", perftest("RDMA_Write BW", heads, *rows))
    results = [(row["value"], stated(row)["service_level"]) for row in result.rows if row["metric"] == "bandwidth"]
    assert results == [(2.0 * MIB, "0"), (1.0 * MIB, "1")]


@pytest.mark.parametrize("form", ["osu", "imb", "nccl-tests", "perftest", "fabtests"])
def test_i17_a_message_inside_a_table_is_no_row(imported, form):
    lines = FORMS[form].replace("{}", "1.00").splitlines()
    at = next(number for number, line in enumerate(lines) if line.split()[:1] == ["8"])
    message = "1 more process has sent help message help-mpi-btl.txt / mixed"
    result = imported(form, "\n".join([*lines[:at], message, *lines[at:]]) + "\n", op="given")
    assert {row["size_bytes"] for row in result.rows} == {8}
    assert f"line {at + 1}: left out, no row of the table: {message!r}" in result.notes


def test_i18_a_benchmark_that_is_nowhere_is_asked_for(imported, refused, tmp_path):
    row = (8, 2, "float", "sum", -1, 20, 1, 1, 0, 21, 1, 1, 0)
    nameless = nccl(row, name="")
    assert "name it by --op NAME" in refused("nccl-tests", nameless)
    for name in ("all_reduce", "all_gather"):
        (tmp_path / "log").write_text(nameless)
        import_results("nccl-tests", tmp_path / "log", tmp_path / "history" / name, op=name)
    series = read_history([tmp_path / "history"]).series
    assert {entry.fields["op"] for entry in series} == {"all-reduce", "all-gather"}
    started = imported("nccl-tests", "$ mpirun ./build/all_gather_perf -b 8 -e 16\n" + nameless)
    assert {row["op"] for row in started.rows} == {"all-gather-perf"}
    two = nccl(row, name="all_reduce_perf", verdict="0 OK") + nameless
    assert "nccl-tests.txt:15: nothing says which benchmark" in refused("nccl-tests", two)


def test_fabtests_are_read(imported, refused):
    text = fi_pingpong(
        (64, "1.2k", 1.77, 36.25, 0.03), ("1k", "20k", 57.21, 17.90, 0.06), ("1.5k", "30k", 76.80, 20.0, 0.05)
    )
    result = imported("fabtests", text)
    assert columns_of(result, "op", "size_bytes", "metric", "value")[:4] == [
        ("fi-pingpong", 64, "bandwidth", 1.77e6), ("fi-pingpong", 64, "latency", 36250.0),
        ("fi-pingpong", 64, "rate", pytest.approx(30e3)), ("fi-pingpong", 1024, "bandwidth", 57.21e6),
    ]  # fmt: skip
    assert {row["size_bytes"] for row in result.rows} == {64, 1024, 1536}
    assert {(row["ranks"], row["n"], row["verified"], row["conduit"]) for row in result.rows} == {
        (2, 10, "not_checked", "raw@libfabric")
    }  # fmt: skip
    write = fabtests(("64k", "10k", "625m", 5000.0, 13.11, 0.08))
    assert "nothing says which benchmark this is" in refused("fabtests", write)
    both = "".join(f"$ fi_rma_bw -e msg -p verbs -o {op} 192.0.2.1\n{write}" for op in ("write", "read"))
    result = imported("fabtests", both)
    assert [(row["op"], row["metric"], row["n"], row["options"]) for row in result.rows if row["unit"] == "ns"] == [
        ("fi-rma-bw", "time_per_message", 10000, "operation=write;provider=verbs"),
        ("fi-rma-bw", "time_per_message", 10000, "operation=read;provider=verbs"),
    ]  # fmt: skip


def test_machine_readable_fabtests_are_read(imported):
    row = "- { xfer_size: 4096, iterations: 1000, total: 8192000, time: 0.004, MB/sec: 2048.0, usec/xfer: 2.0,"
    row += " Mxfers/sec: 0.5 }"
    result = imported("fabtests", f"---\nfi_rdm_pingpong -m -I 1000 :\n{row}\n{row.replace('4096', '8192')}\n")
    assert columns_of(result, "op", "size_bytes", "metric", "value", "n") == [
        ("fi-rdm-pingpong", size, metric, value, 1000)
        for size in (4096, 8192)
        for metric, value in (("bandwidth", 2048e6), ("latency", 2000.0), ("rate", 500e3))
    ]


def test_sockperf_is_read(imported, refused):
    assert "nothing says which benchmark this is" in refused("sockperf", SOCKPERF, size=64)
    assert "give it by --size" in refused("sockperf", SOCKPERF, op="ping-pong")
    commands = (
        "sockperf ping-pong -i 192.0.2.1 --tcp -m 64",
        "./sockperf ul -i 192.0.2.1 --tcp --mps=100 --msg-size=64",
    )
    result = imported("sockperf", "".join(f"$ {command}\n{SOCKPERF}" for command in commands))
    assert columns_of(result, "op", "size_bytes", "value", "min", "p50", "p99", "n", "options") == [
        ("ping-pong", 64, 20e3, 10e3, 18e3, 40e3, 500, "protocol=tcp"),
        ("under-load", 64, 20e3, 10e3, 18e3, 40e3, 500, "mps=100;protocol=tcp"),
    ]  # fmt: skip
    result = imported("sockperf", SOCKPERF_THROUGHPUT)
    assert columns_of(result, "op", "size_bytes", "metric", "value", "options") == [
        ("throughput", 1000, "rate", 1e6, "protocol=udp"),
        ("throughput", 1000, "bandwidth", 953.674 * MIB, "protocol=udp"),
    ]  # fmt: skip
    lost = SOCKPERF.replace("dropped messages = 0", "dropped messages = 3")
    assert any("dropped, duplicated" in note for note in imported("sockperf", lost, op="ul", size=14).notes)


def test_nothing_is_verified_that_the_tool_does_not_verify(imported):
    for form in ("osu", "imb", "perftest", "ucx_perftest", "gasnet", "netpipe", "fabtests", "sockperf"):
        result = imported(form, FORMS[form].replace("{}", "1.00"), op="given", size=8)
        assert {row["verified"] for row in result.rows} == {"not_checked"}, form
        assert "verified" not in repr(result), form


def test_ranks_are_those_of_the_file(imported):
    begins = "=====> testsmall nprocs=6 config=RELEASE compiler=GNU/12 sys=x86_64\n"
    assert {row["ranks"] for row in imported("gasnet", begins + FORMS["gasnet"].replace("{}", "1.0")).rows} == {6}
    result = imported("osu", osu("MPI Allreduce Latency", (8, "2.00")))
    assert {row["ranks"] for row in result.rows} == {2}
    assert "the output does not say how many ranks there were: 2 (--ranks)" in result.notes
    assert not any("--ranks" in note for note in imported("osu", PUT, ranks=4).notes)


def test_a_refusal_says_what_was_seen(refused):
    assert "its first line is 'hello'; allowed" in refused("osu", "\nhello\n")
    assert "it is empty" in refused("osu", "")
    assert "it reads as imb" in refused("osu", FORMS["imb"].replace("{}", "1.00"))


@pytest.mark.parametrize(
    ("given", "started"),
    [("2026-11-21", "2026-11-21T00:00:00+00:00"), ("2026-11-21T09:30", "2026-11-21T09:30:00+00:00"),
     ("2026-11-21T09:30+01:00", "2026-11-21T08:30:00+00:00"), ("2026-11-21T09:30:00Z", "2026-11-21T09:30:00+00:00")],
)  # fmt: skip
def test_a_date_without_a_zone_is_utc(imported, tmp_path, given, started):
    imported("osu", PUT, date=given)
    assert json.loads((tmp_path / "osu-store/run.json").read_text())["runs"][-1]["started"] == started


@pytest.mark.parametrize(
    "given", ["yesterday", "2026-02-30", "1700000000", "2026-01-01T25:00", "0001-01-01T00:00+14:00"]
)
def test_a_date_that_is_none_is_refused(refused, given):
    assert f"date {given!r} is not allowed; allowed: a date of ISO 8601" in refused("osu", PUT, date=given)


def test_whatever_is_left_out_is_told_on_screen_and_in_the_store(tmp_path):
    file = tmp_path / "o.txt"
    file.write_text(osu("MPI Latency", (8, "nan"), (16, "2.00")))
    done = CliRunner().invoke(cli, ["import", "osu", str(file), "--out", str(tmp_path / "s"), "--ranks", "2"])
    assert done.exit_code == 0
    told_lines = done.stderr.splitlines()
    assert told_lines == [
        "line 3: mpi-latency, 8 B, has no value: latency is nan ns", "2 rows, measured by osu, 1 without a value",
    ]  # fmt: skip
    assert told_lines[0] in json.loads((tmp_path / "s/run.json").read_text())["notes"]
    assert told_lines[0] in open_result(tmp_path / "s").notes
