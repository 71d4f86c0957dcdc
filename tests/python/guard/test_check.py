"""`gasmeter check` and `gasmeter compare` on stores: verdicts, formats, and stores that cannot be used."""

import csv
import json
import lzma
import math
import shutil
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from click.testing import CliRunner

from gasmeter.cli.app import cli
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.guard import Rules, judge, read_measured
from gasmeter.guard.alternating import Build, alternate, starts_needed
from gasmeter.guard.builds import find_build
from gasmeter.measuring import probe
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.probe import probe_digest
from gasmeter.measuring.sessions import WorkerPools
from gasmeter.sweeps.experiment import Experiment
from gasmeter.sweeps.series import Series
from stored import age, edit_journal, edit_rows, edit_run

QUICK = {"time_s": 0.01, "max_time_s": 0.1}
MEASURED = Series(kernel="ping-pong", conduit="smp", op="put,am-short", sizes="8", **QUICK)
MODELLED = Series(kernel="ping-pong", conduit="ideal", op="put", sizes="8,64")


def measure(out, series=(MEASURED, MODELLED), starts=10):
    execute(Experiment(name="suite", series=series), Run(out=out, starts=starts, bare=True))
    return out


@pytest.fixture
def stores(machine, tmp_path):
    machine.noise = 0.004
    return measure(tmp_path / "a"), measure(tmp_path / "b")


def run(*arguments):
    return CliRunner().invoke(cli, [str(text) for text in arguments], standalone_mode=False)


def check(baseline, new, *more):
    """Exit status and what was printed."""
    done = CliRunner().invoke(cli, ["check", "--baseline", str(baseline), str(new), *map(str, more)])
    return done.exit_code, done.stdout, done.stderr


def slow_down(factor, op):
    def change(entry):
        for row in entry["rows"]:
            if row["op"] == op and row["kind"] == "measured":
                row["value"] *= factor

    return change


def test_each_start_has_processes_of_its_own_and_virtual_time_is_run_once(machine, tmp_path):
    store = read_measured(measure(tmp_path / "a"))
    assert {len(sample.rows) for sample in store.samples.values() if not sample.modelled} == {10}
    assert {len(sample.rows) for sample in store.samples.values() if sample.modelled} == {1}
    assert store.starts_are_processes
    assert len(machine.pools) == 10
    assert all(pool.closed for pool in machine.pools)


def test_the_same_build_passes(stores):
    status, text, _ = check(*stores)
    assert status == 0, text
    assert "passed: 2 not significant, 2 same" in text


def test_four_percent_fail_and_are_named(stores):
    edit_journal(stores[1], slow_down(1.04, "am-short"))
    status, text, _ = check(*stores)
    assert status == 1
    assert "FAILED: 1 slower, 2 same, 1 not significant" in text
    line = next(line for line in text.splitlines() if "SLOWER" in line)
    assert line.startswith("am-short")
    assert "1.04X SLOWER" in line


def test_four_percent_less_is_no_failure(stores):
    edit_journal(stores[1], slow_down(0.95, "am-short"))
    status, text, _ = check(*stores)
    assert status == 0
    assert "faster" in text


def test_one_picosecond_of_virtual_time_fails_and_names_size_and_block(stores):
    def change(entry):
        for row in entry["rows"]:
            if row["kind"] == "modelled" and row["size_bytes"] == 64:
                row["p99"] += 0.001
        for columns in entry["samples"]:
            if columns["conduit"] == "ideal" and columns["size_bytes"] == 64:
                columns["value"][0] += 0.001

    edit_journal(stores[1], change)
    judgement = judge(*map(read_measured, stores))
    moved = [finding for finding in judgement.findings if finding.verdict == "moved"]
    assert [item.key.size_bytes for item in moved] == [64]
    assert moved[0].note.startswith("block 0: ")
    assert "(+1 ps)" in moved[0].note
    assert check(*stores)[0] == 1


def test_what_compares_measured_with_modelled_is_not_gated(machine, tmp_path):
    series = (MODELLED.replaced({"size": "8"}).model_copy(update={"reference": "smp"}),)
    machine.noise = 0.004
    first = measure(tmp_path / "a", series)
    machine.noise = 0.02
    second = measure(tmp_path / "b", series)
    status, text, _ = check(first, second)
    assert status == 0, text
    assert "1 same" in text
    assert "mixed" in (second / "results.csv").read_text()


def test_options_for_tests_of_the_guard_make_no_other_figure(stores):
    def change(entry):
        for row in entry["rows"]:
            if row["conduit"] == "smp":
                row["options"] = "debug_spin=0.04"

    edit_journal(stores[1], change)
    assert check(*stores)[0] == 0


def test_few_starts_see_only_large_differences(machine, tmp_path):
    machine.noise = 0.004
    series = (MEASURED,)
    first, second = (measure(tmp_path / name, series, starts=0) for name in "ab")
    status, text, _ = check(first, second)
    assert status == 0
    assert "fewer than 10 process starts" in text

    def change(entry):
        for columns in entry["samples"]:
            columns["value"] = [1.4 * value for value in columns["value"]]

    edit_journal(second, change)
    assert check(first, second)[0] == 1


def test_starts_in_another_state_of_the_cores_are_left_out(stores):
    def change(entry):
        for row in entry["rows"]:
            if row["kind"] == "measured":
                row["host_state_ns"] *= 3

    edit_journal(stores[1], change)
    status, text, _ = check(*stores)
    assert status == 5
    assert "UNDECIDED: " in text
    assert "2 undecided" in text
    assert "the cores moved" in text
    assert "could have seen no change" in text


def test_figures_that_vanish_fail_unless_allowed(machine, tmp_path):
    first = measure(tmp_path / "a", (MODELLED,))
    second = measure(tmp_path / "b", (MODELLED.replaced({"size": "8"}),))
    status, text, _ = check(first, second)
    assert status == 1
    assert "MISSING" in text
    assert check(first, second, "--allow-missing")[0] == 0
    assert "1 new" in check(second, first)[1]


def test_data_that_did_not_verify_fails(machine, tmp_path):
    first = measure(tmp_path / "a", (MEASURED,))
    machine.unverified = {"put"}
    second = measure(tmp_path / "b", (MEASURED,))
    status, text, _ = check(first, second)
    assert status == 1
    assert "did not verify" in text
    status, _, error = check(second, first)
    assert status == 2
    assert "no baseline" in error


def test_formats_say_the_same(stores, tmp_path):
    edit_journal(stores[1], slow_down(1.1, "put"))
    junit, markdown = tmp_path / "check.xml", tmp_path / "check.md"
    status, text, _ = check(
        *stores, "--format", "json", "--report", f"junit={junit}", "--report", f"markdown={markdown}"
    )
    assert status == 1
    whole = json.loads(text)
    assert whole["failed"]
    slower = [entry for entry in whole["findings"] if entry["failed"]]
    assert [(entry["kernel"], entry["op"], entry["verdict"]) for entry in slower] == [("ping-pong", "put", "slower")]
    assert 1.08 < slower[0]["comparison"]["ratio"] < 1.12
    suite = ET.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [slower[0]["name"]]
    assert "| ping-pong put 8 B on smp" in markdown.read_text()
    assert check(*stores, "--report", "pdf=x")[0] == 2


# ---- stores that cannot be used: status 2, one line, the store named


def truncate_journal(place):
    path = place / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-200])


def write_nan(entry):
    for row in entry["rows"]:
        row["value"] = float("nan")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "holds no run.json"),
        (lambda place: edit_run(place, lambda run: run.update(schema=99)), "has schema 99"),
        (lambda place: (place / "run.json").write_text("{"), "is not a run.json"),
        (lambda place: edit_run(place, lambda run: run.update(state="running")), "is not complete"),
        (lambda place: edit_run(place, lambda run: run.update(runs=[])), "names no run"),
        (truncate_journal, "is cut off: "),
        (lambda place: (place / "journal.jsonl").write_text(""), "is cut off: 0 of"),
        (lambda place: edit_journal(place, lambda entry: entry["rows"].clear()), "is empty"),
        (lambda place: edit_journal(place, write_nan), "though its data verified"),
        (lambda place: edit_journal(place, lambda entry: entry["rows"][0].pop("unit")), "a row without unit"),
        (lambda place: edit_journal(place, lambda entry: entry.update(surprise=1)), "cannot be read"),
        (
            lambda place: edit_run(place, lambda run: run["runs"][0]["host"].update(processor="abacus")),
            "different machines (processor: ",
        ),
    ],
)
def test_stores_that_cannot_be_used_are_named(stores, damage, message):
    damage(stores[1])
    status, text, error = check(*stores)
    assert status == 2
    assert text == ""
    assert message in error
    assert str(stores[1]) in error
    assert len(error.splitlines()) == 1


def drop(name):
    return lambda place: (place / name).unlink()


def cut(name, size):
    return lambda place: (place / name).write_bytes((place / name).read_bytes()[:size])


def one_picosecond_more(place):
    """Change the last digit of the last figure of a modelled row."""
    path = place / "results.csv"
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    kind, value = rows[0].index("kind"), rows[0].index("value")
    row = next(row for row in rows if row[kind] == "modelled")
    row[value] = f"{float(row[value]) + 0.001:.12g}"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def turn_a_byte(name):
    def turn(place):
        content = bytearray((place / name).read_bytes())
        content[len(content) // 2] ^= 1
        (place / name).write_bytes(content)

    return turn


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (drop("results.csv"), "results.csv is missing"),
        (cut("results.csv", 300), "results.csv is cut off: 300 of "),
        (one_picosecond_more, "results.csv has changed: it holds more than the "),
        (drop("samples.parquet"), "samples.parquet is missing"),
        (cut("samples.parquet", 100), "samples.parquet is cut off: 100 of "),
        (turn_a_byte("samples.parquet"), "samples.parquet has changed: sha256 "),
        (lambda place: edit_run(place, lambda run: run.pop("files")), "run.json names no digests of its files"),
    ],
)
def test_files_that_are_not_what_the_run_wrote_are_refused_by_name(stores, damage, message, published):
    if published:
        (stores[1] / "journal.jsonl").unlink()
    assert check(*stores)[0] == 0
    damage(stores[1])
    status, text, error = check(*stores)
    assert status == 2
    assert text == ""
    assert message in error
    assert str(stores[1]) in error
    assert len(error.splitlines()) == 1


def test_a_damaged_journal_is_refused_and_resume_makes_the_tables_anew(stores):
    whole = {name: (stores[1] / name).read_bytes() for name in ("results.csv", "samples.parquet")}
    turn_a_byte("journal.jsonl")(stores[1])
    assert "journal.jsonl has changed" in check(*stores)[2]
    turn_a_byte("journal.jsonl")(stores[1])
    drop("results.csv")(stores[1])
    cut("samples.parquet", 100)(stores[1])
    execute(
        Experiment(name="suite", series=(MEASURED, MODELLED)), Run(out=stores[1], starts=10, bare=True, resume=True)
    )
    assert check(*stores)[0] == 0
    assert {name: (stores[1] / name).read_bytes() for name in whole} == whole


def test_files_of_a_store_may_be_compressed(stores):
    (stores[0] / "journal.jsonl").unlink()
    for name in ("results.csv", "run.json", "samples.parquet"):
        path = stores[0] / name
        (stores[0] / f"{name}.xz").write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    assert check(*stores)[0] == 0
    assert CliRunner().invoke(cli, ["compare", *map(str, stores)]).exit_code == 0
    cut("results.csv.xz", 300)(stores[0])
    status, _, error = check(*stores)
    assert status == 2
    assert "results.csv cannot be read: is damaged" in error


def test_what_a_crash_cut_off_is_measured_again_and_nothing_else(machine, tmp_path):
    machine.noise = 0.004
    baseline, new = measure(tmp_path / "a"), measure(tmp_path / "b")
    whole = {line.split(",")[-2]: line for line in (new / "results.csv").read_text().splitlines()}
    truncate_journal(new)
    edit_run(new, lambda run: run.update(state="running"))
    status, _, error = check(baseline, new)
    assert status == 2
    assert "finish it with `gasmeter run … --resume`" in error
    measured = machine.blocks
    experiment = Experiment(name="suite", series=(MEASURED, MODELLED))
    execute(experiment, Run(out=new, starts=10, bare=True, resume=True))
    again = {line.split(",")[-2]: line for line in (new / "results.csv").read_text().splitlines()}
    assert again.keys() == whole.keys()
    assert sum(again[key] != whole[key] for key in whole) <= 1
    assert machine.blocks - measured < 40
    assert check(baseline, new)[0] == 0


def test_a_baseline_of_an_older_schema_is_compared_with_a_note(stores):
    age(stores[0])
    (stores[0] / "journal.jsonl").unlink()
    path = stores[0] / "results.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    gone = rows[0].index("topology")
    path.write_text("".join(",".join(cells[:gone] + cells[gone + 1 :]) + "\n" for cells in rows))
    status, text, error = check(*stores)
    assert status == 0
    assert "passed: 2 not significant, 2 same" in text
    assert f"{stores[0]} has schema 1, without digests" in error
    edit_run(stores[1], lambda run: run.update(schema=3))
    status, _, error = check(*stores)
    assert status == 2
    assert "has schema 3, from a newer gasmeter; allowed: 1 to 2" in error


def test_a_store_of_an_older_schema_with_its_journal_is_compared(stores):
    age(stores[0])
    assert check(*stores)[0] == 0
    path = stores[0] / "journal.jsonl"
    path.write_text(path.read_text().replace('"rows"', '"rows', 1))
    status, _, error = check(*stores)
    assert status == 2
    assert "journal.jsonl:1: the line is damaged" in error


def test_what_disturbs_both_builds_within_a_start_cancels(machine, tmp_path):
    """Blocks that ran beside each other are compared, so that a drift of the machine is no difference."""
    machine.noise = 0.004
    speed = {"level": 1.0}

    def drift(fake):
        fake.noise = 0.004
        speed["level"] *= math.exp(0.05 * fake.rng.normal())

    machine.on_block = drift
    timing = type(machine).timing

    def drifting(self, *args):
        elapsed, operations, metrics = timing(self, *args)
        level = speed["level"]
        return elapsed * level, operations, {name: value * level for name, value in metrics.items()}

    machine.timing = drifting.__get__(machine)
    experiment = Experiment(name="suite", series=(Series(kernel="ping-pong", conduit="smp", op="am-short", **QUICK),))
    pools = pools_of(machine, {"b": 1.04})
    judgement = judge(
        *map(read_measured, alternate(experiment, builds(tmp_path), tmp_path / "o", quick=False, pools=pools))
    )
    (finding,) = judgement.findings
    assert finding.verdict == "slower"
    assert finding.comparison.high - finding.comparison.low < 0.1


def test_other_machines_are_compared_when_asked_for_and_do_not_matter_to_virtual_time(stores, machine, tmp_path):
    edit_run(stores[1], lambda run: run["runs"][0]["host"].update(name="elsewhere"))
    assert check(*stores, "--any-machine")[0] == 0
    first, second = (measure(tmp_path / name, (MODELLED,)) for name in "cd")
    edit_run(second, lambda run: run["runs"][0]["host"].update(name="elsewhere"))
    assert check(first, second)[0] == 0


def test_stores_with_nothing_in_common_are_refused(machine, tmp_path):
    first = measure(tmp_path / "a", (MODELLED,))
    second = measure(tmp_path / "b", (MEASURED,))
    status, _, error = check(first, second)
    assert status == 2
    assert "no figure in common" in error


def test_published_stores_without_a_journal_are_read_from_their_tables(stores):
    whole = read_measured(stores[0])
    (stores[0] / "journal.jsonl").unlink()
    tables = read_measured(stores[0])
    assert list(tables.samples) == list(whole.samples)
    for key, sample in tables.samples.items():
        assert sample.values == whole.samples[key].values
        assert sample.blocks == whole.samples[key].blocks
    assert check(*stores)[0] == 0
    edit_rows(stores[0], lambda text: text[:-20])
    status, _, error = check(*stores)
    assert status == 2
    assert "results.csv is cut off within a line" in error


# ---- two builds in one run


def pools_of(machine, speeds):
    """Pools of builds that differ in speed, by the name of their worker program."""

    def start(ranks, binary):
        pool = machine.start_pool(ranks)
        factor = speeds.get(binary.name, 1.0) if binary is not None else 1.0

        def block(fields):
            head = type(pool)._block(pool, fields)
            for name, value in head.items():
                if name in {"elapsed_ns", "metric.latency", "metric.round_trip"}:
                    head[name] = repr(float(value) * factor)
            return head

        pool._block = block
        return pool

    return WorkerPools(start)


def builds(tmp_path):
    return [Build(name, tmp_path / name, {"git": name * 40}) for name in "ab"]


def test_builds_alternate_in_one_run_and_a_planted_four_percent_is_found(machine, tmp_path):
    machine.noise = 0.01
    experiment = Experiment(name="suite", series=(MEASURED, MODELLED))
    pools = pools_of(machine, {"b": 1.04})
    places = alternate(experiment, builds(tmp_path), tmp_path / "out", quick=False, pools=pools)
    first, second = map(read_measured, places)
    assert {len(sample.rows) for sample in first.samples.values()} == {starts_needed(1)}
    assert first.pairing == second.pairing != ""
    assert first.probes == second.probes == {probe_digest()}
    judgement = judge(first, second)
    assert [finding.verdict for finding in judgement.findings] == ["slower", "slower"]
    assert all(abs(finding.comparison.ratio - 1.04) < 0.01 for finding in judgement.findings)
    assert judge(second, first, Rules(relevant=0.1)).failed is False


def test_the_probe_of_the_first_build_measures_both(machine, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(probe, "round_trip_ns", lambda program: asked.append(program) or 110.0)
    mine, other = (script(tmp_path / name, "") for name in ("mine", "other"))
    pair = [replace(build, probe=path) for build, path in zip(builds(tmp_path), (mine, other), strict=True)]
    experiment = Experiment(name="suite", series=(MEASURED,))
    places = alternate(experiment, pair, tmp_path / "out", quick=False, pools=pools_of(machine, {}))
    assert set(asked) == {mine}
    assert {store.probes == {probe_digest(mine)} for store in map(read_measured, places)} == {True}


def test_the_same_build_alternated_with_itself_passes(machine, tmp_path):
    machine.noise = 0.01
    experiment = Experiment(name="suite", series=(MEASURED,))
    places = alternate(experiment, builds(tmp_path), tmp_path / "out", quick=False, pools=pools_of(machine, {}))
    judgement = judge(*map(read_measured, places))
    assert [finding.verdict for finding in judgement.findings] == ["not significant"] * 2
    assert [finding.comparison.starts for finding in judgement.findings] == [(starts_needed(1), starts_needed(1))] * 2


def test_what_cannot_be_alternated_is_refused(machine, tmp_path):
    with pytest.raises(UsageError, match="no measured points"):
        alternate(Experiment(name="m", series=(MODELLED,)), builds(tmp_path), tmp_path / "out")
    with pytest.raises(UsageError, match="allowed: 10 or more"):
        alternate(Experiment(name="m", series=(MEASURED,)), builds(tmp_path), tmp_path / "out", starts=9)


def test_many_points_need_more_starts():
    assert [starts_needed(n) for n in (1, 10, 20, 50, 500)] == [22, 22, 23, 25, 28]


def test_compare_takes_two_stores_or_two_builds(stores, tmp_path):
    assert run("compare", *stores).return_value == 0
    done = CliRunner().invoke(cli, ["compare", str(stores[0]), "no-such-revision"])
    assert done.exit_code == 2
    assert "is no store, the other is one" in done.stderr
    done = CliRunner().invoke(cli, ["compare", "no-such-revision", "nor-this"])
    assert done.exit_code == 2
    assert "'no-such-revision' is no store, no build and no git revision" in done.stderr


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_builds_are_worker_programs_that_answer(tmp_path, monkeypatch):
    good = script(tmp_path / "gasmeter-rank", "echo gasmeter-rank 9.9")
    assert find_build(str(good)) == Build(str(good), good, {"program": str(good), "worker": "gasmeter-rank 9.9"})
    monkeypatch.setenv("GASMETER_RANK", str(good))
    assert find_build("installed").binary == good
    program = script(tmp_path / "gasmeter-probe", "echo 100")
    assert find_build("installed").probe == program
    program.unlink()
    with pytest.raises(UsageError, match="is no gasmeter-rank"):
        find_build(str(script(tmp_path / "other", "echo something else")))
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    script(tmp_path / "venv" / "bin" / "python", f"echo {good}")
    assert find_build(str(tmp_path / "venv")).binary == good
    script(tmp_path / "venv" / "bin" / "python", "echo no module named gasmeter >&2; exit 1")
    with pytest.raises(EnvironmentLacks, match="no module named gasmeter"):
        find_build(str(tmp_path / "venv"))


def test_an_installation_of_any_version_is_asked_for_its_worker_program(tmp_path):
    package = tmp_path / "site" / "gasmeter"
    (package / "bin").mkdir(parents=True)
    for name in ("__init__.py", "_core.py"):  # and no other module, whatever that version calls them
        (package / name).touch()
    worker = script(package / "bin" / "gasmeter-rank", "echo gasmeter-rank 0.0.1")
    python = script(tmp_path / "python3", f'PYTHONPATH={package.parent} exec {sys.executable} "$@"')
    assert find_build(str(python)).binary == worker


def test_a_planted_debug_option_belongs_to_the_second_build_alone(machine, tmp_path, monkeypatch):
    machine.noise = 0.01
    experiment = Experiment(name="suite", series=(MEASURED,))
    opened = {}

    def start(ranks, binary):
        pool = machine.start_pool(ranks)
        open_session = pool._open

        def noting(fields):
            opened.setdefault(binary.name if binary else "probe", set()).add(fields.get("option.debug_spin", "none"))
            return open_session(fields)

        pool._open = noting
        return pool

    places = alternate(
        experiment, builds(tmp_path), tmp_path / "out", quick=False, planted={"debug_spin": "4%"},
        pools=WorkerPools(start),
    )  # fmt: skip
    assert opened == {"a": {"none"}, "b": {"0.04"}}
    first, second = map(read_measured, places)
    assert first.samples.keys() == second.samples.keys()
    assert {row["options"] for sample in second.samples.values() for row in sample.rows} == {"debug_spin=0.04"}


@pytest.mark.parametrize(("name", "message"), [("spread", "cannot be planted"), ("debug_heat", "debug_spin")])
def test_what_is_no_debug_option_cannot_be_planted(machine, tmp_path, name, message):
    with pytest.raises(UsageError, match=message):
        alternate(Experiment(name="m", series=(MEASURED,)), builds(tmp_path), tmp_path / "out", planted={name: "0.1"})
    assert not (tmp_path / "out").exists()
    done = CliRunner().invoke(cli, ["compare", str(tmp_path), str(tmp_path), "--plant", "debug_spin"])
    assert done.exit_code == 2
