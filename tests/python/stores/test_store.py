import csv
import errno
import json
import lzma
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pandas as pd
import pytest

import gasmeter as gm
from gasmeter import library
from gasmeter.errors import BrokenJob, ResourceError, UsageError
from gasmeter.rows.record import COLUMNS, Record
from gasmeter.stores import store
from gasmeter.stores.files import refused
from gasmeter.stores.journal import Journal, read_journal
from gasmeter.stores.store import merge_stores, open_result, read_blocks, read_run, read_table
from stored import age, edit_rows

HELPERS = Path(__file__).parents[1]


def sweep(name="sweep", **settings):
    return gm.Experiment(
        **{"name": name, "kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8:128", **settings}
    )


def table(folder):
    return pd.read_csv(folder / "results.csv", keep_default_na=False)


def test_a_run_leaves_rows_samples_facts_summary_and_plots(machine, tmp_path):
    result = sweep(against="raw@shm").run(tmp_path / "out")
    rows = table(tmp_path / "out")
    assert tuple(rows.columns) == COLUMNS
    assert len(rows) == len(result.rows) == 15
    samples = pd.read_parquet(tmp_path / "out" / "samples.parquet")
    assert set(samples["run_id"]) == set(rows["run_id"])
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["schema"] == 2
    assert run["state"] == "complete"
    facts = run["runs"][0]
    assert {"host", "versions", "git", "command", "points", "started"} <= set(facts)
    assert "# sweep" in (tmp_path / "out" / "summary.md").read_text()
    assert (tmp_path / "out" / "plots" / "latency.svg").exists()
    assert (tmp_path / "out" / "plots" / "latency.png").exists()


def test_results_csv_reads_back_as_the_frame(machine, tmp_path):
    result = sweep(against="raw@shm").run(tmp_path)
    read = pd.read_csv(tmp_path / "results.csv")
    frame = result.frame()
    for column in ("value", "ci_low", "size_bytes", "n", "verified", "oversubscribed"):
        assert list(read[column]) == list(frame[column])


def test_an_interrupted_sweep_is_a_valid_store_that_resume_finishes(machine, tmp_path):
    machine.interrupt_at_block = 700
    with pytest.raises(KeyboardInterrupt):
        sweep().run(tmp_path)
    run = read_run(tmp_path)
    assert run["state"] == "interrupted"
    done = table(tmp_path)
    assert 0 < len(done) < 5
    assert (tmp_path / "samples.parquet").exists()
    machine.interrupt_at_block = None
    blocks = machine.blocks
    result = sweep().resume(tmp_path)
    assert len(result.rows) == 5
    assert result.complete
    assert read_run(tmp_path)["state"] == "complete"
    assert len(read_run(tmp_path)["runs"]) == 2
    rows = table(tmp_path)
    assert list(rows["size_bytes"]) == [8, 16, 32, 64, 128]
    assert list(rows["value"][: len(done)]) == list(done["value"])
    assert machine.blocks - blocks < 5 * 200


def test_a_broken_job_keeps_what_was_measured(machine, tmp_path):
    machine.die_at_block = 700
    with pytest.raises(BrokenJob, match="rank 1"):
        sweep().run(tmp_path)
    assert 0 < len(table(tmp_path)) < 5
    assert read_run(tmp_path)["state"] == "failed"
    machine.die_at_block = None
    assert len(sweep().resume(tmp_path).rows) == 5


def test_a_kill_leaves_a_valid_store_that_resume_finishes(machine, tmp_path):
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "import fakes, gasmeter as gm\n"
        "from gasmeter import catalogue\nfrom gasmeter.measuring import runner, sessions\n"
        "machine = fakes.Machine(); catalogue.core = fakes.Core\n"
        "sessions._start_pool = machine.start_pool; runner._clock = machine.clock\n"
        "machine.on_block = lambda _: time.sleep(0.0005)\n"
        "gm.Experiment(name='sweep', kernel='ping-pong', conduit='smp', op='put', sizes='8:128').run(sys.argv[2])\n"
    )
    out = tmp_path / "out"
    child = subprocess.Popen([sys.executable, "-c", program, str(HELPERS), str(out)])
    deadline = time.monotonic() + 60
    journal = out / "journal.jsonl"
    while not journal.exists() or b"\n" not in journal.read_bytes():  # a row that is being written may be lost
        assert time.monotonic() < deadline
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = open_result(out)
    assert not kept.complete
    assert 1 <= len(kept.rows) < 5
    assert len(kept.rows) - 1 <= len(table(out)) <= len(kept.rows)
    result = sweep().resume(out)
    assert len(result.rows) == 5
    assert list(table(out)["size_bytes"]) == [8, 16, 32, 64, 128]


def test_a_torn_last_line_is_forgotten(machine, tmp_path):
    sweep().run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:100])
    assert len(read_journal(journal)) == len(lines) - 1
    result = sweep().resume(tmp_path)
    assert len(result.rows) == 5
    assert len(read_journal(journal)) == len(lines)


def test_a_sweep_can_grow(machine, tmp_path):
    sweep().run(tmp_path)
    blocks = machine.blocks
    result = sweep(sizes="8:1K").resume(tmp_path)
    assert len(result.rows) == 8
    assert machine.blocks - blocks < 3 * 230


def test_resuming_what_is_complete_measures_nothing(machine, tmp_path):
    first = sweep().run(tmp_path)
    blocks = machine.blocks
    again = sweep().resume(tmp_path)
    assert machine.blocks == blocks
    assert [row["value"] for row in again.rows] == [row["value"] for row in first.rows]


# ---- resolved options


def test_each_point_names_what_auto_became_and_where_values_come_from(machine, tmp_path):
    series = [
        gm.Series(kernel="ping-pong", conduit="mpi", against="raw@mpi", op="put", sizes=8, options={"rma": rma})
        for rma in ("auto", "off")
    ]
    collective = {"kernel": "collective", "op": "exchange", "sizes": 8}
    series += [gm.Series(conduit=conduit, **collective) for conduit in ("udp", "ideal")]
    series += [gm.Series(conduit="ideal", options={"algorithm": "pairwise"}, **collective)]
    result = gm.Experiment(name="chosen", series=series).run(tmp_path)
    journal = {point: each for entry in open_result(tmp_path).records for point, each in entry.resolved.items()}
    run = read_run(tmp_path)
    assert run["resolved"] == journal
    results = {
        (row["conduit"], row["options"]): {name: tuple(each.values()) for name, each in journal[row["run_id"]].items()}
        for row in result.rows
    }
    assert results == {
        ("raw@mpi", ""): {"mpi": ("openmpi", "auto")},
        ("mpi", ""): {"mpi": ("openmpi", "auto"), "rma": ("on", "auto")},
        ("mpi", "rma=off"): {"mpi": ("openmpi", "auto"), "rma": ("off", "asked")},
        ("udp", ""): {"algorithm": ("bruck", "auto")},
        ("ideal", ""): {"algorithm": ("pairwise", "auto")},
        ("ideal", "algorithm=pairwise"): {"algorithm": ("pairwise", "asked")},
    }
    assert run["runs"][0]["defaults"]["conduit udp"].items() >= {"mtu": "0", "protocol": "window"}.items()
    assert run["runs"][0]["defaults"]["kernel collective"] == {"algorithm": "auto"}


# ---- the build of each row


@pytest.fixture
def build(monkeypatch):
    """Name of the build that measures."""

    def name(digest, revision="r" * 40):
        monkeypatch.setattr(library, "this_build", lambda *_: {"revision": revision, "digest": digest})

    return name


def test_what_another_build_measured_is_measured_again(machine, tmp_path, build):
    build("a" * 16, "first")
    machine.interrupt_at_block = 700
    with pytest.raises(KeyboardInterrupt):
        sweep().run(tmp_path)
    machine.interrupt_at_block = None
    before = {row["run_id"]: row["value"] for row in open_result(tmp_path).rows}
    assert 0 < len(before) < 5
    build("b" * 16, "second")
    result = sweep().resume(tmp_path)
    assert all(row["value"] != before.get(row["run_id"]) for row in result.rows)
    assert {entry.build for entry in open_result(tmp_path).records} == {"b" * 16}
    run = read_run(tmp_path)
    assert run["builds"] == [{"revision": "second", "digest": "b" * 16}]
    assert [entry["library"]["revision"] for entry in run["runs"]] == ["first", "second"]
    sentence = f"{len(before)} groups that revision first (build {'a' * 16}) had measured were measured again"
    assert any(note.startswith(sentence) for note in result.notes)
    assert f"revision second (build {'b' * 16})" in (tmp_path / "summary.md").read_text()
    blocks = machine.blocks
    sweep().resume(tmp_path)
    assert machine.blocks == blocks


def test_rows_of_another_build_that_nobody_asked_for_again_say_so(machine, tmp_path, build):
    build("a" * 16, "first")
    sweep().run(tmp_path)
    build("b" * 16, "second")
    result = sweep(sizes="8:32").resume(tmp_path)
    by_size = {row["size_bytes"]: entry.revision for entry in result.records for row in entry.rows}
    assert by_size == {8: "second", 16: "second", 32: "second", 64: "first", 128: "first"}
    (tmp_path / "journal.jsonl").unlink()
    published = open_result(tmp_path)
    assert {row["size_bytes"]: entry.revision for entry in published.records for row in entry.rows} == by_size
    assert [row["run_id"] for row in published.rows] == [row["run_id"] for row in result.rows]
    text = (tmp_path / "summary.md").read_text()
    assert "revision first" in text
    assert "revision second" in text


def test_a_merged_store_keeps_what_made_each_row(machine, tmp_path, build):
    for digest, size in (("a" * 16, "8,16"), ("b" * 16, "32,64")):
        build(digest)
        sweep(sizes=size).run(tmp_path / digest)
    merged = merge_stores([tmp_path / ("a" * 16), tmp_path / ("b" * 16)], tmp_path / "all")
    assert [entry.build[:1] for entry in merged.records] == ["a", "a", "b", "b"]
    assert [len(each["points"]) for each in read_run(tmp_path / "all")["builds"]] == [2, 2]


def test_a_build_is_known_by_its_sources_its_core_and_its_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "_PACKAGE", tmp_path)
    (tmp_path / "bin").mkdir()
    files = [
        "rows.py",
        "cli/run.py",
        "_core.cpython-311-x86_64-linux-gnu.so",
        "bin/gasmeter-rank",
        "bin/gasmeter-mpi.so",
    ]
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)

    def digest():
        library.this_build.cache_clear()
        return library.this_build(tmp_path / "bin" / "gasmeter-rank", "r")["digest"]

    digests = [digest(), digest()]
    assert digests[0] == digests[1]
    for name in files:
        (tmp_path / name).write_text(f"{name} changed")
        digests.append(digest())
    (tmp_path / "README.md").write_text("words")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "first_look.py").write_text("what is asked for, not what measures")
    assert digest() == digests[-1]
    library.this_build.cache_clear()
    assert len(set(digests)) == 1 + len(files)


def test_a_run_that_is_not_resumed_keeps_the_earlier_one(machine, tmp_path):
    sweep().run(tmp_path / "out")
    before = (tmp_path / "out" / "results.csv").read_text()
    result = sweep().run(tmp_path / "out")
    assert (tmp_path / "out.1" / "results.csv").read_text() == before
    assert "out.1" in result.notes[-1]


def test_stores_can_be_merged(machine, tmp_path):
    sweep(sizes="8,16").run(tmp_path / "a")
    sweep(sizes="32,64").run(tmp_path / "b")
    merged = merge_stores([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert sorted(row["size_bytes"] for row in merged.rows) == [8, 16, 32, 64]
    blocks = machine.blocks
    assert len(sweep(sizes="8:64").resume(tmp_path / "all").rows) == 4
    assert machine.blocks == blocks


def test_stores_of_different_experiments_are_not_merged(machine, tmp_path):
    sweep(sizes="8").run(tmp_path / "a")
    sweep(name="other", sizes="8").run(tmp_path / "b")
    with pytest.raises(UsageError, match="different experiments"):
        merge_stores([tmp_path / "a", tmp_path / "b"], tmp_path / "all")


def test_a_store_of_another_experiment_is_not_touched(machine, tmp_path):
    sweep(sizes="8").run(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for resume in (False, True):
        with pytest.raises(UsageError, match="holds experiment 'sweep', not 'other'"):
            sweep(name="other").run(tmp_path, resume=resume)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_two_runs_do_not_write_one_store(machine, tmp_path):
    sweep(sizes="8").run(tmp_path)
    holder = Journal(tmp_path / "journal.jsonl")
    try:
        for resume in (True, False):
            with pytest.raises(UsageError, match="being written by another run"):
                sweep().run(tmp_path, resume=resume)
    finally:
        holder.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line_and_keeps_what_was_there(machine, tmp_path):
    sweep(sizes="8").run(tmp_path)
    kept = (tmp_path / "journal.jsonl").read_bytes()
    journal = Journal(tmp_path / "journal.jsonl")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._handle)
    os.close(full)
    with pytest.raises(ResourceError, match="No space left") as caught:
        journal.append(Record(group="0" * 16))
    assert "\n" not in str(caught.value)
    journal.close()
    assert (tmp_path / "journal.jsonl").read_bytes() == kept


def test_a_file_where_the_folder_should_be_is_refused(machine, tmp_path):
    place = tmp_path / "file"
    place.write_text("precious")
    with pytest.raises(UsageError, match="is a file"):
        sweep().run(place)
    assert place.read_text() == "precious"


def test_a_folder_that_cannot_be_made_is_one_line(machine, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write") as caught:
        sweep().run(tmp_path / "file" / "below")
    assert "\n" not in str(caught.value)
    assert machine.blocks == 0


def test_a_damaged_run_json_is_named(machine, tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UsageError, match=r"run\.json is not a run\.json of gasmeter"):
        sweep().run(tmp_path)


def test_a_store_of_another_schema_is_named(machine, tmp_path):
    (tmp_path / "run.json").write_text('{"schema": 99, "experiment": "sweep"}')
    with pytest.raises(UsageError, match="schema 99, from a newer gasmeter; allowed: 1"):
        sweep().run(tmp_path)


def test_modelled_results_are_the_same_to_the_byte(machine, tmp_path):
    for name, jobs in (("a", 1), ("b", 3)):
        sweep(conduit="ideal").run(tmp_path / name, jobs=jobs)
    for name in ("results.csv", "journal.jsonl", "plots/latency.svg"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in "ab")
        if name == "journal.jsonl":
            assert [line[:40] for line in first.splitlines()] == [line[:40] for line in second.splitlines()]
        else:
            assert first == second


def test_a_run_without_a_folder_writes_nothing(machine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(sweep().run().rows) == 5
    assert list(tmp_path.iterdir()) == []


# ---- one reader for everybody


def without_column(folder, name):
    """A store as an older schema had it."""
    path = folder / "results.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    gone = rows[0].index(name)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(cells[:gone] + cells[gone + 1 :] for cells in rows)


def test_a_published_store_reads_as_it_did_with_its_journal(machine, tmp_path):
    whole = sweep().run(tmp_path)
    (tmp_path / "journal.jsonl").unlink()
    again = open_result(tmp_path)
    pd.testing.assert_frame_equal(again.frame(), whole.frame())
    assert again.complete
    blocks = {(read_block.run_id, read_block.metric): list(read_block.values) for read_block in read_blocks(tmp_path)}
    expected = whole.samples().groupby(["run_id", "metric"], sort=False)["value"].apply(list).to_dict()
    assert blocks == expected


def test_rows_of_several_kernels_are_not_one_record():
    whole = open_result(HELPERS.parents[1] / "results" / "messages_speed")
    assert len({row["kernel"] for row in whole.rows}) > 1
    assert all(len({row["kernel"] for row in entry.rows}) == 1 for entry in whole.records)


def test_rows_of_an_older_schema_say_what_was_always_true(machine, tmp_path):
    sweep().run(tmp_path)
    age(tmp_path)
    (tmp_path / "journal.jsonl").unlink()
    for name in ("placement", "verified", "nodes"):
        without_column(tmp_path, name)
    rows = open_result(tmp_path).rows
    assert {(row["placement"], row["verified"], row["nodes"]) for row in rows} == {("", True, 1)}
    assert tuple(rows[0]) == COLUMNS
    before = (tmp_path / "results.csv").read_bytes()
    with pytest.raises(UsageError, match="has schema 1, of an older gasmeter; it can be read, not continued"):
        sweep().resume(tmp_path)
    assert (tmp_path / "results.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:-20], "the last line is cut off"),
        (lambda text: text.replace(",ns,", ",ns", 1), r"results\.csv:\d+: 32 cells instead of 33"),
        (lambda text: text.replace("kernel", "colonel", 1), r"results\.csv:1: not the columns"),
        (lambda text: text.replace(",2,false,", ",two,false,", 1), r"results\.csv:2: ranks is 'two', not a number"),
    ],
)
def test_a_damaged_published_store_is_named_with_its_line(machine, tmp_path, damage, message):
    sweep().run(tmp_path)
    (tmp_path / "journal.jsonl").unlink()
    edit_rows(tmp_path, damage)
    with pytest.raises(UsageError, match=message):
        open_result(tmp_path)


def test_a_crash_at_any_byte_of_the_last_line_loses_that_line_alone(machine, tmp_path):
    sweep().run(tmp_path)
    path = tmp_path / "results.csv"
    text = path.read_text()
    whole = read_table(tmp_path)
    start = text[:-1].rindex("\n") + 1
    for end in range(start, len(text)):
        path.write_text(text[:end])
        result = read_table(tmp_path)
        assert result.cells == whole.cells[:-1]
        assert result.lost == text[start:end]


def test_a_run_that_comes_while_another_makes_its_store_is_refused(machine, tmp_path, monkeypatch):
    """The other one comes between the look at the earlier store and its renaming."""
    folder = tmp_path / "out"
    sweep(sizes="8").run(folder)
    came = []

    def other():
        try:
            came.append(store.Store(folder, "sweep", resume=False, run={}))
        except UsageError as error:
            came.append(error)

    looked = store.check_unused
    thread = threading.Thread(target=other)

    def look(path):
        looked(path)
        if threading.current_thread() is not thread and not came and not thread.is_alive():
            thread.start()
            thread.join(1)

    monkeypatch.setattr(store, "check_unused", look)
    other_store = store.Store(folder, "sweep", resume=False, run={})
    thread.join()
    other_store._rows.close()
    other_store._journal.close()
    assert isinstance(came[0], UsageError), "two runs write stores of one name"
    assert "being written by another run" in str(came[0])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "out.1"]


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_files_follow_umask(machine, tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        sweep(sizes="8").run(tmp_path / "out")
    finally:
        os.umask(before)
    modes = {entry.name: entry.stat().st_mode & 0o777 for entry in (tmp_path / "out").iterdir() if entry.is_file()}
    assert set(modes.values()) == {mode}, modes


def test_a_compressed_file_that_holds_too_much_is_refused_before_it_takes_memory(machine, tmp_path):
    sweep(sizes="8").run(tmp_path)
    rows = tmp_path / "results.csv"
    packed = lzma.LZMACompressor()
    with (tmp_path / "results.csv.xz").open("wb") as file:
        for _ in range(256):
            file.write(packed.compress(bytes(1 << 20)))
        file.write(packed.flush())
    rows.unlink()
    tracemalloc.start()
    with pytest.raises(UsageError, match="bytes that its run wrote"):
        open_result(tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()


def test_a_compressed_file_of_several_streams_is_read(machine, tmp_path):
    stored = sweep(sizes="8").run(tmp_path)
    rows = (tmp_path / "results.csv").read_bytes()
    (tmp_path / "results.csv.xz").write_bytes(lzma.compress(rows[:100]) + lzma.compress(rows[100:]))
    (tmp_path / "results.csv").unlink()
    assert read_table(tmp_path).rows()[0]["run_id"] == stored.rows[0]["run_id"]
    (tmp_path / "results.csv.xz").write_bytes(lzma.compress(rows)[:-20])
    with pytest.raises(UsageError, match="cut off"):
        open_result(tmp_path)


def test_no_memory_is_status_3_wherever_a_file_is_written():
    assert refused(Path("out"), OSError(errno.ENOMEM, "Cannot allocate memory")).exit_code == 3


def test_reading_a_store_leaves_no_thread_that_could_abort_the_process_at_its_end(machine, tmp_path):
    sweep(sizes="8").run(tmp_path)
    program = (
        "import os, sys; from gasmeter.stores.store import read_blocks; from pathlib import Path\n"
        "import pyarrow.parquet\n"  # threads that the import starts end in order
        "before = len(os.listdir('/proc/self/task')); assert list(read_blocks(Path(sys.argv[1])))\n"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0\n", "Arrow's threads are left"
