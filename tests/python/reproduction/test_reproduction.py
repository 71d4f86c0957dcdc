"""A paper run again on a fake machine: lengths, draws, files, judging again, what is refused."""

import csv
import dataclasses
import importlib
import io
import json
import math

import pytest

import gasmeter as gm
from fakes import Core, ModelJob
from gasmeter.catalogue import catalogue
from gasmeter.errors import UsageError
from gasmeter.machines import draws
from gasmeter.papers.registry import PAPERS, figures_of, paper
from gasmeter.reproduction.judge import facets
from gasmeter.reproduction.judge.claims_table import claims_csv
from gasmeter.reproduction.judge.gathering import gather, unmoved
from gasmeter.reproduction.plan import cases, choosing, planning
from gasmeter.reproduction.plan.figure import SIZE, Derived, Effort, Extra, Figure, Line, Paper, Without, describe
from gasmeter.reproduction.plan.planning import NEXT, Planned, Spot, Witness
from gasmeter.reproduction.run import running
from gasmeter.reproduction.run.folder import seen_in
from gasmeter.verdicts.claims import RESULT, Claim, claims
from gasmeter.verdicts.expressions import Expression
from gasmeter.verdicts.predicates import predicates, read_predicates
from gasmeter.verdicts.series import COUNTER

# The package has functions of these names.
claims_module = importlib.import_module("gasmeter.verdicts.claims")
predicates_module = importlib.import_module("gasmeter.verdicts.predicates")
RANKS = (16, 32)
PLACES = ("fill", "round-robin")
CONDUIT = Line("conduit", "random-access", "extoll", "extoll", variant="am", options=(("node_local", "loop"),))
CARD = Line("card", "random-access", "raw@extoll", "extoll")
PUT = Line("put", "vis", "extoll", "extoll", op="strided-put", metric="bandwidth", size=65536)
GET = Line("get", "vis", "extoll", "extoll", op="strided-get", metric="bandwidth", size=65536)
TRIP = Line("trip", "ping-pong", "extoll", "extoll", op="am-medium", metric="round_trip")
HELD = Line("held", "barrier", "extoll", "extoll", metric="reserved_bytes")
LENT = Line("lent", "barrier", "raw@extoll", "extoll", metric="reserved_bytes")
NO_LOCK = Without("no lock", "the price of the lock", (CONDUIT,), machine=(("host.lock", "0 ns"),))
RATES = Figure("1", "Rates by ranks", (CONDUIT, CARD), ("p-rate",), Effort(RANKS, 10, 2560), Effort(RANKS, 10),
               bytes_per_rank=1 << 14, placements=PLACES, says="The conduit is slower.")  # fmt: skip
PIECES = Figure("2", "Bandwidth by size of the pieces", (PUT, GET), ("p-pieces",), Effort((8, 64, 512), 10, 40),
                Effort((8, 64), 10), axis="piece",
                derived=(Derived("get over put", Expression("get / put"), (("get", GET), ("put", PUT)), "Ratio", "x"),),
                says="Large pieces are carried faster.")  # fmt: skip
TABLE = Figure(
    "T", "Round trips", (TRIP,), ("p-table",), Effort((8, 64), 10, 40), Effort((8,), 10), axis=SIZE, table=True
)
MEMORY = Figure("M", "Memory by ranks", (HELD, LENT), (), Effort(RANKS, 10, 40), Effort(RANKS, 10), placements=PLACES)
INVENTED = Paper("invented", "An invented paper", "extoll", ("nobody",), (RATES, PIECES, TABLE), (NO_LOCK,),
                 (("raw@extoll", "node_local", "loop"),))  # fmt: skip

TOML = """
[p-rate]
on = "rate"
[[p-rate.reading]]
name = "worst"
quote = "q"
rule = "r"
tolerance = "[0.5,1]"
quantity = "min(conduit / card)"
holds = [[0.5, 1]]
direction = { quantity = "min(conduit / card)", holds = [[0, 1]] }
over = [16, 32]
ablation = "no lock"
[p-rate.reading.series]
conduit = { metric = "gups", kernel = "random-access", conduit = "extoll" }
card = { metric = "gups", kernel = "random-access", conduit = "raw@extoll" }

[p-pieces]
[[p-pieces.reading]]
name = "twice"
quote = "q"
rule = "r"
tolerance = "x = 512"
quantity = "argmax(put)"
holds = [[512, 512]]
[p-pieces.reading.series]
put = { metric = "bandwidth", kernel = "vis", conduit = "extoll", op = "strided-put" }

[p-table]
unit = "ns"
[[p-table.reading]]
name = "cell"
quote = "q"
rule = "r"
tolerance = "t"
quantity = "at(trip, 64)"
holds = [[0, 1e9]]
[p-table.reading.series]
trip = { metric = "round_trip", kernel = "ping-pong", conduit = "extoll" }
"""
STATED = tuple(
    Claim(name, "invented", "Fig. 1", "it is so", "1", "x", "<=", RESULT) for name in ("p-rate", "p-pieces", "p-table")
)


class Job(ModelJob):
    """A kernel whose times are made of the machine's numbers, with a cost of starting and ending."""

    start_ns = 0.0
    refused = ()
    moved_from = math.inf
    """Latency of a link from which on memory that is lent is more."""

    def __init__(self, **given):
        self.options = given["options"]
        super().__init__(**given)
        if any(abs(given["machine"].get(key, 0) - value) < 1e-15 for key, value in self.refused):
            raise UsageError("no room for that")

    def block(self, iterations):
        kernel, op, _, conduit, _, ranks = self.settings
        lock, wire = self.given["host.lock"] * 1e9, self.given["link.latency"] * 1e9
        each = wire + (0.0 if conduit.startswith("raw@") else 4 * lock)
        elapsed = iterations * each + self.start_ns
        rates = {
            "gups": iterations * ranks / elapsed,
            "round_trip": each,
            "bandwidth": float(self.options.get("piece", 8)) * 1e6 * (2 if op == "strided-get" else 1),
        }
        self.operations += iterations
        if kernel == "barrier":
            held = 1024.0 * ranks + (conduit.startswith("raw@") and wire > self.moved_from)
            return {"elapsed_ns": elapsed, "operations": iterations, "metric.latency": each,
                    "metric.reserved_bytes": held}  # fmt: skip
        named = "gups" if kernel == "random-access" else "bandwidth" if kernel == "vis" else "round_trip"
        return {"elapsed_ns": elapsed, "operations": iterations, f"metric.{named}": rates[named]}

    def unused(self):
        return [key for key in self.given if key not in {"host.lock", "link.latency"}]


@pytest.fixture
def world(machine, monkeypatch):
    """The fake core, an invented paper with its claims, few draws, and check rows that one draw in four meets."""
    monkeypatch.setattr(Core, "ModelJob", Job)
    monkeypatch.setattr(claims_module, "_table", lambda: STATED)
    monkeypatch.setattr(predicates_module, "_installed", lambda: read_predicates(TOML))
    for module, name, value in ((cases, "PRIOR", 12), (choosing, "CONDITIONED", 12), (cases, "NULLS", 4)):
        monkeypatch.setattr(module, name, value)
    rows = ("hw.extoll.velo-latency-between-two-machines", "hw.extoll.node-to-node-latency-including-switching",
            "hw.extoll.rma-8-byte-put-end-to-end-latency", "hw.extoll.rma-transaction-rate",
            "hw.extoll.aggregate-switch-bandwidth", "hw.extoll.link-line-rate")  # fmt: skip
    met = dict(zip(rows, (0.97e-6, 1e-6, 1.2e-6, 5e6, 7.5e9, 780e6), strict=True))
    missed = {**met, rows[2]: 9e-6}
    checked = [met if number % 4 == 0 else missed for number in range(draws.DRAWS)]
    monkeypatch.setattr(running, "check_draws", lambda name, jobs: checked)
    return machine


def run(tmp_path, *numbers, **settings):
    return running.reproduce(INVENTED, figures_of(INVENTED, numbers), out=tmp_path / "out", **settings)


def by_id(reproduction):
    return {entry.claim.id: entry for entry in reproduction.judged}


# ---- the papers


def test_every_result_of_a_paper_stands_in_one_figure_and_is_judged_by_what_is_run():
    for name, entry in PAPERS.items():
        carried = [claim for figure in entry.figures for claim in figure.claims]
        assert len(carried) == len(set(carried))
        assert set(carried) == {claim.id for claim in claims(name, kind=RESULT)}
        facets.check_predicates(entry, predicates())
        lines = [line for figure in entry.figures for line in (*figure.lines, *figure.beside)]
        assert len({(describe(line), line.metric) for line in lines}) == len(set(lines))


@pytest.mark.parametrize("name", list(PAPERS))
def test_every_line_is_of_a_metric_that_its_kernel_writes(name):
    """Otherwise nothing comes out, and what is stated of it is never judged."""
    for figure in PAPERS[name].figures:
        for line in (*figure.lines, *figure.beside):
            kernel = catalogue().kernel(line.kernel)
            written = [metric.name for op in kernel.ops if op.name == (line.op or kernel.ops[0].name)
                       for metric in op.metrics]  # fmt: skip
            assert line.metric in written or line.metric.startswith(COUNTER), (figure.number, describe(line))


def test_figures_come_with_those_whose_lines_their_claims_read():
    assert [figure.number for figure in figures_of(paper("extoll"), ["13"])] == ["13", "buckets"]
    with pytest.raises(UsageError, match="unknown figure of extoll '99'"):
        figures_of(paper("extoll"), ["99"])
    with pytest.raises(UsageError, match="figure text of extoll cannot be run yet"):
        figures_of(paper("extoll"), ["text"])


# ---- refusals before anything runs


def refusal(world_paper=INVENTED, toml=TOML):
    with pytest.raises(UsageError) as refused:
        facets.check_predicates(world_paper, read_predicates(toml))
    return str(refused.value)


def test_programs_that_differ_are_not_compared(world):
    other = dataclasses.replace(CARD, options=(("window", "16"),))
    figures = (dataclasses.replace(RATES, lines=(CONDUIT, other)), PIECES, TABLE)
    refusal_text = refusal(dataclasses.replace(INVENTED, figures=figures))
    assert "of which window is 0 and 16; allowed: the same program, or differs" in refusal_text.replace(
        "16 and 0", "0 and 16"
    )
    excused = TOML.replace('ablation = "no lock"\n', 'ablation = "no lock"\ndiffers = { window = "as they say" }\n')
    facets.check_predicates(dataclasses.replace(INVENTED, figures=figures), read_predicates(excused))
    shared = dataclasses.replace(CONDUIT, options=(("node_local", "shared"),))
    without = (dataclasses.replace(NO_LOCK, lines=(shared,)),)
    changed = dataclasses.replace(
        INVENTED, figures=(dataclasses.replace(RATES, lines=(shared, CARD)), PIECES, TABLE), without=without
    )
    assert "of which node_local is" in refusal(changed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('op = "strided-put"', 'op = "indexed-put"', "series put (bandwidth of vis indexed-put on extoll) is not run"),
        ('ablation = "no lock"', 'ablation = "no luck"', "invented has no mechanism 'no luck'; allowed: no lock"),
        ('ablation = "no lock"', 'needs = "p-none"', "needs p-none, which has no predicate"),
    ],
)
def test_a_predicate_asks_for_what_is_run(world, old, new, message):
    assert message in refusal(toml=TOML.replace(old, new))


def test_a_mechanism_is_made_of_numbers_that_a_machine_has(world):
    wrong = dataclasses.replace(NO_LOCK, machine=(("host.luck", "0 ns"),))
    assert "unknown parameter of the mechanism 'no lock' of invented 'host.luck'" in refusal(
        dataclasses.replace(INVENTED, without=(wrong,))
    )


# ---- how long


def test_a_run_is_longer_until_four_times_the_work_moves_nothing(world, tmp_path, monkeypatch):
    monkeypatch.setattr(Job, "start_ns", 5e5)
    figure = dataclasses.replace(RATES, full=Effort(RANKS, 10, 1 << 24), claims=())
    paper = dataclasses.replace(INVENTED, figures=(figure, PIECES, TABLE), without=())
    ran = running.reproduce(paper, (figure,), out=tmp_path / "out")
    spot = Spot(CARD, 16)
    each = gm.machine("extoll")["link.latency"].value * 1e9
    length = ran.gathered.lengths["fill", spot]
    assert length == 10 * NEXT ** math.ceil(math.log(0.75 * 5e5 / (0.02 * each) / 10, NEXT))
    assert not ran.gathered.unsteady
    assert {
        point.length for point in ran.plan.planned if point.line == CARD and point.case == "prior 0" and point.x == 16
    } == {length}


def test_a_line_runs_as_many_times_as_long_as_its_figure_says(world, tmp_path):
    line = dataclasses.replace(CARD, times=3)
    figure = dataclasses.replace(RATES, lines=(line,), full=Effort((2, 16), 10, 10, (), 64), claims=(), beside=())
    paper = dataclasses.replace(INVENTED, figures=(figure,), without=())
    ran = running.reproduce(paper, (figure,), out=tmp_path / "out", quick=True)
    assert figure.full.lengths_at(2, 3) == (30, 96)
    assert figure.full.lengths_at(16, 3) == (30, 30)
    assert {point.length for point in ran.plan.planned if point.line == line} == {3 * figure.quick.length}


def test_what_still_moves_at_the_longest_run_is_not_converged(world, tmp_path, monkeypatch):
    monkeypatch.setattr(Job, "start_ns", 1e7)
    paper = dataclasses.replace(INVENTED, without=())
    monkeypatch.setattr(
        predicates_module, "_installed", lambda: read_predicates(TOML.replace('ablation = "no lock"\n', ""))
    )
    ran = running.reproduce(paper, (RATES,), out=tmp_path / "out")
    assert by_id(ran)["p-rate"].judgement.verdict == "not_converged"


def test_a_value_is_that_of_the_shortest_run_that_does_not_move():
    def planned(length):
        return Planned("figure", "as given", TRIP, "p", 8, length, f"run {length}")

    lengths = (10, 40, 160)
    paper = gather(
        list(map(planned, lengths)),
        {(f"run {n}", "round_trip"): v for n, v in zip(lengths, (100, 110, 111), strict=True)},
    )
    assert paper.values(TRIP, "p") == {8: 110}
    assert paper.lengths["p", Spot(TRIP, 8)] == 40
    assert paper.moves["p", Spot(TRIP, 8)] == pytest.approx(111 / 110 - 1)
    assert paper.longer["p", Spot(TRIP, 8)] == 111
    worse = gather(
        list(map(planned, lengths)),
        {(f"run {n}", "round_trip"): v for n, v in zip(lengths, (100, 110, 130), strict=True)},
    )
    assert worse.unsteady == {("p", Spot(TRIP, 8))}
    nothing = gather(list(map(planned, (10, 40))), {(f"run {n}", "round_trip"): 0.0 for n in (10, 40)})
    assert (nothing.moves["p", Spot(TRIP, 8)], nothing.unsteady) == (0, set())
    begins = gather(list(map(planned, (10, 40))), {("run 10", "round_trip"): 0.0, ("run 40", "round_trip"): 3.0})
    assert (begins.moves["p", Spot(TRIP, 8)], begins.unsteady) == (1, worse.unsteady)


# ---- draws


def test_each_draw_is_a_whole_figure_on_one_placement(world, tmp_path):
    ran = run(tmp_path)
    cases_run = {point.case for point in ran.plan.planned}
    assert {f"prior {number}" for number in range(12)} | {f"draw {number}" for number in range(12)} <= cases_run
    assert {"null 0", "null 3", "without no lock", "as given"} <= cases_run
    first = [point for point in ran.plan.planned if point.case == "prior 1"]
    assert {entry.placement for entry in first if entry.line == CARD} == {"round-robin"}
    assert {(entry.line, entry.x) for entry in first} == {(line, x) for line in (CONDUIT, CARD) for x in RANKS} | {
        (line, x) for line in (PUT, GET) for x in (8, 64, 512)} | {(TRIP, 8), (TRIP, 64)}  # fmt: skip
    assert [group.id for group in ran.plan.groups()] == [group.id for group in ran.plan.experiment().groups()]
    labels = {row["machine"] for row in ran.result.rows}
    assert {"extoll", "extoll+draw=1", "extoll+null=3"} <= labels
    assert any(label.startswith("extoll+host.lock=0") for label in labels)
    drawn = [dict(case.chosen)["extoll"] for name, case in ran.plan.cases.items() if name.startswith("draw ")]
    assert all(number % 4 == 0 for number in drawn)
    assert ran.choice.effective["extoll"] == pytest.approx(draws.DRAWS / 4, rel=0.01)


def test_claims_are_judged_by_the_draws(world, tmp_path):
    judged = by_id(run(tmp_path))
    rate = judged["p-rate"].judgement
    value = gm.machine("extoll")
    lock, wire = value["host.lock"].value, value["link.latency"].value
    assert rate.value == pytest.approx(wire / (wire + 4 * lock))
    assert rate.verdict == "by_construction"  # without the lock the conduit is the card
    assert rate.margin == pytest.approx(0.0)
    assert (rate.direction, rate.draws, rate.p_prior) == ("within", 12, 1.0)
    assert dict(rate.deciding)["extoll: host.lock"] < -0.5
    assert judged["p-rate"].label == "predicted"
    assert judged["p-pieces"].judgement.value == 512
    assert judged["p-table"].judgement.value == pytest.approx((wire + 4 * lock) * 1e9)


def test_draws_that_a_machine_refuses_are_left_out_and_named(world, tmp_path, monkeypatch):
    value = gm.machine("extoll+draw=3")["host.lock"].value
    monkeypatch.setattr(Job, "refused", (("host.lock", value),))
    judged = by_id(run(tmp_path, "1"))
    assert judged["p-rate"].judgement.p_prior == 1.0
    assert any("prior 3 (no room for that)" in note for note in judged["p-rate"].judgement.notes)


def test_a_table_that_cannot_be_made_ends_it_before_a_draw_is_run(world, tmp_path):
    def broken(reproduction, figure):
        assert reproduction.values(TRIP, "one-per-node")
        raise UsageError(f"no step of {figure.number}")

    table = dataclasses.replace(TABLE, extras=broken)
    with pytest.raises(UsageError, match="no step of T"):
        running.reproduce(dataclasses.replace(INVENTED, figures=(RATES, PIECES, table)), (table,), out=tmp_path / "out")
    machines = {row["machine"] for row in csv.DictReader(io.StringIO((tmp_path / "out" / "results.csv").read_text()))}
    assert machines == {"extoll"}


def test_tables_are_made_once_of_what_was_run_as_given(world, tmp_path):
    made = []

    def table_of(reproduction, figure):
        made.append((figure.number, set(reproduction.plan.cases), dict(reproduction.values(TRIP, "one-per-node"))))
        return [Extra("Made", ("name",), [("value",)])]

    table = dataclasses.replace(TABLE, extras=table_of)
    paper = dataclasses.replace(INVENTED, figures=(RATES, PIECES, table))
    ran = running.reproduce(paper, (RATES, table), out=tmp_path / "out")
    assert made == [("T", set(), ran.values(TRIP, "one-per-node"))]
    assert [extra.title for extra in ran.tables["T"]] == ["Made"]
    assert set(ran.tables) == {"T"}
    assert "tables" in {entry.stage for entry in ran.took}


def test_a_quick_run_decides_nothing(world, tmp_path):
    ran = run(tmp_path, quick=True)
    assert {entry.claim.id: entry.judgement.verdict for entry in ran.judged} == {
        "p-rate": "no_band", "p-pieces": "no_band", "p-table": "not_run",  # a quick run lacks its point
    }  # fmt: skip
    assert {point.case for point in ran.plan.planned} == {"as given"}


# ---- files, and judging again


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_folder_can_be_judged_again_from_its_files(world, tmp_path):
    ran = run(tmp_path)
    seen, verdicts = seen_in(tmp_path / "out", {"invented": INVENTED})
    assert claims_csv(seen.judge()) == claims_csv(ran.judged)
    assert verdicts["method"] == ran.method
    points = list(csv.DictReader(io.StringIO((tmp_path / "out" / "points.csv").read_text())))
    rows = {row["run_id"] for row in ran.result.rows}
    assert {point["run_id"] for point in points} <= rows
    drawn = list(csv.DictReader(io.StringIO((tmp_path / "out" / "draws.csv").read_text())))
    (lock,) = [row for row in drawn if (row["case"], row["key"]) == ("prior 5", "host.lock")]
    assert float(lock["value"]) == gm.machine("extoll+draw=5")["host.lock"].value
    assert lock["machine"] == "extoll+draw=5"


def test_a_value_that_was_changed_changes_the_verdict(world, tmp_path):
    ran = run(tmp_path)
    path = tmp_path / "out" / "results.csv"
    rows = list(csv.reader(io.StringIO(path.read_text())))
    head = rows[0]
    for row in rows[1:]:
        if row[head.index("conduit")] == "extoll" and row[head.index("metric")] == "gups":
            row[head.index("value")] = str(float(row[head.index("value")]) / 5)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    seen, _ = seen_in(tmp_path / "out", {"invented": INVENTED})
    again = {entry.claim.id: entry.judgement.verdict for entry in seen.judge()}
    assert (by_id(ran)["p-rate"].judgement.verdict, again["p-rate"]) == ("by_construction", "outside")


@pytest.mark.parametrize("name", ["points.csv", "draws.csv", "candidates.csv"])
def test_what_verdicts_rest_on_is_whole_or_refused(world, tmp_path, name):
    run(tmp_path, "1")
    path = tmp_path / "out" / name
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UsageError, match=f"{name} is missing or not as it was written"):
        seen_in(tmp_path / "out", {"invented": INVENTED})


def test_a_folder_of_something_else_is_refused(world, tmp_path):
    with pytest.raises(UsageError, match="holds no reproduction; allowed: a folder written by `gasmeter reproduce`"):
        seen_in(tmp_path, {"invented": INVENTED})


def test_rows_do_not_know_what_papers_state(world, tmp_path, monkeypatch):
    run(tmp_path / "usual")
    for how in ("removed", "tripled"):
        run(tmp_path / how, blind=how)
    monkeypatch.setattr(claims_module, "_table", lambda: ())
    monkeypatch.setattr(predicates_module, "_installed", dict)
    absent = run(tmp_path / "absent")
    assert absent.judged == []
    same = {how: files(tmp_path / how / "out")["results.csv"] for how in ("usual", "removed", "tripled", "absent")}
    assert len(set(same.values())) == 1
    assert len({files(tmp_path / how / "out")["points.csv"] for how in same}) == 1


def test_ctrl_c_keeps_what_is_done_and_resume_runs_the_rest(world, tmp_path):
    counted = []

    def stop(progress):
        counted.append(progress)
        if len(counted) == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, progress=stop)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["groups"] > 10
    again = []
    resumed = run(tmp_path, resume=True, progress=again.append)
    whole = run(tmp_path / "whole")
    assert claims_csv(resumed.judged) == claims_csv(whole.judged)
    assert len(again) < len({point.run_id for point in whole.plan.planned}) * 4


def test_a_run_whose_report_failed_goes_on_without_a_point(world, tmp_path, monkeypatch):
    def full(*given, **settings):
        raise OSError("no space left")

    with monkeypatch.context() as failing:
        failing.setattr(running, "write_evidence", full)
        with pytest.raises(OSError, match="no space left"):
            run(tmp_path)
    again = []
    resumed = run(tmp_path, resume=True, progress=again.append)
    assert [each for each in again if not math.isnan(each.seconds_left)] == []
    assert claims_csv(resumed.judged) == claims_csv(run(tmp_path / "whole").judged)


# ---- figures that no price moves


WITH_MEMORY = dataclasses.replace(INVENTED, figures=(*INVENTED.figures, MEMORY))


def run_memory(folder):
    return running.reproduce(WITH_MEMORY, (RATES, MEMORY), out=folder)


def drawn_tables(ran, line):
    roles = {"prior", "draw", "null"}
    return {key: lines[line] for key, lines in ran.gathered.tables.items() if key[0] in roles}


def barriers_on_draws(ran, conduit):
    return {(row["machine"], row["ranks"]) for row in ran.result.rows
            if row["kernel"] == "barrier" and row["conduit"] == conduit and row["machine"] != "extoll"}  # fmt: skip


def test_memory_is_run_as_given_and_stands_for_every_draw(world, tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "WITNESSES", 3)
    ran = run_memory(tmp_path / "out")
    shown = [f"extoll+{kind}={number}" for kind in ("draw", "null") for number in range(3)]
    assert barriers_on_draws(ran, "extoll") == {(name, 16) for name in shown} | {(name, 32) for name in shown[::3]}
    given = {point.run_id for point in ran.plan.planned if point.line == HELD and point.case == "as given"}
    drawn = {
        point.run_id for point in ran.plan.planned if point.line == HELD and point.role in {"prior", "draw", "null"}
    }
    assert drawn
    assert drawn < given
    assert not ran.plan.notes
    with monkeypatch.context() as context:
        context.setattr(planning, "WITNESSES", 0)
        every = run_memory(tmp_path / "every")
    assert len(barriers_on_draws(every, "extoll")) > 2 * len(barriers_on_draws(ran, "extoll"))
    for line in (CONDUIT, CARD, HELD, LENT):
        assert drawn_tables(ran, line) == drawn_tables(every, line)
    assert claims_csv(ran.judged) == claims_csv(every.judged)
    rows, others = (set(files(tmp_path / name)["results.csv"].splitlines()) for name in ("out", "every"))
    assert rows < others
    seen, _ = seen_in(tmp_path / "out", {"invented": WITH_MEMORY})
    assert seen.gathered.tables == ran.gathered.tables


def test_four_times_the_work_is_for_memory_where_draws_are(world, tmp_path):
    few = dataclasses.replace(MEMORY, full=Effort(RANKS, 10, 40, RANKS[:1]), beside=(LENT,), lines=(HELD,))
    rates = dataclasses.replace(RATES, full=Effort(RANKS, 10, 2560, RANKS[:1]))
    ran = running.reproduce(
        dataclasses.replace(WITH_MEMORY, figures=(rates, *INVENTED.figures[1:], few)),
        (rates, few),
        out=tmp_path / "out",
    )
    lengths = {}
    for point in ran.plan.planned:
        if point.case == "as given":
            lengths.setdefault((point.line, point.x), set()).add(point.length)
    assert lengths == {(line, x): {10, 40} if x == 16 or line in {CONDUIT, CARD} else {10}
                       for line in (CONDUIT, CARD, HELD, LENT) for x in RANKS}  # fmt: skip
    assert {spot.x for _, spot in ran.gathered.moves if spot.line in {HELD, LENT}} == {16}
    assert ran.gathered.values(HELD, "fill") == {16: 16384.0, 32: 32768.0}


def test_memory_that_a_draw_moves_is_run_on_every_draw(world, tmp_path, monkeypatch):
    latencies = sorted(gm.machine(f"extoll+draw={number}")["link.latency"].value * 1e9 for number in range(10))
    monkeypatch.setattr(Job, "moved_from", latencies[-2])  # by one witness of ten, at the first x alone
    ran = run_memory(tmp_path / "out")
    assert ran.plan.unmoved == {HELD}
    assert ran.plan.notes == [f"{describe(LENT)}: draws move reserved_bytes, so that it is run on all of them"]
    labels = {case.label("extoll") for case in ran.plan.cases.values() if case.kind in cases.DRAWN}
    assert barriers_on_draws(ran, "raw@extoll") == {(name, ranks) for name in labels for ranks in RANKS}
    assert len({curve[16] for curve in drawn_tables(ran, LENT).values()}) == 2


@pytest.mark.parametrize("counted", [True, False])
def test_what_a_program_counts_stands_for_every_draw_where_a_few_show_it(world, tmp_path, monkeypatch, counted):
    monkeypatch.setattr(planning, "WITNESSES", 3)
    line = dataclasses.replace(HELD, metric=f"{COUNTER}messages", counted=counted)
    figure = dataclasses.replace(MEMORY, lines=(line,))
    ran = running.reproduce(
        dataclasses.replace(WITH_MEMORY, figures=(*INVENTED.figures, figure)), (RATES, figure), out=tmp_path
    )
    assert ran.plan.unmoved == ({line} if counted else set())
    every = {case.label("extoll") for case in ran.plan.cases.values() if case.kind in cases.DRAWN}
    assert len(barriers_on_draws(ran, "extoll")) == (8 if counted else 2 * len(every))
    assert {key[0] for key in drawn_tables(ran, line)} == {"prior", "draw", "null"}


def test_a_quantity_with_a_price_is_never_taken_from_the_machine_as_given(world, tmp_path):
    ran = run(tmp_path)
    assert not ran.plan.witnesses
    assert not ran.plan.unmoved
    given = {point.run_id for point in ran.plan.planned if point.case == "as given"}
    assert not given & {point.run_id for point in ran.plan.planned if point.role in {"prior", "draw", "null"}}
    assert [name for name, metric in catalogue().metrics.items() if not metric.priced] == ["reserved_bytes"]


def test_a_draw_that_is_refused_says_nothing_of_what_moves():
    witnesses = [Witness(HELD, "refused", "given"), Witness(LENT, "drawn", "given"), Witness(TRIP, "refused", "given")]
    values = {("given", "reserved_bytes"): 5.0, ("drawn", "reserved_bytes"): 5.0}
    assert unmoved(witnesses, values) == {LENT}
    assert unmoved([*witnesses, Witness(LENT, "other", "given")], {**values, ("other", "reserved_bytes"): 5.1}) == set()


def test_draws_keep_no_counters_and_no_links(world, tmp_path):
    ran = run(tmp_path, "1")
    drawn = {point.run_id for point in ran.plan.planned if point.role in {"prior", "draw", "null"}}
    counted = {row["run_id"] for row in ran.result.counter_rows()}
    names = {run_id for record in ran.result.records for run_id in record.unused}
    assert drawn
    assert counted
    assert names
    assert not drawn & (counted | names)
