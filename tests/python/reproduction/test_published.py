"""Published folders of papers: whoever has a folder can judge it again."""

import re
from pathlib import Path

import pytest

from gasmeter.papers.registry import PAPERS
from gasmeter.reproduction.judge.claims_table import claims_csv
from gasmeter.reproduction.report.page import report_html
from gasmeter.reproduction.run.again import kept_reproduction
from gasmeter.reproduction.run.folder import seen_in

RESULTS = Path(__file__).parents[3] / "results"
SHORTEST = "portals"  # half the rows of the others; those are judged again in the thorough tier


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == SHORTEST else pytest.mark.slow) for name in PAPERS]
)
def test_published_verdicts_follow_from_the_published_rows(name):
    seen, verdicts = seen_in(RESULTS / name, PAPERS)
    assert verdicts["quick"] is False
    judged = seen.judge()
    assert claims_csv(judged) == (RESULTS / name / "claims.csv").read_text()
    assert all(entry.judgement.verdict != "no_band" for entry in judged)
    page = report_html(kept_reproduction(RESULTS / name, seen, verdicts, judged), pictures={})  # from these files alone
    assert all(f'id="figure-{figure.number}"' in page for figure in seen.figures)
    assert f"Verdicts on the {len(judged)} statements" in page
    assert re.search(r"<dt>rows</dt><dd>\d{4,} points run; \d+ copied", page)
