import csv
import io
import json
import math

import pytest

import gasmeter as gm
from gasmeter.cli import app
from gasmeter.dashboard import read_history
from gasmeter.errors import UsageError
from gasmeter.exchange import import_results, to_asv, to_google_benchmark, to_otava
from gasmeter.exchange.imb import read_imb
from gasmeter.exchange.osu import read_osu
from gasmeter.exchange.writing import benchmark_name, stored
from gasmeter.rows.formats import to_osu
from gasmeter.stores.store import open_result

MIB = 2**20

# Written for these tests; the numbers are invented.
OSU = """\
# OSU MPI Latency Test v7.2
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.25
4096                    1.50

# OSU MPI Multiple Bandwidth / Message Rate Test v7.2
# Size                  MB/s        Messages/s
8                      10.00        1250000.00

# OSU MPI_Put Latency Test v5.9
# Window creation: MPI_Win_allocate
# Size          Latency (us)    Min Latency(us)    Max Latency(us)  Iterations
8                       0.75               0.50               9.00        1000

# OSU MPI Barrier Latency Test v7.2
# Avg Latency(us)
             3.25
"""
IMB = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks, MPI-1 part
#----------------------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
      1000000           40       100.00     10000.00

# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         3.00         2.00

# All processes entering MPI_Finalize
"""
PERFTEST = """\
---------------------------------------------------------------------------------------
                    RDMA_Write Latency Test
 Dual-port       : OFF          Device         : card0
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
99% percentile[usec]   99.9% percentile[usec]
 2       1000          0.75           4.25         1.00               1.25              0.10         2.00     4.00
---------------------------------------------------------------------------------------
                    Send BW Test
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
 65536      5000             110.00             100.00              0.001600
"""
UCX = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       latency (usec)         |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+----------------------------------------------------------------------------------------------------------+
| Test:         tag match latency                                                                          |
| Message size: 64                                                                                         |
+----------------------------------------------------------------------------------------------------------+
Final:               1000     0.400     0.500     0.500      100.00     128.00     2000000     2000001
"""
GASNET = """\
WARNING: nothing of interest
A:   0 -          8 byte :    1000 iters, latency         1500 us total,     1.500 us ave. (put latency)
B:   0 -       1024 byte :     500 iters, throughput    64.000000 MB/sec (get_nb throughput)
C:   1 -       1024 byte :     500 iters, throughput     512.000 KB/sec (get throughput)
"""
NCCL = """\
# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid     11 on    node17 device  0 [0000:01:00] Card
#  Rank  1 Group  0 Pid     12 on    node17 device  1 [0000:02:00] Card
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    10.00    0.00    0.00       0    11.00    0.00    0.00     N/A
     1000000        250000     float     sum      -1    20.00   50.00   75.00       0    25.00   40.00   60.00       3
# Out of bounds values : 1 FAILED
# Avg bus bandwidth    : 33.75
"""
NETPIPE = "       1      0.80   0.00001000\n    1000    400.00   0.00002000\n"
NETPIPE_5 = (
    "        1     0.001     0.001     0.001   10.00\n     1000     0.400     0.390     0.410   20.00   6.25 GB/sec\n"
)
FORMATS = {"osu": OSU, "imb": IMB, "perftest": PERFTEST, "ucx_perftest": UCX, "gasnet": GASNET, "nccl-tests": NCCL,
           "netpipe": NETPIPE}  # fmt: skip


def imported(tmp_path, form, text=None, **stated):
    file = tmp_path / f"{form}.txt"
    file.write_text(FORMATS[form] if text is None else text)
    return import_results(form, file, tmp_path / "store", **stated)


def values(result):
    return {(row["op"], row["size_bytes"], row["metric"]): row["value"] for row in result.rows}


def test_osu_text_is_read_in_our_units(tmp_path):
    result = imported(tmp_path, "osu", ranks=4)
    assert values(result) == {
        ("mpi-latency", 1, "latency"): 250.0,
        ("mpi-latency", 4096, "latency"): 1500.0,
        ("mpi-multiple-bandwidth-message-rate", 8, "bandwidth"): 10e6,
        ("mpi-multiple-bandwidth-message-rate", 8, "rate"): 1.25e6,
        ("mpi-put-latency", 8, "latency"): 750.0,
        ("mpi-barrier-latency", 0, "latency"): 3250.0,
    }
    put = next(row for row in result.rows if row["op"] == "mpi-put-latency")
    assert (put["min"], put["n"], put["kind"], put["label"], put["ranks"]) == (500.0, 1000, "measured", "osu", 4)


def test_imb_text_is_read_and_its_megabyte_follows_from_its_times(tmp_path):
    result = imported(tmp_path, "imb")
    assert values(result) == {
        ("pingpong", 0, "latency"): 500.0,
        ("pingpong", 1000000, "latency"): 100e3,
        ("pingpong", 1000000, "bandwidth"): 10000e6,
        ("allreduce", 8, "latency"): 2000.0,
    }
    assert {row["op"]: row["ranks"] for row in result.rows} == {"pingpong": 2, "allreduce": 4}
    old = IMB.replace("10000.00", f"{1e6 / 100e-6 / MIB:.2f}")
    (bandwidth,) = (entry.value for entry in read_imb(old, "old") if entry.metric == "bandwidth")
    assert bandwidth == pytest.approx(10000e6, rel=1e-5)
    assert not [entry for entry in read_imb(IMB.replace("10000.00", "7777.00"), "odd") if entry.metric == "bandwidth"]


def test_perftest_text_is_read(tmp_path):
    result = imported(tmp_path, "perftest", conduit="raw@card0")
    assert values(result) == {
        ("rdma-write-latency", 2, "latency"): 1000.0,
        ("send-bw", 65536, "bandwidth"): 100.0 * MIB,
        ("send-bw", 65536, "rate"): 1600.0,
    }
    assert result.rows[0]["p99"] == 2000.0
    assert {row["conduit"] for row in result.rows} == {"raw@card0"}
    assert {row["network"] for row in result.rows} == {"card0"}


def test_ucx_text_is_read(tmp_path):
    assert values(imported(tmp_path, "ucx_perftest")) == {
        ("tag-match-latency", 64, "latency"): 500.0,
        ("tag-match-latency", 64, "bandwidth"): 128.0 * MIB,
        ("tag-match-latency", 64, "rate"): 2000001.0,
    }


def test_gasnet_text_is_read(tmp_path):
    result = imported(tmp_path, "gasnet")
    assert values(result) == {
        ("put-latency", 8, "latency"): 1500.0,
        ("get-nb-throughput", 1024, "bandwidth"): 64.0 * MIB,
        ("get-throughput", 1024, "bandwidth"): 512.0 * 1024,
    }
    assert result.rows[2]["options"] == "rank=1"


def test_nccl_text_is_read_and_what_came_out_wrong_is_not_verified(tmp_path):
    result = imported(tmp_path, "nccl-tests")
    results = {(row["size_bytes"], row["options"], row["metric"]): row["value"] for row in result.rows}
    out, within = (f"type=float;redop=sum;root=-1;place={place}" for place in ("out-of-place", "in-place"))
    assert len(results) == 12
    assert results[8, out, "latency"] == 10e3
    assert results[8, within, "latency"] == 11e3
    assert (results[1000000, out, "bandwidth"], results[1000000, out, "bus_bandwidth"]) == (50e9, 75e9)
    assert results[1000000, within, "bandwidth"] == 40e9
    assert {(row["size_bytes"], row["options"], row["verified"]) for row in result.rows} == {
        (8, out, True), (8, within, "not_checked"), (1000000, out, True), (1000000, within, False),
    }  # fmt: skip
    assert len(result.errors) == 1
    assert {(row["op"], row["ranks"], row["n"], row["conduit"]) for row in result.rows} == {
        ("all-reduce-perf", 2, 20, "raw@nccl")
    }


def test_netpipe_files_of_both_releases_are_read(tmp_path):
    latencies = {("ping-pong", 1, "latency"): 10e3, ("ping-pong", 1000, "latency"): 20e3}
    third = values(imported(tmp_path, "netpipe"))
    assert third == pytest.approx(
        {**latencies, ("ping-pong", 1, "bandwidth"): 0.1e6, ("ping-pong", 1000, "bandwidth"): 50e6}
    )
    binary = NETPIPE.replace("400.00", f"{8000 / 20e-6 / MIB:.2f}")
    assert values(imported(tmp_path, "netpipe", binary))[("ping-pong", 1000, "bandwidth")] == pytest.approx(50e6, 1e-4)
    assert values(imported(tmp_path, "netpipe", NETPIPE.replace("400.00", "650.00"))) == latencies
    fifth = values(imported(tmp_path, "netpipe", NETPIPE_5))
    assert fifth == pytest.approx(
        {**latencies, ("ping-pong", 1, "bandwidth"): 0.125e6, ("ping-pong", 1000, "bandwidth"): 50e6}
    )


@pytest.mark.parametrize(
    ("form", "old", "new", "message"),
    [
        ("osu", "10.00        1250000.00", "10.00", "osu.txt:9: 2 columns where the header has 3"),
        ("osu", "0.25", "0.2x5", "osu.txt:4: '0.2x5' is not a number"),
        ("osu", "# Size       Avg Latency(us)\n", "", "osu.txt:3: numbers without a header"),
        ("imb", "100.00     10000.00", "100.00", "imb.txt:10: 3 columns where the header has 4"),
        ("perftest", "110.00             100.00", "110.00", "4 columns where the header has 5"),
        ("ucx_perftest", "     2000001", "", "ucx_perftest.txt:9: 7 columns behind Final"),
        ("ucx_perftest", "Final:", "1000", "ucx_perftest.txt:6: a run without a line Final"),
        ("gasnet", " us ave. (put latency)", "", "gasnet.txt:2: neither a latency nor a throughput"),
        ("gasnet", GASNET.splitlines()[1][30:], "it", "gasnet.txt:2: a result"),
        ("nccl-tests", "   40.00   60.00       3", "", "nccl-tests.txt:13: 10 columns where the header has 13"),
        ("nccl-tests", "20.00", "2x", "nccl-tests.txt:13: '2x' is not a number"),
        ("netpipe", "   0.00002000", "", "netpipe.txt:2: 2 columns; NetPIPE writes 3 or 5"),
        ("netpipe", "   0.00002000", "   0.00002   1   2", "netpipe.txt:2: 5 columns where others have 3"),
    ],
)  # fmt: skip
def test_what_is_cut_off_or_damaged_is_named_with_its_line(tmp_path, form, old, new, message):
    assert old in FORMATS[form]
    with pytest.raises(UsageError) as error:
        imported(tmp_path, form, FORMATS[form].replace(old, new))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", ["", "hello\n", "# \n"])
def test_a_file_of_something_else_is_one_line(tmp_path, form, text):
    with pytest.raises(UsageError, match=f"holds no result of {form}"):
        imported(tmp_path, form, text)


def test_an_import_is_a_store_with_a_place_in_a_history(tmp_path):
    imported(tmp_path, "osu", host="node17", date="2026-02-03T04:05:06+00:00", revision="abc")
    assert len(open_result(tmp_path / "store").rows) == 6
    history = read_history([tmp_path / "store"])
    assert (history.runs[0].started, history.runs[0].revision) == ("2026-02-03T04:05:06+00:00", "abc")
    assert {series.fields["host"] for series in history.series} == {"node17"}
    assert {(series.fields["kind"], series.label) for series in history.series} == {("measured", "osu")}


def test_our_own_osu_text_comes_back_with_its_kind(machine, tmp_path):
    rows = []
    for conduit in ("smp", "ideal"):
        rows += gm.measure("ping-pong", conduit=conduit, op="put", sizes="8:64", max_time=0.5).rows
    back = list(read_osu(to_osu(rows), "x"))
    assert [
        (entry.kernel, entry.op, entry.conduit, entry.kind, entry.size_bytes, entry.ranks, entry.metric)
        for entry in back
    ] == [
        (row["kernel"], row["op"], row["conduit"], row["kind"], row["size_bytes"], row["ranks"], row["metric"])
        for row in rows
    ]
    assert [entry.value for entry in back] == pytest.approx([row["value"] for row in rows], abs=0.01)


@pytest.fixture
def store(machine, tmp_path):
    experiment = gm.Experiment(
        name="sweep", kernel="flood", conduit=["smp", "ideal"], op="put", sizes="8,64", against="raw@shm",
        time_s=0.05, max_time_s=0.1,
    )  # fmt: skip
    experiment.run(tmp_path / "out")
    return tmp_path / "out"


def test_google_benchmark_holds_every_block(store):
    content = json.loads(to_google_benchmark(store))
    rows = open_result(store).rows
    row = next(row for row in rows if row["metric"] == "bandwidth" and row["conduit"] == "smp")
    entries = [entry for entry in content["benchmarks"] if entry["name"] == benchmark_name(row)]
    assert len(entries) == entries[0]["repetitions"] > 1
    assert [entry["repetition_index"] for entry in entries] == list(range(len(entries)))
    middle = sorted(entry["bytes_per_second"] for entry in entries)[len(entries) // 2]
    assert middle == pytest.approx(row["value"], rel=0.02)
    assert {"real_time", "cpu_time", "time_unit", "run_type", "iterations"} <= entries[0].keys()
    assert content["context"]["num_cpus"] > 0
    names = {entry["name"] for entry in content["benchmarks"]}
    assert len(names) == len(rows)
    assert {name.split("/")[0] for name in names} == {"measured", "modelled", "mixed"}


def test_asv_holds_what_gets_better_by_getting_smaller(machine, tmp_path):
    experiment = gm.Experiment(
        name="s", kernel="ping-pong", conduit="smp", op="put", sizes="8", time_s=0.05, max_time_s=0.1
    )
    experiment.run(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    facts["runs"][-1]["git"] = "0123456789abcdef-dirty"
    (tmp_path / "run.json").write_text(json.dumps(facts))
    files = {name: json.loads(text) for name, text in to_asv(tmp_path).items()}
    (entry,) = (content for name, content in files.items() if name.endswith("01234567-gasmeter.json"))
    ((name, result),) = entry["results"].items()
    (row,) = open_result(tmp_path).rows
    assert result[0] == [row["value"] * 1e-9]
    assert len(result) <= len(entry["result_columns"])
    assert files["benchmarks.json"][name]["unit"] == "seconds"
    facts["runs"][-1]["git"] = ""
    (tmp_path / "run.json").write_text(json.dumps(facts))
    with pytest.raises(UsageError, match="does not say its revision"):
        to_asv(tmp_path)


def test_otava_has_a_line_for_each_run_of_what_all_have(tmp_path):
    stores = []
    for day, factor in ((2, 1.0), (1, 2.0)):
        text = OSU.replace("0.25", str(0.25 * factor))
        (tmp_path / "o.txt").write_text(text if day == 2 else text.partition("# OSU MPI Barrier")[0])
        stores.append(tmp_path / f"store{day}")
        import_results("osu", tmp_path / "o.txt", stores[-1], date=f"2026-02-0{day}T00:00:00+00:00", revision=f"r{day}")
    files = to_otava(stores)
    rows = list(csv.DictReader(io.StringIO(files["gasmeter.csv"])))
    test = json.loads(files["otava.yaml"].partition("\n")[2])["tests"]["gasmeter"]
    name = next(name for name in test["metrics"] if "mpi-latency" in name and "size:1/" in name)
    assert [(row["time"][:10], row["revision"], float(row[name])) for row in rows] == [
        ("2026-02-01", "r1", 500.0), ("2026-02-02", "r2", 250.0),
    ]  # fmt: skip
    assert test["metrics"][name]["direction"] == -1
    assert next(how for key, how in test["metrics"].items() if key.endswith("bandwidth"))["direction"] == 1
    assert {"time", "revision", *test["metrics"]} == set(rows[0])
    assert not any("barrier" in key for key in test["metrics"])
    assert files["otava.yaml"].startswith("# 5 series that every run has; 1 that some run has not are left out\n")
    with pytest.raises(UsageError, match="has the date of another store"):
        to_otava([stores[0], stores[0]])


def test_osu_text_names_where_ranks_were_placed(machine):
    rows = [
        row
        for placement in ("fill", "one-per-node", "list:0,1")
        for row in gm.measure(
            "ping-pong", conduit="extoll", op="put", sizes="8,64", topology="ring:2", placement=placement
        ).rows
    ]
    text = to_osu(rows)
    assert text.count("# gasmeter ping-pong put on extoll on ring:2") == 3
    back = list(read_osu(text, "x"))
    assert [entry.value for entry in back] == pytest.approx([row["value"] for row in rows], abs=0.01)
    assert {entry.ranks for entry in back} == {2}
    assert len({entry.options for entry in back}) == 3


def test_heads_of_osu_columns_do_not_run_together(machine):
    rows = gm.measure("random-access", conduit="smp", sizes="64K", time=0.05, max_time=0.1).rows
    (gups,) = [row for row in read_osu(to_osu(rows), "x") if row.metric == "gups"]
    assert gups.value == pytest.approx(rows[0]["value"], abs=1e-5)
    assert {row.metric for row in read_osu(to_osu(rows), "x")} == {"gups", "error_fraction"}


def test_osu_text_keeps_repetitions_apart(machine):
    experiment = gm.Experiment(
        name="s", kernel="ping-pong", conduit="smp", op="put", sizes="8", repetitions=3, time_s=0.05, max_time_s=0.1
    )
    rows = experiment.run().rows
    assert [entry.value for entry in read_osu(to_osu(rows), "x")] == pytest.approx(
        [row["value"] for row in rows], abs=0.01
    )


def test_a_store_without_its_journal_is_exported_too(store):
    with_journal = to_google_benchmark(store)
    (store / "journal.jsonl").unlink()
    assert to_google_benchmark(store) == with_journal
    (store / "samples.parquet").unlink()
    assert json.loads(to_google_benchmark(store))["benchmarks"][0]["repetitions"] == 1
    rows, _, _ = stored(store)
    assert all(math.isfinite(row["value"]) for row in rows)


def test_the_commands(tmp_path, capsys):
    def run(*words):
        status = app.cli.main([str(word) for word in words], standalone_mode=False)
        message = capsys.readouterr()
        return status, message.out.splitlines(), message.err

    file = tmp_path / "o.txt"
    file.write_text(OSU)
    assert run("import", "osu", file, "--out", tmp_path / "s")[:2] == (0, [str(tmp_path / "s")])
    for form in ("osu", "google-benchmark"):
        status, lines, _ = run("export", form, tmp_path / "s", "--out", tmp_path / form)
        assert status == 0
        assert lines
    assert "mpi-latency" in (tmp_path / "osu").read_text()
    status, lines, output = run("export", "asv", tmp_path / "s", "--out", tmp_path / "asv")
    assert (status, lines, output.count("\n")) == (2, [], 1)
    file.write_text("x")
    assert run("import", "osu", file, "--out", tmp_path / "t")[0] == 2
