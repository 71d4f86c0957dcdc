"""points.csv names the line of each point: from it a reader judges again."""

import csv
import io

import pytest

from gasmeter.papers.registry import PAPERS
from gasmeter.reproduction.plan.planning import Planned
from gasmeter.reproduction.run.folder import points_csv


@pytest.mark.parametrize("paper", list(PAPERS.values()), ids=list(PAPERS))
def test_lines_of_one_name_are_one_line(paper):
    lines = list(dict.fromkeys(line for figure in paper.figures for line in (*figure.lines, *figure.beside)))
    planned = [Planned("figure", "as given", line, "", 8, 16, str(number)) for number, line in enumerate(lines)]
    named = {}
    for row in csv.DictReader(io.StringIO(points_csv(planned, paper.figures))):
        named.setdefault(row["line"], set()).add(lines[int(row["run_id"])].key)
    assert len(named) > len(paper.figures)
    assert [name for name, keys in named.items() if len(keys) > 1] == []
