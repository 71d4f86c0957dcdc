"""Stores after a crash, a full or broken disk and a damaged byte: no whole line is lost."""

import errno
import json
import os
import time

import pytest

from gasmeter.errors import GasmeterError, ResourceError, UsageError
from gasmeter.rows.record import COLUMNS, Record
from gasmeter.stores.files import check_files
from gasmeter.stores.journal import LAZY_S, Journal, read_journal, sealed_line
from gasmeter.stores.result import Result
from gasmeter.stores.store import Store, open_result, read_run

GROUPS = [f"{number:016x}" for number in range(4)]
CALLS = ("write", "fsync", "fdatasync", "replace", "rename", "ftruncate")


def group(name):
    row = dict.fromkeys(COLUMNS, "") | {"kernel": "ping-pong", "metric": "latency", "unit": "ns", "run_id": name}
    numbers = {"value": 1.25, "nodes": 1, "ranks": 2, "size_bytes": 8, "n": 6, "repetition": 0, "seed": 1}
    return Record(group=name, rows=[row | numbers | {"verified": True, "oversubscribed": False}])


class Disk:
    """Counts the calls that change a store; the one with a given number fails, or it and all that follow."""

    def __init__(self, monkeypatch):
        self.calls, self.failing, self.for_good, self.error = 0, -1, False, 0
        for name in CALLS:
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))

    def _failing(self, name, call):
        def called(*arguments):
            number, self.calls = self.calls, self.calls + 1
            if number == self.failing or (self.for_good and 0 <= self.failing < number):
                if name == "write" and len(arguments[1]) > 1:
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise OSError(self.error, os.strerror(self.error))
            return None if name in {"fsync", "fdatasync"} else call(*arguments)  # no test sees what they do, only waits

        return called

    def fail(self, number, error, *, for_good):
        self.calls, self.failing, self.for_good, self.error = 0, number, for_good, error

    def mend(self):
        self.fail(-1, 0, for_good=False)


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"".join(sealed_line({"group": name, "rows": [{"value": 1.5}]}) for name in GROUPS))
    return path


def test_a_journal_that_ends_anywhere_holds_every_whole_line(journal, monkeypatch):
    Disk(monkeypatch)
    whole = journal.read_bytes()
    for size in range(len(whole) + 1):
        journal.write_bytes(whole[:size])
        kept = GROUPS[: whole[:size].count(b"\n")]
        assert [entry["group"] for entry in read_journal(journal)] == kept
        if size % 7 == 0:
            opened = Journal(journal)
            opened.append(group("f" * 16))
            opened.close()
            assert [entry["group"] for entry in read_journal(journal)] == [*kept, "f" * 16]


def test_what_is_appended_lazily_waits_for_the_disk_once_a_second_and_at_the_end(journal, monkeypatch):
    now, synced = [100.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fdatasync", synced.append)
    opened = Journal(journal)
    for number in range(16, 56):
        now[0] += LAZY_S / 4
        opened.append(group(f"{number:016x}"), lazily=True)
        assert [entry["group"] for entry in read_journal(journal)][-1] == f"{number:016x}"  # a kill costs nothing
    assert len(synced) == 10
    opened.append(group("a" * 16), lazily=True)
    opened.append(group("b" * 16))
    assert len(synced) == 11
    opened.append(group("c" * 16), lazily=True)
    opened.close()
    assert len(synced) == 12
    opened = Journal(journal)
    opened.close()
    assert len(synced) == 12


def test_what_was_appended_lazily_goes_to_disk_at_the_end_though_a_later_line_did_not_fit(journal, monkeypatch):
    synced = []
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(os, "fdatasync", synced.append)
    opened = Journal(journal)
    opened.append(group("a" * 16), lazily=True)
    with monkeypatch.context() as full:
        full.setattr("gasmeter.stores.journal.write_all", _no_space)
        with pytest.raises(ResourceError, match="No space left"):
            opened.append(group("b" * 16), lazily=True)
    assert not synced
    opened.close()
    assert len(synced) == 1
    assert [entry["group"] for entry in read_journal(journal)][-1] == "a" * 16


def _no_space(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("damage", [lambda byte: byte ^ 1, lambda _: 0, lambda _: ord("\n"), lambda _: ord("9")])
def test_a_damaged_byte_is_named_with_its_line_and_nothing_is_cut_off(journal, damage):
    whole = journal.read_bytes()
    for place, byte in enumerate(whole):
        if damage(byte) == byte:
            continue
        content = bytearray(whole)
        content[place] = damage(byte)
        journal.write_bytes(content)
        if place == len(whole) - 1:  # without its end the last line is one that was being written
            assert [entry["group"] for entry in read_journal(journal)] == GROUPS[:-1]
            continue
        number = whole[:place].count(b"\n") + 1
        for read in (read_journal, Journal):
            with pytest.raises(UsageError, match=rf"journal\.jsonl:{number}: the line is damaged") as caught:
                read(journal)
            assert f"sed -i {number}d {journal}" in str(caught.value)
        assert journal.read_bytes() == content


def test_what_the_message_proposes_keeps_every_other_group(journal):
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"1.5", b"1.6")
    journal.write_bytes(b"".join(lines))
    with pytest.raises(UsageError, match=":2: "):
        read_journal(journal)
    journal.write_bytes(b"".join(lines[:1] + lines[2:]))
    assert [entry["group"] for entry in read_journal(journal)] == [GROUPS[0], *GROUPS[2:]]


def test_a_line_is_json_that_others_can_read(journal):
    entry = json.loads(journal.read_text().splitlines()[0])
    assert list(entry) == ["group", "rows", "sha256"]


# ---- every call to the file system fails in turn


def measure(place, names, *, resume, kept):
    """As a run does it: open, append, and finish whatever happened."""
    store = Store(place, "faults", resume=resume, run={"started": "now"})
    try:
        for name in names:
            if name not in store.done:
                store.append(group(name))
            kept.append(name)
    finally:
        store.finish(Result(list(store.done.values()), name="faults"), "complete", "# faults\n", plots=False)


@pytest.mark.parametrize(("error", "for_good"), [(errno.EIO, False), (errno.ENOSPC, True)])
@pytest.mark.parametrize("begun", ["fresh", "resumed", "set aside"])
def test_whatever_call_fails_the_store_keeps_every_whole_group(tmp_path, monkeypatch, begun, error, for_good):
    disk = Disk(monkeypatch)

    def prepare(place):
        disk.mend()
        if begun != "fresh":
            measure(place, GROUPS[:2], resume=False, kept=[])

    prepare(tmp_path / "counted")
    disk.mend()
    measure(tmp_path / "counted", GROUPS, resume=begun == "resumed", kept=[])
    calls = disk.calls
    assert calls > 30
    for number in range(calls):
        place = tmp_path / str(number) / "out"
        place.parent.mkdir()
        prepare(place)
        kept = GROUPS[:2] if begun == "resumed" else []
        done = list(kept)
        disk.fail(number, error, for_good=for_good)
        with pytest.raises(GasmeterError) as caught:
            measure(place, GROUPS, resume=begun == "resumed", kept=done)
        assert "\n" not in str(caught.value)
        disk.mend()
        aside = place.with_name("out.1")
        earlier = aside if aside.exists() else place
        if begun == "set aside" and (aside.exists() or read_run(place)["state"] == "complete"):
            check_files(earlier, read_run(earlier))
            assert [entry.group for entry in open_result(earlier).records] in (GROUPS[:2], GROUPS)
        if read_run(place) is not None:
            results = [entry.group for entry in open_result(place).records]
            assert results[: len(set(done))] == list(dict.fromkeys(done))
        measure(place, GROUPS, resume=True, kept=[])
        assert sorted(entry.group for entry in open_result(place).records) == GROUPS
        check_files(place, read_run(place))


def test_a_published_store_that_is_set_aside_gets_no_journal(tmp_path):
    measure(tmp_path / "out", GROUPS, resume=False, kept=[])
    (tmp_path / "out" / "journal.jsonl").unlink()
    measure(tmp_path / "out", GROUPS[:1], resume=False, kept=[])
    assert len(open_result(tmp_path / "out.1").rows) == len(GROUPS)


def test_a_journal_without_run_json_is_refused(tmp_path):
    measure(tmp_path, GROUPS, resume=False, kept=[])
    for name in ("run.json", "results.csv"):
        (tmp_path / name).unlink()
    with pytest.raises(UsageError, match=r"holds a journal\.jsonl without run\.json"):
        measure(tmp_path, GROUPS, resume=False, kept=[])
