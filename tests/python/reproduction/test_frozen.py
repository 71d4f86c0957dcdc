"""The seal on a paper's method: what breaks it, and what does not."""

import dataclasses
import importlib
import importlib.util
import inspect

import pytest

import freezing
from gasmeter.catalogue import core
from gasmeter.machines import draws
from gasmeter.papers.registry import PAPERS
from gasmeter.reproduction.judge import frozen, gathering, judged, program_runs
from gasmeter.reproduction.judge.syntax import syntax_digest
from gasmeter.reproduction.plan.figure import Effort
from gasmeter.verdicts import judging
from gasmeter.verdicts.predicates import predicates

predicates_module = importlib.import_module("gasmeter.verdicts.predicates")  # the package has a function of this name
pytestmark = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")
EXTOLL = PAPERS["extoll"]


def changed(before, after):
    return [name for name in before if before[name] != after[name]]


@pytest.fixture(scope="module")
def parts():
    return frozen.method_parts(EXTOLL)


def with_figure(**changes):
    first, *others = EXTOLL.figures
    return dataclasses.replace(EXTOLL, figures=(dataclasses.replace(first, **changes), *others))


# ---- the ledger


def test_the_method_of_every_paper_is_the_one_in_the_ledger():
    digests = {name: frozen.method_digest(paper) for name, paper in PAPERS.items()}
    assert freezing.method_problems(freezing.frozen(), digests) == []


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_this_build_runs_every_program_the_same_each_time(paper):
    runs = program_runs.program_runs(paper)
    assert program_runs.REFUSED not in runs.values()
    assert len(set(runs.values())) > len(runs) / 2
    assert program_runs.program_runs(paper) == runs


# ---- changes that break the seal


def test_a_threshold_of_a_predicate_breaks_it(parts, monkeypatch):
    text = predicates_module._FILE.read_text(encoding="utf-8")
    assert "holds = [[0.43, 0.63]]" in text
    planted = predicates_module.read_predicates(text.replace("holds = [[0.43, 0.63]]", "holds = [[0.43, 0.64]]"))
    monkeypatch.setattr(predicates_module, "_installed", lambda: planted)
    assert predicates() == planted
    assert changed(parts, frozen.method_parts(EXTOLL)) == ["predicates"]


def test_the_seed_of_draws_breaks_it(parts, monkeypatch):
    monkeypatch.setattr(draws, "DRAW_SEED", 22)
    assert changed(parts, frozen.method_parts(EXTOLL)) == ["draws"]


def test_the_seed_of_programs_breaks_it(parts, monkeypatch):
    monkeypatch.setattr(program_runs, "SEED", 3)
    assert changed(parts, frozen.method_parts(EXTOLL)) == ["programs"]


def test_a_turn_more_of_a_kernels_loop_breaks_it(parts, monkeypatch):
    class Longer:
        """A core whose kernels run one operation more than they are asked for."""

        def ModelJob(self, **settings):
            job = core().ModelJob(**settings)
            monkeypatch.setattr(self, "block", lambda count: job.block(count + 1), raising=False)
            for name in ("record", "counters", "close"):
                monkeypatch.setattr(self, name, getattr(job, name), raising=False)
            return self

    monkeypatch.setattr(program_runs, "core", Longer)
    assert changed(parts, frozen.method_parts(EXTOLL)) == ["programs"]
    planted = program_runs.program_runs(EXTOLL)
    monkeypatch.undo()
    assert not set(planted.items()) & set(program_runs.program_runs(EXTOLL).items())


@pytest.mark.parametrize(
    "changes",
    [
        {"full": Effort((8, 16), 10)},
        {"placements": ("fill",)},
        {"lines": EXTOLL.figures[0].lines[1:]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_a_figure_runs_breaks_it(parts, changes):
    assert "figures" in changed(parts, frozen.method_parts(with_figure(**changes)))


def test_a_person_breaks_it(parts):
    assert changed(parts, frozen.method_parts(dataclasses.replace(EXTOLL, version=2))) == ["version"]


# ---- changes that do not


def test_words_of_a_paper_do_not_break_it(parts):
    lines = tuple(dataclasses.replace(line, label=f"{line.label}, again") for line in EXTOLL.figures[0].lines)
    words = with_figure(title="Another title", says="Other words.", lines=lines, seconds=3.0)
    assert frozen.method_parts(dataclasses.replace(words, about="words", cite=())) == parts


def test_prices_of_a_machine_do_not_break_it(parts, monkeypatch):
    given = program_runs.machine

    def slower(name):
        machine = given(name)
        return machine.with_({n.key: f"{2 * n.value} s" for n in machine.numbers if n.kind == "time"})

    assert slower("extoll") != given("extoll")
    monkeypatch.setattr(program_runs, "machine", slower)
    assert frozen.method_parts(EXTOLL) == parts


SOURCES = [inspect.getsource(module) for module in (gathering, judged, judging)]


def test_comments_and_docstrings_of_judging_files_do_not_break_it():
    reworded = ['"""Words."""\n# More words.\n' + source.replace(":\n", ":  # words\n") for source in SOURCES]
    assert syntax_digest(reworded) == syntax_digest(SOURCES)


def test_moving_judging_files_does_not_break_it():
    moved = [source.replace("gasmeter.verdicts.judging", "gasmeter.judge.rules") for source in reversed(SOURCES)]
    assert moved != SOURCES[::-1]
    assert syntax_digest(moved) == syntax_digest(SOURCES)


CODE = '''"""Words."""
from gasmeter.units import scale

_LEAST = 0.9


def _inside(value: float, low: float = 0.0) -> bool:
    """Words."""
    return low <= value < _LEAST


class Case:
    value: float = 1.0

    def holds(self, low):
        if low < 0:
            raise ValueError(f"{low} is not allowed")
        return [scale(one) for one in (low, self.value) if _inside(value=one, low=low)]
'''
CASE = CODE[CODE.index("class") :]


@pytest.mark.parametrize(
    "sources",
    [
        [CODE.replace('"""Words."""', '"""Others."""')],
        [CODE.replace(": float", "").replace(" -> bool", "").replace("value =", "value: int =")],
        [CODE.replace("one", "number")],
        [CODE.replace("_inside", "_is_inside").replace("_LEAST", "_BOUND")],
        [CODE.replace("value: float, low: float", "share: float, low: float").replace("low <= value", "low <= share")
         .replace("value=one", "share=one")],
        [CODE.replace("is not allowed", "has to be 0 or more")],
        [CODE.replace("gasmeter.units", "gasmeter.numbers.units")],
        ["from gasmeter.bounds import inside\nfrom gasmeter.units import scale\n" + CASE.replace("_inside", "inside"),
         CODE.removesuffix(CASE).replace("_inside", "inside")],
    ],
    ids=["docstring", "annotation", "variable", "private", "parameter", "message", "import", "moved"],
)  # fmt: skip
def test_what_does_nothing_does_not_count(sources):
    assert syntax_digest(sources) == syntax_digest([CODE])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.9", "0.8"),
        ("low <= value", "low < value"),
        ("low: float = 0.0", "low: float = 0.1"),
        ("value: float = 1.0", "value: float = 2.0"),
        ("low < 0", "low > 0"),
        ("ValueError", "TypeError"),
        ("scale(one)", "one"),
        ("import scale", "import other as scale"),
        ("value=one, low=low", "value=low, low=one"),
        ("(low, self.value)", "(self.value, low)"),
        ("holds", "fails"),
    ],
)
def test_what_does_something_counts(old, new):
    assert old in CODE
    assert syntax_digest([CODE.replace(old, new)]) != syntax_digest([CODE])
