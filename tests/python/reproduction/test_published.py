"""Published folders of papers: whoever has a folder can judge it again."""

import html
import re
import tomllib
from pathlib import Path

import pytest

from gasmeter import verdicts
from gasmeter.papers.registry import PAPERS
from gasmeter.reproduction.judge.claims_table import claims_csv
from gasmeter.reproduction.report.marks import published_text, published_words
from gasmeter.reproduction.report.page import report_html
from gasmeter.reproduction.report.plain_words import (
    line_names,
    published_plainly,
    quantity_words,
    reading_words,
    why_undecidable,
)
from gasmeter.reproduction.run.again import kept_reproduction
from gasmeter.reproduction.run.folder import seen_in
from gasmeter.verdicts.claims import claims
from gasmeter.verdicts.predicates import predicates

RESULTS = Path(__file__).parents[3] / "results"
PUBLISHED = Path(verdicts.__file__).parents[1] / "published"
SHORTEST = "portals"  # half the rows of the others; those are judged again in the thorough tier


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == SHORTEST else pytest.mark.slow) for name in PAPERS]
)
def test_published_verdicts_follow_from_the_published_rows(name):
    seen, facts = seen_in(RESULTS / name, PAPERS)
    assert facts["quick"] is False
    judged = seen.judge()
    assert claims_csv(judged) == (RESULTS / name / "claims.csv").read_text()
    assert all(entry.judgement.verdict != "no_band" for entry in judged)
    page = report_html(kept_reproduction(RESULTS / name, seen, facts, judged), pictures={})  # from these files alone
    assert all(f'id="figure-{figure.number}"' in page for figure in seen.figures)
    assert f"Verdicts on the {len(judged)} statements" in page
    assert re.search(r"<dt>rows</dt><dd>\d{4,} points run; \d+ copied", page)


@pytest.mark.parametrize("name", PAPERS)
def test_a_published_report_names_what_it_requires(name):
    page = (RESULTS / name / "report.html").read_text(encoding="utf-8")
    for words in (
        "its quantity",
        "required of",
        "no worse verdict",
        "without the number",
        "knows nothing of its software",
    ):
        assert words not in page
    assert page.count(" must be ") > len(PAPERS[name].figures)
    assert all(f"<dt>{html.escape(term)}</dt>" in page for term in line_names(name))


def test_words_of_reports_fit_the_predicates():
    words = tomllib.loads((PUBLISHED / "plain_words.toml").read_text(encoding="utf-8"))
    assert set(words["names"]) == set(PAPERS)
    known = predicates()
    for claim, quantities in words["quantities"].items():
        expected = len(known[claim].readings[0].conditions)
        assert (1 if isinstance(quantities, str) else len(quantities)) == expected, claim
        assert quantity_words(claim, expected - 1)[:1].isupper()
    for place, readings in words["readings"].items():
        named = {
            reading.name
            for name, predicate in known.items()
            if place in {name, name.split("-")[0]}
            for reading in predicate.readings
        }
        assert set(readings) <= named, place
    assert set(words["published"]) <= set(known)
    assert set(words["undecidable"]) == {name for name, predicate in known.items() if predicate.undecidable}
    assert all(
        name in words["quantities"]
        for name, predicate in known.items()
        if predicate.readings and len(predicate.readings[0].conditions) > 1
    )


def test_a_name_of_a_reading_is_told_in_words_of_its_statement_or_of_its_paper():
    assert reading_words("sci", "sci-fig8-trend", "one way") == "messages in one direction"
    assert reading_words("sci", "sci-unaligned-gain", "one way") == "half a round trip"
    assert reading_words("sci", "sci-fig8-trend", "a new name") == "a new name"
    assert reading_words("no paper", "no-claim", "one way") == "one way"


def test_words_replace_a_published_value_that_would_mislead():
    stated = {claim.id: claim for claim in claims()}
    gain = stated["aries-fig1-64k"]
    assert published_text(gain) == published_words(gain) == "a little over 14 %"
    assert published_text(stated["aries-fig2-full"]) == "up to 93 %"
    assert published_words(stated["sci-unaligned-gain"]).startswith("less than about 200 µs")
    assert published_plainly("aries-fig2-full") == why_undecidable("aries-fig2-full") == ""


@pytest.mark.parametrize("name", PAPERS)
def test_no_published_report_has_names_that_readers_did_not_understand(name):
    page = (RESULTS / name / "report.html").read_text(encoding="utf-8")
    for words in ("to and fro", "a check a message", "Figure with most", "not numeric", "hold in any model"):
        assert words not in page, words
