"""Outputs of other tools for tests: the tools' own spacing, invented numbers."""


def osu(title, *rows, heads=("Latency (us)",), settings=(), size="Size", version=" v7.3"):
    """A table of the OSU benchmarks; a row is a size and its cells."""
    lines = [f"# OSU {title} Test{version}", *(f"# {line}" for line in settings)]
    lines += [f"# {size:<8}" + "".join(f"{head:>18}" for head in heads)]
    lines += [f"{row[0]:<10}" + "".join(f"{cell:>18}" for cell in row[1:]) for row in rows]
    return "\n".join(lines) + "\n"


def omb_py(title, *rows, head="Latency (us)"):
    lines = [f"# OMB-Py MPI {title} Test", f"# {'Size (B)':<8}{head:>18}"]
    return "\n".join([*lines, *(f"{size:<10}{cell:>18}" for size, cell in rows)]) + "\n"


def nccl(*rows, heads=("size", "count", "type", "redop", "root"), check="#wrong", name="all_reduce_perf", verdict=""):
    """A table of nccl-tests; a row is its cells, None is blank."""
    widths = {"size": 12, "count": 14, "type": 10, "redop": 8, "root": 8, "time": 9, "algbw": 8, "busbw": 8, check: 8}
    columns = [*heads, *["time", "algbw", "busbw", check] * 2]
    lines = [f"# Collective test starting: {name}"] if name else []
    lines += ["# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1"]
    lines += ["#  Rank  0 Group  0 Pid 11 on node17 device 0", "#  Rank  1 Group  0 Pid 12 on node17 device 1"]
    lines += ["#" + "".join(f"{column:>{widths[column]}}" for column in columns)[1:]]
    lines += ["#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"]
    for row in rows:
        cells = zip(row, columns, strict=True)
        lines.append("".join(f"{'' if cell is None else cell:>{widths[column]}}" for cell, column in cells).rstrip())
    lines += [f"# Out of bounds values : {verdict}", "# Avg bus bandwidth    : 1"] if verdict else []
    return "\n".join(lines) + "\n"


def ucx(iterations, overall, what="latency", box=""):
    """A table of ucx_perftest, as its client prints it."""
    return f"""{box}\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       {what + " (usec)":<23}|   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
Final:           {iterations:>9}      0.400     0.500  {overall:>8}      100.00     128.00     2000000     2000001
"""


def imb(title, *lines, processes="#processes = 2", heads="       #bytes #repetitions      t[usec]   Mbytes/sec"):
    rule = "#---------------------------------------------------\n"
    return f"{rule}# Benchmarking {title} \n# {processes} \n{rule}{heads}\n" + "\n".join(lines) + "\n"


def perftest(title, heads, *rows):
    rule = "-" * 87
    settings = " Number of qps   : 1\t\tTransport type : IB\n Connection type : RC\t\tUsing SRQ      : OFF\n"
    head = f"{rule}\n                    {title} Test\n{settings}{rule}\n {heads}\n"
    return head + "\n".join(f" {row}" for row in rows) + f"\n{rule}\n"


def fi_pingpong(*rows):
    lines = ["bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec"]
    for size, total, rate, time, transfers in rows:
        lines.append(f"{size:<8}{'10':<8}={'10':<8}{total:<8}{0.0:>8.2f}s{rate:>10.2f}{time:>11.2f}{transfers:>11.2f}")
    return "\n".join(lines) + "\n"


def fabtests(*rows):
    lines = ["bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec"]
    for size, iterations, total, rate, time, transfers in rows:
        lines.append(f"{size:<8}{iterations:<8}{total:<8}{0.01:>8.2f}s{rate:>10.2f}{time:>11.2f}{transfers:>11.2f}")
    return "\n".join(lines) + "\n"


SOCKPERF = """\
sockperf: == version #3.10-no.git ==
sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)

[ 0] IP = 192.0.2.1       PORT = 11111 # TCP
sockperf: Warmup stage (sending a few dummy messages)...
sockperf: Starting test...
sockperf: Test end (interrupted by timer)
sockperf: Test ended
sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=1001; ReceivedMessages=1000
sockperf: ========= Printing statistics for Server No: 0
sockperf: [Valid Duration] RunTime=0.550 sec; SentMessages=500; ReceivedMessages=500
sockperf: ====> avg-latency=20.000 (std-dev=1.000, mean-ad=1.000, median-ad=1.000, siqr=1.000, cv=0.050)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 20.000 usec
sockperf: Total 500 observations; each percentile contains 5.00 observations
sockperf: ---> <MAX> observation =   90.000
sockperf: ---> percentile 99.900 =   80.000
sockperf: ---> percentile 99.000 =   40.000
sockperf: ---> percentile 50.000 =   18.000
sockperf: ---> <MIN> observation =   10.000
"""
SOCKPERF_THROUGHPUT = """\
sockperf: == version #3.10-no.git ==
[ 0] IP = 192.0.2.1       PORT = 11111 # UDP
sockperf: Total of 1000000 messages sent in 1.000 sec

sockperf: \x1b[2;35mNOTE: test was performed, using msg-size=1000. For getting more consider --msg-size=1472\x1b[0m
sockperf: Summary: Message Rate is 1000000 [msg/sec]
sockperf: Summary: BandWidth is 953.674 MBps (7629.395 Mbps)
"""
SAMPLES = {
    "osu": osu("MPI Latency", (8, "2.00", "Pass"), (16, "3.00", "Fail"), heads=("Latency (us)", "Validation"))
    + osu("MPI_Put Bandwidth", (8, "4.00"), heads=("Bandwidth (MB/s)",), settings=("Synchronization: MPI_Win_flush",))
    + osu("MPI Barrier Latency", ("", "5.00"), size="").replace("#         ", "# "),
    "imb": imb(
        "PingPong",
        "            0         1000         0.50         0.00",
        "         1000         1000         1.00      1000.00",
        "      4194304 out-of-mem.; needed X=   1.234 GB",
    )
    + imb("Barrier", "         1000         0.50         0.60", heads="#repetitions  t_min[usec]  t_avg[usec]"),
    "perftest": perftest(
        "Send Latency",
        "#bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]",
        "2       1000          0.75           4.25         1.00               1.25",
    )
    + perftest("Send BW", "#bytes     #iterations    BW average[MiB/sec]", "65536      5000             100.00"),
    "ucx_perftest": ucx(1000, "2.000", box="| Test:         tag match latency   |\n| Message size: 8    |\n")
    + "=== tag_bw ===\n"
    + ucx(1000, "3.000", "overhead", box="| Message size: 16   |\n"),
    "gasnet": "=====> testsmall nprocs=2 config=RELEASE\n"
    "A:   0 -          8 byte :    1000 iters, latency         1500 us total,     1.500 us ave. (put latency)\n"
    "B:   1 -       1024 byte :     500 iters, throughput    64.000000 MB/sec (get throughput)\n",
    "nccl-tests": nccl(
        (4096, 1024, "float", "sum", -1, "20.00", "0.10", "0.10", 0, "21.00", "0.10", "0.10", "N/A"),
        (8192, 2048, "half", None, -1, "40.00", "0.10", "0.10", 0, "41.00", "0.10", "0.10", 3),
        verdict="1 FAILED",
    ),
    "netpipe": "       1      0.80   0.00001000\n    1000    400.00   0.00002000\n",
    "fabtests": "$ fi_rma_bw -o write -p verbs 192.0.2.1\n"
    + fabtests(("64", "10k", "640k", 64.0, 1.0, 1.0), ("1k", "10k", "10m", 512.0, 2.0, 0.5)),
    "sockperf": f"$ sockperf pp -i 192.0.2.1 -m 64\n{SOCKPERF}{SOCKPERF_THROUGHPUT}",
}
