"""What the project publishes of a paper can be judged again by whoever has the folder."""

import re
from pathlib import Path

import pytest

from gasmeter.papers.registry import PAPERS
from gasmeter.reproduction.again import kept_reproduction
from gasmeter.reproduction.claims_table import claims_csv
from gasmeter.reproduction.folder import seen_in
from gasmeter.reproduction.report import report_html

RESULTS = Path(__file__).parents[3] / "results"
SHORTEST = "portals"  # half the rows of the others; those are judged again in the thorough tier


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == SHORTEST else pytest.mark.slow) for name in PAPERS]
)
def test_published_verdicts_follow_from_the_published_rows(name):
    seen, said = seen_in(RESULTS / name, PAPERS)
    assert said["quick"] is False
    judged = seen.judge()
    assert claims_csv(judged) == (RESULTS / name / "claims.csv").read_text()
    assert all(entry.judgement.verdict != "no_band" for entry in judged)
    page = report_html(kept_reproduction(RESULTS / name, seen, said, judged), pictures={})  # of these files alone
    assert all(f'id="figure-{figure.number}"' in page for figure in seen.figures)
    assert f"Verdicts on the {len(judged)} statements" in page
    assert re.search(r"<dt>rows</dt><dd>\d{4,} points run; \d+ copied", page)
