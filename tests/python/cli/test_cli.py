import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.diagnosis import doctor
from gasmeter.machines.draws import DRAWS
from gasmeter.rendering.terminal import shortened
from gasmeter.rows.record import COLUMNS
from gasmeter.sweeps import shipped
from gasmeter.units import format_quantity

GOOD = """
import gasmeter as gm
experiment = gm.Experiment(
    name="good",
    title="Good",
    series=(
        gm.Series(kernel="ping-pong", op="put", conduit="smp", sizes="8,64", against="raw@shm"),
        gm.Series(kernel="random-access", conduit="smp", sizes="64K", ranks=(1, 2)),
    ),
)
"""


@pytest.fixture
def call(machine, tmp_path, monkeypatch):
    """Run the command line in an empty folder; stdout and stderr are kept apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shipped, "shipped_folder", lambda: None)  # an installation has them, a tree on the path not
    (tmp_path / "good.py").write_text(GOOD)

    def run(*arguments, env=None):
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], env=env)

    return run


def one_line(result, status):
    """The error of a command: a single line on stderr, nothing on stdout."""
    assert result.exit_code == status, (result.output, result.exception)
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


MEASURE = ("measure", "ping-pong", "--conduit", "smp")

# On the fake machine; what needs none is in data/wrong_inputs.tsv, with its whole lines.
BAD_INPUT = [
    (
        ("measure", "ping", "--conduit", "smp"),
        "unknown kernel 'ping'; did you mean 'ping-pong'?",
        "gasmeter list kernels",
    ),
    (
        ("measure", "ping-pong", "--conduit", "smpp"),
        "unknown conduit 'smpp'; did you mean 'smp'?",
        "gasmeter list conduits",
    ),
    (("measure", "ping-pong", "--conduit", "smp@ibv"), "network 'ibv'; allowed: smp@shm", "gasmeter list conduits"),
    (("measure", "ping-pong", "--conduit", "raw@ofi"), "'ofi'", "gasmeter list kernels"),
    ((*MEASURE, "--against", "rawww"), "unknown conduit 'rawww'", "gasmeter list conduits"),
    ((*MEASURE, "--op", "pt"), "'pt'; did you mean 'put'?", "gasmeter list kernels"),
    ((*MEASURE, "--variant", "am"), "unknown variant", "gasmeter list kernels"),
    ((*MEASURE, "--option", "threads=fast"), "threads='fast'", "true | false"),
    ((*MEASURE, "--option", "shreds=true"), "'shreds'", "gasmeter list conduits"),
    ((*MEASURE, "--option", "threads"), "'threads' is not key=value", "--option name=value"),
    ((*MEASURE, "--option", "threads=false", "--option", "threads=true"), "given twice", "once"),
    ((*MEASURE, "--sizes", "8x"), "size '8x' is not a size", "8,64,4K"),
    ((*MEASURE, "--sizes", "8:x"), "size range '8:x': size 'x' is not a size", "8:4M"),
    ((*MEASURE, "--sizes", "4M:8"), "'4M:8' is reversed", "smaller:larger"),
    ((*MEASURE, "--op", "put", "--sizes", "900G"), "900 GiB", "/dev/shm holds"),
    ((*MEASURE, "--op", "am-medium", "--sizes", "1M"), "size 1048576", "largest Medium of 65536"),
    ((*MEASURE, "--ranks", "-2"), "ranks -2", "1 or more"),
    ((*MEASURE, "--ranks", "two"), "ranks 'two'", "1 or more"),
    ((*MEASURE, "--ranks", "1"), "ranks=1", "at least 2"),
    ((*MEASURE, "--op", "put", "--ranks", "1"), "ranks=1", "at least 2"),
    ((*MEASURE, "--ranks", "99999"), "ranks 99999", "allowed: 1 to"),
    (("measure", "ping-pong", "--conduit", "ideal", "--ranks", "65537"), "ranks 65537", "allowed: 1 to 65536"),
    (("measure", "ping-pong", "--conduit", "ideal", "--ranks", "9" * 30), "virtual time", "gasmeter list conduits"),
    ((*MEASURE, "--op", "put,"), "'put,' has an empty name", "put,get"),
    ((*MEASURE, "--op", ","), "',' has an empty name", "put,get"),
    ((*MEASURE, "--ci", "0%"), "share '0%'", "above 0 %"),
    ((*MEASURE, "--max-time", "soon"), "duration 'soon'", "30s"),
    ((*MEASURE, "--max-time", "9" * 400 + "h"), "duration '999", "30s"),
    ((*MEASURE, "--iterations", "9" * 30), "999' is not allowed", "--help"),
    ((*MEASURE, "--seed", "x"), "seed 'x' is not allowed", "from 0 to 2^64-1"),
    ((*MEASURE, "--seed", "-1"), "seed '-1' is not allowed", "from 0 to 2^64-1"),
    ((*MEASURE, "--seed", str(1 << 64)), "seed '18446744073709551616' is not allowed", "from 0 to 2^64-1"),
    ((*MEASURE, "--seed", "1,2"), "seed '1,2' is not allowed", "one whole number"),
    (
        (*MEASURE, "--machine", "extol"),
        "unknown machine 'extol'; did you mean 'extoll'? allowed: aries, aries-cori1, aries-cori2, ethernet,"
        " ethernet-10g, extoll, fabric, gm, gm-marenostrum, ibv, ideal, ipoib, … (see",
        "gasmeter list machines",
    ),
    (
        (*MEASURE, "--machine", "extoll"),
        "machine 'extoll' belongs to network extoll, but smp runs on this host; allowed: conduits on extoll",
        "gasmeter list conduits",
    ),
    (
        ("measure", "ping-pong", "--conduit", "extoll", "--machine", "extoll+link.bandwith=1 GB/s"),
        "unknown parameter of machine extoll 'link.bandwith'; did you mean 'link.bandwidth'?",
        "gasmeter list machines",
    ),
    (
        ("measure", "ping-pong", "--conduit", "extoll", "--machine", "extoll+link.bandwidth=1"),
        "link.bandwidth of machine extoll: '1' has no unit; allowed: a bandwidth in B/s,",
        "for instance 1.25 GB/s",
    ),
    (
        ("measure", "ping-pong", "--conduit", "extoll", "--topology", "torus3:4x4x4"),
        "unknown topology 'torus3'; did you mean 'torus3d'?",
        "gasmeter list topologies",
    ),
    (
        ("measure", "ping-pong", "--conduit", "extoll", "--topology", "torus3d: 4"),
        "topology of machine extoll: 'torus3d: 4' is not a topology; allowed: a name and its extents",
        "gasmeter list topologies",
    ),
    (
        (*MEASURE, "--topology", "mesh3d:4x4x4"),
        "topology 'mesh3d:4x4x4': smp has no topology; allowed: conduits on a machine with one",
        "gasmeter list machines",
    ),
    ((*MEASURE, "--topology", "rong"), "unknown topology 'rong'", "gasmeter list topologies"),
    ((*MEASURE, "--colour"), "--colour", "gasmeter measure --help"),
    (("measure", "ping-pong"), "--conduit", "gasmeter measure --help"),
    (("measure",), "KERNEL", "gasmeter measure --help"),
    (("list", "things"), "'things' is not one of", "'kernels'"),
    (("run", "."), "is a folder", "gasmeter list experiments"),
    (("run", "missing"), "unknown experiment 'missing'", "gasmeter list experiments"),
    (("run", "good"), "unknown experiment 'good'; did you mean 'good.py'?", "gasmeter list experiments"),
    (("new", "good"), "good.py is there already", "a new file"),
    (("new", "so good"), "'so good' is not allowed", "letters, digits"),
    (("new", "below/good"), "'below/good' is not allowed", "letters, digits"),
    (("new", "x", "--kernel", "ping"), "unknown kernel 'ping'; did you mean 'ping-pong'?", "gasmeter list kernels"),
    (("new", "x", "--conduit", "smpp"), "unknown conduit 'smpp'; did you mean 'smp'?", "gasmeter list conduits"),
    (("new", "x", "--op", "pt"), "'pt'; did you mean 'put'?", "gasmeter list kernels"),
    (("run", "good.py", "--set", "size"), "'size' is not key=value", "--set"),
    (("run", "good.py", "--set", "flood.sizes=8"), "Error: unknown kernel in --set 'flood'", "ping-pong"),
    (("run", "good.py", "--set", "seed=x"), "seed 'x' is not allowed", "from 0 to 2^64-1"),
    (("run", "good.py", "--set", "repetitions=0"), "Series.repetitions: '0' is not allowed", "allowed: greater than"),
    (("run", "good.py", "--set", "ranks=0"), "ranks 0", "1 or more"),
    (("run", "good.py", "--jobs", "0"), "'0' is not allowed", "whole numbers of 1 or more"),
    (("run", "good.py", "--out", "good.py"), "is a file", "a folder"),
    (("run", "good.py", "--out", "/proc"), "cannot write /proc/journal.jsonl", "--out"),
    (("run", "good.py", "--out", ""), "folder '' has no name", "--out"),
]


@pytest.mark.parametrize(
    ("arguments", "names", "points_to"), BAD_INPUT, ids=[" ".join(entry[0]) for entry in BAD_INPUT]
)
def test_bad_input_is_one_line_that_names_the_value_and_what_is_allowed(call, arguments, names, points_to):
    line = one_line(call(*arguments), 2)
    assert names in line
    assert points_to in line


FILES = [
    ("import gasmeter as gm\nx = = 1\n", ":2: ", "invalid syntax"),
    ("import gasmeter as gm\nx = gm.Experimnt()\n", ":2: ", "Experimnt"),
    ("import nothing_of_the_kind\n", ":1: ", "nothing_of_the_kind"),
    ("x = 1\n", "", "describes no experiment"),
    (GOOD + "other = gm.Experiment(name='b', kernel='barrier', conduit='smp')\n", "", "describes 2 experiments"),
    (GOOD.replace('op="put"', 'ops="put"'), ":7: ", "no field 'ops'; did you mean 'op'?"),
    (GOOD.replace('name="good"', 'nam="good"'), ":4: ", "no field 'nam'; did you mean 'name'?"),
    (GOOD.replace("ranks=(1, 2)", "ranks=(1, 0)"), ":8: ", "ranks 0"),
    (GOOD.replace('"8,64"', '"8,64y"'), ":7: ", "size '64y'"),
    (GOOD.replace('"random-access"', '"random-acess"'), ":8: ", "did you mean 'random-access'?"),
    (GOOD.replace('"raw@shm"', '"raw@shn"'), ":7: ", "'shn'"),
    (
        GOOD.replace('title="Good",', 'title="Good", plots=(gm.Plot(kind="latency", metric="speed"),),'),
        ":5: ",
        "unknown metric 'speed'",
    ),
    (
        GOOD.replace('title="Good",', 'title="Good", plots=(gm.Plot(kind="pie"),),'),
        ":5: ",
        "kind: 'pie' is not allowed; allowed: 'latency'",
    ),
    (GOOD.replace('name="good"', 'name="so good"'), ":4: ", "'so good' is not allowed; allowed: letters, digits"),
    (GOOD.replace("ranks=(1, 2)", "ranks=1.5"), ":8: ", "ranks '1.5' is not a whole number; allowed"),
    (GOOD.replace('"8,64"', "8.5"), ":7: ", "size '8.5' is not a size; allowed"),
    (GOOD.replace('op="put"', "op=3"), ":7: ", "3 is not a name; allowed"),
    (GOOD.replace('op="put"', 'op="put", seed=-1'), ":7: ", "seed '-1' is not allowed; allowed"),
    (GOOD.replace('op="put"', 'op="put", quick={"sise": 8}'), ":7: ", "no field 'sise'; did you mean 'sizes'? allowed"),
    (GOOD.replace('op="put"', 'op="put", quick={"sizes": "8z"}'), ":7: ", "size '8z' is not a size; allowed"),
    ("import sys\nsys.exit('gone')\n", ":2: ", "SystemExit: gone; allowed: a Python file"),
    ("raise RuntimeError('boom\\nbang')\n", ":1: ", "RuntimeError: boom; allowed: a Python file"),
    ("raise RuntimeError\n", ":1: ", "RuntimeError; allowed: a Python file"),
    ("x = 1\0\n", ":1: ", "null bytes"),
]


@pytest.mark.parametrize(("text", "line", "message"), FILES, ids=[entry[2] for entry in FILES])
def test_a_mistake_in_an_experiment_file_is_one_line_with_its_place(call, text, line, message):
    Path("bad.py").write_text(text)
    for extra in ((), ("--dry-run",)):
        result = one_line(call("run", "bad.py", *extra), 2)
        assert f"bad.py{line}" in result
        assert message in result
    assert not Path("out").exists()


def test_csv_holds_rows_and_nothing_else(call):
    result = call(*MEASURE, "--op", "put", "--sizes", "8,64", "--against", "raw@shm", "--format", "csv")
    assert result.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert tuple(rows[0]) == COLUMNS
    assert [row["metric"] for row in rows] == ["latency", "latency", "overhead"] * 2
    assert [row["reference"] for row in rows[:3]] == ["", "", "raw@shm"]
    assert result.stderr == ""


def test_notes_go_to_standard_error(call):
    result = call(*MEASURE, "--op", "am-medium", "--time", "10ms", "--format", "json")
    assert result.exit_code == 0
    assert max(row["size_bytes"] for row in json.loads(result.stdout)) == 64 * 1024
    assert "largest Medium" in result.stderr


def test_json_holds_rows_and_nothing_else(call):
    rows = json.loads(call(*MEASURE, "--format", "json").stdout)
    assert list(rows[0]) == list(COLUMNS)
    assert rows[0]["size_bytes"] == 0
    assert rows[0]["verified"] is True


def test_the_osu_layout_has_a_comment_header_and_columns(call):
    text = call(*MEASURE, "--op", "put", "--sizes", "8,64", "--format", "osu").stdout.splitlines()
    assert text[0].startswith("# gasmeter ping-pong put on smp")
    assert text[1].split() == ["#", "Size", "Latency", "(us)"]
    assert [line.split()[0] for line in text[2:]] == ["8", "64"]
    assert float(text[2].split()[1]) == pytest.approx(0.00216, rel=0.02)


def test_the_table_shows_medians_intervals_and_what_disturbed_them(call):
    text = call(*MEASURE, "--op", "put", "--sizes", "8", "--against", "raw@shm").stdout
    assert "over raw@shm" in text
    assert "95 % interval" in text
    assert "core-to-core probe 110 ns" in text


def test_every_format_shows_the_same_numbers(call, machine):
    values = []
    for form in ("csv", "json"):
        machine.__post_init__()
        machine.now = 1000.0
        text = call(*MEASURE, "--op", "put", "--sizes", "8", "--format", form).stdout
        rows = json.loads(text) if form == "json" else list(csv.DictReader(io.StringIO(text)))
        values.append(float(rows[0]["value"]))
    assert values[0] == values[1]


def test_unverified_data_is_status_one(call, machine):
    machine.unverified.add("put")
    result = call(*MEASURE, "--op", "put", "--sizes", "8", "--format", "csv")
    assert result.exit_code == 1
    assert "did not verify" in result.stderr
    assert next(csv.DictReader(io.StringIO(result.stdout)))["value"] == ""


def test_options_come_from_the_environment_too(call):
    env = {"GASMETER_MEASURE_CONDUIT": "smp", "GASMETER_MEASURE_SEED": "7", "GASMETER_MEASURE_FORMAT": "json",
           "GASMETER_MEASURE_OPTION": "threads=true"}  # fmt: skip
    row = json.loads(call("measure", "ping-pong", env=env).stdout)[0]
    assert (row["seed"], row["options"]) == (7, "threads=true")


def test_a_broken_job_is_status_four(call, machine):
    machine.die_at_block = 20
    assert "rank 1 (pid 4321) was killed by signal 9" in one_line(call(*MEASURE), 4)


def test_an_interrupt_is_status_130(call, machine):
    machine.interrupt_at_block = 20
    assert one_line(call(*MEASURE), 130) == "Error: interrupted"


def test_run_writes_a_store_and_prints_a_table(call):
    result = call("run", "good.py")
    assert result.exit_code == 0, result.output
    assert "overhead" in result.stdout
    assert sorted(path.name for path in Path("out/good").iterdir()) == [
        "journal.jsonl", "plots", "report.html", "results.csv", "run.json", "samples.parquet", "summary.md",
    ]  # fmt: skip
    assert sorted(path.name for path in Path("out/good/plots").iterdir()) == [
        "gups.png", "gups.svg", "latency.png", "latency.svg",
    ]  # fmt: skip


def test_p99_and_semantics_of_a_run_come_with_long_alone(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")
    aimed = 'against="raw@shm", target=gm.Target(line="put", at_most=9)'
    Path("aimed.py").write_text(GOOD.replace('against="raw@shm"', aimed))
    short, long = (call("run", "aimed.py", "--quick", "--out", "here", *given).stdout for given in ((), ("--long",)))
    assert "P99" not in short
    assert "semantics" not in short
    in_short, limits = long.split("Results against limits")
    rows = list(csv.DictReader(Path("here/results.csv").read_text().splitlines()))
    entry = next(
        row for row in rows if row["conduit"] == "smp" and row["metric"] == "latency" and row["size_bytes"] == "8"
    )
    ratio = next(row for row in rows if row["metric"] == "overhead" and row["size_bytes"] == "8")
    assert entry["p99"] != entry["value"]
    line = next(line for line in in_short.splitlines() if entry["semantics"] in line and " smp " in line)
    assert format_quantity(float(entry["p99"]), "ns", "latency") in line
    assert f"{float(ratio['p99']) + 1:.3g}" in limits.split("P99")[1]
    assert ratio["semantics"] in limits


def test_run_json_says_where_options_came_from(call):
    call("run", "good.py", "--quick", "--out", "here", env={"GASMETER_RUN_JOBS": "2"})
    options = json.loads(Path("here/run.json").read_text())["runs"][0]["options"]
    assert options["quick"] == {"value": True, "origin": "command line"}
    assert options["jobs"] == {"value": 2, "origin": "environment"}
    assert options["resume"]["origin"] == "default"


def test_a_dry_run_measures_nothing(call, machine):
    result = call("run", "good.py", "--dry-run")
    assert result.exit_code == 0
    assert "ping-pong put 8 B on smp, 2 ranks" in result.stdout
    assert "6 points in 4 groups, about" in result.stdout
    assert machine.blocks == 0
    assert not Path("out").exists()


def test_a_dry_run_says_how_many_points_a_search_for_jumps_may_add(call, machine):
    plain = call("run", "good.py", "--dry-run").stdout
    assert "where curves jump" not in plain
    asked = 'kernel="ping-pong", op="put", conduit="smp", sizes="8,16,4K", bisect="20%"'
    Path("few.py").write_text(f"import gasmeter as gm\nexperiment = gm.Experiment(name='few', {asked})\n")
    wide = call("run", "few.py", "--dry-run").stdout
    assert re.search(r"3 points in 3 groups, about .*; where curves jump up to 64 points more, about \d", wide)
    close = call("run", "few.py", "--dry-run", "--set", "sizes=8,10,14", "--set", "conduit=smp,udp").stdout
    assert "where curves jump up to 8 points more, about" in close  # 9, 11, 12, 13 B on each
    assert machine.blocks == 0


def test_an_interrupted_run_is_status_130_and_resume_finishes_it(call, machine):
    machine.interrupt_at_block = 600
    result = call("run", "good.py")
    assert result.exit_code == 130
    assert "--resume" in result.stderr
    machine.interrupt_at_block = None
    assert call("run", "good.py", "--resume").exit_code == 0
    assert json.loads(Path("out/good/run.json").read_text())["state"] == "complete"


def test_another_experiments_folder_is_status_two(call):
    call("run", "good.py", "--quick", "--out", "here")
    Path("other.py").write_text(GOOD.replace('"good"', '"other"'))
    assert "holds experiment 'good', not 'other'" in one_line(call("run", "other.py", "--out", "here"), 2)


def test_a_folder_that_cannot_be_written_is_one_line(call):
    assert "cannot write" in one_line(call("run", "good.py", "--out", "good.py/below"), 2)


@pytest.mark.parametrize("what", ["kernels", "conduits", "machines", "topologies", "experiments", "figures", "claims"])
def test_list_has_text_and_json(call, what):
    entries = json.loads(call("list", what, "--json").stdout)
    assert all({"name", "summary", "ops", "options"} <= set(entry) for entry in entries)
    text = call("list", what).stdout
    assert text.startswith(f"{what}:")
    if not entries:
        assert "none" in text
    for entry in entries:
        assert entry["name"] in text
        for option in entry["options"]:
            assert {"name", "type", "default", "unit", "choices"} <= set(option)


@pytest.mark.parametrize("what", ["figures", "claims"])
def test_list_takes_the_name_of_a_paper(call, what):
    every = json.loads(call("list", what, "--json").stdout)
    assert json.loads(call("list", what, "sci", "--json").stdout) == [
        entry for entry in every if entry["paper"] == "sci"
    ]


def test_list_refuses_a_name_that_does_not_exist(call):
    assert "unknown machine 'myrinet'; allowed: aries, " in one_line(call("list", "machines", "myrinet"), 2)
    assert "did you mean 'extoll'?" in one_line(call("list", "machines", "extol"), 2)
    assert "unknown topology 'torus3'; did you mean" in one_line(call("list", "topologies", "torus3"), 2)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        ((*MEASURE, "--format", "tabel"), "'table'"),
        (("list", "machnes"), "'machines'"),
        (("import", "osuu", "x"), "'osu'"),
        (("reproduce", "extoll", "--blind", "remove"), "'removed'"),
        (("reproduce", "extol"), "'extoll'"),
        (("reproduce", "extoll", "--figures", "bucket"), "'buckets'"),
        (("trace", "putt", "--conduit", "ideal"), "'put'"),
        (("mesure",), "'measure'"),
        ((*MEASURE, "--topolgy", "ring:8"), "'--topology'"),
        ((*MEASURE, "--op", "putt"), "'put'"),
        (("run", "goood.py"), "'good.py'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_nearest_name_is_named(call, words, nearest):
    line = one_line(call(*words), 2).lower()
    assert "did you mean" in line
    assert nearest in line.partition("did you mean")[2]


def test_list_shows_experiments_with_their_time_and_broken_ones_with_their_mistake(call):
    Path("experiments").mkdir()
    Path("experiments/good.py").write_text(GOOD)
    Path("experiments/bad.py").write_text("x = = 1")
    text = call("list", "experiments").stdout
    assert "6 points, " in text
    assert "broken" in text
    assert "6 points, about" in call("list", "experiments", "good").stdout


PROGRAM = '''"""What it costs.

More about it.
"""
import sys

if __name__ == "__main__":
    sys.exit("it runs")
'''


def test_a_program_among_the_experiments_is_listed_with_its_command(call):
    Path("experiments").mkdir()
    Path("experiments/cost.py").write_text(PROGRAM)
    Path("experiments/lame.py").write_text(PROGRAM.replace("import sys", "import nothing_of_the_kind"))
    Path("experiments/torn.py").write_text(PROGRAM + "x = = 1")
    assert "  cost  program  What it costs.\n" in call("list", "experiments").stdout
    text = call("list", "experiments", "cost").stdout
    assert "cost           What it costs. (program, run it with `python experiments/cost.py`)" in text
    cost, lame, torn = json.loads(call("list", "experiments", "--json").stdout)
    assert cost == {
        "name": "cost", "summary": "What it costs.", "ops": [], "options": [], "state": "program",
        "file": "experiments/cost.py", "command": "python experiments/cost.py",
    }  # fmt: skip
    assert (lame["state"], torn["state"]) == ("program", "broken")  # nothing is imported to list it
    assert "torn.py:9: invalid syntax" in torn["summary"]


TOUCHY = """
import pathlib
import gasmeter as gm
from gasmeter import Series as OneOf

pathlib.Path("touched").touch()
SIZES = ("8", "16")
BOTH = {"conduit": "smp", **{"op": "put"}}
experiment = gm.Experiment(name="touchy", title="It writes", series=[OneOf(kernel="ping-pong", sizes=SIZES, **BOTH)])
"""


def test_listing_experiments_runs_none_of_them(call):
    Path("experiments").mkdir()
    Path("experiments/touchy.py").write_text(TOUCHY)
    Path("experiments/coded.py").write_text(TOUCHY.replace("touchy", "coded").replace("SIZES,", "tuple(SIZES),"))
    Path("experiments/main.py").write_text(TOUCHY.partition("SIZES")[0] + PROGRAM.partition("import sys")[2])
    Path("experiments/two.py").write_text(TOUCHY + TOUCHY.partition("BOTH")[2].partition("\n")[2])
    coded, main, touchy, two = json.loads(call("list", "experiments", "--json").stdout)
    assert (touchy["state"], touchy["points"], touchy["ops"]) == ("ready", 2, ["put"])
    assert (coded["name"], coded["summary"], coded["state"]) == ("coded", "It writes", "not read")
    assert (main["state"], two["state"]) == ("program", "broken")
    assert "2 experiments" in two["summary"]
    assert "  coded   not read  It writes\n" in call("list").stdout
    assert not Path("touched").exists()
    assert json.loads(call("list", "experiments", "coded", "--json").stdout)[0]["points"] == 2
    assert Path("touched").exists()


@pytest.mark.parametrize(
    "code",
    [
        'SIZES = ("8",)\nSIZES = ("8", "16")',
        'SIZES = ["8"]\nSIZES.append("16")',
        'SIZES = ["8"]\nSIZES[0] = "16"',
        "SIZES = SIZES",
        'for SIZES in (("8",), ("16",)): pass',
        'SIZES = ("8", "16")[:1]',
    ],
)
def test_values_that_code_may_change_are_not_read(call, code):
    Path("experiments").mkdir()
    Path("experiments/touchy.py").write_text(TOUCHY.replace('SIZES = ("8", "16")', code))
    (entry,) = json.loads(call("list", "experiments", "--json").stdout)
    assert (entry["state"], entry["name"]) == ("not read", "touchy")


def test_a_mistake_in_a_declaration_is_listed_with_its_line(call):
    Path("experiments").mkdir()
    Path("experiments/bad.py").write_text(TOUCHY.replace('title="It writes"', 'titel="It writes"'))
    (bad,) = json.loads(call("list", "experiments", "--json").stdout)
    assert bad["state"] == "broken"
    assert "bad.py:9: Experiment: no field 'titel'" in bad["summary"]


def test_a_program_is_not_run_as_an_experiment(call):
    Path("cost.py").write_text(PROGRAM)
    line = one_line(call("run", "cost.py"), 2)
    assert "cost.py is a program, not an experiment; run it with `python cost.py`" in line
    Path("both.py").write_text(GOOD + PROGRAM.partition("import sys")[2])
    assert call("run", "both.py", "--dry-run").exit_code == 0


def test_list_without_argument_shows_what_runs(call):
    text = call("list").stdout
    assert all(word in text for word in ("kernels:", "conduits:", "ping-pong", "raw@shm"))
    assert {entry["list"] for entry in json.loads(call("list", "--json").stdout)} == {"kernels", "conduits"}


@pytest.mark.parametrize(
    ("plugins", "state", "message"),
    [
        ([], "missing", "no plug-in for one"),
        (["mpich"], "ok", "mpich (/opt/mpiexec.mpich)"),
        (["mpich", "openmpi"], "warning", "openmpi (no mpiexec)"),
    ],
)
def test_doctor_lists_mpis(plugins, state, message, tmp_path, monkeypatch):
    for name in plugins:
        (tmp_path / f"gasmeter-mpi-{name}.so").touch()
    monkeypatch.setenv("GASMETER_MPI_PLUGINS", str(tmp_path))
    monkeypatch.delenv("GASMETER_MPIEXEC", raising=False)
    programs = {"mpiexec.mpich": "/opt/mpiexec.mpich"}
    monkeypatch.setattr("gasmeter.diagnosis.doctor.shutil.which", programs.get)
    (line,) = doctor._mpis()
    assert (line.state, message in line.summary) == (state, True)
    assert bool(line.remedy) == (state != "ok")
    assert not line.needed


def test_doctor_names_what_is_missing_and_what_to_do(call, monkeypatch):
    monkeypatch.setenv("GASMETER_RANK", "/nowhere/gasmeter-rank")
    result = call("doctor")
    assert result.exit_code == 3
    assert "MISSING  worker" in result.stdout
    assert "probe" in result.stdout
    entries = json.loads(call("doctor", "--json").stdout)
    assert {"name", "summary", "state", "value", "unit", "remedy"} <= set(entries[0])
    assert {"conduits", "shared memory", "cores", "clock", "probe", "huge pages", "numpy"} <= {
        e["name"] for e in entries
    }


def test_help_is_complete(call):
    for command in ("measure", "run", "list", "doctor"):
        text = call(command, "--help").stdout
        assert "[env var: GASMETER_" in text.replace("\n", " ").replace("  ", " ") or "env var" in text
    assert call().stdout.startswith("Usage:")
    assert call("--version").exit_code == 0


@pytest.mark.parametrize("what", ["kernels", "conduits", "machines", "topologies", "figures", "claims"])
def test_a_list_has_a_line_for_each_name(call, what):
    names = [entry["name"] for entry in json.loads(call("list", what, "--json").stdout)]
    first, *lines, last = call("list", what).stdout.splitlines()
    assert first == f"{what}:"
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        assert line.startswith(f"  {name} ")
    assert last == f"  all about one: `gasmeter list {what} NAME`"
    assert len(call("list", what, names[0]).stdout.splitlines()) > 1


def test_a_line_ends_where_the_terminal_does(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    assert shortened("x" * 60) == "x" * 60
    assert shortened("x" * 61) == "x" * 59 + "…"
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: False))
    assert shortened("x" * 61) == "x" * 61


def test_the_help_says_how_many_draws_there_are(call):
    assert f"drawn from their ranges, 0 to {DRAWS - 1})" in " ".join(call("measure", "--help").stdout.split())
