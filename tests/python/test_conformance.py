"""`gasmeter doctor --conformance`: the program is found, asked and understood, also where it dies on its way."""

import json
import sys
import threading
import time

import pytest
from click.testing import CliRunner

from gasmeter.cli.app import cli
from gasmeter.diagnosis import conformance
from gasmeter.diagnosis.conformance import Counts, Part, conformance_program, plan_suite, run_suite
from gasmeter.errors import EnvironmentLacks, UsageError

CASES = {"a_put_arrives": "rma", "two_replies_are_refused": "misuse", "calls_are_diagnosed": "restricted"}
CONDUITS = {
    "smp-mapped": "smp", "threads": "smp", "mpi-memory": "mpi", "mpi-extoll": "mpi@extoll", "amudp": "udp",
    "faults": "ideal",
}  # fmt: skip
FAKE = """#!{python}
import json, os, sys
words = sys.argv[1:]
cases, conduits, families, checked = {cases}, {conduits}, {families}, {checked}
if words == ["--json", "--list"]:
    for name in families:
        kind = "virtual" if conduits.get(name, name) == "ideal" else "threads"
        print(json.dumps(dict(family=name, conduit=conduits.get(name, name), kind=kind, repeats=False, runs=3)))
    print(json.dumps(dict(launched="mpi", conduit="mpi")))
elif words == ["--json", "--version"]:
    print(json.dumps(dict(version="9.9", compiler="GNU 99", build_type="Release", sanitizers="", checked=checked)))
elif words == ["--json", "--list-cases"]:
    for name, group in cases.items():
        print(json.dumps(dict(group=group, case=name, applies=True)))
else:
    status, share, of = 0, 1, 1
    if words[1] == "--part":
        share, of = map(int, words[2].split("/"))
        del words[1:3]
    name = f"mpi-{{words[2]}}" if words[1] == "--mpi" else words[1]
    for case, group in list(cases.items())[share - 1 :: of]:
        if families.get(name) == "dies" and group == "misuse":
            print("FAILED: out of time in %s, 2 ranks: %s" % (name, case), file=sys.stderr)
            sys.exit(1)
        if families.get(name) == "killed" and group == "misuse":
            os.kill(os.getpid(), 11)
        state = "skipped" if group == "restricted" and not checked else "passed"
        state = "failed" if families.get(name) == "fails" and group == "rma" else state
        print("a launcher's own words")
        for rank in range(2 if state == "failed" else 1):
            print(json.dumps(dict(family=name, job="2 ranks", group=group, case=case, state=state, ms=1.5,
                                  failures=["rank 1: 3 != 4"] if state == "failed" else [])), flush=True)
        status = 1 if state == "failed" else status
    sys.exit(status)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Make a program of these families; no MPI is here."""
    monkeypatch.setattr(conformance, "mpis", lambda: (tmp_path, {}))

    def make(families, checked=False):
        path = tmp_path / "gasmeter-conformance"
        answers = {"cases": CASES, "conduits": CONDUITS, "families": families, "checked": checked}
        path.write_text(FAKE.format(python=sys.executable, **answers))
        path.chmod(0o755)
        monkeypatch.setenv("GASMETER_CONFORMANCE", str(path))
        return path

    return make


def call(*words):
    return CliRunner().invoke(cli, ["doctor", "--conformance", *words])


def test_every_group_is_listed_on_every_conduit_that_was_asked_for(program):
    families = dict.fromkeys(["smp", "smp-mapped", "threads", "udp", "mpi-memory", "mpi-extoll"], "passes")
    suite = run_suite(program(families), ("smp", "udp"))
    assert [family.name for family in suite.families] == ["smp", "smp-mapped", "threads", "udp"]
    assert suite.groups == ["misuse", "restricted", "rma"]
    assert suite.counts("rma", "smp") == Counts(passed=3)
    assert suite.counts("restricted", "udp") == Counts(skipped=1)
    assert suite.counts("rma", "mpi") == Counts()
    done = call("--conduit", "smp,udp,mpi")
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    rows = {words[0]: words[1:] for words in lines if words[:1] in (["rma"], ["all"])}
    assert rows == {"rma": ["3", "1", "1"], "all": ["6,", "3", "skipped", "2,", "1", "skipped", "2,", "1", "skipped"]}
    assert "not a checked build" in done.stdout
    assert "no MPI was found" in done.stdout


def test_a_checked_build_says_so_and_skips_nothing(program):
    program({"smp": "passes"}, checked=True)
    done = call("--conduit", "smp", "--json")
    assert done.exit_code == 0
    whole = json.loads(done.stdout)
    assert whole["build"]["checked"] is True
    assert [entry["conduits"]["smp"]["skipped"] for entry in whole["groups"]] == [0, 0, 0]
    assert {entry["group"]: entry["cases"] for entry in whole["groups"]} == {"misuse": 1, "restricted": 1, "rma": 1}
    assert "a checked build" in call("--conduit", "smp").stdout


def test_what_failed_is_counted_once_however_many_ranks_saw_it(program):
    program({"smp": "passes", "udp": "fails"})
    done = call("--conduit", "smp,udp")
    assert done.exit_code == 1
    assert "FAILED udp, 2 ranks: a_put_arrives" in done.stderr
    assert "rank 1: 3 != 4" in done.stderr
    suite = run_suite(conformance_program(), ("udp",))
    assert suite.counts("rma", "udp") == Counts(failed=1)
    assert suite.counts("misuse", "udp") == Counts(passed=1)


@pytest.mark.parametrize(
    ("how", "case", "message"), [("dies", "misuse", "status 1"), ("killed", "not finished", "signal 11")]
)
def test_a_program_that_ends_on_its_way_has_failed_and_keeps_what_it_ran(program, how, case, message):
    suite = run_suite(program({"smp": how}), ("smp",))
    assert suite.failed
    assert suite.counts("rma", "smp") == Counts(passed=1)
    assert suite.counts(case, "smp") == Counts(failed=1)
    assert message in suite.broken[0].said[0]
    assert call("--conduit", "smp").exit_code == 1


def test_families_in_virtual_time_are_shared_among_processes_and_come_to_the_same(program):
    path = program({"smp": "passes", "faults": "fails"})
    suite, parts = plan_suite(path, ("smp", "ideal"), most_runs=2)
    labels = ("smp", "faults (1 of 2)", "faults (2 of 2)")
    assert [part.label for part in parts] == [f"the conformance suite, {label}" for label in labels]
    assert [family.name for family in suite.families] == ["smp", "faults"]
    assert parts[1].seconds > 0
    for part in reversed(parts):  # whichever ends first
        part.run()
    for part in parts:
        part.tell(suite)
    whole = run_suite(path, ("smp", "ideal"))
    assert [(each.family, each.job, each.case, each.said) for each in suite.broken] == [
        (each.family, each.job, each.case, each.said) for each in whole.broken
    ]  # fmt: skip
    for entry, other in zip(suite.families, whole.families, strict=True):
        assert (entry.name, entry.jobs, entry.groups) == (other.name, other.jobs, other.groups)
    assert whole.counts("rma", "ideal") == Counts(failed=1)


def test_a_part_that_is_stopped_ends_at_once_and_one_that_was_stopped_does_not_begin(program, tmp_path):
    suite, (part,) = plan_suite(program({"smp": "passes"}), ("smp",))
    part.stop()
    part.run()
    part.tell(suite)
    assert suite.groups == ["misuse", "restricted", "rma"]  # groups of its cases; no case ran
    assert not suite.failed
    part = Part(suite.families[0], ["sleep", "60"])
    began = time.monotonic()
    worker = threading.Thread(target=part.run)
    worker.start()
    while worker.is_alive():
        part.stop()
        worker.join(0.05)
    assert time.monotonic() - began < 30


def test_a_part_that_cannot_be_started_has_failed(program, tmp_path):
    suite, _ = plan_suite(program({"smp": "passes"}), ("smp",))
    part = Part(suite.families[0], [str(tmp_path / "none")])
    part.run()
    part.tell(suite)
    assert "No such file" in " ".join(suite.broken[0].said)


def test_each_mpi_runs_under_its_own_launcher(program, tmp_path, monkeypatch):
    log = tmp_path / "log"
    launcher = tmp_path / "mpiexec.mpich"
    launcher.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\nshift 2\nexec "$@"\n')
    launcher.chmod(0o755)
    monkeypatch.setattr(conformance, "mpis", lambda: (tmp_path, {"mpich": str(launcher), "openmpi": ""}))
    monkeypatch.delenv("GASMETER_MPIEXEC", raising=False)
    path = program({"mpi-memory": "passes"})
    suite = run_suite(path, ("mpi",))
    assert [family.name for family in suite.families] == ["mpi-memory", "mpi-mpich"]
    assert log.read_text().splitlines() == [f"-n {n} {path} --json --mpi mpich" for n in (2, 3)]
    assert suite.counts("rma", "mpi") == Counts(passed=3)
    assert suite.notes == ["mpi: openmpi has no mpiexec here and was not run"]


def test_unknown_conduits_are_refused_and_families_tell_theirs(program):
    with pytest.raises(UsageError, match=r"'tcp' has no conformance family; allowed: smp, udp, mpi$"):
        run_suite(program({"smp": "passes", "udp": "passes"}), ("tcp",))
    families = dict.fromkeys(["smp-mapped", "amudp", "mpi-extoll", "faults", "ibv"], "passes")
    suite = run_suite(program(families), ())
    assert [family.conduit for family in suite.families] == ["smp", "udp", "mpi@extoll", "ideal", "ibv"]


def test_without_a_choice_each_network_runs_its_own_conduits(program):
    program(dict.fromkeys(["smp", "amudp", "mpi-extoll", "faults"], "passes"))
    suite = run_suite(conformance_program())
    assert [family.name for family in suite.families] == ["smp", "amudp", "faults"]
    groups = json.loads(call("--json").stdout)["groups"]
    assert {tuple(group["conduits"]) for group in groups} == {("smp", "udp", "ideal")}
    assert "mpi@extoll" in call("--conduit", "all").stdout


def test_without_the_program_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv("GASMETER_CONFORMANCE", raising=False)
    monkeypatch.setenv("GASMETER_RANK", str(tmp_path / "gasmeter-rank"))
    (tmp_path / "gasmeter-rank").touch(mode=0o755)
    monkeypatch.setattr(conformance.gasmeter, "__path__", [str(tmp_path / "python" / "gasmeter")])
    with pytest.raises(EnvironmentLacks, match="GASMETER_CONFORMANCE=ON"):
        conformance_program()
    done = call()
    assert done.exit_code == 3
    assert len(done.stderr.splitlines()) == 1
    built = tmp_path / "build" / "tests" / "tests" / "cpp" / "conformance"
    built.mkdir(parents=True)
    (built / "gasmeter-conformance").touch(mode=0o755)
    assert conformance_program() == built / "gasmeter-conformance"
    monkeypatch.setenv("GASMETER_CONFORMANCE", str(tmp_path / "none"))
    assert call().exit_code == 2
    monkeypatch.setenv("GASMETER_CONFORMANCE", "/bin/false")
    assert call().exit_code == 3
