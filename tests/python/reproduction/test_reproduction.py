"""Figures run again: plans, labels, the blind run, claims.csv, the report, the command line."""

import csv
import dataclasses
import importlib.util
import io
import json
import re
import threading
import time
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

import gasmeter as gm
from fakes import CATALOGUE, Core, ModelJob
from gasmeter import catalogue
from gasmeter.cli import cli
from gasmeter.conformance import Counts, Family, Suite
from gasmeter.errors import EnvironmentLacks, UsageError
from gasmeter.machines import hardware
from gasmeter.measuring import execution, sessions
from gasmeter.reproduction import planning, running, writing
from gasmeter.reproduction.digitised import read_digitised
from gasmeter.reproduction.extoll import EXTOLL
from gasmeter.reproduction.figure import Effort, Figure, Line
from gasmeter.reproduction.papers import figures_of, paper
from gasmeter.reproduction.planning import GIVEN, describe, plan_reproduction
from gasmeter.reproduction.running import reproduce
from gasmeter.reproduction.steps import steps
from gasmeter.sweeps.sweep import plan_series
from gasmeter.verdicts.claims import RESULT, claims

NEEDS_CORE = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")
SMALL = Effort((128, 256, 512), 10, (128, 256, 512), 5, factor_xs=(512,), longer=(128,))
KEYS = ("link.latency", "velo.send_engine")
MOVED = (*KEYS, "host.dispatch", "host.lock")


class Extoll(ModelJob):
    """A conduit with both implementations of active messages, whose rates follow the machine."""

    refused = ()

    def __init__(self, **given):
        assert given["machine"]["placement"] in {"fill", "round-robin"}
        if given["ranks"] in self.refused:
            raise UsageError("no room for so many ranks")
        self.am = given["options"].get("am", "2")
        super().__init__(**given)

    def unused(self):
        return [key for key in self.given if key not in {*KEYS, "topology", "placement", "host.dispatch"}]

    def block(self, iterations):
        kernel, _, variant, conduit, _, ranks = self.settings
        assert kernel == "random-access"
        rate = 1e-4 * ranks * (0.27e-6 / self.given["link.latency"]) ** (0.2 if conduit == "raw@extoll" else 0.1)
        rate *= {"raw": 1.0, "am": 0.95, "put-get": 0.3}[variant or "raw"]
        if variant == "put-get" and self.am == "1":
            rate /= 1 + 0.5 * max(1.0, self.given["velo.send_engine"] / 40.5e-9) ** 0.4
        if ranks == 512 and self.given["topology"].startswith("mesh3d"):
            rate *= 1.5
        return {"elapsed_ns": iterations * ranks / rate, "operations": iterations * ranks, "metric.gups": rate}


def use_build(monkeypatch, *options):
    """Let the fake core be of an older build: with no options but these, and without MPI over modelled cards."""

    def older(entry):
        return {**entry, "options": [option for option in entry["options"] if option["name"] in options]}

    kernels = [{**older(entry), "raw": [name for name in entry["raw"] if "@" not in name]}
               for entry in CATALOGUE["kernels"]]  # fmt: skip
    conduits = [older(entry) for entry in CATALOGUE["conduits"] if "mpi@" not in entry["name"]]
    known = {**CATALOGUE, "kernels": kernels, "conduits": conduits}
    monkeypatch.setattr(Core, "catalogue", staticmethod(lambda: known))
    for read in (catalogue.declared, catalogue.catalogue):
        read.cache_clear()


@pytest.fixture
def extoll(machine, monkeypatch):
    """The fake core with the conduit of the paper, and figures that are run quickly."""
    monkeypatch.setattr(Core, "ModelJob", Extoll)
    use_build(monkeypatch, "am")
    use_efforts(monkeypatch, dataclasses.replace(SMALL, xs=(16, 32, 64, 128, 256, 512)))
    monkeypatch.setattr(running, "conformance_program", lambda: Path("suite"))
    monkeypatch.setattr(running, "plan_suite", lambda program, conduits, most_runs: passing(program, conduits[0]))
    return machine


class Share:
    """A part of the conformance suite; every third run is told by it."""

    seconds = 1.0

    def __init__(self, family, number):
        self.label = f"the conformance suite, {family.name} ({number} of 3)"
        self.family = family
        self.threads = set()

    def run(self):
        self.threads.add(threading.get_ident())

    def stop(self):
        raise AssertionError("nothing is stopped")

    def tell(self, suite):
        assert suite.families == [self.family]
        self.family.groups["rma"] = self.family.groups.get("rma", Counts()) + Counts(passed=len(self.threads))
        self.family.seconds += 2.5


def passing(program, conduit):
    """Return what is to be run of a conformance suite where everything passes."""
    build = {"version": "1", "compiler": "a compiler", "build_type": "Release"}
    family = Family(conduit, conduit, ["2 ranks"])
    return Suite(program, build, {}, [family]), [Share(family, number) for number in (1, 2, 3)]


def use_efforts(monkeypatch, full, **changes):
    """Let every figure of the paper be run with a small effort and a band of few parameters."""
    figures = [
        dataclasses.replace(
            figure, full=full, quick=dataclasses.replace(full, band_xs=(), factor_xs=(), longer=()), beside=(),
            **changes,
        ) if figure.axis == "ranks" and figure.lines else dataclasses.replace(figure, lines=(), left_out="not here")
        for figure in EXTOLL.figures
    ]  # fmt: skip
    from gasmeter.reproduction import papers

    monkeypatch.setattr(papers, "PAPERS", {"extoll": dataclasses.replace(EXTOLL, figures=tuple(figures))})
    for name in ("variants", "factors"):
        every = getattr(planning, name)
        monkeypatch.setattr(planning, name, lambda base, every=every: every(base, MOVED))


def run(tmp_path, *numbers, **settings):
    found = paper("extoll")
    return reproduce(found, figures_of(found, numbers), out=tmp_path / "out", **settings)


# ---- figures as data


def test_every_claim_of_a_paper_stands_in_one_figure():
    named = [name for figure in EXTOLL.figures for name in figure.claims]
    assert sorted(named) == sorted(claim.id for claim in claims("extoll", kind=RESULT))


def test_figures_say_what_they_are():
    for figure in EXTOLL.figures:
        assert figure.title
        assert figure.lines or figure.left_out
        if not figure.lines:
            continue
        assert figure.seconds > figure.quick_seconds > 0
        assert set(figure.heat_lines) <= set(figure.lines)
        assert {line for pair in figure.overheads for line in pair} <= set(figure.lines)
        for name in figure.machines:
            assert "link.latency" in gm.machine(name)


def test_names_of_papers_and_figures_are_checked():
    with pytest.raises(UsageError, match="unknown paper 'extol'; did you mean 'extoll'"):
        paper("extol")
    with pytest.raises(UsageError, match="unknown figure of extoll '4'"):
        figures_of(EXTOLL, ["4"])
    with pytest.raises(UsageError, match=r"figure text of extoll cannot be run yet: no figure.*; allowed: 1, 3, 8, 9"):
        figures_of(EXTOLL, ["text"])
    assert [figure.number for figure in figures_of(EXTOLL, ["15", "3"])] == ["3", "15"]


# ---- plans


@NEEDS_CORE
def test_a_variant_of_one_machine_leaves_lines_on_others_alone():
    sizes = Effort((8, 64), 4, (8,), 2, factor_xs=(64,))
    lines = [
        Line(conduit, "ping-pong", conduit, on, op="am-medium", metric="round_trip")
        for conduit, on in (("raw@extoll", "extoll"), ("raw@ibv", "ibv"))
    ]
    figure = Figure("x", "x", tuple(lines), full=sizes, placements=("one-per-node",), axis="size")
    plan = plan_reproduction(dataclasses.replace(EXTOLL, figures=(figure,)), [figure])
    assert [one.name for one in plan.machines()] == ["extoll", "ibv"]
    given = {(p.role, p.line.label, p.x): p.run_id for p in plan.planned if p.variant == GIVEN}
    moved = [p for p in plan.planned if p.role == "band" and p.variant.startswith("ibv: link.latency=")]
    assert {p.line.label for p in moved} == {"raw@extoll", "raw@ibv"}
    for planned in moved:
        same = planned.run_id == given["band", planned.line.label, planned.x]
        assert same == (planned.line.machine == "extoll")
    assert plan.variants[moved[0].variant].parameter == "ibv: link.latency"
    assert {p.x for p in plan.planned if p.role == "figure"} == {8, 64}


def test_a_plan_moves_every_estimate_and_says_whose_rows_may_be_taken(machine):
    base = gm.machine("extoll")
    plan = plan_reproduction(EXTOLL, figures_of(EXTOLL, ["12"]))
    assert {variant.kind for variant in plan.variants.values()} == {"given", "end", "corner", "factor"}
    ends = {variant.parameter for variant in plan.variants.values() if variant.kind == "end"}
    assert ends == {number.key for number in base.estimates()}
    given = {(p.role, p.line, p.placement, p.x): p.run_id for p in plan.planned if p.variant == GIVEN}
    moved = [p for p in plan.planned if p.role in {"band", "factor"} and p.variant != GIVEN]
    assert len(moved) > 1000
    assert all(plan.donors[p.run_id] == given[p.role, p.line, p.placement, p.x] for p in moved)
    assert not set(plan.donors) & set(plan.donors.values())  # who lends borrows nothing


def test_what_a_point_did_not_depend_on_is_not_run_again(extoll, tmp_path):
    found = run(tmp_path, "12")
    records = {record.group: record for record in found.result.records}
    taken = [record for record in records.values() if record.taken_from]
    assert taken
    for record in taken:
        donor = records[record.taken_from]
        assert donor.taken_from == ""
        assert set(gm.machine(record.rows[0]["machine"]).overrides()) == {"host.lock"}
        for own, other in zip(record.rows, donor.rows, strict=True):
            assert {name for name in own if repr(own[name]) != repr(other[name])} == {"machine", "run_id"}
        for own, other in zip(record.samples, donor.samples, strict=True):
            assert {name for name in own if repr(own[name]) != repr(other[name])} == {"run_id"}
    ran = [record for record in records.values() if not record.taken_from]
    moved = [set(gm.machine(record.rows[0]["machine"]).overrides()) for record in ran]
    assert {"host.lock"} not in moved
    assert {*MOVED} in moved  # corners move everything: they are run
    note = json.loads((tmp_path / "out" / "run.json").read_text())["taken"]
    assert note == {
        record.rows[0]["run_id"]: records[record.taken_from].rows[0]["run_id"] for record in taken
    }  # fmt: skip
    base = gm.machine("extoll")
    used = {*KEYS, "topology", "host.dispatch"}
    assert found.used(found.plan.figures[0], base) == tuple(n.key for n in base.numbers if n.key in used)


def test_a_factor_keeps_whole_numbers_whole():
    base = gm.machine("extoll")
    found = {variant.name: variant.machine for variant in planning.factors(base, ("link.packet", "link.bandwidth"))}
    assert list(found) == [GIVEN, "link.packet / 2", "link.packet x 2", "link.bandwidth / 2", "link.bandwidth x 2"]
    assert found["link.packet / 2"]["link.packet"].value == 128
    assert found["link.bandwidth x 2"]["link.bandwidth"].value == 1.25e9


def test_what_a_build_cannot_run_is_named(machine, monkeypatch):
    use_build(monkeypatch)
    plan = plan_reproduction(EXTOLL, figures_of(EXTOLL), quick=True)
    line = figures_of(EXTOLL, ["3"])[0].lines[0]
    assert plan.missing[describe(line)] == "this build of extoll has no option am=1"
    assert any("no option priced_table_bytes=536870912 of random-access on extoll" in note for note in plan.notes)
    assert {entry.conduit for entry in plan.lines()} == {"extoll", "raw@extoll"}


# ---- verdicts


def verdicts(found):
    return {entry.claim.id: entry.judgement.verdict for entry in found.judged}


def test_claims_are_judged_by_what_came_out(extoll, tmp_path):
    found = run(tmp_path)
    got = verdicts(found)
    assert got["extoll-fig3-order"] == "by_construction"
    assert got["extoll-fig3-am2-gain"] == "within"
    assert got["extoll-fig3-yrange"] == "by_construction"
    assert got["extoll-fig12-marginal"] == "within"
    assert got["extoll-fig12-14-jump"] in {"within", "by_construction"}
    assert got["extoll-fig15-nojump"] in {"within", "by_construction"}
    assert got["extoll-fig13-order"] == "not_run"  # MPI
    assert got["extoll-udp-unfit"] == "not_decidable"
    gain = next(entry for entry in found.judged if entry.claim.id == "extoll-fig3-am2-gain")
    assert gain.judgement.value == pytest.approx(0.5)
    assert gain.judgement.deciding == "velo.send_engine"
    assert gain.label == "predicted"
    (jump, *_) = steps(found, figures_of(paper("extoll"), ["12"])[0])
    assert (jump.kind, jump.ratio) == ("a rise", pytest.approx(1.5))


def test_a_taint_makes_a_claim_calibrated(extoll, tmp_path, monkeypatch):
    known = dict(hardware.facts())
    name = gm.machine("extoll")["link.latency"].hardware[0]
    known[name] = dataclasses.replace(known[name], tainted_by=("extoll-fig3-order",))
    monkeypatch.setattr(hardware, "facts", lambda: known)
    labels = {entry.claim.id: entry.label for entry in run(tmp_path, "3").judged if entry.label}
    assert labels.pop("extoll-fig3-order") == "calibrated"
    assert set(labels.values()) == {"predicted"}
    unused = gm.machine("extoll")["rma.host_read"].hardware[0]
    known[unused] = dataclasses.replace(known[unused], tainted_by=("extoll-fig3-yrange",))
    labels = {entry.claim.id: entry.label for entry in run(tmp_path, "3").judged if entry.label}
    assert labels["extoll-fig3-yrange"] == "predicted"  # no line of the figure uses it


def test_a_quick_run_decides_nothing(extoll, tmp_path):
    found = run(tmp_path, "3", quick=True)
    gain = next(entry for entry in found.judged if entry.claim.id == "extoll-fig3-am2-gain")
    assert gain.judgement.verdict == "no_band"
    assert gain.judgement.notes == ["no band was run: as given it holds"]
    assert gain.judgement.value == pytest.approx(0.5)


def test_figures_that_were_not_asked_for_are_not_run(extoll, tmp_path):
    found = run(tmp_path, "12", quick=True)
    notes = {entry.claim.id: entry.judgement.notes for entry in found.judged}
    assert notes["extoll-fig3-order"] == ["figure 3 was not asked for"]


def test_the_whole_paper_runs_the_conformance_suite(extoll, tmp_path, monkeypatch):
    told = []
    found = run(tmp_path, jobs=2, progress=told.append)
    assert verdicts(found)["extoll-tests-pass"] == "within"
    labels = list(dict.fromkeys(at.label for at in told))
    parts = [f"the conformance suite, extoll ({number} of 3)" for number in (1, 2, 3)]
    assert [label for label in labels if label in parts] == parts
    assert labels[0] not in parts  # between those that lend their rows and those that take them
    assert labels[-1] not in parts
    assert told[-1].done == told[-1].total == len(found.result.records)
    assert told[-1].seconds_left == pytest.approx(0.0, abs=1e-6)
    writing.write_reproduction(found, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "3 runs of cases passed, 0 failed" in page
    assert "no failures of the conformance suite" in page

    def no_program():
        raise EnvironmentLacks("no suite; install it")

    monkeypatch.setattr(running, "conformance_program", no_program)
    found = run(tmp_path, resume=True)
    (entry,) = [entry for entry in found.judged if entry.claim.id == "extoll-tests-pass"]
    assert (entry.judgement.verdict, entry.judgement.notes) == ("not_run", ["no suite; install it"])


def test_ctrl_c_ends_the_suite_and_keeps_what_was_run(extoll, tmp_path, monkeypatch):
    class Endless(Share):
        def __init__(self, family, number):
            super().__init__(family, number)
            self.began, self.stopped = threading.Event(), threading.Event()

        def run(self):
            self.began.set()
            assert self.stopped.wait(60)

        def stop(self):
            self.stopped.set()

    family = Family("extoll", "extoll")
    parts = [Endless(family, number) for number in (1, 2, 3)]
    with monkeypatch.context() as patch:
        patch.setattr(
            running, "plan_suite", lambda program, conduits, most_runs: (passing(program, "extoll")[0], parts)
        )

        def interrupt(at):
            if at.label == parts[0].label:
                assert parts[0].began.wait(60)
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, jobs=2, progress=interrupt)
    assert parts[0].stopped.is_set()
    assert not parts[2].began.is_set()
    kept = json.loads((tmp_path / "out" / "run.json").read_text())
    assert kept["state"] == "interrupted"
    assert kept["groups"] > 0
    found = run(tmp_path, jobs=2, resume=True)
    assert verdicts(found)["extoll-tests-pass"] == "within"
    assert len(found.result.records) > kept["groups"]


def test_what_each_line_took_stands_in_run_json_and_in_the_report(extoll, tmp_path):
    found = run(tmp_path, jobs=2)
    told = json.loads((tmp_path / "out" / "run.json").read_text())["seconds"]
    assert (told["kind"], told["unit"], told["jobs"]) == ("measured", "s", 2)
    assert told["wall"] > 0
    assert told["processor"] > 0
    parts = {(part["stage"], part["what"]): part for part in told["parts"]}
    assert {what for stage, what in parts if stage == "line"} == {
        describe(line) for line in found.plan.lines()
    }  # fmt: skip
    assert parts["suite", "extoll"] == {
        "stage": "suite", "what": "extoll", "seconds": 7.5, "count": 3, "taken": 0,
    }  # fmt: skip
    assert {stage for stage, _ in parts} == {"line", "suite", "planning", "judging"}
    assert [part["seconds"] for part in told["parts"]] == sorted((p["seconds"] for p in told["parts"]), reverse=True)
    records = found.result.records
    lines = [part for part in told["parts"] if part["stage"] == "line"]
    assert sum(part["count"] for part in lines) == sum(not record.taken_from for record in records)
    assert sum(part["taken"] for part in lines) == sum(bool(record.taken_from) for record in records) > 0
    total = sum(record.seconds for record in records)
    assert sum(part["seconds"] for part in lines) == pytest.approx(total, abs=1e-3 * len(lines))
    page = Page()
    page.feed(writing.report_html(found))
    words = " ".join(page.words)
    table = words[words.index("What it took, by line") :]
    assert "Measured" in table
    assert "the conformance suite on extoll" in table
    for part in told["parts"]:
        assert part["what"] in table
        assert f"{part['seconds']:.1f}"[:-1] in table


def test_seconds_of_an_earlier_run_are_kept_with_its_points(extoll, tmp_path):
    first = {(part.stage, part.what): part for part in run(tmp_path, "3").took if part.stage == "line"}
    again = {(part.stage, part.what): part for part in run(tmp_path, "3", resume=True).took if part.stage == "line"}
    assert again == first


def test_a_part_of_the_paper_or_a_quick_look_runs_no_suite(extoll, tmp_path):
    assert verdicts(run(tmp_path / "a", "12"))["extoll-tests-pass"] == "not_run"
    assert verdicts(run(tmp_path / "b", quick=True))["extoll-tests-pass"] == "not_run"


def test_a_refused_point_is_an_outcome(extoll, tmp_path, monkeypatch):
    monkeypatch.setattr(Extoll, "refused", (512,))
    found = run(tmp_path, "3")
    assert verdicts(found)["extoll-fig3-order"] == "not_run"
    assert any("not run: random-access" in note and "no room for so many ranks" in note for note in found.result.notes)
    assert "points were refused; the first: not run: random-access" in writing.report_html(found)


def test_a_run_that_stops_is_resumed(extoll, tmp_path, monkeypatch):
    calls = []
    block = Extoll.block

    def interrupted(self, iterations):
        calls.append(self.settings)
        if len(calls) == 5:
            raise KeyboardInterrupt
        time.sleep(0.02)  # so that not all are done before the program has noticed
        return block(self, iterations)

    monkeypatch.setattr(Extoll, "block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "3", quick=True)
    kept = len((tmp_path / "out" / "journal.jsonl").read_text().splitlines())
    assert kept >= 4
    before = len(calls)
    found = run(tmp_path, "3", quick=True, resume=True)
    assert len(calls) - before == len({point.run_id for point in found.plan.planned}) - kept > 0
    assert verdicts(found)["extoll-fig3-order"] == "no_band"


# ---- the blind run


def files(tmp_path, name, blind, *numbers):
    found = paper("extoll")
    result = reproduce(found, figures_of(found, numbers), out=tmp_path / name, blind=blind, jobs=2)
    return (tmp_path / name / "results.csv").read_bytes(), result


@pytest.mark.parametrize("blind", ["removed", "tripled"])
def test_rows_do_not_know_what_papers_state(extoll, tmp_path, blind):
    usual, found = files(tmp_path, "usual", None, "3", "13")
    rows, blinded = files(tmp_path, "blind", blind, "3", "13")
    assert rows == usual
    assert len(usual.splitlines()) > 100
    if blind == "removed":
        assert blinded.judged == []
    else:
        assert verdicts(blinded)["extoll-fig3-am2-gain"] != verdicts(found)["extoll-fig3-am2-gain"]


@NEEDS_CORE
def test_rows_of_a_real_model_do_not_know_what_papers_state(tmp_path, monkeypatch):
    tiny = Effort((8, 16), 12, (8, 16), 8, factor_xs=(8,), longer=(8,))
    use_efforts(monkeypatch, tiny)
    usual, found = files(tmp_path, "usual", None, "12")
    assert len({row["machine"] for row in found.result.rows}) > 10
    assert found.result.verified
    for blind in ("removed", "tripled"):
        rows, _ = files(tmp_path, blind, blind, "12")
        assert rows == usual


@NEEDS_CORE
def test_what_a_line_did_not_depend_on_changes_nothing():
    """Runs what is taken over otherwise: all numbers that a point did not use at either end, to the picosecond."""
    tiny = {"ranks": Effort((32,), 12), "size": Effort((8, 512), 6)}
    for figure in (figure for figure in figures_of(EXTOLL) if figure.lines):
        modelled = tuple(line for line in figure.lines if line.machine)
        small = dataclasses.replace(figure, lines=modelled, full=tiny[figure.axis], beside=(), heat_lines=())
        plan = plan_reproduction(dataclasses.replace(EXTOLL, figures=(small,)), [small])
        points = {point.id: point for series in plan.series for group in plan_series(series) for point in group.points}
        for planned in plan.planned:
            point = points[planned.run_id]
            given, unused = block_of(point)
            base = gm.machine(point.machine)
            moved = {number.key: (number.low, number.high) for number in base.estimates() if number.key in unused}
            assert len(moved) > 3 or planned.line.machine in {"ipoib", "ethernet"}, planned.line
            for end in (0, 1):
                variant = base.with_({key: ends[end] for key, ends in moved.items()})
                assert block_of(point.model_copy(update={"machine": variant.label})) == (given, unused), planned.line


def block_of(point):
    """Return the virtual time and the rates of a point's block, and what they did not depend on."""
    with closing(sessions.ModelSession(point)) as session:
        block = session.block(point.budget.iterations)
        assert session.verify().verified
        return (block.elapsed_ns, block.metrics), session.unused()


@NEEDS_CORE
def test_rows_that_are_taken_over_are_those_of_a_run(tmp_path, monkeypatch):
    use_efforts(monkeypatch, Effort((8,), 10, (8,), 6, factor_xs=(8,)), placements=("fill",))
    found = paper("extoll")
    taking = reproduce(found, figures_of(found, ["13"]), out=tmp_path / "taking", jobs=2)
    count = sum(bool(record.taken_from) for record in taking.result.records)
    assert count > 10
    monkeypatch.setattr(execution, "taken_over", lambda *_: None)
    all_run = reproduce(found, figures_of(found, ["13"]), out=tmp_path / "running")
    assert not any(record.taken_from for record in all_run.result.records)
    assert (tmp_path / "taking/results.csv").read_bytes() == (tmp_path / "running/results.csv").read_bytes()
    again = reproduce(found, figures_of(found, ["13"]), out=tmp_path / "taking", resume=True)
    assert sum(bool(record.taken_from) for record in again.result.records) == count


# ---- claims.csv and the report


class Page(HTMLParser):
    """What a page refers to, and its text."""

    def __init__(self):
        super().__init__()
        self.sources, self.words = [], []

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in {"src", "href"}]

    def handle_data(self, data):
        self.words.append(data)


def test_the_report_is_one_file_with_every_claim(extoll, tmp_path):
    found = run(tmp_path, "3", "12")
    writing.write_reproduction(found, tmp_path / "out")
    text = (tmp_path / "out" / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert {source.split(",")[0] for source in page.sources if not source.startswith("#")} == {
        "data:image/svg+xml;base64", "data:image/png;base64",
    }  # fmt: skip
    assert not re.search(r"https?://", text)
    words = " ".join(page.words)
    for entry in found.judged:
        assert entry.claim.id in words
        assert entry.claim.statement in words
        if entry.figure in found.plan.figures:
            assert entry.predicate.digest in words
    for number in gm.machine("extoll").numbers:
        assert number.key in words
        assert number.source in words
    assert "What to cite" in words
    assert gm.machine("extoll").digest in words
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "claims.csv").read_text())))
    assert list(rows[0]) == list(writing.CLAIM_COLUMNS)
    assert {row["id"]: row["verdict"] for row in rows} == verdicts(found)
    gain = next(row for row in rows if row["id"] == "extoll-fig3-am2-gain")
    assert (gain["published"], gain["tolerance"], gain["label"]) == ("53 %", "[0.43,0.63]", "predicted")
    assert gain["note"].startswith("band 0.5 to 0.6004")
    assert sorted(path.name for path in (tmp_path / "out" / "plots").glob("figure_*.svg")) == [
        f"figure_{number}.svg" for number in (12, 3)
    ]


def test_a_report_hides_nothing_in_markup(extoll, tmp_path):
    found = run(tmp_path, "3", quick=True)
    found.plan.notes.append("<script>alert(1)</script>")
    text = writing.report_html(found)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "Nothing is decided by it" in text


def test_links_are_shown_for_the_ranks_that_a_figure_names(extoll, tmp_path):
    found = run(tmp_path, "12", quick=True)
    text = writing.report_html(found)
    assert text.count("data:image/png") == 4  # 256 and 512 ranks, two placements
    assert len(found.result.link_tables()) == 4
    assert "What the links carried" in text


# ---- a reader's own points

GOOD = "figure,series,x,y\n3,mine,16,0.002\n3,mine,512,0.03\n"


def test_points_of_a_reader_are_drawn(extoll, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(GOOD)
    points = read_digitised(path, ["3", "12"])
    assert [(entry.figure, entry.series, entry.points) for entry in points] == [
        ("3", "mine", ((16.0, 0.002), (512.0, 0.03)))
    ]
    found = run(tmp_path, "3", quick=True)
    assert writing.report_html(found, points) != writing.report_html(found)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the header is 'nothing'"),
        (b"x,y\n1,2\n", "the header is 'x,y'"),
        (b"figure,series,x,y\n", "holds no points"),
        (b"figure,series,x,y\n4,mine,1,2\n", "line 2: figure '4' is not run; allowed: 3"),
        (b"figure,series,x,y\n3,mine,1\n", "line 2 has 3 columns"),
        (b"figure,series,x,y\n3,,1,2\n", "line 2: series '' is no name"),
        (b"figure,series,x,y\n3,mine,many,2\n", "line 2: x is 'many'; allowed: a number above 0"),
        (b"figure,series,x,y\n3,mine,16,nan\n", "line 2: y is 'nan'"),
        (b"figure,series,x,y\n3,mine,16,-1\n", "line 2: y is '-1'"),
        (b"figure,series,x,y\n3,mine,16,1\n3,mine,16,2\n", "line 3: 'mine' has x = 16 twice"),
        (b"\xff\xfe\x00", "is no UTF-8 text"),
        (b"x" * ((1 << 20) + 1), "has 1048577 bytes"),
    ],
)
def test_a_wrong_file_of_points_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_digitised(path, ["3"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# ---- the command line


@pytest.fixture
def call(extoll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_reproduce_writes_everything(call, tmp_path):
    (tmp_path / "points.csv").write_text(GOOD)
    result = call("reproduce", "extoll", "--figures", "3", "--digitised", "points.csv", "--jobs", 2)
    assert result.exit_code == 0, result.output
    assert "extoll-fig3-am2-gain" in result.stdout
    assert "predicted" in result.stdout
    folder = tmp_path / "out" / "reproduce_extoll"
    names = {path.name for path in folder.iterdir()}
    assert {"results.csv", "claims.csv", "report.html", "run.json", "plots"} <= names
    assert json.loads((folder / "run.json").read_text())["experiment"] == "reproduce_extoll"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sci2",), "unknown paper 'sci2'"),
        (("extoll", "--figures", "4"), "unknown figure of extoll '4'"),
        (("extoll", "--figures", "3,"), "figures '3,' has an empty name"),
        (("extoll", "--figures", "text"), "figure text of extoll cannot be run yet"),
        (("extoll", "--digitised", "none.csv"), "none.csv cannot be read (No such file or directory)"),
        (("extoll", "--out", "taken"), "--out taken is a file"),
        (("extoll", "--out", "taken/below"), "taken/below"),
        (("extoll", "--blind", "doubled"), "'doubled' is not one of"),
        (("extoll", "--jobs", "0"), "0 is not in the range"),
    ],
)
def test_bad_input_is_one_line(call, tmp_path, arguments, message):
    (tmp_path / "taken").write_text("")
    result = call("reproduce", *arguments, "--quick")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = [text for text in result.stderr.splitlines() if text]
    assert line.startswith("Error: ")
    assert message in line


def test_data_that_did_not_verify_is_a_failed_check(call, monkeypatch):
    monkeypatch.setattr(Extoll, "verify", lambda self: {"verified": False, "errors": 9, "checked": 10})
    result = call("reproduce", "extoll", "--figures", "3", "--quick")
    assert result.exit_code == 1
    assert "data did not verify" in result.stderr


def test_figures_and_claims_are_listed(call):
    figures = {entry["name"]: entry for entry in json.loads(call("list", "figures", "--json").stdout)}
    assert figures["extoll 3"]["state"] == "ready"
    assert figures["extoll 3"]["seconds"] > figures["extoll 3"]["quick_seconds"] > 0
    assert figures["extoll text"]["state"] == "not yet"
    assert "about" in call("list", "figures").stdout
    listed = {entry["name"]: entry for entry in json.loads(call("list", "claims", "--json").stdout)}
    assert set(listed) == {claim.id for claim in claims()}
    assert listed["extoll-fig3-order"]["rule"]
    assert running.__all__
